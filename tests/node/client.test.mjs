// clients/javascript in Node.js, against the real server: its calls, and what it does when the network fails.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { FAULT_NAMES, startProxy } from './failing_proxy.mjs';
import { PATIENCE, listen, startServer, until } from './server.mjs';

const eenet = await import(pathToFileURL(join(process.env.SOURCE_FOLDER, 'clients/javascript/index.js')));
const { BadRequest, Client, Conflict, Gone, NotFound, Refused, RewardQueue, ServerError, SomeRefused, Timeout, TooLarge, Unavailable } = eenet;

const ACTIONS = { red: { color: 'red' }, blue: { color: 'blue' } };
const PATIENT = { retryFor: 600, timeout: PATIENCE / 1000 };
const [SOON, LATER] = [0.2, 2]; // seconds: for requests that never get a response

let server, client;
before(async () => {
    server = await startServer();
    client = new Client(server.url, PATIENT);
});
after(() => server?.stop());

const collect = async (iterator) => {
    const list = [];
    for await (const each of iterator) list.push(each);
    return list;
};

// The same faults in every run, as far as requests come in the same order.
function seededFaults(healthy) {
    let state = 1;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        if (state / 2 ** 32 < healthy) return 'none';
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return FAULT_NAMES[Math.floor((state / 2 ** 32) * FAULT_NAMES.length)];
    };
}

const resultsOf = ({ answer }) => (answer?.status === 200 ? JSON.parse(answer.bytes) : null);

// The server joined each reward once, and recognised its repeats.
function checkRewards(seen, count) {
    const taken = new Map();
    for (const request of seen.filter(({ path }) => /reward/.test(path))) {
        const sent = JSON.parse(request.body), results = resultsOf(request);
        const answers = results?.rewards ?? [results];
        (sent.rewards ?? [sent]).forEach(({ reward_id: id }, i) => {
            taken.set(id, taken.get(id) ?? 0);
            if (!results || answers[i].error) return;
            assert.equal(answers[i].outcome, 'joined', `${request.body}: ${request.answer.bytes}`);
            if (!answers[i].repeated) taken.set(id, taken.get(id) + 1);
        });
    }
    for (const [id, times] of taken) assert.ok(times <= 1, `${id} was taken ${times} times`);
    assert.equal(taken.size, count);
}

// Whatever was sent again had the same bytes, and got the same response.
function checkRepetitions(seen) {
    const bodies = new Map(), answers = new Map();
    const check = (map, id, value) => {
        if (!map.has(id)) map.set(id, value);
        assert.equal(value, map.get(id), `${id} was repeated with other bytes`);
    };
    for (const request of seen.filter(({ method }) => method === 'POST')) {
        const { path, body } = request;
        const sent = JSON.parse(body), results = resultsOf(request);
        const items = sent.decisions ?? sent.rewards ?? [sent];
        items.forEach((item, i) => {
            const id = item.reward_id ?? item.id;
            assert.ok(id, `no id in ${body}`);
            check(bodies, id, JSON.stringify(item));
            if (item.reward_id || !results) return; // the response to a repeated reward says that it is one
            check(answers, id, JSON.stringify(results.decisions?.[i] ?? results));
        });
        assert.match(path, /^\/v1\/bandits\//);
    }
    return bodies.size;
}

test('through a failing proxy: the same bytes for an id, and each reward counts once', async () => {
    const proxy = await startProxy(server.url, seededFaults(0.4));
    await client.create('unreliable', { features: true, wait: '1d' });
    const far = new Client(proxy.url, { retryFor: 600, timeout: LATER, connections: 16 }).bandit('unreliable');
    const visit = async (number) => {
        const decision = await far.decide(ACTIONS, { number });
        const value = number / 1000;
        const { outcome } = await far.reward(decision, value);
        assert.equal(outcome, 'joined');
        return { decision, value };
    };
    const portion = async (from) => {
        const decisions = await far.decideMany(Array.from({ length: 20 }, (_, i) => ({ actions: ACTIONS, context: { number: from + i } })));
        const values = decisions.map((_, i) => (from + i) / 1000);
        const outcomes = await far.rewardMany(decisions.map((decision, i) => [decision, values[i]]));
        for (const { outcome } of outcomes) assert.equal(outcome, 'joined');
        return decisions.map((decision, i) => ({ decision, value: values[i] }));
    };
    const visits = Promise.all([...Array.from({ length: 150 }, (_, number) => visit(number)), ...[200, 220, 240, 260, 280].map(portion)]);

    // A crash in between.
    await until('some requests', () => proxy.seen.length > 50);
    await server.stop('SIGKILL', true);
    server = await startServer([], server);
    proxy.target = server.url;
    client = new Client(server.url, PATIENT);
    const played = (await visits).flat();
    proxy.close();

    const faults = new Set(proxy.seen.map(({ fault }) => fault));
    assert.deepEqual(FAULT_NAMES.filter((name) => !faults.has(name)), [], 'every fault happened');
    assert.equal(checkRepetitions(proxy.seen), 500, '250 decisions and 250 rewards');
    checkRewards(proxy.seen, 250);
    assert.ok(proxy.seen.length > 400, `${proxy.seen.length} requests`);

    // The log has each decision as the client got it, with its reward.
    const events = new Map((await collect(client.bandit('unreliable').log())).map((event) => [event.EventId, event]));
    assert.equal(events.size, played.length);
    for (const { decision, value } of played) {
        const event = events.get(decision.id);
        assert.equal(event._labelIndex, decision.arm);
        assert.equal(event._label_probability, decision.probability);
        assert.ok(Math.abs(event._label_cost + value) < 1e-6, `${event._label_cost} for ${value}`);
    }
});

test('a reward that is sent again is added once to the sum', async () => {
    const bandit = await client.create('sums', { features: true, wait: '1d', aggregation: 'sum' });
    let number = 0;
    const proxy = await startProxy(server.url, () => ['lose', 'half', 'gateway', 'none'][number++ % 4]);
    const far = new Client(proxy.url, PATIENT).bandit('sums');
    const decision = await far.decide(ACTIONS);
    assert.deepEqual([await far.reward(decision, 0.25), await bandit.reward(decision, 0.5)], [{ outcome: 'joined', repeated: true }, { outcome: 'joined', repeated: false }]);
    assert.equal(proxy.seen.length, 8);
    proxy.close();
    await bandit.change({ wait: 0.001 });
    const [event] = await until('the end of the wait', async () => {
        const events = await collect(bandit.log());
        return events.length && events;
    });
    assert.equal(event._label_cost, -0.75);
});

test('what must not be repeated is sent once, and the error says that it may be done', async () => {
    await client.create('once', { features: true });
    const proxy = await startProxy(server.url, () => 'lose');
    const far = new Client(proxy.url, PATIENT).bandit('once');
    await assert.rejects(far.reset(), (error) => error instanceof Unavailable && error.maybeDone && error.retried === 0);
    assert.equal(proxy.seen.length, 1);
    proxy.close();
});

test('it waits as long as the server asks, and gives up in time', async (t) => {
    // The client's pauses are over at once, and its clock moves by them.
    const pauses = [];
    const { setTimeout: later, performance: { now } } = globalThis;
    t.mock.method(globalThis, 'setTimeout', (call, milliseconds, ...more) => {
        const isPause = new Error().stack.includes('transport.js') && milliseconds < 10000; // longer: the limit of a request
        if (isPause) pauses.push(milliseconds);
        return later(call, isPause ? 0 : milliseconds, ...more);
    });
    t.mock.method(performance, 'now', () => now.call(performance) + pauses.reduce((sum, one) => sum + one, 0));
    let failures = 1, asked = 0;
    const busy = await listen((request, response) => {
        if (++asked > failures) return response.end('{"bandits": []}');
        response.writeHead(503, { 'Retry-After': failures === 1 ? '1' : '0' });
        response.end('{"error": {"code": "Unavailable", "message": "too much to do"}}');
    });
    assert.deepEqual(await new Client(busy.url, PATIENT).bandits(), []);
    assert.ok(pauses.length === 1 && pauses[0] >= 1000, `${pauses}`);

    failures = Infinity;
    asked = 0;
    await assert.rejects(new Client(busy.url, { retryFor: 5 }).bandits(), (error) => {
        assert.ok(error instanceof Unavailable && error.name === 'Unavailable');
        assert.deepEqual([error.message, error.status, error.code, error.maybeDone], ['too much to do', 503, 'Unavailable', false]);
        assert.equal(error.retried, asked - 1);
        assert.match(error.body, /too much/);
        return true;
    });
    asked = 0;
    await assert.rejects(new Client(busy.url, { retryFor: 0 }).bandits(), Unavailable);
    assert.equal(asked, 1);
    assert.equal(await new Client(busy.url).ready(), false);
    busy.close();
});

test('a server that does not respond', async () => {
    const proxy = await startProxy(server.url, () => 'stall');
    await assert.rejects(new Client(proxy.url, { timeout: SOON, retryFor: 0 }).bandits(), (error) => error instanceof Timeout && /did not respond within 0.2 s/.test(error.message));
    proxy.close();
    await assert.rejects(new Client(proxy.url, { retryFor: 0 }).bandits(), (error) =>
        error instanceof Unavailable && !error.maybeDone && /is eenet serve running there/.test(error.message));
});

test('a request that waits for its turn is sent later', async () => {
    let most = 0, left = 20;
    const held = [];
    const slow = await listen(async (request, response) => {
        if (request.url === '/other') return response.end();
        most = Math.max(most, held.push(response));
        if (held.length !== Math.min(3, left)) return;
        await fetch(`${slow.url}/other`); // meanwhile a fourth would arrive
        left -= held.length;
        for (const one of held.splice(0)) one.end('{"bandits": []}');
    });
    const few = new Client(slow.url, { connections: 3, ...PATIENT });
    const all = await Promise.all(Array.from({ length: 20 }, () => few.bandits()));
    assert.equal(all.length, 20);
    assert.equal(most, 3);
    slow.close();
});

test('other servers', async () => {
    const { url, close } = await listen((request, response) => {
        if (request.url.startsWith('/moved')) response.writeHead(301, { Location: 'https://new.example/' }).end();
        else response.end(request.url.includes('batch') ? '{}' : '<html>');
    });
    await assert.rejects(new Client(url).bandits(), /expected eenet serve at this url/);
    await assert.rejects(new Client(url).bandit('a').rewardMany([['1', 1]]), /expected a result for each item/);
    await assert.rejects(new Client(`${url}/moved`).bandits(), /redirects to https:\/\/new.example\//);
    close();
});

test('a key', async () => {
    const proxy = await startProxy(server.url, () => 'none');
    await new Client(proxy.url, { key: 'ee_secret' }).bandits();
    assert.equal(proxy.seen[0].headers.authorization, 'Bearer ee_secret');
    proxy.close();
    for (const options of [{ key: 'ee\n' }, { timeout: -SOON }, { timeout: 1e6 }, { retryFor: -1 }, { connections: 0 }])
        assert.throws(() => new Client(server.url, options), TypeError);
    assert.throws(() => new Client(server.url, { retries: 3 }), /unknown "retries"; expected key, timeout, retryFor, connections/);
    for (const url of ['ftp://a', 'a', '/eenet', 'http://user:key@a', 'http://a/?b']) assert.throws(() => new Client(url), TypeError);
});

test('actions in every form', async () => {
    const bandit = await client.create('forms', { features: true });
    const only = async (actions, options) => (await bandit.decide(actions, { plan: 'free', missing: NaN, none: null }, options)).action;
    assert.equal(await only(ACTIONS, { exclude: 'red' }), 'blue');
    assert.equal(await only(new Map([[7, { color: 'red' }], [3, null]]), { exclude: ['3'] }), 7);
    const list = [{ color: 'red' }, { color: 'blue', tags: ['a', 'b'] }];
    assert.equal(await only(list, { exclude: ['0'] }), list[1]);
    assert.equal(await only([{ id: 'x', features: {} }, { id: 'y', features: new Map([['a', 1]]) }], { exclude: 'x' }), 'y');

    const vectors = await client.create('vectors', { dim: 2 });
    const rows = [[1, 2], new Float32Array([3, 4])];
    assert.equal((await vectors.decide(rows, null, { exclude: '0' })).action, rows[1]);
    assert.equal((await vectors.decide({ a: [1, 2], b: [3, 4] }, null, { exclude: 'a' })).action, 'b');

    const same = [await bandit.decide(ACTIONS, {}, { id: 12 }), await bandit.decide(ACTIONS, {}, { id: '12' })];
    assert.deepEqual(same[0], same[1]);
    assert.equal(same[0].probability, same[0].probabilities[same[0].arm]);
    const slots = await bandit.decideSlots(ACTIONS, ['top', { id: 'side', features: { size: 1 } }]);
    assert.deepEqual(slots.map(({ slot }) => slot), ['top', 'side']);
    assert.notEqual(slots[0].action, slots[1].action);
    for (const slot of slots) assert.equal((await bandit.reward(slot, true)).outcome, 'joined');
    const deferred = await bandit.decide(ACTIONS, null, { defer: true, key: 'anna' });
    assert.equal(await bandit.activate(deferred), 'activated');
    assert.equal(await bandit.activate(deferred.id), 'repeated');
});

test('what JSON cannot hold is refused with its place, before anything is sent', async () => {
    const bandit = new Client('http://127.0.0.1:1').bandit('none');
    const loop = { name: 'a' };
    loop.inside = { loop };
    for (const [call, message] of [
        [() => bandit.decide({ a: { at: new Date() } }), /actions\[0\].features.at: expected .* got Date; for a time, send its hour/],
        [() => bandit.decide(ACTIONS, { x: { y: Infinity } }), /context.x.y: expected a finite number, got Infinity/],
        [() => bandit.decide(ACTIONS, { x: Promise.resolve(1) }), /got Promise; an await is missing/],
        [() => bandit.decide(ACTIONS, { x: 1n }), /context.x: .* got bigint/],
        [() => bandit.decide(ACTIONS, loop), /context.inside.loop contains itself/],
        [() => bandit.decide('red'), /actions: expected a mapping .* got string/],
        [() => bandit.decide(ACTIONS, null, { excluded: [] }), /unknown "excluded"; expected id, exclude, defer, key/],
        [() => bandit.decide(ACTIONS, null, { id: {} }), /id: expected a string or a decision/],
        [() => bandit.decideMany([ACTIONS], { ids: [1, 2] }), /one context and one id per round, got 1 rounds, 1 contexts and 2 ids/],
        [() => bandit.reward('a', NaN), /value: expected a finite number or a boolean, got NaN/],
        [() => bandit.reward('a'), /expected a value or metrics/],
        [() => bandit.rewardMany([{ id: 'a', value: 1, reward_id: 'x' }]), /unknown "reward_id"; .*rewardId/],
        [() => bandit.explainDecision('..'), /expected the name or id, got '..'/],
        [() => bandit.upload('model'), /expected a Uint8Array/],
    ])
        await assert.rejects(call, (error) => error instanceof BadRequest && message.test(error.message) ? true : assert.fail(`${call}: ${error}`));
});

test('batches: what is refused, what is too large', async () => {
    const bandit = await client.create('batches', { features: true, rewards: [0, 1] });
    const decisions = await bandit.decideMany(Array.from({ length: 1500 }, () => ACTIONS), { ids: Array.from({ length: 1500 }, (_, i) => `d${i}`) });
    assert.deepEqual([decisions.length, decisions[1499].id], [1500, 'd1499']);
    await assert.rejects(bandit.rewardMany([[decisions[0], 1], ['d1', 7], { id: decisions[2], value: 0, rewardId: 'mine' }]), (error) => {
        assert.ok(error instanceof SomeRefused);
        assert.match(error.message, /refused 1 of 3 rewards; the first is rewards\[1\]: the reward 7 is outside/);
        assert.deepEqual([error.answers[0].outcome, error.answers[1].status, error.answers[2].outcome], ['joined', 400, 'joined']);
        return true;
    });
    const [refused, again] = await bandit.rewardMany([['d1', 7], { id: 'd2', value: 0, rewardId: 'mine' }], { returnErrors: true });
    assert.ok(refused instanceof BadRequest);
    assert.deepEqual(again, { outcome: 'joined', repeated: true });
    const other = await bandit.decideMany([{ actions: ACTIONS, slots: 2 }, { actions: { a: { x: 'y'.repeat(3e6) } } }, { actions: { a: { x: 'y'.repeat(3e6) } } }], { returnErrors: true });
    assert.equal(other[0].length, 2);
    assert.deepEqual(await bandit.rewardMany([]), []);
    const small = await startServer(['--body-bytes', '4096']);
    const tight = await new Client(small.url, PATIENT).create('tight', { features: true });
    const results = await tight.decideMany(Array.from({ length: 50 }, (_, i) => (i === 7 ? { a: { x: 'y'.repeat(5000) } } : ACTIONS)), { returnErrors: true });
    assert.deepEqual(results.map((each) => each instanceof TooLarge), results.map((_, i) => i === 7));
    await small.stop();
});

test('errors have their kind', async () => {
    const bandit = await client.create('kinds', { features: true });
    await assert.rejects(client.bandit('nothing').describe(), (error) => error instanceof NotFound && error instanceof ServerError && error.status === 404 && error.requestId.length > 5);
    await assert.rejects(client.create('kinds', { dim: 3 }), Conflict);
    await bandit.decide(ACTIONS, { a: 1 }, { id: 'one' });
    await assert.rejects(bandit.decide(ACTIONS, { a: 2 }, { id: 'one' }), Conflict);
    await bandit.archive();
    await assert.rejects(bandit.decide(ACTIONS), Gone);
    assert.equal((await bandit.restore()).archived, false);
    await bandit.purge();
    await assert.rejects(bandit.describe(), NotFound);
    assert.equal(new Refused('x').name, 'Refused');
});

test('the other calls', async () => {
    const bandit = await client.create('calls', { features: { names: 100 }, options: { 'f1.width': 20 }, policy: 'eenet', wait: '1h' });
    assert.equal(await client.ready(), true);
    await assert.rejects(client.fleet(), NotFound);
    assert.ok((await client.bandits()).some(({ name }) => name === 'calls'));
    assert.equal((await bandit.describe()).settings.options, 'f1.width=20');
    const decisions = await bandit.decideMany(Array.from({ length: 30 }, () => ACTIONS));
    await bandit.rewardMany(decisions.map((decision) => [decision, 1]));

    assert.equal((await bandit.explain(ACTIONS, { a: 1 }, { features: 1 })).actions.length, 2);
    assert.ok((await bandit.explainDecision(decisions[0], { features: 1 })).actions);
    for (const call of ['importance', 'activity', 'evaluation', 'versions']) assert.equal(typeof (await bandit[call]()), 'object');
    assert.equal((await bandit.addChallenger('linear', 'linucb', { alpha: 0.5 }, { propensity: 'floor:0.1' })).options, 'alpha=0.5');
    assert.equal((await bandit.challengers()).length, 1);
    await until('the promotion', () => bandit.promote('linear').catch((error) => (error instanceof Conflict ? 0 : Promise.reject(error))));
    assert.deepEqual(await bandit.removeChallenger((await bandit.challengers())[0].name), []);

    const done = await bandit.evaluate(['logged', { name: 'best', policy: 'first' }], { name: 'now', since: new Date(0), estimators: 'ips', wait: 600 });
    assert.deepEqual(done.results.map(({ name }) => name), ['logged', 'best']);
    assert.equal((await bandit.evaluations()).length, 1);
    await bandit.deleteEvaluation(done.id);
    assert.deepEqual(await bandit.evaluations(), []);

    const lines = await collect(bandit.logLines());
    assert.equal(lines.length, 30);
    assert.deepEqual((await collect(bandit.log({ limit: 3 }))).map(({ EventId }) => EventId), lines.slice(0, 3).map((line) => JSON.parse(line).EventId));
    assert.equal((await collect(bandit.log({ after: JSON.parse(lines[9])._cursor }))).length, 20);
    assert.equal((await collect(bandit.log({ until: new Date(0) }))).length, 0);

    await until('the promoted model', async () => (await bandit.describe()).behind === 0);
    const model = await bandit.modelBytes();
    assert.ok(model instanceof Uint8Array && model.length > 100);
    assert.ok((await bandit.upload(model)) > 0);
    assert.ok((await bandit.reset()) > 0);
    assert.equal((await bandit.change({ wait: '2h', default_reward: null })).settings.wait, 7200);
    assert.equal((await bandit.erase([decisions[0].id])).decisions, 1);
    await bandit.change({ guardrails: {} });
    await bandit.decide(ACTIONS, null, { key: 'u17' });
    assert.equal((await bandit.erase(null, { person: 'u17' })).decisions, 1);
    await assert.rejects(bandit.evaluationResults('nothing'), NotFound);
});

test('a log of several pages comes once, through a failing proxy', async () => {
    const bandit = await client.create('pages', { features: true, wait: '1d' });
    const decisions = await bandit.decideMany(Array.from({ length: 2100 }, () => ACTIONS));
    await bandit.rewardMany(decisions.map((decision) => [decision, 0]));
    let number = 0;
    const proxy = await startProxy(server.url, () => ['half', 'none', 'busy', 'none', 'gateway', 'none'][number++ % 6]);
    const events = await collect(new Client(proxy.url, PATIENT).bandit('pages').log());
    assert.deepEqual(events.map(({ EventId }) => EventId), decisions.map(({ id }) => id));
    assert.equal(proxy.seen.length, 6);
    proxy.close();
});

// The part of localStorage that the queue uses.
class Storage {
    values = new Map();
    get length() { return this.values.size; }
    key(i) { return [...this.values.keys()][i]; }
    getItem(key) { return this.values.get(key) ?? null; }
    setItem(key, text) {
        if (this.isFull) throw new Error('QuotaExceededError');
        this.values.set(key, text);
    }
    removeItem(key) { this.values.delete(key); }
}

test('the queue keeps rewards until the server has them', async () => {
    const bandit = await client.create('queue', { features: true, wait: '1d', rewards: [0, 1] });
    const decisions = await bandit.decideMany(Array.from({ length: 10 }, () => ACTIONS));
    let fault = 'drop';
    const proxy = await startProxy(server.url, () => fault);
    const storage = new Storage(), lost = [];
    storage.setItem('of another script', 'x');
    const open = (options = {}) =>
        new RewardQueue(new Client(proxy.url, { retryFor: 0 }).bandit('queue'), { storage, onLost: (reward, error) => lost.push([reward.id, error]), ...options });

    const first = open({ most: 8 });
    for (const decision of decisions.slice(0, 9)) first.reward(decision, 1);
    assert.equal(await first.flush(), 8);
    assert.match(lost.pop()[1].message, /the queue is full: it keeps the newest 8/);
    first.close();
    // What a page leaves behind, even damaged, does not stop the next one.
    storage.setItem(storage.key(1).replace(/ \S+ \S+$/, ' 0 x'), '{"id":');

    fault = 'lose';
    const second = open();
    assert.equal(second.size, 8);
    assert.equal(await second.flush(), 8);
    fault = 'none';
    second.reward(decisions[9], 7);
    storage.isFull = true;
    second.reward(decisions[9], 1);
    storage.isFull = false;
    await until('an empty queue', async () => (await second.flush()) === 0);
    assert.deepEqual(lost.map(([id, error]) => [id, error.constructor]), [[decisions[9].id, BadRequest]]);
    second.close();
    proxy.close();

    // Of decisions 1 to 8 and 9, in time; the refused one and the lost one not.
    checkRewards(proxy.seen.filter(({ answer }) => answer), 10);
    assert.equal((await collect(bandit.log())).length, 0, 'decision 0 has no reward');
    assert.deepEqual(await bandit.rewardMany(decisions.map((decision) => [decision, 1])).then((all) => all.map(({ outcome }) => outcome)), ['joined', ...Array(9).fill('repeated')]);
    assert.equal(storage.length, 2, 'what is not the queue’s stays');
});

test('a queue can be closed twice, also while it sends', async () => {
    const bandit = await client.create('closed', { features: true, wait: '1d' });
    const queue = new RewardQueue(client.bandit('closed'));
    queue.reward(await bandit.decide(ACTIONS), 1);
    queue.close();
    queue.close();
    assert.equal(await queue.flush(), 0);
    queue.close();
});

test('the queue continues if onLost throws', async (t) => {
    const bandit = await client.create('thrown', { features: true, wait: '1d', rewards: [0, 1] });
    const decisions = await bandit.decideMany(Array.from({ length: 6 }, () => ACTIONS));
    const printed = t.mock.method(console, 'error', () => {});
    let lost = 0;
    let fault = 'drop';
    const proxy = await startProxy(server.url, () => fault);
    const onLost = () => {
        lost++;
        throw new Error('no place for this');
    };
    const queue = new RewardQueue(new Client(proxy.url, { retryFor: 0 }).bandit('thrown'), { most: 5, onLost });
    // The oldest leaves the full queue in a call of reward(), and the server refuses the values above 1.
    decisions.forEach((decision, i) => queue.reward(decision, i % 2 ? 7 : 1));
    assert.equal(lost, 1);
    assert.equal(await queue.flush(), 5);
    fault = 'none';
    await until('an empty queue', async () => (await queue.flush()) === 0);
    queue.close();
    proxy.close();
    assert.equal(lost, 4);
    assert.deepEqual(printed.mock.calls.map(({ arguments: [, error] }) => error.message), Array(4).fill('no place for this'));
    const again = await bandit.rewardMany([[decisions[2], 1], [decisions[4], 1], [decisions[1], 1]]);
    assert.deepEqual(again.map(({ outcome }) => outcome), ['repeated', 'repeated', 'joined']);
});
