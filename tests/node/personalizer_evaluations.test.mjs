// Evaluations and feature importances: with the client that has the first, and by plain requests for both.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { meal, newClient, startPersonalizer } from './personalizer.mjs';
import { answered, readLog, until } from './server.mjs';

let server, client, rounds, start, end;
const log = () => readLog(server.url, 'personalizer', { 'X-Api-Key': server.key });
before(async () => {
    server = await startPersonalizer({ propensity: 'floor:0.5' });
    client = newClient(server.url, server.key);
    rounds = 120;
    for (let i = 0; i < rounds; i++) {
        const { body } = await client.path('/rank').post({ body: meal });
        const value = body.rewardActionId === 'ice cream' ? 1 : 0;
        await client.path('/events/{eventId}/reward', body.eventId).post({ body: { value } });
    }
    await until('all is settled', async () => (await log()).length === rounds);
    [start, end] = [-1, 1].map((hours) => new Date(new Date().getTime() + 3600e3 * hours).toISOString());
});
after(() => server.stop());

const contract = () => ({
    name: 'first try',
    startTime: start,
    endTime: end,
    policies: [
        { name: 'square', arguments: 'eenet:squarecb' },
        { name: 'vw', arguments: '--cb_explore_adf --epsilon 0.1' },
    ],
    enableOfflineExperimentation: false,
});

// What the log says by itself of a policy that draws as `probability` says.
async function byHand(probability) {
    let rewards = 0, weights = 0, squares = 0;
    for (const line of await log()) {
        const action = line.a[0] - 1;
        const weight = probability(action, line) / line._label_probability;
        weights += weight;
        rewards += weight * -line._label_cost;
        squares += (weight * line._label_cost) ** 2;
    }
    return { rewards, weights, squares };
}

function close(got, wanted, what) {
    assert.ok(Math.abs(got - wanted) < 1e-6 * Math.max(1, Math.abs(wanted)), `${what}: ${got}, expected ${wanted}`);
}

test('an evaluation is asked for, waited for, read and deleted', async () => {
    const made = await answered(201, client.path('/evaluations').post({ body: contract() }));
    const { id } = made.body;
    assert.equal(made.headers.location, `/personalizer/v1.1-preview.3/evaluations/${id}`);
    assert.equal(made.body.name, 'first try');
    assert.equal(made.body.evaluationType, 'Manual');
    assert.equal(Date.parse(made.body.startTime), Date.parse(start));
    const done = await until('it is evaluated', async () => {
        const { body } = await answered(200, client.path('/evaluations/{evaluationId}', id).get());
        assert.ok(['pending', 'completed'].includes(body.status), JSON.stringify(body));
        return body.status === 'completed' && body;
    });
    const results = Object.fromEntries(done.policyResults.map((result) => [result.policySource + ' ' + result.name, result]));
    assert.deepEqual(Object.keys(results), ['Online online', 'Baseline baseline', 'Random uniform', 'Custom square', 'Custom vw']);
    for (const [key, probability] of [
        ['Online online', (action, line) => line._label_probability],
        ['Baseline baseline', (action) => (action === 0 ? 1 : 0)],
        ['Random uniform', () => 1 / 3],
    ]) {
        const { totalSummary } = results[key];
        const { rewards, weights, squares } = await byHand(probability);
        close(totalSummary.ipsEstimatorDenominator, rounds, `${key} denominator`);
        close(totalSummary.ipsEstimatorNumerator, rewards, `${key} numerator`);
        close(totalSummary.snipsEstimatorDenominator, weights, `${key} weights`);
        close(totalSummary.sumOfSquares, squares, `${key} squares`);
        close(totalSummary.averageReward, rewards / rounds, `${key} mean`);
        assert.ok(results[key].summary.length >= 1);
        assert.ok(Date.parse(totalSummary.timeStamp) > Date.parse(start));
        assert.match(totalSummary.aggregateTimeWindow, /^P/);
    }
    assert.equal(results['Custom vw'].arguments, 'eenet:eenet propensity=floor:0.1');
    assert.ok(done.optimalPolicy);
    const list = await client.path('/evaluations').get();
    assert.deepEqual(list.body.map((one) => one.id), [id]);
    await answered(204, client.path('/configurations/applyFromEvaluation').post({ body: { evaluationId: id, policyName: 'square' } }));
    assert.equal((await server.ask('/v1/bandits/personalizer')).body.settings.policy, 'squarecb');
    for (const [body, status, code] of [
        [{ evaluationId: id, policyName: 'nobody' }, 404, 'LearningSettingsNotFound'],
        [{ evaluationId: 'nothing', policyName: 'square' }, 404, 'EvaluationNotFound'],
        [{ evaluationId: id, policyName: 'uniform' }, 400, 'InvalidPolicyConfiguration'],
        [{}, 400, 'BadRequest'],
    ]) {
        await answered(status, client.path('/configurations/applyFromEvaluation').post({ body }), code);
    }
    assert.equal((await client.path('/evaluations/{evaluationId}', id).delete()).status, '204');
    await answered(404, client.path('/evaluations/{evaluationId}', id).get(), 'EvaluationNotFound');
});

test('times come back as they were sent', async () => {
    for (let i = 0; i < 3; i++) {
        const startTime = new Date(Date.parse(start) + i).toISOString();
        const { body } = await client.path('/evaluations').post({ body: { ...contract(), startTime, policies: [] } });
        assert.equal(body.startTime, startTime.replace('Z', '0000Z'));
        assert.equal((await client.path('/evaluations/{evaluationId}', body.id).delete()).status, '204');
    }
});

test('what an evaluation cannot be', async () => {
    for (const [more, code] of [
        [{ name: '' }, 'InvalidEvaluationContract'],
        [{ startTime: 'yesterday' }, 'InvalidEvaluationContract'],
        [{ startTime: end, endTime: start }, 'InvalidEvaluationContract'],
        [{ policies: [{ name: 'a', arguments: 'eenet:nobody' }] }, 'InvalidEvaluationContract'],
        [{ policies: [{ name: 'experiment-a', arguments: 'eenet:linucb' }] }, 'InvalidEvaluationContract'],
        [{ enableOfflineExperimentation: { name: 'x' } }, 'InvalidEvaluationContract'],
        [{ policies: [{ name: 'a', arguments: '--b' }, { name: 'a', arguments: '--b' }] }, 'DuplicateCustomPolicyNames'],
    ]) {
        await answered(400, client.path('/evaluations').post({ body: { ...contract(), ...more } }), code);
    }
});

// Windows that roll have each decision once, wherever they begin.
async function checkRolling(ask) {
    const online = async (more) => (await ask(more)).body.content.value.find((result) => result.policySource === 'Online').summary;
    const marks = await online('');
    const middle = marks[Math.floor(marks.length / 2)];
    const rolled = await online(`&window=Rolling&startTime=${encodeURIComponent(middle.timeStamp)}`);
    const seen = rolled.reduce((sum, one) => sum + one.ipsEstimatorDenominator, 0);
    const before = marks[marks.indexOf(middle) - 1].ipsEstimatorDenominator;
    close(seen, rounds - before, 'decisions in windows');
}

test('the newest generation names its evaluations itself', async () => {
    const path = (id, more = '') => `/personalizer/evaluations/${id}?api-version=2022-09-01-preview${more}`;
    const body = { name: 'mine', startTime: start, endTime: end, policies: [], enablePolicyOptimization: true };
    assert.equal((await server.ask(path('my-evaluation'), body, 'PUT')).status, 200);
    const again = await answered(200, server.ask(path('my-evaluation'), body, 'PUT'));
    assert.equal(again.body.id, 'my-evaluation');
    await answered(400, server.ask(path('my-evaluation'), { ...body, name: 'other' }, 'PUT'));
    const span = `&startTime=${encodeURIComponent(start)}&endTime=${encodeURIComponent(end)}&intervalInMinutes=60&window=Expanding`;
    const done = await until('it is evaluated', async () => {
        const answer = await answered(200, server.ask(path('my-evaluation', span)));
        assert.ok(['Running', 'Succeeded'].includes(answer.body.status), JSON.stringify(answer.body));
        return answer.body.status === 'Succeeded' && answer.body;
    });
    assert.equal(done.content.intervalInMinutes, 60);
    assert.ok(done.content.value.some((result) => result.policySource === 'OfflineExperimentation'));
    for (const result of done.content.value) assert.ok(result.summary.length >= 1 && result.summary.length <= 3);
    assert.equal(done.content.startTime, done.startTime);
    assert.equal(done.content.endTime, done.endTime);
    assert.equal((await server.ask(path('my-evaluation', '&intervalInMinutes=7'))).status, 400);
    assert.equal((await server.ask(path('my-evaluation', '&window=Sliding'))).status, 400);
    await checkRolling((more) => server.ask(path('my-evaluation', more)));
    const list = await server.ask('/personalizer/evaluations?api-version=2022-09-01-preview&top=5');
    assert.equal(list.body.value.length, 1);
    assert.equal((await server.ask(path('my-evaluation'), undefined, 'DELETE')).status, 204);
    assert.equal((await server.ask(path('my-evaluation'))).headers.get('x-ms-error-code'), 'EvaluationNotFound');
});

test('feature importances', async () => {
    const path = (id) => `/personalizer/featureImportances${id}?api-version=2022-09-01-preview`;
    const body = { name: 'what counts', startTime: start, endTime: end };
    assert.equal((await server.ask(path('/fi-1'))).status, 404);
    const put = await answered(200, server.ask(path('/fi-1'), body, 'PUT'));
    const { body: found } = await answered(200, server.ask(path('/fi-1')));
    assert.deepEqual(found, put.body);
    assert.equal(found.id, 'fi-1');
    assert.equal(found.status, 'Succeeded');
    assert.ok(found.featureScores.length > 0, JSON.stringify(found));
    const scores = found.featureScores.map((one) => one.score);
    assert.deepEqual(scores, [...scores].sort((a, b) => b - a));
    assert.ok(found.featureScores.some((one) => one.namespace === '' && one.featureName === 'taste'), JSON.stringify(found.featureScores));
    assert.ok(found.featureScores.some((one) => one.namespace === 'nutrition' && one.featureName === 'calories'), JSON.stringify(found.featureScores));
    assert.deepEqual((await server.ask(path(''))).body.value, [found]);
    assert.equal((await server.ask(path('/fi-2'), { name: 'x' }, 'PUT')).status, 400);
    assert.equal((await server.ask(path('/fi-1'), undefined, 'DELETE')).status, 204);
    assert.equal((await server.ask(path('/fi-1'))).status, 404);
    assert.deepEqual((await server.ask(path(''))).body.value, []);
});
