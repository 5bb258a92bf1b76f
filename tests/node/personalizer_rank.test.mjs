// Rank, reward and activate with Microsoft's two clients for Node as they are, and by plain requests for the generation
// that has a client in Python alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ask } from './server.mjs';
import { meal, newClient, oldClient, readLog, startPersonalizer, until } from './personalizer.mjs';

let server;
before(async () => {
    server = await startPersonalizer({ default_reward: null, wait: 2 });
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
    const client = newClient(server.url, server.app);
    const request = { ...meal, eventId: 'new/1', excludedActions: ['pasta'] };
    const answer = await client.path('/rank').post({ body: request });
    assert.equal(answer.status, '201');
    checkRank(answer.body, request);
    const again = await client.path('/rank').post({ body: request });
    assert.deepEqual(again.body, answer.body);
    assert.equal((await client.path('/events/{eventId}/reward', 'new/1').post({ body: { value: 0.25 } })).status, '204');
    assert.equal((await client.path('/events/{eventId}/activate', 'new/1').post()).status, '204');
});

test('2022-09-01-preview, and the paths of one bandit', async () => {
    for (const base of ['/personalizer', '/v1/bandits/personalizer/personalizer', '/v1/bandits/personalizer/personalizer/v1.0']) {
        const query = base.endsWith('v1.0') ? '' : '?api-version=2022-09-01-preview';
        const answer = await server.ask(`${base}/rank${query}`, { ...meal, eventId: base }, 'POST', { 'x-ms-client-request-id': 'mine' });
        assert.equal(answer.status, 201);
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
    const line = (eventId) => until(async () => (await readLog(server)).find((entry) => entry.EventId === eventId), `${eventId} is settled`);
    for (const eventId of ['shown', 'early']) {
        assert.equal((await line(eventId))._label_cost, -1);
        assert.ok(!(await line(eventId))._skipLearn);
    }
    assert.equal((await line('not shown'))._skipLearn, true);
});

test('the log has the context as Personalizer logs it, and the reward', async () => {
    const line = await until(async () => (await readLog(server)).find((entry) => entry.EventId === 'old/1 ä'), 'settled');
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
        const old = await server.ask('/personalizer/v1.0/rank', body);
        assert.equal(old.status, 400);
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
        const got = await server.ask('/personalizer/v1.1-preview.3/events/a/reward', body);
        assert.equal(got.status, 400);
        assert.deepEqual(got.body, { error: { code: 'InvalidRewardRequest', message } });
    }
    const taken = await server.ask('/personalizer/v1.1-preview.3/rank', { ...meal, eventId: 'new/1' });
    assert.equal(taken.status, 409);
    assert.equal(taken.body.error.code, 'InvalidRankRequest');
});

test('the clients see errors as theirs', async () => {
    await assert.rejects(oldClient(server.url, server.app).rank({ actions: [{ id: 'a', features: [] }, { id: 'a', features: [] }] }), (error) => {
        assert.equal(error.statusCode, 400);
        assert.equal(error.body.error.code, 'BadRequest');
        return true;
    });
    const answer = await newClient(server.url, server.app).path('/rank').post({ body: { actions: [] } });
    assert.equal(answer.status, '400');
    assert.equal(answer.body.error.code, 'InvalidRankRequest');
});

test('keys and paths', async () => {
    const bare = (path, headers, body = meal) => ask(server.url, path, body, 'POST', headers);
    const none = await bare('/personalizer/v1.0/rank', {});
    assert.equal(none.status, 401);
    assert.equal(none.body.error.code, '401');
    assert.equal((await bare('/personalizer/v1.0/rank', { 'Ocp-Apim-Subscription-Key': 'wrong' })).status, 401);
    assert.equal((await bare('/personalizer/v1.0/rank', { 'Ocp-Apim-Subscription-Key': server.app })).status, 201);
    assert.equal((await bare('/personalizer/v1.0/rank', { Authorization: `Bearer ${server.app}` })).status, 201);
    assert.equal((await bare('/v1/bandits/other/personalizer/v1.0/rank', { 'X-Api-Key': server.app })).status, 403);
    const missing = await server.ask('/v1/bandits/other/personalizer/v1.1-preview.3/rank', meal);
    assert.equal(missing.status, 404);
    assert.equal(missing.body.error.code, 'ResourceNotFound');
    assert.equal((await server.ask('/personalizer/v1.0/nothing')).status, 404);
    assert.equal((await server.ask('/personalizer')).status, 404);
    assert.equal((await server.ask('/personalizer/v1.0/rank')).status, 405);
    assert.equal((await server.ask(`/personalizer/v1.0/events/${'x'.repeat(2000)}/reward`, { value: 1 })).status, 400);
    assert.equal((await server.ask('/personalizer/v1.0/events/a%01b/reward', { value: 1 })).status, 400);
    assert.equal((await server.ask('/personalizerv1.0/rank', meal)).status, 404);
});

test('a bandit that takes vectors cannot rank', async () => {
    assert.equal((await server.ask('/v1/bandits', { name: 'vectors', dim: 3 })).status, 201);
    const answer = await server.ask('/v1/bandits/vectors/personalizer/v1.0/rank', meal);
    assert.equal(answer.status, 400);
    assert.equal(answer.body.error.message, 'the bandit takes vectors of 3 numbers, not named features');
});
