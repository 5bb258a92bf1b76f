// A tour of guardrails: each chapter shows one with visitors whose behaviour is known, prints what was expected and what
// was measured, and checks it. Exits with 1 if anything is outside of what it states.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { startEenet } from './eenet.mjs';
import { controlGroup, holding, rollout } from './guardrails/groups.mjs';
import { budget, caps, shares } from './guardrails/limits.mjs';
import { bounds, objective } from './guardrails/metrics.mjs';
import { rules } from './guardrails/rules.mjs';
import { Report, Simulation } from './guardrails/simulation.mjs';
import { stickiness } from './guardrails/stickiness.mjs';

const CHAPTERS = [controlGroup, rollout, rules, shares, caps, budget, stickiness, objective, bounds, holding];

function readVisits() {
    const { values } = parseArgs({ options: { visits: { type: 'string', default: '4000' } } });
    const visits = Number(values.visits);
    if (!Number.isInteger(visits) || visits < 1000 || visits > 100000)
        throw new Error(`--visits must be a whole number from 1000 to 100000, got '${values.visits}'`);
    return visits;
}

// Ends with an error when the server stops, or on Ctrl-C.
function untilStopped(server) {
    const stopped = server.ended.then((why) => Promise.reject(new Error(why)));
    const interrupted = new Promise((_, reject) => {
        for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => reject(new Error('interrupted')));
    });
    return Promise.race([stopped, interrupted]);
}

async function tour(simulation, report) {
    for (const chapter of CHAPTERS) await chapter(simulation, report);
}

async function main() {
    const visits = readVisits();
    const folder = mkdtempSync(join(tmpdir(), 'eenet-guardrails-'));
    const report = new Report();
    let server;
    try {
        server = await startEenet(folder, 0);
        await Promise.race([tour(new Simulation(server.url, visits), report), untilStopped(server)]);
    } finally {
        await server?.stop();
        rmSync(folder, { recursive: true, force: true });
    }
    if (report.failures) throw new Error(`${report.failures} checks failed; see WRONG above`);
    console.log('\nAll checks hold.');
    process.exit(0);
}

main().catch((error) => {
    console.error(`guardrails: ${error.message}`);
    process.exit(1);
});
