// The real server for a test: `eenet serve --port 0` in a new folder, ended when the test ends.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = process.env.EENET;

// Milliseconds that a condition may take: only to end what hangs, because other tests may keep the machine busy.
export const PATIENCE = 300000;

// Asks until the condition holds. Resolves to its value.
export async function until(what, condition) {
    for (const end = Date.now() + PATIENCE; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
        const found = await condition();
        if (found) return found;
    }
    throw new Error(`${what}: not within ${PATIENCE / 1000} s`);
}

// words: more of its command line. after: one that was stopped with `keep`, in whose place it comes, with its port and
// its store. Resolves when it listens: {url, folder, log(), stop()}.
export async function startServer(words = [], after = null) {
    const folder = after?.folder ?? mkdtempSync(join(tmpdir(), 'eenet-test-'));
    const port = after ? new URL(after.url).port : '0';
    const child = spawn(PROGRAM, ['serve', '--port', port, '--folder', join(folder, 'store'), ...words]);
    let printed = '';
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    const url = await new Promise((resolve, reject) => {
        const look = (bytes) => {
            printed += bytes;
            const found = printed.match(/https?:\/\/[0-9a-z.:[\]]+/);
            if (found) resolve(found[0]);
        };
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        ended.then(({ code, signal }) => reject(new Error(`eenet serve ended (${code ?? signal}):\n${printed}`)));
    });
    return {
        url,
        folder,
        log: () => printed,
        stop: async (signal = 'SIGTERM', keep = false) => {
            child.kill(signal);
            const how = await ended;
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
