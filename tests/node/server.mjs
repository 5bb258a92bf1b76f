// The real server for a test: `eenet serve --port 0` in a new folder, ended when the test ends.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = process.env.EENET;

// words: more of its command line. Resolves when it listens: {url, folder, log(), stop()}.
export async function startServer(words = []) {
    const folder = mkdtempSync(join(tmpdir(), 'eenet-test-'));
    const child = spawn(PROGRAM, ['serve', '--port', '0', '--folder', join(folder, 'store'), ...words]);
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
        stop: async (signal = 'SIGTERM') => {
            child.kill(signal);
            const how = await ended;
            rmSync(folder, { recursive: true, force: true });
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
