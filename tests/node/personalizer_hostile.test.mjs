// Whatever comes to Personalizer's paths, the answer is an error in its words, and the server goes on.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { meal, startPersonalizer } from './personalizer.mjs';

let server;
before(async () => {
    server = await startPersonalizer({}, ['--body-bytes', '65536', '--features', '200']);
});
after(async () => {
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

async function send(method, path, body, headers = {}) {
    const answer = await fetch(server.url + path, { method, body, headers: { 'Ocp-Apim-Subscription-Key': server.key, ...headers } });
    const text = await answer.text();
    const errors = answer.status >= 400 && answer.status !== 404 && path.startsWith('/personalizer') ? JSON.parse(text).error : null;
    if (errors) assert.ok(errors.code && errors.message, text);
    assert.ok(answer.status < 500, `${method} ${path}: ${answer.status} ${text}`);
    return { status: answer.status, text };
}

const writes = [
    ['POST', '/rank'],
    ['POST', '/events/a/reward'],
    ['POST', '/multislot/rank'],
    ['POST', '/multislot/events/a/reward'],
    ['PUT', '/configurations/service'],
    ['PUT', '/configurations/policy'],
    ['POST', '/configurations/applyFromEvaluation'],
    ['POST', '/evaluations'],
    ['PUT', '/evaluations/a'],
    ['PUT', '/featureImportances/a'],
    ['PUT', '/model'],
];
const bodies = [
    '',
    '{',
    '[]',
    'null',
    '"text"',
    '{"a":1}{',
    '{"actions":[{"id":"a"}],"actions":{}}',
    `{"actions":${'['.repeat(5000)}`,
    `{"x":${'{"y":'.repeat(100)}1${'}'.repeat(100)}}`,
    '{"actions":[{"id":"\\ud800"}]}',
    Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    Buffer.alloc(4096, 0),
    '{"value":1e999}',
    '{"value":NaN}',
    '{"reward":[{"slotId":"","value":1}]}',
    JSON.stringify({ name: '\u0000', arguments: '\u0000', startTime: {}, endTime: [], policies: [1] }),
    JSON.stringify({ rewardWaitTime: 'PT' + '9'.repeat(60) + 'S', defaultReward: '0', rewardAggregation: [], explorationPercentage: -1, modelExportFrequency: 'P', logRetentionDays: 1e300 }),
    JSON.stringify({ actions: Array.from({ length: 50 }, (_, i) => ({ id: `a${i}`, features: [{ x: Array(100).fill(1) }] })) }),
];

for (const [method, path] of writes)
    test(`${method} ${path}`, async () => {
        for (const base of ['/personalizer/v1.0', '/personalizer/v1.1-preview.3', '/personalizer'])
            for (const body of bodies) {
                const { status } = await send(method, base + path, body);
                assert.ok([400, 403, 404, 405, 413].includes(status), `${path} ${String(body).slice(0, 60)}: ${status}`);
            }
    });

test('bodies that are too large, and headers that are odd', async () => {
    const { status } = await send('POST', '/personalizer/v1.1-preview.3/rank', 'x'.repeat(70000));
    assert.equal(status, 413);
    for (const id of ['', 'x'.repeat(1000), 'a b', '\u00e9'])
        assert.equal((await send('POST', '/personalizer/v1.0/events/a/reward', '{"value":1}', { 'x-ms-client-request-id': id })).status, 204);
    for (const key of ['', 'x'.repeat(2000)])
        assert.equal((await send('POST', '/personalizer/v1.0/rank', JSON.stringify(meal), { 'Ocp-Apim-Subscription-Key': key })).status, 401);
});
