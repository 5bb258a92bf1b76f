// A person sees the same product for an hour, and the evaluator counts it once.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { PRODUCTS } from '../catalog.mjs';
import { clickProbability } from '../visitors.mjs';
import { count, mean, percent } from './simulation.mjs';

export async function stickiness(simulation, report) {
    report.title('Stickiness: the same product for an hour');
    const bandit = await simulation.bandit('sticky', { sticky: { for: '1h' } });
    const people = Math.round(simulation.visits / 4);
    const shown = await simulation.show(bandit, simulation.guests(people, 4));
    await simulation.click(bandit, shown);
    const first = new Map();
    for (const each of shown) if (!first.has(each.visitor.key)) first.set(each.visitor.key, each);
    const isFaithful = ({ repeats, action, visitor }) => {
        const draw = first.get(visitor.key);
        return repeats === draw.id && action === draw.action;
    };
    report.say(`${people} people come 4 times each. The first visit is drawn; the others repeat it.`);
    report.say(`${percent(count(shown, ({ repeats }) => repeats) / shown.length)} of the decisions are repeats.`);
    report.equal('repeats', count(shown, ({ repeats }) => repeats), 3 * people);
    report.equal('repeats that show what the first visit showed', count(shown, isFaithful), 3 * people);

    let log = '';
    for await (const line of bandit.logLines()) log += `${line}\n`;
    compareWithTruth(evaluateUniform(log), [...first.values()], report);
}

// What a random product would have earned: in truth, and estimated from the log by inverse propensities.
function compareWithTruth({ events, estimators: [{ value }] }, draws, report) {
    const truth = mean(draws, ({ visitor }) => mean(PRODUCTS, (product) => clickProbability(visitor, product)));
    const squares = mean(draws, ({ probability, clicked }) => clicked / (PRODUCTS.length * probability) ** 2);
    report.say('The exported log has them all, and repeats are marked. eenet evaluate uses each draw once:');
    report.equal('decisions that eenet evaluate uses', events, draws.length);
    report.near('clicks for random products, estimated from the log', value, truth, Math.sqrt(squares / draws.length));
}

function evaluateUniform(log) {
    const folder = mkdtempSync(join(tmpdir(), 'eenet-guardrails-'));
    try {
        const file = join(folder, 'log.dsjson');
        writeFileSync(file, log);
        const words = ['evaluate', file, '-p', 'uniform', '-e', 'ips', '--json'];
        return JSON.parse(execFileSync(process.env.EENET ?? 'eenet', words, { encoding: 'utf8' }));
    } finally {
        rmSync(folder, { recursive: true });
    }
}
