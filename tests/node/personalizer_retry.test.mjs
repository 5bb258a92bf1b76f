// Any request of a client may come twice: it got no answer, or an error that it tries again after. Nothing may happen twice
// by that.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { meal, newClient, oldClient, readLog, startPersonalizer, startProxy, until } from './personalizer.mjs';

let server, proxy;
before(async () => {
    // Sums count every reward that comes: one that counts twice shows.
    server = await startPersonalizer({ wait: 3, aggregation: 'sum', default_reward: null });
    proxy = await startProxy(server.url);
});
after(async () => {
    await proxy.stop();
    await server.stop();
});

async function settled(eventId) {
    return until(async () => (await readLog(server)).find((line) => line.EventId === eventId), `${eventId} is settled`);
}

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

const troubles = { refused: ['refused', 'refused'], lost: ['lost', 'lost'], cut: ['cut', 'cut'], both: ['refused', 'lost'] };
for (const [name, list] of Object.entries(troubles)) {
    test(`v1.0: ${name}`, async () => {
        const client = oldClient(proxy.url, server.app, { generateClientRequestIdHeader: true });
        const eventId = `old-${name}`;
        proxy.troubles = [...list];
        const answer = await again(() => client.rank({ ...meal, eventId }));
        assert.equal(proxy.troubles.length, 0);
        const direct = await oldClient(server.url, server.app).rank({ ...meal, eventId });
        assert.deepEqual({ ...direct, _response: 0 }, { ...answer, _response: 0 });
        proxy.troubles = list.filter((trouble) => trouble !== 'cut');
        await client.events.reward(eventId, { value: 0.5 });
        await client.events.reward(eventId, { value: 0.25 });
        assert.equal((await settled(eventId))._label_cost, -0.75);
    });

    test(`v1.1-preview: ${name}`, async () => {
        const client = newClient(proxy.url, server.app);
        const body = { ...meal, eventId: `new-${name}` };
        proxy.troubles = [...list];
        const answer = await client.path('/rank').post({ body });
        assert.equal(answer.status, '201');
        assert.equal(proxy.troubles.length, 0);
        const direct = await newClient(server.url, server.app).path('/rank').post({ body });
        assert.deepEqual(direct.body, answer.body);
        proxy.troubles = [...list];
        const reward = (value) => client.path('/events/{eventId}/reward', body.eventId).post({ body: { value } });
        assert.equal((await reward(0.5)).status, '204');
        assert.equal((await reward(0.25)).status, '204');
        assert.equal((await settled(body.eventId))._label_cost, -0.75);
    });

    test(`slots: ${name}`, async () => {
        const client = newClient(proxy.url, server.app);
        const slots = ['top', 'side'].map((id, i) => ({ id, baselineAction: meal.actions[i].id, features: [{ size: i }] }));
        const body = { ...meal, slots, eventId: `slots-${name}` };
        proxy.troubles = [...list];
        const answer = await client.path('/multislot/rank').post({ body });
        assert.equal(answer.status, '201');
        const direct = await newClient(server.url, server.app).path('/multislot/rank').post({ body });
        assert.deepEqual(direct.body, answer.body);
        proxy.troubles = [...list];
        const rewarded = await client
            .path('/multislot/events/{eventId}/reward', body.eventId)
            .post({ body: { reward: [{ slotId: 'top', value: 0.5 }, { slotId: 'side', value: -0.25 }] } });
        assert.equal(rewarded.status, '204');
        const line = await settled(body.eventId);
        assert.deepEqual(line._outcomes.map((slot) => slot._label_cost), [-0.5, 0.25]);
    });
}

test('two who rank the same at once get the same', async () => {
    const clients = Array.from({ length: 20 }, () => newClient(server.url, server.app));
    const answers = await Promise.all(clients.map((client) => client.path('/rank').post({ body: { ...meal, eventId: 'at once' } })));
    for (const answer of answers) assert.deepEqual(answer.body, answers[0].body);
    const metrics = await fetch(`${server.url}/metrics`, { headers: { 'X-Api-Key': server.key } }).then((got) => got.text());
    assert.match(metrics, /eenet_decisions_repeated_total [1-9]/);
});
