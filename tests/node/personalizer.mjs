// What the tests of Personalizer's API share: a server with keys and a bandit, Microsoft's two clients for Node as they
// are, and a way to it that loses answers.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, startServer } from './server.mjs';

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

// The bytes of a decision, as the log has it: a line for each that is settled.
export async function readLog(server) {
    const answer = await fetch(`${server.url}/v1/bandits/personalizer/log`, { headers: { 'X-Api-Key': server.key } });
    return (await answer.text())
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
}

// Asks until `look` gives something; fails after a while.
export async function until(look, what) {
    for (const end = Date.now() + 600000; Date.now() < end; ) {
        const found = await look();
        if (found) return found;
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`still not: ${what}`);
}

// A proxy before the server. `troubles` is how the next requests fare, one after the other: 'refused' (503 before the
// server has seen it), 'lost' (503 after the server did it), 'cut' (the connection breaks after the server did it).
export async function startProxy(url) {
    const target = new URL(url);
    const self = { troubles: [], seen: [] };
    const server = http.createServer((request, answer) => {
        const pieces = [];
        request.on('data', (piece) => pieces.push(piece));
        request.on('end', () => {
            const trouble = self.troubles.shift();
            self.seen.push(`${request.method} ${request.url} ${trouble ?? ''}`.trim());
            if (trouble === 'refused') return answer.writeHead(503).end();
            const onwards = http.request(
                { host: target.hostname, port: target.port, method: request.method, path: request.url, headers: request.headers },
                (got) => {
                    const body = [];
                    got.on('data', (piece) => body.push(piece));
                    got.on('end', () => {
                        if (trouble === 'lost') return answer.writeHead(503).end();
                        if (trouble === 'cut') return request.socket.destroy();
                        answer.writeHead(got.statusCode, got.headers).end(Buffer.concat(body));
                    });
                },
            );
            onwards.on('error', () => request.socket.destroy());
            onwards.end(Buffer.concat(pieces));
        });
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    self.url = `http://127.0.0.1:${server.address().port}`;
    self.stop = () => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
    };
    return self;
}

export const meal = {
    contextFeatures: [{ timeOfDay: 'morning' }, { user: { age: 31, likes: ['sweet', 'salty'] } }],
    actions: [
        { id: 'pasta', features: [{ taste: 'salty', spice: 'medium' }, { nutrition: { calories: 500, vector: [1, 2, 3] } }] },
        { id: 'ice cream', features: [{ taste: 'sweet' }] },
        { id: 'juice', features: [{ taste: 'sweet', fresh: true }] },
    ],
};
