// What the tests of Personalizer's API share: a server with keys and a bandit, and Microsoft's two clients for Node as they
// are.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, readLog, startServer, until } from './server.mjs';

const require = createRequire(import.meta.url);
const { PersonalizerClient } = require('@azure/cognitiveservices-personalizer');
const { ApiKeyCredentials, exponentialRetryPolicy, systemErrorRetryPolicy } = require('@azure/ms-rest-js');
const newest = require('@azure-rest/ai-personalizer');

// {url, key, app, ask, stop}: key is an administrator's, app one that decides and rewards for the bandit alone.
export async function startPersonalizer(settings = {}, words = []) {
    const folder = mkdtempSync(join(tmpdir(), 'eenet-keys-'));
    const keys = join(folder, 'keys');
    const make = (name, ...more) =>
        execFileSync(process.env.EENET, ['keys', 'add', name, ...more, '--file', keys], { stdio: ['ignore', 'pipe', 'ignore'] })
            .toString()
            .trim();
    const key = make('boss', '--role', 'admin');
    const app = make('website', '--role', 'app', '--bandit', 'personalizer');
    const server = await startServer(['--keys', keys, ...words]);
    const self = {
        url: server.url,
        key,
        app,
        // One request with this key; path is of the whole server.
        ask: (path, body, method, headers) =>
            ask(server.url, path, body, method, { 'Ocp-Apim-Subscription-Key': key, ...headers }),
        stop: async () => {
            const how = await server.stop();
            rmSync(folder, { recursive: true, force: true });
            return how;
        },
    };
    const made = await self.ask('/v1/bandits', { name: 'personalizer', features: '', ...settings });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return self;
}

// Asks again at once, in place of after half a minute: an option of both.
const soon = [3, 10, 10, 50];

// v1.0. It says which request it is where it is told to, and not by itself.
export function oldClient(url, key, more = {}) {
    return new PersonalizerClient(new ApiKeyCredentials({ inHeader: { 'Ocp-Apim-Subscription-Key': key } }), url, {
        ...more,
        requestPolicyFactories: (usual) => [
            ...usual.filter((factory) => factory.create.toString().search(/RetryPolicy/) < 0),
            exponentialRetryPolicy(...soon),
            systemErrorRetryPolicy(...soon),
        ],
    });
}

// v1.1-preview.3.
export function newClient(url, key) {
    return newest.default(url, { key }, {
        allowInsecureConnection: true,
        retryOptions: { retryDelayInMs: 10, maxRetryDelayInMs: 50 },
    });
}

// Nothing is too late for its reward until endWaits().
const LONG = '1d';

// The line of the log of a decision that is settled.
export const settled = (server, eventId) =>
    until(`${eventId} is settled`, async () => (await readLog(server.url, 'personalizer', { 'X-Api-Key': server.key })).find((line) => line.EventId === eventId));

// Ends the time for rewards of the decisions made so far, and waits until the server has settled these.
export async function endWaits(server, eventIds) {
    assert.equal((await server.ask('/v1/bandits/personalizer', { wait: 0.001 }, 'PATCH')).status, 200);
    const lines = await Promise.all(eventIds.map((eventId) => settled(server, eventId)));
    assert.equal((await server.ask('/v1/bandits/personalizer', { wait: LONG }, 'PATCH')).status, 200);
    return lines;
}

export const meal = {
    contextFeatures: [{ timeOfDay: 'morning' }, { user: { age: 31, likes: ['sweet', 'salty'] } }],
    actions: [
        { id: 'pasta', features: [{ taste: 'salty', spice: 'medium' }, { nutrition: { calories: 500, vector: [1, 2, 3] } }] },
        { id: 'ice cream', features: [{ taste: 'sweet' }] },
        { id: 'juice', features: [{ taste: 'sweet', fresh: true }] },
    ],
};
