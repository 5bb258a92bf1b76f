// What the bandit must never show, and what it should prefer.
import { count, deviation, percent } from './simulation.mjs';

const RULES = [
    {
        name: 'no running gear at a desk',
        context: { 'visitor.device': 'desktop' },
        action: { 'product.category': 'running' },
        exclude: true,
    },
    { name: 'lantern first', action: { _id: 'lantern' }, boost: 5 },
];

export async function rules(simulation, report) {
    report.title('Rules: an exclusion and a boost');
    const bandit = await simulation.bandit('rules', { rules: RULES });
    const shown = await simulation.show(bandit, simulation.people(simulation.visits));
    report.say('Running gear is never shown at a desk. A boost of 5 puts the lantern first: a click is worth only 1.');
    report.say('20% of the decisions are still spread over all products that the rules allow: 8 on a phone, 6 at a desk.');
    const [phone, desk] = [['phone', 8], ['desktop', 6]].map(([device, products]) => {
        const there = shown.filter(({ visitor }) => visitor.device === device);
        return {
            device,
            people: there.length,
            running: count(there, ({ product }) => product.category === 'running'),
            lantern: count(there, ({ action }) => action === 'lantern') / there.length,
            expected: 0.8 + 0.2 / products,
        };
    });
    report.table(
        ['device', 'people', 'running gear', 'lantern'],
        [phone, desk].map(({ device, people, running, lantern }) => [device, people, running, percent(lantern)]),
    );
    for (const { device, people, lantern, expected } of [phone, desk])
        report.near(`lantern, ${device}`, lantern, expected, deviation(expected, people));
    report.equal('running gear at a desk', desk.running, 0);
    report.check(phone.running > 0, 'running gear is shown on phones');
    await explanation(bandit, shown.find(({ visitor }) => visitor.device === 'desktop').id, report);
}

async function explanation(bandit, id, report) {
    const { guardrails } = await bandit.explainDecision(id);
    report.say('The explanation of a decision at a desk:');
    report.say(`    ${JSON.stringify(guardrails)}`);
    report.equal('rules in it', guardrails.rules.join(', '), RULES.map(({ name }) => name).join(', '));
    report.equal('excluded in it', Object.keys(guardrails.excluded).join(', '), 'shoes, belt');
}
