// What the bandit must never show, and what it should prefer.
import { count, deviation, percent } from './simulation.mjs';

const RULES = [
    { name: 'no running gear at a desk', context: { 'visitor.device': 'desktop' }, action: { 'product.category': 'running' }, exclude: true },
    { name: 'lantern first', action: { _id: 'lantern' }, boost: 5 },
];

export async function rules(simulation, report) {
    report.title('Rules: an exclusion and a boost');
    const bandit = await simulation.bandit('rules', { rules: RULES });
    const shown = await simulation.show(bandit, simulation.people(simulation.visits));
    report.say('Running gear is never shown at a desk. The lantern gets 5 clicks added to its score: more than any product can');
    report.say('earn, so it is shown except for the 20% of decisions that are spread over all products that are allowed.');
    const rows = [];
    for (const [device, products] of [['phone', 8], ['desktop', 6]]) {
        const there = shown.filter(({ visitor }) => visitor.device === device);
        const share = (condition) => count(there, condition) / there.length;
        rows.push({ device, there, lantern: share(({ action }) => action === 'lantern'), expected: 0.8 + 0.2 / products,
            running: share(({ product }) => product.category === 'running') });
    }
    report.table(
        ['device', 'people', 'running gear', 'lantern', 'lantern expected'],
        rows.map(({ device, there, running, lantern, expected }) => [device, there.length, percent(running), percent(lantern), percent(expected)]),
    );
    for (const { device, there, lantern, expected } of rows)
        report.near(`lantern, ${device}`, lantern, expected, deviation(expected, there.length));
    report.equal('share of running gear at a desk', rows[1].running, 0);
    report.check(rows[0].running > 0, 'running gear is shown on phones');
    await explanation(bandit, shown.find(({ visitor }) => visitor.device === 'desktop').id, report);
}

async function explanation(bandit, id, report) {
    const { guardrails } = await bandit.explain(id);
    report.say('The explanation of a decision at a desk:');
    report.say(`    ${JSON.stringify(guardrails)}`);
    report.equal('rules in it', guardrails.rules.join(', '), RULES.map(({ name }) => name).join(', '));
    report.equal('excluded in it', Object.keys(guardrails.excluded).join(', '), 'shoes, belt');
}
