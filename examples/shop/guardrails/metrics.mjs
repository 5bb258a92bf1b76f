// What comes after a click: a bound on refunds that stops the bandit, and an objective that counts them.
import { clickProbability } from '../visitors.mjs';
import { count, mean, percent } from './simulation.mjs';

const WAIT = 4; // seconds: a bandit with metrics learns from a decision when its wait ends

const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

// Shows a product to each visitor; refunded says what follows a click. Returns what was shown. Rewards follow each small
// batch, because a reward that arrives after the wait is late: on a machine that stalls, the batch is shown again.
async function visit(simulation, bandit, visitors, refunded) {
    const BATCH = 100;
    const all = [];
    for (let begin = 0; begin < visitors.length; begin += BATCH) {
        let shown, inTime;
        do {
            shown = await simulation.show(bandit, visitors.slice(begin, begin + BATCH));
            simulation.drawClicks(shown);
            for (const each of shown) each.refund = each.clicked && refunded(each) ? 1 : 0;
            const rewards = shown.map(({ id, clicked, refund }) => ({ id, value: clicked, metrics: { refund } }));
            inTime = await simulation.send(bandit, rewards);
        } while (!inTime);
        all.push(...shown);
    }
    return all;
}

export async function bounds(simulation, report) {
    report.title('Bound: refunds at most 10% above those of the control group');
    const bandit = await simulation.bandit(
        'bound',
        { control: { share: 0.5 }, bounds: [{ metric: 'refund', most_above: 0.1, then: 'fallback' }] },
        { wait: WAIT, metrics: [{ name: 'refund' }] },
    );
    const people = simulation.people(simulation.visits);
    report.say('Every click that the bandit earns is refunded, and one in ten of the control group. Nobody looks.');
    await visit(simulation, bandit, people, ({ group }) => group === 'treated' || simulation.random() < 0.1);
    let settings;
    do {
        await pause();
        ({ settings } = await bandit.describe());
    } while (settings.held !== 'fallback');
    report.say(`Held because: ${settings.held_because}.`);
    const later = await simulation.show(bandit, people.slice(0, 100));
    report.equal('people who get the baseline now', count(later, ({ group }) => group === 'fallback'), later.length);
}

const isBook = ({ product }) => product.category === 'books';
// What a person is worth in truth: a click, less three if it is refunded.
const worth = (each) => clickProbability(each.visitor, each.product) * (isBook(each) ? -2 : 1);

export async function objective(simulation, report) {
    report.title('Objective: a refund costs three clicks');
    const metrics = [{ name: 'refund', weight: 0 }];
    const bandit = await simulation.bandit('objective', {}, { options: 'alpha=0.1', wait: WAIT, metrics });
    const people = simulation.people(Math.max(simulation.visits, 3000));
    const first = await visit(simulation, bandit, people, isBook);
    const settled = async () => {
        const { learned, defaulted } = await bandit.describe();
        return learned + defaulted >= first.length;
    };
    while (!(await settled())) await pause();
    await simulation.caughtUp(bandit);
    const before = await visit(simulation, bandit, people, isBook);
    const { relearned } = await bandit.change({ metrics: [{ name: 'refund', weight: -3 }] });
    await simulation.caughtUp(bandit); // decisions follow the new model
    const after = await visit(simulation, bandit, people, isBook);
    report.say('Every click on a book is refunded. With the weight -3 the model learns the log again.');
    const share = (shown) => count(shown, isBook) / shown.length;
    report.table(
        ['weight', 'saw a book', 'true clicks - 3 refunds per person'],
        [['0', percent(share(before)), mean(before, worth).toFixed(3)], ['-3', percent(share(after)), mean(after, worth).toFixed(3)]],
    );
    report.check(relearned > 0, 'the model learned the log again');
    report.check(share(after) < share(before), 'books are shown less often');
    report.check(mean(after, worth) > mean(before, worth), 'the objective is higher');
}
