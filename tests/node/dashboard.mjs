// What the tests of the dashboard share: a browser, a server on which each creates its own bandits, and ways to look at one.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { browserPath, openPage, startBrowser } from './browser.mjs';
import { ask, startServer, until } from './server.mjs';

export { overflow, rendered, violations } from './browser.mjs';
export const skip = browserPath ? false : 'there is no browser';
export const SIZES = { desk: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
// Tests that run at once: most of the time a page waits for its next poll.
export const TOGETHER = { concurrency: 4, skip };
export let server;
let browser;

before(async () => {
    if (skip) return;
    browser = await startBrowser();
    server = await startServer();
});
after(async () => {
    await browser?.close();
    await server?.stop();
});

export async function create(settings, on = server) {
    const { status } = await ask(on.url, '/v1/bandits', settings);
    assert.ok(status === 201 || status === 200);
}

// A page that is closed after the test.
export const open = (t, url, options) => openPage(browser, url, options, t);

// The dashboard of a bandit.
export async function look(t, name, options, on = server) {
    const page = await open(t, on.url, options);
    await page.goto(`${on.url}/#/b/${name}`);
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    return page;
}

// The number of a card.
export async function numberOf(page, card) {
    const words = await page.locator('.number').filter({ has: page.getByRole('heading', { name: card }) }).locator('.value').textContent();
    return Number.parseFloat(words.replaceAll(',', ''));
}

// Starts an evaluation of the bandit and waits for its end.
export async function evaluated(name) {
    const path = `/v1/bandits/${name}/evaluations`;
    await ask(server.url, path, { name: 'autumn', candidates: [{ name: 'online', policy: 'logged' }, { name: 'linucb', policy: 'linucb' }] });
    await until('the evaluation', async () => (await ask(server.url, path)).body.evaluations.every((job) => !['waiting', 'running'].includes(job.state)));
}
