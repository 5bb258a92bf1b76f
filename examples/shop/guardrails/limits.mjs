// How much of something: shares, caps and budgets.
import { PRODUCTS } from '../catalog.mjs';
import { clickProbability } from '../visitors.mjs';
import { count, deviation, mean, percent } from './simulation.mjs';

const PARTNER = PRODUCTS.findIndex(({ id }) => id === 'atlas');
const SHARE = 0.5;

// floor:0.2 gives 2.5% to each of 8 products and 80% more to the best.
const withoutShare = (best) => PRODUCTS.map((_, i) => 0.2 / 8 + (i === best ? 0.8 : 0));

// The share raises the partner's product, if that is not the best, and lowers the others in proportion.
function withShare(free) {
    if (free[PARTNER] >= SHARE) return free;
    return free.map((probability, i) => (i === PARTNER ? SHARE : (probability * (1 - SHARE)) / (1 - free[PARTNER])));
}

// What the probabilities of a response would have been without the share; undefined: the share does not explain them.
const freeOf = (probabilities) =>
    PRODUCTS.map((_, best) => withoutShare(best)).find((free) =>
        withShare(free).every((expected, i) => Math.abs(expected - probabilities[i]) < 1e-9));

const expectedClicks = (visitor, probabilities) =>
    probabilities.reduce((sum, probability, i) => sum + probability * clickProbability(visitor, PRODUCTS[i]), 0);

// The model changes from run to run, so both are computed for the same decisions. weight: how much more often the product
// would have been shown without the share. Weighted clicks estimate the click rate without it.
function compareShares(shown, report) {
    const pairs = shown.map(({ visitor, probabilities, arm, clicked, free }) => ({
        clicked,
        weight: free[arm] / probabilities[arm],
        free: expectedClicks(visitor, free),
        limited: expectedClicks(visitor, probabilities),
    }));
    const truth = { free: mean(pairs, ({ free }) => free), limited: mean(pairs, ({ limited }) => limited) };
    const measured = {
        free: mean(pairs, ({ clicked, weight }) => clicked * weight),
        limited: mean(pairs, ({ clicked }) => clicked),
    };
    report.table(
        ['', 'true click rate', 'measured'],
        [
            ['without the share', percent(truth.free), percent(measured.free)],
            ['with the share', percent(truth.limited), percent(measured.limited)],
        ],
    );
    const error = Math.sqrt(mean(pairs, ({ clicked, weight }) => clicked * (weight - 1) ** 2) / pairs.length);
    report.near('cost in clicks per person', measured.free - measured.limited, truth.free - truth.limited, error);
}

export async function shares(simulation, report) {
    report.title(`Shares: at least ${percent(SHARE)} for a partner, and what that costs`);
    const bandit = await simulation.bandit('shares', {});
    const before = await simulation.showAndClick(bandit, simulation.people(simulation.visits));
    const share = { name: 'partner', action: { _id: PRODUCTS[PARTNER].id }, low: SHARE };
    await bandit.change({ guardrails: { shares: [share] } });
    const shown = await simulation.show(bandit, simulation.people(2 * simulation.visits));
    simulation.drawClicks(shown);
    for (const each of shown) each.free = freeOf(each.probabilities);
    const partner = (list) => count(list, ({ arm }) => arm === PARTNER) / list.length;
    report.say(`The partner sells ${PRODUCTS[PARTNER].name}, which ${percent(partner(before))} of the visitors saw before.`);
    const exact = shown.filter(({ free }) => free);
    report.equal('decisions whose probabilities are what the share asks for', exact.length, shown.length);
    const expected = mean(shown, ({ probabilities }) => probabilities[PARTNER]);
    report.check(expected >= SHARE, `its mean probability is now ${percent(expected)}`);
    report.near('visitors who saw it', partner(shown), expected, deviation(expected, shown.length));
    if (exact.length) compareShares(exact, report);
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
