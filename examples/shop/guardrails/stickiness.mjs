// A person sees the same product for an hour, and the evaluator counts it once.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { count, percent } from './simulation.mjs';

export async function stickiness(simulation, report) {
    report.title('Stickiness: the same product for an hour');
    const bandit = await simulation.bandit('sticky', { sticky: { for: '1h' } });
    const people = Math.round(simulation.visits / 4);
    const shown = await simulation.show(bandit, simulation.guests(people, 4));
    await simulation.click(bandit, shown);
    const first = new Map();
    for (const each of shown) if (!first.has(each.visitor.key)) first.set(each.visitor.key, each);
    const faithful = ({ repeats, action, visitor }) => repeats === first.get(visitor.key).id && action === first.get(visitor.key).action;
    report.say(`${people} people come 4 times each. The first visit is drawn; the others repeat it.`);
    report.say(`${percent(count(shown, ({ repeats }) => repeats) / shown.length)} of the decisions are repeats.`);
    report.equal('repeats', count(shown, ({ repeats }) => repeats), 3 * people);
    report.equal('repeats that show what the first visit showed', count(shown, faithful), 3 * people);

    const log = await (await fetch(`${bandit.url}${bandit.path}/log`)).text();
    const [result] = evaluate(log);
    report.say(`eenet evaluate counts the draws only:\n    ${JSON.stringify(result)}`);
}

function evaluate(log) {
    const folder = mkdtempSync(join(tmpdir(), 'eenet-guardrails-'));
    try {
        const file = join(folder, 'log.dsjson');
        writeFileSync(file, log);
        const printed = execFileSync(process.env.EENET ?? 'eenet', ['evaluate', file, '-p', 'uniform', '-e', 'ips', '--json'], { encoding: 'utf8' });
        return printed.trim().split('\n').map((line) => JSON.parse(line));
    } finally {
        rmSync(folder, { recursive: true });
    }
}
