// Live evaluation by the real server: its numbers are those of `eenet evaluate` on the exported log, to the last digit,
// before and after a restart and a promotion; and kills neither lose a promotion nor make it twice.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { answered, ask, startServer, until } from './server.mjs';

const PROGRAM = process.env.EENET;

// The same numbers in every run.
function chance(seed) {
    let state = seed;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 4294967296;
    };
}

// Visitors on two plans, of whom each likes another of three actions; some say nothing, and their wait ends later.
async function play(url, bandit, named, from, count) {
    const random = chance(from + 1);
    for (let i = from; i < from + count; i++) {
        const plan = random() < 0.5 ? 0 : 1;
        const id = `visit-${i}`;
        const body = named
            ? {
                  id,
                  context: { plan: plan ? 'free' : 'pro', age: Math.floor(random() * 50) },
                  actions: ['red', 'green', 'blue'].map((color) => ({ id: color, features: { color } })),
              }
            : { id, actions: [0, 1, 2].map((a) => [a === 0 ? 1 : 0, a === plan + 1 ? 1 : 0.2, random()]) };
        const decided = await answered(200, ask(url, `/v1/bandits/${bandit}/decide`, body));
        const liked = decided.body.index === plan + 1;
        const value = random() < (liked ? 0.8 : 0.3) ? 1 : random() < 0.5 ? 0.25 : 0;
        if (random() < 0.85) await ask(url, `/v1/bandits/${bandit}/reward`, { id, value });
    }
}

async function evaluation(url, bandit) {
    const answer = await answered(200, ask(url, `/v1/bandits/${bandit}/evaluation`));
    return answer.body;
}

// All decisions are settled, and everybody has taken them.
const settled = (url, bandit, events) =>
    until(`${events} settled decisions of ${bandit}`, async () => {
        const now = await evaluation(url, bandit);
        const ready = now.events === events && now.waiting === 0 && now.policies.every((p) => p.state !== 'learning');
        return ready && now;
    });

// The candidate of `eenet evaluate` that a policy is.
const candidate = (policy) => ({ online: 'logged', baseline: 'first', uniform: 'uniform' })[policy.kind] ?? policy.policy;

// What `eenet evaluate` says of policies, no two of the same name: a line for each.
function evaluate(log, settings, policies, from, confidence) {
    const words = ['evaluate', log, '-p', policies.map(candidate).join(','), '-e', 'ips', '--json'];
    words.push('-s', String(settings.seed), '--confidence', String(confidence), '--rewards', settings.rewards.join(':'));
    if (settings.features !== undefined) words.push('--features', settings.features);
    if (from) words.push('--judge-from', from);
    for (const policy of policies.filter((one) => one.kind === 'challenger')) {
        const set = (assignment) => words.push('--set', `${candidate(policy)}.${assignment}`);
        for (const option of policy.options.split(' ').filter(Boolean)) set(option);
        const [rule, amount] = policy.propensity.split(':');
        if (rule !== 'own') set(`propensity=${rule}`);
        if (rule === 'floor') set(`propensity_epsilon=${amount}`);
        if (rule === 'softmax') set(`propensity_temperature=${amount}`);
    }
    const lines = execFileSync(PROGRAM, words, { encoding: 'utf8' }).trim().split('\n');
    return lines.map((line) => JSON.parse(line));
}

// In groups that one run can take.
function grouped(policies, whole) {
    const groups = [];
    for (const policy of policies) {
        const from = whole ? undefined : policy.from;
        const fits = (group) => group.from === from && group.policies.every((one) => candidate(one) !== candidate(policy));
        const group = groups.find(fits) ?? groups[groups.push({ from, policies: [] }) - 1];
        group.policies.push(policy);
    }
    return groups;
}

async function compare(url, bandit, folder, whole) {
    const now = await evaluation(url, bandit);
    const settings = (await ask(url, `/v1/bandits/${bandit}`)).body.settings;
    const log = join(folder, `${bandit}.dsjson`);
    writeFileSync(log, await (await fetch(`${url}/v1/bandits/${bandit}/log`)).text());
    for (const { policies, from } of grouped(now.policies, whole)) {
        evaluate(log, settings, policies, from, now.confidence).forEach((found, i) => {
            const policy = policies[i];
            const [ips] = found.estimators;
            const say = `${bandit}, ${policy.name}`;
            assert.equal(found.events, policy.events, say);
            for (const part of ['value', 'low', 'high', 'gain']) assert.equal(policy[part], ips[part], `${say}: ${part}`);
            assert.equal(policy.unsupported, found.facts.unsupported, say);
            if (policy.kind === 'challenger' && policy.test !== 1) return; // at another confidence: below
            assert.equal(policy.gain_low, ips.gain_low, say);
            assert.equal(policy.gain_high, ips.gain_high, say);
        });
    }
    const second = now.policies.find((policy) => policy.test > 1);
    const [found] = evaluate(log, settings, [second], whole ? undefined : second.from, 1 - 2 * second.alpha);
    // A gain is at most what the best rewards would add to what the bandit earned, at the confidence of that.
    const [online] = now.policies;
    const isCut = second.gain_high === settings.rewards[1] - online.low;
    for (const part of isCut ? ['gain_low'] : ['gain_low', 'gain_high'])
        assert.ok(Math.abs(second[part] - found.estimators[0][part]) < 1e-12, `${bandit}, ${second.name}: ${part}`);
    return now;
}

// A replay finds everything as the log says.
async function finish(server) {
    await server.stop('SIGTERM', true);
    const replayed = execFileSync(PROGRAM, ['replay', join(server.folder, 'store'), '--from-beginning'], { encoding: 'utf8' });
    assert.match(replayed, /all are identical to the log/);
    rmSync(server.folder, { recursive: true, force: true });
}

// All but what an evaluation says of the moment.
const numbers = (of) => of.policies.map(({ name, events, value, low, high, gain, gain_low, won }) => ({ name, events, value, low, high, gain, gain_low, won }));

const CHALLENGERS = [
    { name: 'linear', policy: 'linucb', options: 'alpha=0.5', propensity: 'floor:0.1' },
    { name: 'drawn', policy: 'lints', options: 'probability_draws=20' },
    { name: 'net', policy: 'eenet', options: 'f1.width=16', propensity: 'softmax:0.2' },
];

for (const [bandit, seen] of [['named', { features: 'names=200' }], ['plain', { dim: 3 }]]) {
    test(`live numbers are those of eenet evaluate: ${bandit}`, async () => {
        let server = await startServer();
        const { folder } = server;
        const named = bandit === 'named';
        const made = await ask(server.url, '/v1/bandits', {
            name: bandit, policy: 'greedy', seed: 5, wait: 1, propensity: 'floor:0.4', challengers: CHALLENGERS, ...seen,
        });
        assert.equal(made.status, 201, JSON.stringify(made.body));
        await play(server.url, bandit, named, 0, 250);
        await settled(server.url, bandit, 250);
        const before = await compare(server.url, bandit, folder, true);
        assert.ok(before.series.time.length > 50 && before.series.time.length <= 200);
        assert.equal(before.series.policies.net.low.length, before.series.time.length);

        // A restart goes on with what was saved; a kill begins with what was saved last, or from the log.
        const damage = () => writeFileSync(join(folder, 'store', 'live', '1.state'), 'nothing of the kind');
        for (const [signal, then] of [['SIGTERM'], ['SIGKILL'], ['SIGTERM', damage]]) {
            await server.stop(signal, true);
            then?.();
            server = await startServer([], server);
            assert.deepEqual(numbers(await settled(server.url, bandit, 250)), numbers(before), signal);
        }

        // One that is added now is judged by what comes, and has learned what was.
        const added = await answered(201, ask(server.url, `/v1/bandits/${bandit}/challengers`, { name: 'late', policy: 'linucb' }));
        assert.equal(added.body.number, 4);
        assert.equal(added.body.propensity, 'floor:0.4');
        await play(server.url, bandit, named, 250, 100);
        const both = await settled(server.url, bandit, 350);
        assert.deepEqual(both.policies.map((p) => p.events), [350, 350, 350, 350, 350, 350, 100]);
        await compare(server.url, bandit, folder, false);

        // A new period: all are judged anew, by what they have learned.
        await answered(200, ask(server.url, `/v1/bandits/${bandit}/challengers/linear/promote`, {}));
        await play(server.url, bandit, named, 350, 120);
        const after = await settled(server.url, bandit, 120);
        assert.deepEqual(after.policies.map((p) => p.name), ['online', 'baseline', 'uniform', 'drawn', 'net', 'late', 'former-5']);
        assert.equal(after.policies[0].policy, 'linucb');
        assert.deepEqual(after.promotions.map((p) => [p.from, p.to, p.challenger]), [['greedy', 'linucb', 'linear']]);
        const { why, won } = after.promotions[0];
        assert.match(why, won ? /: better after .*; passed test 1,/ : /: not significantly better after .* interval -?[\d.]+ to -?[\d.]+ \(test 1, /);
        await compare(server.url, bandit, folder, false);
        await finish(server);
    });
}

test('kills neither lose a promotion nor make it twice', async () => {
    const random = chance(7);
    let server = await startServer();
    const made = await ask(server.url, '/v1/bandits', {
        name: 'shop', policy: 'uniform', features: 'names=100', wait: 1, promote: 'auto', confidence: 0.9,
        challengers: [{ name: 'linear', policy: 'linucb', propensity: 'floor:0.3' }],
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    let played = 0;
    const settings = async () => (await ask(server.url, '/v1/bandits/shop')).body.settings;
    for (let life = 0; life < 12 && (await settings()).policy !== 'linucb'; life++) {
        const count = 10 + Math.floor(random() * 30);
        await play(server.url, 'shop', true, played, count);
        played += count;
        await server.stop('SIGKILL', true);
        server = await startServer([], server);
    }
    // Where it is slow, no life was long enough.
    await until('a promotion', async () => {
        if ((await settings()).policy === 'linucb') return true;
        await play(server.url, 'shop', true, played, 20);
        played += 20;
        return false;
    });
    const found = await settings();
    assert.deepEqual(found.challengers.map((c) => [c.name, c.policy, c.number]), [['former-2', 'uniform', 2]]);
    const now = await until('the promotion', async () => {
        const asked = await evaluation(server.url, 'shop');
        return asked.promotions.length && asked;
    });
    assert.equal(now.promotions.length, 1);
    assert.deepEqual([now.promotions[0].by, now.promotions[0].test], ['auto', 1]);
    assert.ok(now.promotions[0].won > 0);
    assert.match(now.promotions[0].why, /^linucb vs uniform: better after \d+ decisions, gain [\d.]+; passed test 1, as one that is not better does with probability at most 0.05$/);

    // A model that begins anew is of the policy in force, also where a restart takes it from the log; and it begins a
    // new period, with a new number for the test of the former.
    await play(server.url, 'shop', true, played, 40);
    assert.equal((await ask(server.url, '/v1/bandits/shop/model', undefined, 'DELETE')).status, 200);
    assert.equal((await settings()).challengers[0].number, 3);
    await play(server.url, 'shop', true, played + 40, 40);
    await server.stop('SIGKILL', true);
    server = await startServer([], server);
    await play(server.url, 'shop', true, played + 80, 40);
    await settled(server.url, 'shop', 80);
    await finish(server);
});

