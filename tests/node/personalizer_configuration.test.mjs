// Configurations, the model and the log, with the client that has them; and by plain requests for the newest generation.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answered, ask, until } from './server.mjs';
import { meal, newClient, startPersonalizer } from './personalizer.mjs';

let server, client;
before(async () => {
    server = await startPersonalizer({ propensity: 'floor:0.2' });
    client = newClient(server.url, server.key);
});
after(() => server.stop());

const service = () => client.path('/configurations/service');
const policy = () => client.path('/configurations/policy');
const settings = async () => (await server.ask('/v1/bandits/personalizer')).body.settings;
const bytes = (method, path, body) => fetch(`${server.url}/personalizer/v1.1-preview.3${path}`, {
    method,
    body,
    headers: { 'Ocp-Apim-Subscription-Key': server.key, 'Content-Type': 'application/octet-stream' },
});

// Somebody who likes sweet things. Each is rewarded: what waits for a reward holds up those who read the log.
function reward({ eventId, rewardActionId }) {
    const value = rewardActionId === 'pasta' ? 0 : 1;
    return client.path('/events/{eventId}/reward', eventId).post({ body: { value } });
}

async function play(rounds) {
    for (let i = 0; i < rounds; i++) {
        const { body } = await client.path('/rank').post({ body: meal });
        await reward(body);
    }
    await until('all is learned', async () => (await server.ask('/v1/bandits/personalizer')).body.behind === 0);
}

test('the configuration of the service', async () => {
    const { body } = await answered(200, service().get());
    assert.deepEqual(body, {
        rewardWaitTime: 'PT10M',
        defaultReward: 0,
        rewardAggregation: 'earliest',
        explorationPercentage: 0.2,
        modelExportFrequency: 'PT5M',
        logMirrorEnabled: false,
        logRetentionDays: -1,
        learningMode: 'Online',
        isAutoOptimizationEnabled: false,
        autoOptimizationFrequency: 'P7D',
    });
    const next = {
        ...body,
        rewardWaitTime: 'PT1H30M',
        defaultReward: -0.5,
        rewardAggregation: 'sum',
        modelExportFrequency: 'PT1M',
        logRetentionDays: 30,
        isAutoOptimizationEnabled: true,
        autoOptimizationStartDate: '2026-11-20T00:00:00Z',
    };
    const put = await answered(200, service().put({ body: next }));
    const { lastConfigurationEditDate, autoOptimizationStartDate, ...rest } = put.body;
    assert.ok(new Date(lastConfigurationEditDate) <= new Date());
    assert.equal(Date.parse(autoOptimizationStartDate), Date.parse(next.autoOptimizationStartDate));
    const { autoOptimizationStartDate: _, ...wanted } = next;
    assert.deepEqual(rest, wanted);
    assert.deepEqual((await service().get()).body, put.body);
    const ours = await settings();
    assert.equal(ours.wait, 5400);
    assert.equal(ours.default_reward, -0.5);
    assert.equal(ours.aggregation, 'sum');
    assert.equal(ours.retention_days, 30);
    assert.equal(ours.promote, 'auto');
    assert.equal((await service().put({ body })).status, '200');
});

test('another share of exploration is another model, that knows the last days', async () => {
    await until('it is learned that nobody likes pasta', async () => {
        await play(20); // now and then pasta is tried once more
        const { body } = await client.path('/rank').post({ body: meal });
        await reward(body);
        return Math.abs(body.ranking[0].probability - 0.2 / 3) < 1e-6;
    });
    const { body } = await service().get();
    const put = await answered(200, service().put({ body: { ...body, explorationPercentage: 0.6 } }));
    assert.equal(put.body.explorationPercentage, 0.6);
    assert.equal((await settings()).propensity, 'floor:0.6');
    const found = await until('the successor explores more, and still knows that nobody likes pasta', async () => {
        const after = await client.path('/rank').post({ body: meal });
        return Math.abs(after.body.ranking[0].probability - 0.2) < 1e-6 && after;
    });
    assert.equal(found.status, '201');
});

test('apprentice mode', async () => {
    const { body } = await service().get();
    assert.equal((await service().put({ body: { ...body, learningMode: 'Apprentice' } })).status, '200');
    for (let i = 0; i < 10; i++) {
        const ranked = await client.path('/rank').post({ body: { ...meal, excludedActions: ['pasta'] } });
        assert.equal(ranked.body.rewardActionId, 'ice cream');
        assert.deepEqual(ranked.body.ranking.map((action) => action.probability), [0, 1, 0]);
    }
    await answered(400, service().put({ body: { ...body, rewardWaitTime: 'PT20M' } }), 'InvalidLearningModeServiceConfiguration');
    assert.equal((await service().put({ body })).status, '200');
});

test('what a configuration cannot be', async () => {
    const { body } = await service().get();
    const { rewardWaitTime, ...less } = body;
    for (const [wrong, code] of [
        [less, 'InvalidServiceConfiguration'],
        [{ ...body, rewardWaitTime: 'P1M' }, 'InvalidRewardWaitTime'],
        [{ ...body, defaultReward: 2 }, 'InvalidServiceConfiguration'],
        [{ ...body, rewardAggregation: 'median' }, 'InvalidServiceConfiguration'],
        [{ ...body, explorationPercentage: 1.5 }, 'InvalidServiceConfiguration'],
        [{ ...body, logRetentionDays: 0 }, 'InvalidLogRetentionDays'],
        [{ ...body, rewardWaitTime: 'P1D', logRetentionDays: 1 }, 'InvalidLogRetentionDays'],
        [{ ...body, logMirrorEnabled: true }, 'InvalidServiceConfiguration'],
        [{ ...body, learningMode: 'Offline' }, 'InvalidServiceConfiguration'],
    ]) {
        await answered(400, service().put({ body: wrong }), code);
    }
    assert.deepEqual((await service().get()).body, body);
    const old = await server.ask('/personalizer/v1.0/configurations/service', {}, 'PUT');
    assert.equal(old.body.error.code, 'BadRequest');
});

test('the newest generation also says how many days a new model begins with', async () => {
    const path = '/personalizer/configurations/service?api-version=2022-09-01-preview';
    const { body } = await server.ask(path);
    assert.equal(body.modelRetrainDays, 2);
    const put = await server.ask(path, { ...body, modelRetrainDays: 5 }, 'PUT');
    assert.equal(put.body.modelRetrainDays, 5);
    const wrong = await server.ask(path, { ...body, modelRetrainDays: -1 }, 'PUT');
    assert.equal(wrong.headers.get('x-ms-error-code'), 'InvalidServiceConfiguration');
});

test('the policy: Vowpal Wabbit\'s arguments are kept, and their epsilon is followed; ours choose ours', async () => {
    assert.deepEqual((await policy().get()).body, { name: 'eenet', arguments: 'eenet:eenet' });
    const vw = { name: 'mine', arguments: '--cb_explore_adf --epsilon 0.3 --power_t 0 -l 0.001 --cb_type mtr -q ::' };
    const put = await answered(200, policy().put({ body: vw }));
    assert.deepEqual(put.body, vw);
    assert.deepEqual((await policy().get()).body, vw);
    assert.equal((await service().get()).body.explorationPercentage, 0.3);
    const own = { name: 'square', arguments: 'eenet:squarecb' };
    assert.deepEqual((await policy().put({ body: own })).body, own);
    assert.equal((await settings()).policy, 'squarecb');
    assert.equal((await client.path('/rank').post({ body: meal })).status, '201');
    for (const wrong of [{}, { name: 'x', arguments: 'eenet:nobody' }, { name: 'x', arguments: 'eenet:eenet no=1' }, { name: 'x', arguments: 'linucb' }, { name: 'x'.repeat(257), arguments: 'a' }]) {
        await answered(400, policy().put({ body: wrong }), 'InvalidPolicyContract');
    }
    assert.deepEqual((await policy().get()).body, own);
    const reset = await answered(200, policy().delete());
    assert.deepEqual(reset.body, { name: 'eenet', arguments: 'eenet:eenet' });
    assert.equal((await settings()).policy, 'eenet');
});

test('the model can be taken, put back and reset', async () => {
    await play(20);
    const taken = await answered(200, bytes('GET', '/model'));
    assert.equal(taken.headers.get('content-type'), 'application/octet-stream');
    const model = Buffer.from(await taken.arrayBuffer());
    const signed = Buffer.from(await (await bytes('GET', '/model?signed=true')).arrayBuffer());
    assert.ok(signed.length > 0);
    const { body } = await answered(200, client.path('/model/properties').get());
    assert.ok(Date.parse(body.creationTime) <= Date.parse(body.lastModifiedTime));
    assert.equal((await client.path('/model').delete()).status, '204');
    assert.equal((await bytes('PUT', '/model', signed)).status, 204);
    assert.equal((await bytes('PUT', '/model', model)).status, 204);
    const wrong = await answered(400, bytes('PUT', '/model', 'no model'));
    assert.equal((await wrong.json()).error.code, 'InvalidModelImportFormat');
    assert.equal((await client.path('/rank').post({ body: meal })).status, '201');
});

test('the log: from when to when, and its removal', async () => {
    const { body } = await answered(200, client.path('/logs/properties').get());
    assert.ok(Date.parse(body.dateRange.from) <= Date.parse(body.dateRange.to));
    assert.equal((await client.path('/logs').delete()).status, '204');
    await answered(201, server.ask('/v1/bandits', { name: 'new', features: '' }));
    await answered(404, server.ask('/v1/bandits/new/personalizer/v1.1-preview.3/logs/properties'), 'LogsPropertiesNotFound');
    const flat = await answered(403, bytes('POST', '/logs/interactions', 'flatbuffers'));
    assert.equal((await flat.json()).error.code, 'OperationNotAllowed');
});

test('a key that decides changes nothing', async () => {
    const app = newClient(server.url, server.app);
    assert.equal((await app.path('/configurations/service').get()).status, '200');
    const { body } = await service().get();
    for (const answer of [
        await app.path('/configurations/service').put({ body }),
        await app.path('/configurations/policy').delete(),
        await app.path('/model').delete(),
        await app.path('/logs').delete(),
    ]) {
        assert.equal(answer.status, '403');
        assert.equal(answer.body.error.code, 'OperationNotAllowed');
    }
});

test('as containers are watched', async () => {
    assert.equal((await ask(server.url, '/status')).body.apiStatus, 'Valid');
    assert.equal((await ask(server.url, '/ready')).body.ready, 'ready');
});
