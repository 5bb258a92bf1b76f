// Any request of a client may come twice: it got no answer, or an error that it tries again after. Nothing may happen twice
// by that.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startProxy } from './failing_proxy.mjs';
import { endWaits, meal, newClient, oldClient, startPersonalizer } from './personalizer.mjs';

let server, proxy, faults;
before(async () => {
    // Sums count every reward that comes: one that counts twice shows.
    server = await startPersonalizer({ wait: '1d', aggregation: 'sum', default_reward: null });
    proxy = await startProxy(server.url, () => faults.shift() ?? 'none');
});
after(async () => {
    proxy.close();
    await server.stop();
});

// The client of v1.0 gives up where a connection breaks: its caller asks again.
async function again(call) {
    for (;;) {
        try {
            return await call();
        } catch (error) {
            if (!/REQUEST_SEND_ERROR|ECONNRESET/.test(error.code)) throw error;
        }
    }
}

const slots = ['top', 'side'].map((id, i) => ({ id, baselineAction: meal.actions[i].id, features: [{ size: i }] }));
const post = (url, path, body, ...more) => newClient(url, server.app).path(path, ...more).post({ body });
const old = (url) => oldClient(url, server.app, { generateClientRequestIdHeader: true });

// How each client ranks and rewards. rank(): the response, with its body.
const CLIENTS = {
    'v1.0': {
        rank: async (url, body) => ({ body: { ...(await again(() => old(url).rank(body))), _response: 0 } }),
        reward: (eventId) => [0.5, 0.25].map((value) => () => again(() => old(proxy.url).events.reward(eventId, { value }))),
        costs: (line) => [line._label_cost],
        expected: [-0.75],
    },
    'v1.1-preview': {
        rank: (url, body) => post(url, '/rank', body),
        reward: (eventId) => [0.5, 0.25].map((value) => () => post(proxy.url, '/events/{eventId}/reward', { value }, eventId)),
        costs: (line) => [line._label_cost],
        expected: [-0.75],
    },
    slots: {
        rank: (url, body) => post(url, '/multislot/rank', { ...body, slots }),
        reward: (eventId) => [() => post(proxy.url, '/multislot/events/{eventId}/reward', { reward: [{ slotId: 'top', value: 0.5 }, { slotId: 'side', value: -0.25 }] }, eventId)],
        costs: (line) => line._outcomes.map((slot) => slot._label_cost),
        expected: [-0.5, 0.25],
    },
};
const FAULTS = { refused: ['busy', 'busy'], lost: ['gateway', 'gateway'], cut: ['lose', 'lose'], both: ['busy', 'gateway'] };

for (const [name, { rank, reward, costs, expected }] of Object.entries(CLIENTS))
    test(name, async () => {
        const eventIds = Object.keys(FAULTS).map((fault) => `${name}-${fault}`);
        for (const [i, list] of Object.values(FAULTS).entries()) {
            const body = { ...meal, eventId: eventIds[i] };
            faults = [...list];
            const answer = await rank(proxy.url, body);
            assert.equal(faults.length, 0);
            assert.deepEqual((await rank(server.url, body)).body, answer.body);
            // v1.0 does not say which request of a reward it repeats: its callers must not, when a connection breaks.
            faults = name === 'v1.0' ? list.filter((fault) => fault !== 'lose') : [...list];
            for (const call of reward(eventIds[i])) await call();
            assert.equal(faults.length, 0);
        }
        for (const line of await endWaits(server, eventIds)) assert.deepEqual(costs(line), expected, line.EventId);
    });

test('two who rank the same at once get the same', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(server.url, '/rank', { ...meal, eventId: 'at once' })));
    for (const answer of answers) assert.deepEqual(answer.body, answers[0].body);
    const metrics = await fetch(`${server.url}/metrics`, { headers: { 'X-Api-Key': server.key } }).then((got) => got.text());
    assert.match(metrics, /eenet_decisions_repeated_total [1-9]/);
});
