// How much of something: shares, caps and budgets.
import { PRODUCTS } from '../catalog.mjs';
import { clickProbability } from '../visitors.mjs';
import { count, deviation, mean, percent } from './simulation.mjs';

const PARTNER = PRODUCTS.findIndex(({ id }) => id === 'atlas');
const SHARE = 0.5;

// Expected clicks of a decision: the probability of each product in the response, times that of a click on it.
const expectedClicks = ({ visitor, probabilities }) =>
    probabilities.reduce((sum, probability, i) => sum + probability * clickProbability(visitor, PRODUCTS[i]), 0);

// floor:0.2 gives 2.5% to each of 8 products and 80% more to the best. The share then raises the partner, if that is not
// the best, and lowers the others in proportion.
function probabilitiesWithShare(best) {
    const free = PRODUCTS.map((_, i) => 0.2 / 8 + (i === best ? 0.8 : 0));
    if (free[PARTNER] >= SHARE) return free;
    return free.map((probability, i) => (i === PARTNER ? SHARE : (probability * (1 - SHARE)) / (1 - free[PARTNER])));
}

const isExact = ({ probabilities }) =>
    PRODUCTS.some((_, best) =>
        probabilitiesWithShare(best).every((expected, i) => Math.abs(expected - probabilities[i]) < 1e-9));

async function measure(simulation, bandit, people) {
    const shown = await simulation.show(bandit, people);
    simulation.drawClicks(shown);
    return {
        shown,
        partner: count(shown, ({ index }) => index === PARTNER) / shown.length,
        least: Math.min(...shown.map(({ probabilities }) => probabilities[PARTNER])),
        truth: mean(shown, expectedClicks),
        clicks: mean(shown, ({ clicked }) => clicked),
    };
}

export async function shares(simulation, report) {
    report.title(`Shares: at least ${percent(SHARE)} for a partner, and what that costs`);
    const bandit = await simulation.bandit('shares', {});
    await simulation.showAndClick(bandit, simulation.people(simulation.visits));
    const people = simulation.people(2 * simulation.visits); // their clicks are not sent: it learns nothing more
    const free = await measure(simulation, bandit, people);
    const share = { name: 'partner', action: { _id: PRODUCTS[PARTNER].id }, low: SHARE };
    await bandit.change({ guardrails: { shares: [share] } });
    const limited = await measure(simulation, bandit, people);
    report.say(`The partner sells ${PRODUCTS[PARTNER].name}. The same people come without and with a minimum share.`);
    report.table(
        ['', 'partner shown', 'lowest probability', 'true click rate', 'measured'],
        [['no share', free], ['share', limited]].map(([name, { partner, least, truth, clicks }]) =>
            [name, percent(partner), percent(least), percent(truth), percent(clicks)]),
    );
    report.check(free.least < SHARE, `without the share, some decisions gave the partner less than ${percent(SHARE)}`);
    report.equal('decisions whose probabilities are what the share asks for', count(limited.shown, isExact), people.length);
    const expected = mean(limited.shown, ({ probabilities }) => probabilities[PARTNER]);
    report.near('partner shown', limited.partner, expected, deviation(expected, people.length));
    const error = Math.hypot(deviation(free.truth, people.length), deviation(limited.truth, people.length));
    report.near('cost in clicks per person', free.clicks - limited.clicks, free.truth - limited.truth, error);
    report.check(free.truth > limited.truth, 'the share costs clicks, in truth');
}

export async function caps(simulation, report) {
    report.title('Caps: a limit per day, and a limit per day and person');
    const each = 2;
    const people = Math.round(simulation.visits / 40);
    const guests = simulation.guests(people, 40);
    const most = Math.round(guests.length / 20); // without a cap, about an eighth of the decisions
    const bandit = await simulation.bandit('caps', { caps: [
        { name: 'shoes in stock', action: { _id: 'shoes' }, most, per: '1d' },
        { name: 'novel per person', action: { _id: 'novel' }, most: each, per: '1d', each: 'key' },
    ] }, { propensity: 'floor:1' });
    const shown = await simulation.show(bandit, guests);
    const novels = new Map();
    for (const { action, visitor } of shown)
        if (action === 'novel') novels.set(visitor.key, (novels.get(visitor.key) ?? 0) + 1);
    report.say(`${people} people come 40 times each. Every product has the same probability, unless a cap excludes it.`);
    report.table(
        ['product', 'cap', 'shown'],
        [
            ['shoes', `${most} a day`, count(shown, ({ action }) => action === 'shoes')],
            ['novel', `${each} a day per person`, `at most ${Math.max(...novels.values())} per person`],
            ['belt', 'none', count(shown, ({ action }) => action === 'belt')],
        ],
    );
    report.equal('shoes', count(shown, ({ action }) => action === 'shoes'), most);
    report.equal('most novels for one person', Math.max(...novels.values()), each);
}

export async function budget(simulation, report) {
    report.title('Budget: coupons for 200 euros');
    const limit = 200, coupon = { lamp: 5, dripper: 3, novel: 1 };
    const coupons = { name: 'coupons', cost: 'coupon', limit, per: '7d', pace: 'first' };
    const bandit = await simulation.bandit('budget', { budgets: [coupons] }, { propensity: 'floor:1' });
    const withCoupons = (request) => ({ ...request,
        actions: request.actions.map(({ id, features }) => ({ id, features: { ...features, coupon: coupon[id] ?? 0 } })) });
    const shown = await simulation.show(bandit, simulation.people(simulation.visits), withCoupons);
    const rows = Object.entries(coupon).map(([id, cost]) => [id, cost, count(shown, ({ action }) => action === id)]);
    const spent = rows.reduce((sum, [, cost, times]) => sum + cost * times, 0);
    report.say('Some products come with a coupon. When the rest of the budget is below its price, the product is excluded.');
    report.table(['product', 'coupon', 'shown'], [...rows, ['spent', '', spent]]);
    report.say(`Without a budget, about ${Math.round((shown.length * 9) / 8)} would have been spent.`);
    report.equal(`spent of ${limit}`, spent, limit);
    report.equal('coupons among the last 100', count(shown.slice(-100), ({ action }) => coupon[action]), 0);
}
