// The server is killed again and again while callers decide for slots, defer, activate and reward, challengers are
// judged and promoted, and evaluations are asked for. In the end all that was acknowledged is there, once and whole;
// what live evaluation kept is what it makes from the log anew; and a replay finds everything as the log says.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ask, readLog, startServer, until } from './server.mjs';

const KILLS = 8;
const CALLERS = 4;
const WORDS = ['--checkpoint-seconds', '1', '--publish-interval', '0.05'];

const BANDITS = {
    page: { aggregation: 'first', promote: 'auto', confidence: 0.8, challengers: [{ name: 'linear', policy: 'linucb', propensity: 'floor:0.3' }] },
    shop: { aggregation: 'sum' },
};
const ACTIONS = ['a0', 'a1', 'a2', 'a3'].map((id) => ({ id, features: { id } }));
const SLOTS = [{ id: 's0', features: { at: 'top' } }, { id: 's1', features: { at: 'end' }, exclude: ['a3'] }];

// The same request until it is answered, by whichever server is there.
async function insist(place, path, body, method) {
    return until(`an answer to ${path}`, async () => {
        const answer = await ask(place.server.url, path, body, method).catch(() => null);
        return answer && answer.status !== 503 && answer;
    });
}

async function call(place, number, kept) {
    for (let i = 0; !place.over; i++) {
        const bandit = i % 3 === 2 ? 'shop' : 'page';
        const base = `/v1/bandits/${bandit}`;
        const id = `c${number}-${i}`;
        const plan = i % 2 ? 'free' : 'pro';
        const slots = i % 4 !== 3;
        const defer = i % 5 === 0;
        const asked = { id, context: { plan }, actions: ACTIONS, defer, ...(slots ? { slots: SLOTS } : {}) };
        const decided = await insist(place, `${base}/decide`, asked);
        assert.equal(decided.status, 200, JSON.stringify(decided.body));
        const parts = slots ? decided.body.slots : [decided.body];
        kept.decisions.push({ bandit, id, actions: parts.map((part) => part.action), defer, active: i % 10 === 0 });
        if (defer && i % 10 === 0) await insist(place, `${base}/activate`, { id });
        for (const part of parts) {
            const value = (part.action === 'a0') === (plan === 'free') ? 1 : 0;
            const reward = { id, value, reward_id: 'once', ...(slots ? { slot: part.id } : {}) };
            const answer = await insist(place, `${base}/reward`, reward);
            assert.ok(['joined', 'late'].includes(answer.body.outcome), JSON.stringify(answer.body));
        }
        if (i % 50 === 7) {
            const job = await insist(place, `${base}/evaluations`, { name: id });
            if (job.status === 201) kept.jobs.push({ bandit, id: job.body.id });
        }
    }
}

// When all decisions since the last promotion are judged, and no other promotion is about to come.
async function evaluation(place, bandit, lines) {
    return until(`all decisions of ${bandit} evaluated`, async () => {
        const now = (await ask(place.server.url, `/v1/bandits/${bandit}/evaluation`)).body;
        const begun = now.promotions.length ? now.promotions.at(-1).event : 0;
        const events = lines.reduce((sum, line) => sum + (line._cursor > begun ? counted(line) : 0), 0);
        const quiet = now.policies.every((policy) => policy.state === '');
        return now.waiting === 0 && now.events === events && quiet && now;
    });
}

// Asks until all decisions are settled.
async function settledLog(place, bandit, count) {
    return until(`all decisions of ${bandit} settled`, async () => {
        const lines = await readLog(place.server.url, bandit);
        return lines.length >= count && lines;
    });
}

const name = (line, number) => line.c._multi[number]._tag;
const taken = (line) => (line._outcomes ? line._outcomes.map((slot) => name(line, slot._a[0])) : [name(line, line.a[0] - 1)]);
const skipped = (line) => (line._outcomes ? line._outcomes.every((slot) => slot._skipLearn) : Boolean(line._skipLearn));

// Each slot is a decision of its own.
const counted = (line) => (line._outcomes ?? [line]).filter((slot) => !slot._skipLearn).length;

function compare(lines, decisions) {
    const found = new Map(lines.map((line) => [line.EventId, line]));
    assert.equal(found.size, lines.length, 'a decision is there twice');
    assert.equal(lines.length, decisions.length);
    for (const made of decisions) {
        const line = found.get(made.id);
        assert.ok(line, `${made.id} is lost`);
        assert.deepEqual(taken(line), made.actions, made.id);
        if (made.defer && !made.active) assert.ok(skipped(line), `${made.id} was never activated`);
    }
}

test('kills lose nothing of slots, activations, promotions, live evaluation and jobs', async () => {
    const place = { server: await startServer(WORDS), over: false };
    const kept = { decisions: [], jobs: [] };
    const usual = { policy: 'uniform', features: 'names=200', wait: 1, default_reward: 0 };
    for (const [bandit, own] of Object.entries(BANDITS)) {
        const made = await ask(place.server.url, '/v1/bandits', { name: bandit, ...usual, ...own });
        assert.equal(made.status, 201, JSON.stringify(made.body));
    }
    const callers = Array.from({ length: CALLERS }, (_, number) => call(place, number, kept));
    for (let i = 0; i < KILLS; i++) {
        const count = kept.decisions.length + 20 + 13 * (i % 4);
        await until('more decisions', () => kept.decisions.length >= count);
        await place.server.stop('SIGKILL', true);
        place.server = await startServer(WORDS, place.server);
    }
    const count = kept.decisions.length + 30;
    await until('more decisions', () => kept.decisions.length >= count);
    place.over = true;
    await Promise.all(callers);
    for (const bandit of Object.keys(BANDITS)) {
        const decisions = kept.decisions.filter((made) => made.bandit === bandit);
        compare(await settledLog(place, bandit, decisions.length), decisions);
        const { evaluations } = (await ask(place.server.url, `/v1/bandits/${bandit}/evaluations`)).body;
        for (const job of kept.jobs) if (job.bandit === bandit) assert.ok(evaluations.some((one) => one.id === job.id), 'a job is lost');
    }
    const lines = await readLog(place.server.url, 'page');
    const before = await evaluation(place, 'page', lines);
    assert.equal((await place.server.stop('SIGTERM', true)).code, 0);
    const store = join(place.server.folder, 'store');
    rmSync(join(store, 'live'), { recursive: true });
    place.server = await startServer(WORDS, place.server);
    assert.deepEqual(await evaluation(place, 'page', lines), before);
    assert.equal((await place.server.stop('SIGTERM', true)).code, 0);
    const replayed = execFileSync(process.env.EENET, ['replay', store, '--from-beginning'], { encoding: 'utf8' });
    assert.match(replayed, /all are identical to the log/);
    rmSync(place.server.folder, { recursive: true, force: true });
});
