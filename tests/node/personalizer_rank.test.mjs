// Rank, reward and activate, for one slot and for several, with Microsoft's two clients for Node as they are, and by plain
// requests for the generation that has a client in Python alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answered, ask } from './server.mjs';
import { endWaits, meal, newClient, oldClient, settled, startPersonalizer } from './personalizer.mjs';

let server, client;
before(async () => {
    server = await startPersonalizer({ default_reward: null, wait: '1d' });
    client = newClient(server.url, server.app);
});
after(() => server.stop());

function checkRank(answer, request) {
    assert.deepEqual(answer.ranking.map((action) => action.id), request.actions.map((action) => action.id));
    const sum = answer.ranking.reduce((total, action) => total + action.probability, 0);
    assert.ok(Math.abs(sum - 1) < 1e-6, `the probabilities are ${sum} together`);
    for (const { id, probability } of answer.ranking) {
        assert.equal(Math.fround(probability), Math.fround(probability));
        if (request.excludedActions?.includes(id)) assert.equal(probability, 0);
    }
    const chosen = answer.ranking.find((action) => action.id === answer.rewardActionId);
    assert.ok(chosen && chosen.probability > 0);
    assert.ok(answer.eventId);
}

test('the client of v1.0 ranks, rewards and activates', async () => {
    const client = oldClient(server.url, server.app);
    const request = { ...meal, eventId: 'old/1 ä', excludedActions: ['juice'], deferActivation: false };
    const answer = await client.rank(request);
    assert.equal(answer._response.status, 201);
    assert.equal(answer.eventId, request.eventId);
    checkRank(answer, request);
    const again = await client.rank(request);
    assert.deepEqual({ ...again, _response: 0 }, { ...answer, _response: 0 });
    const rewarded = await client.events.reward(answer.eventId, { value: 1 });
    assert.equal(rewarded._response.status, 204);
    const activated = await client.events.activate(answer.eventId);
    assert.equal(activated._response.status, 204);
    checkRank(await client.rank(meal), meal);
});

test('the client of v1.1-preview ranks, rewards and activates', async () => {
    const request = { ...meal, eventId: 'new/1', excludedActions: ['pasta'] };
    const answer = await answered(201, client.path('/rank').post({ body: request }));
    checkRank(answer.body, request);
    const again = await client.path('/rank').post({ body: request });
    assert.deepEqual(again.body, answer.body);
    assert.equal((await client.path('/events/{eventId}/reward', 'new/1').post({ body: { value: 0.25 } })).status, '204');
    assert.equal((await client.path('/events/{eventId}/activate', 'new/1').post()).status, '204');
});

test('2022-09-01-preview, and the paths of one bandit', async () => {
    for (const base of ['/personalizer', '/v1/bandits/personalizer/personalizer', '/v1/bandits/personalizer/personalizer/v1.0']) {
        const query = base.endsWith('v1.0') ? '' : '?api-version=2022-09-01-preview';
        const answer = await answered(201, server.ask(`${base}/rank${query}`, { ...meal, eventId: base }, 'POST', { 'x-ms-client-request-id': 'mine' }));
        assert.equal(answer.headers.get('x-ms-client-request-id'), 'mine');
        checkRank(answer.body, meal);
        const id = encodeURIComponent(base);
        assert.equal((await server.ask(`${base}/events/${id}/reward${query}`, { value: 0 })).status, 204);
        assert.equal((await server.ask(`${base}/events/${id}/activate${query}`, undefined, 'POST')).status, 204);
    }
});

test('what the service does not mind is not minded', async () => {
    const rank = (more) => server.ask('/personalizer/v1.0/rank', { ...meal, ...more });
    assert.equal((await rank({ eventId: null, contextFeatures: null, excludedActions: null, unknown: { a: [1] } })).status, 201);
    assert.equal((await rank({ excludedActions: ['nobody'], deferActivation: null })).status, 201);
    assert.equal((await server.ask('/personalizer/v1.0/rank', { Actions: [{ ID: 'a' }, { Id: 'b', Features: [] }] })).status, 201);
    assert.equal((await server.ask('/personalizer/v1.0/events/never-ranked/reward', { value: -1 })).status, 204);
    assert.equal((await server.ask('/personalizer/v1.0/events/never-ranked-2/activate', undefined, 'POST')).status, 204);
});

test('what is deferred counts once it is activated', async () => {
    const client = oldClient(server.url, server.app);
    await client.events.activate('early'); // before its rank
    for (const eventId of ['shown', 'early', 'not shown']) {
        await client.rank({ ...meal, eventId, deferActivation: true });
        await client.events.reward(eventId, { value: 1 });
    }
    await client.events.activate('shown');
    await client.events.activate('shown');
    const [shown, early, hidden] = await endWaits(server, ['shown', 'early', 'not shown']);
    for (const line of [shown, early]) {
        assert.equal(line._label_cost, -1);
        assert.ok(!line._skipLearn);
    }
    assert.equal(hidden._skipLearn, true);
});

test('the log has the context as Personalizer logs it, and the reward', async () => {
    const line = await settled(server, 'old/1 ä');
    assert.equal(line._label_cost, -1);
    assert.deepEqual(line.c.FromUrl, meal.contextFeatures);
    assert.deepEqual(
        line.c._multi,
        meal.actions.map(({ id, features }) => ({ _tag: id, i: { constant: 1, id }, j: features })),
    );
    assert.equal(line.p[line.a.indexOf(3)], 0);
});

test('what is wrong has the code and the words of the service', async () => {
    const many = Array.from({ length: 51 }, (_, i) => ({ id: `a${i}`, features: [] }));
    const refused = [
        [{ actions: [] }, 'actions: expected at least one'],
        [{ actions: many }, 'more than 50 actions'],
        [{ actions: [{ features: [] }] }, 'actions[0]: missing id'],
        [{ actions: [{ id: 'x'.repeat(257) }] }, 'actions[0].id must have 1 to 256 bytes, got 257'],
        [{ actions: [{ id: 'a' }, { id: 'a' }] }, 'actions[1] and actions[0] have the same id, "a"'],
        [{ ...meal, contextFeatures: ['a'] }, 'contextFeatures must be an array of objects'],
        [{ ...meal, contextFeatures: {} }, 'contextFeatures must be an array of objects'],
        [{ ...meal, excludedActions: meal.actions.map((action) => action.id) }, 'no action is left: all 3 are excluded'],
        [{ ...meal, eventId: 'x'.repeat(257) }, 'eventId must have 1 to 256 bytes, got 257'],
        [{ ...meal, deferActivation: 1 }, 'deferActivation must be true or false'],
        [[], 'the body must be a JSON object'],
    ];
    for (const [body, message] of refused) {
        const old = await answered(400, server.ask('/personalizer/v1.0/rank', body));
        assert.deepEqual(old.body, { error: { code: 'BadRequest', message } });
        const last = await server.ask('/personalizer/rank?api-version=2022-09-01-preview', body);
        assert.deepEqual(last.body, { error: { code: 'InvalidRankRequest', message } });
        assert.equal(last.headers.get('x-ms-error-code'), 'InvalidRankRequest');
    }
    for (const [body, message] of [
        [{}, 'missing value'],
        [{ value: 2 }, 'value must be -1 to 1, got 2'],
        [{ value: '1' }, 'value must be a number'],
    ]) {
        const got = await answered(400, server.ask('/personalizer/v1.1-preview.3/events/a/reward', body));
        assert.deepEqual(got.body, { error: { code: 'InvalidRewardRequest', message } });
    }
    await answered(409, server.ask('/personalizer/v1.1-preview.3/rank', { ...meal, eventId: 'new/1' }), 'InvalidRankRequest');
});

test('the clients see errors as theirs', async () => {
    await assert.rejects(oldClient(server.url, server.app).rank({ actions: [{ id: 'a', features: [] }, { id: 'a', features: [] }] }), (error) => {
        assert.equal(error.statusCode, 400);
        assert.equal(error.body.error.code, 'BadRequest');
        return true;
    });
    await answered(400, newClient(server.url, server.app).path('/rank').post({ body: { actions: [] } }), 'InvalidRankRequest');
});

test('keys and paths', async () => {
    const bare = (path, headers, body = meal) => ask(server.url, path, body, 'POST', headers);
    await answered(401, bare('/personalizer/v1.0/rank', {}), '401');
    assert.equal((await bare('/personalizer/v1.0/rank', { 'Ocp-Apim-Subscription-Key': 'wrong' })).status, 401);
    assert.equal((await bare('/personalizer/v1.0/rank', { 'Ocp-Apim-Subscription-Key': server.app })).status, 201);
    assert.equal((await bare('/personalizer/v1.0/rank', { Authorization: `Bearer ${server.app}` })).status, 201);
    assert.equal((await bare('/v1/bandits/other/personalizer/v1.0/rank', { 'X-Api-Key': server.app })).status, 403);
    await answered(404, server.ask('/v1/bandits/other/personalizer/v1.1-preview.3/rank', meal), 'ResourceNotFound');
    assert.equal((await server.ask('/personalizer/v1.0/nothing')).status, 404);
    assert.equal((await server.ask('/personalizer')).status, 404);
    assert.equal((await server.ask('/personalizer/v1.0/rank')).status, 405);
    assert.equal((await server.ask(`/personalizer/v1.0/events/${'x'.repeat(2000)}/reward`, { value: 1 })).status, 400);
    assert.equal((await server.ask('/personalizer/v1.0/events/a%01b/reward', { value: 1 })).status, 400);
    assert.equal((await server.ask('/personalizerv1.0/rank', meal)).status, 404);
});

test('a bandit that takes vectors cannot rank', async () => {
    assert.equal((await server.ask('/v1/bandits', { name: 'vectors', dim: 3 })).status, 201);
    const answer = await answered(400, server.ask('/v1/bandits/vectors/personalizer/v1.0/rank', meal));
    assert.equal(answer.body.error.message, 'the bandit takes vectors of 3 numbers, not named features');
});

// ---- several slots ----

const ids = meal.actions.map((action) => action.id);
const slots = [
    { id: 'top', baselineAction: 'pasta', features: [{ size: 'large' }] },
    { id: 'side', baselineAction: 'juice', excludedActions: ['ice cream'], positionFeatures: [{ size: 'small' }] },
];
const rankSlots = (body) => client.path('/multislot/rank').post({ body });
test('each slot gets another action, and none that it excludes', async () => {
    const seen = new Set();
    for (let i = 0; i < 40; i++) {
        const answer = await answered(201, rankSlots({ ...meal, slots, eventId: `round ${i}` }));
        assert.equal(answer.body.eventId, `round ${i}`);
        assert.deepEqual(answer.body.slots.map((slot) => slot.id), ['top', 'side']);
        const [top, side] = answer.body.slots.map((slot) => slot.rewardActionId);
        assert.ok(ids.includes(top) && ids.includes(side) && top !== side && side !== 'ice cream');
        seen.add(`${top}, ${side}`);
    }
    assert.ok(seen.size > 1, 'nothing is ever explored');
});

test('rewards go to their slots, and the log has the round', async () => {
    const { body } = await rankSlots({ ...meal, slots, eventId: 'rewarded' });
    const rewarded = await client
        .path('/multislot/events/{eventId}/reward', 'rewarded')
        .post({ body: { reward: [{ slotId: 'side', value: 1 }, { slotId: 'top', value: 0.5 }] } });
    assert.equal(rewarded.status, '204');
    const [line] = await endWaits(server, ['rewarded']);
    assert.deepEqual(line._outcomes.map((slot) => slot._id), ['top', 'side']);
    assert.deepEqual(line._outcomes.map((slot) => slot._label_cost), [-0.5, -1]);
    assert.deepEqual(line._outcomes.map((slot) => ids[slot._a[0]]), body.slots.map((slot) => slot.rewardActionId));
    assert.deepEqual(line.c.FromUrl, meal.contextFeatures);
    assert.deepEqual(line.c._slots.map((slot) => slot.sj), [slots[0].features, slots[1].positionFeatures]);
});

test('a deferred round of slots counts once it is activated', async () => {
    for (const eventId of ['shown slots', 'hidden slots']) {
        assert.equal((await rankSlots({ ...meal, slots, eventId, deferActivation: true })).status, '201');
        const reward = { reward: [{ slotId: 'top', value: 1 }, { slotId: 'side', value: 0 }] };
        await client.path('/multislot/events/{eventId}/reward', eventId).post({ body: reward });
    }
    await answered(204, client.path('/multislot/events/{eventId}/activate', 'shown slots').post());
    const [line, skipped] = await endWaits(server, ['shown slots', 'hidden slots']);
    assert.deepEqual(line._outcomes.map((slot) => Math.abs(slot._label_cost)), [1, 0]);
    assert.ok(line._outcomes.every((slot) => !slot._skipLearn));
    assert.ok(skipped._outcomes.every((slot) => slot._skipLearn === true), JSON.stringify(skipped._outcomes));
});

test('what is wrong with slots', async () => {
    const many = Array.from({ length: 51 }, (_, i) => ({ id: `s${i}`, baselineAction: 'pasta' }));
    for (const [more, message] of [
        [{ slots: [] }, 'slots: expected at least one'],
        [{ slots: many }, 'more than 50 slots'],
        [{ slots: [{ id: 'a' }] }, 'slots[0]: missing baselineAction'],
        [{ slots: [{ baselineAction: 'pasta' }] }, 'slots[0]: missing id'],
        [{ slots: [slots[0], { ...slots[0], baselineAction: 'juice' }] }, 'slots[1] and slots[0] have the same id, "top"'],
        [{ slots: [slots[0], { id: 'b', baselineAction: 'pasta' }] }, 'slots[1]: the baseline is "pasta", but an earlier slot has the same baseline'],
        [{ slots: [{ id: 'a', baselineAction: 'soup' }] }, 'slots[0]: the baseline is "soup", but no action has this id'],
        [{ slots: [{ id: 'a', baselineAction: 'juice', excludedActions: ['juice'] }] }, 'slots[0]: the baseline is "juice", but this action is excluded'],
        [
            { actions: meal.actions.slice(0, 2), slots: ids.slice(0, 2).map((id, i) => ({ id: `s${i}`, baselineAction: id, excludedActions: [ids[1 - i]] })).concat({ id: 's2', baselineAction: 'pasta' }) },
            'slots[2]: the baseline is "pasta", but an earlier slot has the same baseline',
        ],
        [
            { slots: [{ id: 'a', baselineAction: 'pasta' }, { id: 'b', baselineAction: 'juice', excludedActions: ['pasta', 'ice cream'] }] },
            'slots[1]: the slots before it may take every action it allows; add actions, or exclude fewer',
        ],
    ]) {
        const answer = await answered(400, rankSlots({ ...meal, ...more }));
        assert.deepEqual(answer.body, { error: { code: 'InvalidRankRequest', message } });
    }
    for (const body of [{}, { reward: [] }, { reward: 1 }, { reward: [{ slotId: 'a' }] }, { reward: [{ slotId: 'a', value: 7 }] }]) {
        await answered(400, client.path('/multislot/events/{eventId}/reward', 'x').post({ body }), 'InvalidRewardRequest');
    }
    // Another round of that id.
    await answered(409, rankSlots({ ...meal, slots: [slots[0]], eventId: 'rewarded' }));
});

test('apprentice: every slot shows its baseline', async () => {
    assert.equal((await server.ask('/v1/bandits/personalizer', { mode: 'apprentice' }, 'PATCH')).status, 200);
    for (let i = 0; i < 10; i++) {
        const { body } = await rankSlots({ ...meal, slots });
        assert.deepEqual(body.slots.map((slot) => slot.rewardActionId), ['pasta', 'juice']);
    }
    assert.equal((await server.ask('/v1/bandits/personalizer', { mode: 'online' }, 'PATCH')).status, 200);
});
