// How much of something: shares, caps and budgets.
import { PRODUCTS } from '../catalog.mjs';
import { clickProbability } from '../visitors.mjs';
import { count, deviation, mean, percent } from './simulation.mjs';

const PARTNER = 'atlas';
const SHARE = 0.2;

// Expected clicks of a decision: the probability of each product in the response, times that of a click on it.
const expectedClicks = ({ visitor, probabilities }) =>
    probabilities.reduce((sum, probability, i) => sum + probability * clickProbability(visitor, PRODUCTS[i]), 0);

export async function shares(simulation, report) {
    report.title(`Shares: at least ${percent(SHARE)} for a partner, and what that costs`);
    const bandit = await simulation.bandit('shares', {});
    await simulation.showAndClick(bandit, simulation.people(simulation.visits)); // it learns
    const people = simulation.people(simulation.visits);
    const measure = async () => {
        const shown = await simulation.show(bandit, people);
        for (const each of shown) each.clicked = simulation.random() < clickProbability(each.visitor, each.product) ? 1 : 0;
        return { shown, partner: count(shown, ({ action }) => action === PARTNER) / shown.length,
            least: Math.min(...shown.map(({ probabilities }) => probabilities[PRODUCTS.findIndex(({ id }) => id === PARTNER)])),
            truth: mean(shown, expectedClicks), clicks: mean(shown, ({ clicked }) => clicked) };
    };
    const free = await measure();
    await bandit.change({ guardrails: { shares: [{ name: 'partner', action: { _id: PARTNER }, low: SHARE }] } });
    const bound = await measure();
    report.say(`The partner sells '${PARTNER}'. The same people come without and with a minimum share.`);
    report.table(
        ['', 'partner shown', 'least probability', 'true click rate', 'measured'],
        [['no share', free], ['share', bound]].map(([name, { partner, least, truth, clicks }]) =>
            [name, percent(partner), percent(least), percent(truth), percent(clicks)]),
    );
    report.check(bound.least >= SHARE - 1e-12, `with the share, no decision gave the partner less than ${percent(SHARE)}`);
    report.check(free.least < SHARE, 'without it, some decisions did');
    const error = Math.hypot(deviation(free.truth, people.length), deviation(bound.truth, people.length));
    report.near('cost in clicks per person', free.clicks - bound.clicks, free.truth - bound.truth, error);
}

export async function caps(simulation, report) {
    report.title('Caps: so many a day, and so many for each person');
    const each = 2;
    const people = Math.round(simulation.visits / 40);
    const guests = simulation.guests(people, 40);
    const most = Math.round(guests.length / 20); // without a cap, about an eighth of the decisions
    const bandit = await simulation.bandit('caps', { caps: [
        { name: 'shoes in stock', action: { _id: 'shoes' }, most, per: '1d' },
        { name: 'novel once in a while', action: { _id: 'novel' }, most: each, per: '1d', each: 'key' },
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
            ['novel', `${each} a day for each person`, `${Math.min(...novels.values())} to ${Math.max(...novels.values())} for each person`],
            ['belt', 'none', count(shown, ({ action }) => action === 'belt')],
        ],
    );
    report.equal('shoes', count(shown, ({ action }) => action === 'shoes'), most);
    report.equal('most novels of a person', Math.max(...novels.values()), each);
}

export async function budget(simulation, report) {
    report.title('Budget: coupons for 200 euros');
    const limit = 200, coupon = { lamp: 5, dripper: 3, novel: 1 };
    const bandit = await simulation.bandit('budget', { budgets: [{ name: 'coupons', cost: 'coupon', limit, per: '7d', pace: 'first' }] }, { propensity: 'floor:1' });
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
