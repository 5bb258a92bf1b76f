import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, startServer } from './server.mjs';

test('a server starts, answers and ends', async () => {
    const server = await startServer();
    assert.equal((await ask(server.url, '/readyz')).status, 200);
    assert.deepEqual((await ask(server.url, '/v1/bandits')).body, { bandits: [] });
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
});
