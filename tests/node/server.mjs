// What all tests share: waiting, the real server, requests to it, and small servers of the tests themselves.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';

// Milliseconds until what hangs is given up. No result depends on it.
export const PATIENCE = 600000;

// Asks until the condition holds; resolves to its value. Where an event can be awaited, await the event.
export async function until(what, condition) {
    const pause = 50;
    for (let waited = 0; waited < PATIENCE; waited += pause) {
        const found = await condition();
        if (found) return found;
        await new Promise((resolve) => setTimeout(resolve, pause));
    }
    assert.fail(`${what}: not within ${PATIENCE / 1000} s`);
}

// Asks until the check throws no more; resolves to its value.
export async function soon(check) {
    let value, trouble;
    await until('a check', async () => {
        trouble = null;
        value = await check().catch((error) => (trouble = error));
        return !trouble;
    }).catch((error) => assert.fail(trouble ?? error));
    return value;
}

// A program that prints addresses when it is ready: {urls, log(), end(signal)}. end() resolves to {code, signal}.
export async function start(program, words, isReady = (printed) => /https?:/.test(printed)) {
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    await new Promise((resolve, reject) => {
        const look = (bytes) => isReady((printed += bytes)) && resolve();
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        ended.then(({ code, signal }) => reject(new Error(`${program} ended (${code ?? signal}):\n${printed}`)));
    });
    const end = (signal) => {
        child.kill(signal);
        return ended;
    };
    process.once('exit', () => child.kill('SIGKILL')); // a test that fails leaves it behind
    return { urls: printed.match(/https?:\/\/[0-9a-z.:[\]]+/g), log: () => printed, end };
}

// `eenet serve` on a free port. words: more of its command line. after: one that was stopped with `keep`, whose store it
// goes on with. Resolves when it listens: {url, folder, log(), stop()}.
export async function startServer(words = [], after = null) {
    const folder = after?.folder ?? mkdtempSync(join(tmpdir(), 'eenet-test-'));
    const { urls, log, end } = await start(process.env.EENET, ['serve', '--port', '0', '--folder', join(folder, 'store'), ...words]);
    return {
        url: urls[0],
        folder,
        log,
        stop: async (signal = 'SIGTERM', keep = false) => {
            const how = await end(signal);
            if (!keep) rmSync(folder, { recursive: true, force: true });
            return how;
        },
    };
}

// One request with JSON in and out: {status, body, headers}.
export async function ask(url, path, body, method = body === undefined ? 'GET' : 'POST', headers = {}) {
    const answer = await fetch(url + path, {
        method,
        headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
        body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, body: text ? JSON.parse(text) : null, headers: answer.headers };
}

// The answer of a call, which must have this status, and this code if it is an error.
export async function answered(status, call, code) {
    const answer = await call;
    assert.equal(Number(answer.status), status, JSON.stringify(answer.body));
    if (code) assert.equal(answer.body.error.code, code, answer.body.error.message);
    return answer;
}

// The log of a bandit: an object for each decision that is settled.
export async function readLog(url, bandit, headers = {}) {
    const answer = await fetch(`${url}/v1/bandits/${bandit}/log`, { headers });
    return (await answer.text()).split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

// An HTTP server of the test: {url, close()}.
export async function listen(handler) {
    const server = createServer(handler);
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const close = () => {
        server.closeAllConnections();
        server.close();
    };
    return { url: `http://127.0.0.1:${server.address().port}`, close };
}

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json', '.wasm': 'application/wasm' };

// Answers with a file, as any web server does.
export async function sendFile(response, path) {
    try {
        const bytes = await readFile(path);
        response.writeHead(200, { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(bytes);
    } catch {
        response.writeHead(404).end();
    }
}
export const serveFolder = (folder) =>
    listen((request, response) => {
        const { pathname } = new URL(request.url, 'http://site');
        return sendFile(response, join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname));
    });
