// Who gets the bandit's decisions: control group, rollout, and a bandit that is held by hand.
import { PRODUCTS } from '../catalog.mjs';
import { clickProbability } from '../visitors.mjs';
import { count, deviation, mean, percent } from './simulation.mjs';

const BASELINE = PRODUCTS[0]; // "first" is the first product of a request

const truth = ({ visitor, product }) => clickProbability(visitor, product);
const truthOfBaseline = ({ visitor }) => clickProbability(visitor, BASELINE);

export async function controlGroup(simulation, report) {
    report.title('Control group: is the bandit better than no bandit?');
    const guardrails = { control: { share: 0.1, baseline: 'first' } };
    const bandit = await simulation.bandit('control', guardrails, { confidence: 0.999 });
    const shown = await simulation.showAndClick(bandit, simulation.people(2 * simulation.visits));
    const treated = shown.filter(({ group }) => group === 'treated');
    const control = shown.filter(({ group }) => group === 'control');
    const rate = (group) => mean(group, ({ clicked }) => clicked);
    const lift = mean(treated, truth) - mean(treated, truthOfBaseline);

    report.say(`10% of the people always see the first product, ${BASELINE.name}. The others see what the bandit decides.`);
    report.table(
        ['group', 'people', 'true click rate', 'measured'],
        [
            ['treated', treated.length, percent(mean(treated, truth)), percent(rate(treated))],
            ['control', control.length, percent(mean(control, truth)), percent(rate(control))],
        ],
    );
    report.near('people in the control group', control.length / shown.length, 0.1, deviation(0.1, shown.length));
    const others = count(control, ({ product }) => product !== BASELINE);
    report.equal('people in the control group who saw another product', others, 0);
    const error = Math.hypot(deviation(rate(treated), treated.length), deviation(rate(control), control.length));
    report.near('lift in clicks per person', rate(treated) - rate(control), lift, error);
    await compareWithServer(bandit, lift, report);
}

// The server's own estimate lags a little behind the last clicks, so only its interval is compared.
async function compareWithServer(bandit, lift, report) {
    const found = (await bandit.evaluation()).guardrails?.lift.find(({ metric }) => metric === 'reward');
    if (!found || found.low === null) return;
    const words = `the server's 99.9% interval of the lift, ${percent(found.low)} to ${percent(found.high)}, contains it`;
    report.check(found.low <= lift && lift <= found.high, words);
}

export async function rollout(simulation, report) {
    report.title('Rollout: 1%, then 25%, then everybody');
    const settings = (share) => ({ control: { share: 0.1 }, rollout: { share } });
    const bandit = await simulation.bandit('rollout', settings(0.01));
    const people = simulation.people(simulation.visits);
    const stages = [];
    for (const share of [0.01, 0.25, 1]) {
        await bandit.change({ guardrails: settings(share) });
        const groups = (await simulation.show(bandit, people)).map(({ group }) => group);
        stages.push({ share, groups });
    }
    report.say(`The same ${people.length} people come at each stage. 10% are the control group for good.`);
    const of = (groups, name) => count(groups, (group) => group === name) / people.length;
    const names = ['treated', 'waiting', 'control'];
    report.table(
        ['share', ...names],
        stages.map(({ share, groups }) => [percent(share), ...names.map((name) => percent(of(groups, name)))]),
    );
    for (const { share, groups } of stages) {
        const expected = 0.9 * share;
        report.near(`treated at ${percent(share)}`, of(groups, 'treated'), expected, deviation(expected, people.length));
    }
    let left = 0;
    for (let i = 1; i < stages.length; i++) {
        const before = stages[i - 1].groups;
        left += count(stages[i].groups, (group, who) => before[who] !== 'waiting' && before[who] !== group);
    }
    report.equal('people who left the treated or the control group', left, 0);
}

export async function holding(simulation, report) {
    report.title('Held: everybody gets the baseline, until you release it');
    const bandit = await simulation.bandit('held', {});
    const people = simulation.people(simulation.visits / 4);
    const shares = async () => {
        const shown = await simulation.show(bandit, people);
        const fallback = count(shown, ({ group }) => group === 'fallback') / shown.length;
        return [fallback, count(shown, ({ product }) => product === BASELINE) / shown.length];
    };
    const before = await shares();
    await bandit.change({ held: 'fallback', held_because: 'the lamp is on fire' });
    const because = (await bandit.describe()).settings.held_because;
    const held = await shares();
    await bandit.change({ held: 'no' });
    const after = await shares();
    report.say(`Held because: ${because}.`);
    report.table(
        ['', 'group fallback', `saw ${BASELINE.name}`],
        [['before', ...before.map(percent)], ['held', ...held.map(percent)], ['released', ...after.map(percent)]],
    );
    report.check(held[0] === 1 && held[1] === 1, 'held: everybody got the baseline');
    report.check(before[0] === 0 && after[0] === 0 && before[1] < 1 && after[1] < 1, 'before and after, the bandit decided');
}
