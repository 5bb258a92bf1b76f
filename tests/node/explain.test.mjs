// Explaining over HTTP: a request, a decision that was made, and the importance of features over many of them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { ask, startServer, until } from './server.mjs';

let server;
before(async () => {
    server = await startServer(['--publish-interval', '0.01']);
});
after(async () => {
    if (server) await server.stop();
});

const FEATURES = 'names=200,hashes=20'; // linucb keeps a matrix of their square
const ITEMS = ['a', 'b', 'c'];
const round = (id, plan, age) => ({
    id,
    context: { user: { plan, age } },
    actions: ITEMS.map((item) => ({ id: item, features: { item: { id: item } } })),
});

// Clicks where the plan and the item go together; the age is noise.
async function play(name, first, count) {
    const rounds = [];
    for (let i = first; i < first + count; i++)
        rounds.push(round(`d${i}`, i % 3 ? 'free' : 'paid', 20 + ((i * 7) % 50)));
    const { body } = await ask(server.url, `/v1/bandits/${name}/decide/batch`, { decisions: rounds });
    const rewards = body.decisions.map((decision, i) => ({
        id: decision.id,
        value: (rounds[i].context.user.plan === 'free') === (decision.action === 'a') ? 1 : 0,
    }));
    await ask(server.url, `/v1/bandits/${name}/reward/batch`, { rewards });
    return body.decisions;
}

// Until the model has taken all that was written.
async function settle(name, count) {
    await until(`all of ${name} learned`, async () => {
        const { body } = await ask(server.url, `/v1/bandits/${name}`);
        return body.learned + body.passed_over >= count && body.behind <= 2;
    });
}

async function make(name, policy, options, batches) {
    const made = await ask(server.url, '/v1/bandits', { name, policy, options, features: FEATURES, propensity: 'floor:0.5' });
    assert.equal(made.status, 201);
    const decisions = [];
    for (let i = 0; i < batches; i++) {
        decisions.push(...(await play(name, i * 100, 100)));
        await settle(name, (i + 1) * 100);
    }
    return decisions;
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const near = (a, b, what) => assert.ok(Math.abs(a - b) < 1e-5, `${what}: ${a} and ${b}`);

test('a request is explained, and its parts are the whole', async () => {
    await make('news', 'eenet', 'f1.width=16', 10);
    const { status, body } = await ask(server.url, '/v1/bandits/news/explain?features=1000', round(undefined, 'free', 40));
    assert.equal(status, 200);
    assert.deepEqual(body.actions.map((action) => action.action), ITEMS);
    near(sum(body.actions.map((action) => action.probability)), 1, 'probabilities');
    for (const action of body.actions) {
        near(action.base + sum(action.features.map((f) => f.contribution)), action.f1, 'f1');
        const sizes = action.features.map((f) => Math.abs(f.contribution));
        assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a));
    }
    const [good, bad] = body.actions;
    assert.ok(good.f1 > bad.f1);
    const product = good.features.find((f) => f.name === 'user.plan=free*item.id=a');
    assert.ok(product.contribution > 0, JSON.stringify(good));
    const few = (await ask(server.url, '/v1/bandits/news/explain?features=2', round(undefined, 'free', 40))).body;
    assert.equal(few.actions[0].features.length, 2);
    near(few.actions[0].base + few.actions[0].others + sum(few.actions[0].features.map((f) => f.contribution)), good.f1, 'others');
});

test('a decision that was made is explained by the model of now', async () => {
    const decisions = await make('made', 'linucb', '', 2);
    const first = decisions[0];
    const { status, body } = await ask(server.url, `/v1/bandits/made/decisions/${first.id}/explain`);
    assert.equal(status, 200);
    assert.equal(body.id, first.id);
    assert.equal(body.action, first.action);
    assert.equal(body.index, first.index);
    assert.equal(body.decided_by, first.version);
    assert.ok(body.version > body.decided_by);
    for (const action of body.actions) near(action.base, body.actions[0].base, 'a linear policy begins with the mean reward');
    assert.equal((await ask(server.url, '/v1/bandits/made/decisions/none/explain')).status, 404);
});

test('importance is the mean size of what each feature contributes to the answers', async () => {
    const decisions = await make('weighed', 'linucb', 'lambda=0.1', 3);
    const expected = { 'user.plan': 0, 'user.age': 0, 'item.id': 0 };
    let version;
    for (const decision of decisions) {
        const { body } = await ask(server.url, `/v1/bandits/weighed/decisions/${decision.id}/explain?features=1000`);
        version = body.version;
        const own = { 'user.plan': 0, 'user.age': 0, 'item.id': 0 };
        for (const { name, contribution } of body.actions[decision.index].features) {
            if (name === 'constant') continue;
            const parts = name.split('*').map((part) => part.split('=')[0]);
            for (const part of parts) own[part] += contribution / parts.length;
        }
        for (const name of Object.keys(own)) expected[name] += Math.abs(own[name]) / decisions.length;
    }
    const { status, body } = await ask(server.url, '/v1/bandits/weighed/importance');
    assert.equal(status, 200);
    assert.equal(body.decisions, decisions.length);
    assert.equal(body.version, version);
    assert.deepEqual(body.features.map((f) => f.name).sort(), Object.keys(expected).sort());
    for (const feature of body.features) {
        near(feature.importance, expected[feature.name], feature.name);
        assert.equal(`${feature.namespace}.${feature.feature}`, feature.name);
    }
    assert.ok(body.features[0].importance > 2 * body.features.find((f) => f.name === 'user.age').importance);
    assert.deepEqual((await ask(server.url, '/v1/bandits/weighed/importance')).body, body);
});

test('vectors, nothing yet, and bad requests', async () => {
    await ask(server.url, '/v1/bandits', { name: 'plain', policy: 'linucb', dim: 2 });
    const nothing = (await ask(server.url, '/v1/bandits/plain/importance')).body;
    assert.equal(nothing.decisions, 0);
    assert.equal(nothing.from, null);
    assert.deepEqual(nothing.features, []);
    const told = (await ask(server.url, '/v1/bandits/plain/explain', { actions: [[1, 0], [0, 1]], exclude: ['0'] })).body;
    assert.equal(told.actions.length, 1);
    assert.equal(told.actions[0].index, 1);
    assert.equal(told.actions[0].features[0].name, '[1]');
    for (const [path, body, sentence] of [
        ['/v1/bandits/plain/explain', { actions: [[1]] }, /2/],
        ['/v1/bandits/plain/explain', [1], /the body must be a JSON object/],
        ['/v1/bandits/plain/explain?features=none', { actions: [[1, 0]] }, /features must be an integer/],
    ]) {
        const answer = await ask(server.url, path, body);
        assert.equal(answer.status, 400);
        assert.match(answer.body.error.message, sentence);
    }
});

test('a slot of a round is explained by itself', async () => {
    await ask(server.url, '/v1/bandits', { name: 'slotted', policy: 'linucb', features: FEATURES });
    const request = { ...round('two', 'free', 40), slots: [{ id: 'top', features: { place: { wide: 1 } } }, { id: 'side' }] };
    const decided = await ask(server.url, '/v1/bandits/slotted/decide', request);
    assert.equal(decided.status, 200);
    for (const [i, slot] of ['top', 'side'].entries()) {
        const { status, body } = await ask(server.url, `/v1/bandits/slotted/decisions/two/explain?slot=${slot}&features=100`);
        assert.equal(status, 200);
        assert.equal(body.id, 'two');
        assert.equal(body.slot, slot);
        assert.equal(body.action, decided.body.slots[i].action);
        assert.equal(body.actions.length, ITEMS.length - i); // what the slot before it took cannot be chosen
    }
    assert.equal((await ask(server.url, '/v1/bandits/slotted/decisions/two/explain?slot=none')).status, 404);
    const refused = await ask(server.url, '/v1/bandits/slotted/explain', request);
    assert.equal(refused.status, 400);
    assert.match(refused.body.error.message, /a request with slots can be explained only after the decision/);
    assert.equal((await ask(server.url, '/v1/bandits/slotted/importance')).body.decisions, 2);
});

test('a bandit that is asleep is woken to explain', async () => {
    const drowsy = await startServer(['--sleep-seconds', '1', '--publish-interval', '0.01']);
    try {
        await ask(drowsy.url, '/v1/bandits', { name: 'news', policy: 'linucb', features: FEATURES });
        await ask(drowsy.url, '/v1/bandits/news/decide', round('first', 'free', 40));
        await ask(drowsy.url, '/v1/bandits/news/reward', { id: 'first', value: 1 });
        const sleeps = () => until('sleep', async () => !(await ask(drowsy.url, '/v1/bandits/news')).body.awake);
        await sleeps();
        assert.equal((await ask(drowsy.url, '/v1/bandits/news/decisions/first/explain')).body.id, 'first');
        await sleeps();
        assert.equal((await ask(drowsy.url, '/v1/bandits/news/importance')).body.decisions, 1);
        await sleeps();
        assert.equal((await ask(drowsy.url, '/v1/bandits/news/explain', round(undefined, 'free', 40))).status, 200);
    } finally {
        await drowsy.stop();
    }
});
