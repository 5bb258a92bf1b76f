// The page at /, in a browser, against the real server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { browserPath, openPage, startBrowser } from './browser.mjs';
import { ask, startServer } from './server.mjs';

const skip = browserPath ? false : 'there is no browser';
let browser;

before(async () => {
    if (!skip) browser = await startBrowser();
});
after(() => browser?.close());

// A server that ends with the test.
async function serve(t, words = []) {
    const server = await startServer(words);
    t.after(() => server.stop());
    return server;
}

test('the files have strict headers and tags', { skip }, async (t) => {
    const server = await serve(t);
    const answer = await fetch(`${server.url}/`);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.match(answer.headers.get('content-security-policy'), /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'/);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(answer.headers.get('referrer-policy'), 'same-origin');
    assert.equal(answer.headers.get('cache-control'), 'no-cache');
    const tag = answer.headers.get('etag');
    assert.match(tag, /^"[0-9a-f]{16}"$/);
    assert.equal((await fetch(`${server.url}/`, { headers: { 'If-None-Match': tag } })).status, 304);
    assert.equal((await fetch(`${server.url}/page/page.css`)).headers.get('content-type'), 'text/css; charset=utf-8');
    assert.equal((await fetch(`${server.url}/page/nothing.js`)).status, 404);
    assert.deepEqual((await ask(server.url, '/page/visitor')).body, { keys: false, role: 'admin', name: '', bandit: null });
});

test('it can be switched off', { skip }, async (t) => {
    const server = await serve(t, ['--page', 'off']);
    for (const path of ['/', '/page/page.js', '/page/visitor']) {
        const { status, body } = await ask(server.url, path);
        assert.equal(status, 404);
        assert.match(body.error.message, /switched off/);
    }
});

test('without bandits it says what to do, creates one, and lists it', { skip }, async (t) => {
    const server = await serve(t);
    const page = await openPage(browser, server.url);
    await page.goto(server.url);
    await page.getByRole('heading', { name: 'No bandit yet' }).waitFor();
    await page.getByRole('button', { name: 'Create a bandit' }).click();
    await page.getByLabel('Name', { exact: true }).fill('shop');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).hash, '#/b/shop');
    assert.equal((await ask(server.url, '/v1/bandits/shop')).status, 200);
    await page.getByRole('link', { name: 'shop' }).waitFor();
    assert.deepEqual(page.troubles, []);
});
