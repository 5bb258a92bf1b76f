// clients/javascript in a browser, behind a proxy of the same origin: rewards that outlive a lost network and the page.
import assert from 'node:assert/strict';
import { join, normalize } from 'node:path';
import { json } from 'node:stream/consumers';
import { after, before, beforeEach, test } from 'node:test';

import { browserPath, startBrowser } from './browser.mjs';
import { PATIENCE, ask, listen, sendFile, startServer, until } from './server.mjs';

const FILES = join(process.env.SOURCE_FOLDER, 'clients/javascript');
const PAGE = `<!doctype html><title>A shop</title><script type="module">
import * as eenet from '/client/index.js';
const bandit = new eenet.Client('/eenet', { retryFor: 0, timeout: ${PATIENCE / 1000} }).bandit('shop');
window.lost = [];
window.queue = new eenet.RewardQueue(bandit, { onLost: (reward, error) => lost.push(error.message) });
window.eenet = eenet;
window.bandit = bandit;
</script>`;

// The web site: pages, the client's files, and the decision server below /eenet, as docs/javascript-client.md says.
async function startSite(target) {
    const site = await listen(async (request, response) => {
        if (request.url.startsWith('/client/')) return sendFile(response, join(FILES, normalize(request.url.slice('/client'.length))));
        if (request.url.startsWith('/eenet/')) return forward(request, response);
        response.writeHead(200, { 'Content-Type': 'text/html' });
        response.end(request.url === '/other' ? '<!doctype html><title>Another page</title>' : PAGE);
    });
    const forward = async (request, response) => {
        const body = await json(request);
        const isBeacon = !('cache-control' in request.headers); // the client's fetch sends "no-cache"
        if (site.isDown || (site.holdsRequests && !isBeacon)) return site.isDown && response.destroy();
        const answer = await ask(target, request.url.slice('/eenet'.length), body);
        site.seen.push({ path: request.url, isBeacon, type: request.headers['content-type'], ...answer });
        response.writeHead(answer.status, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify(answer.body));
    };
    return Object.assign(site, { isDown: false, holdsRequests: false, seen: [] });
}

const skip = browserPath ? false : 'there is no browser';
let server, site, browser, context;
before(async () => {
    if (skip) return;
    server = await startServer();
    await ask(server.url, '/v1/bandits', { name: 'shop', wait: '1d', features: '' });
    site = await startSite(server.url);
    browser = await startBrowser();
});
beforeEach(async () => {
    if (skip) return;
    await context?.close();
    context = await browser.newContext();
    context.setDefaultTimeout(PATIENCE);
    Object.assign(site, { isDown: false, holdsRequests: false, seen: [] });
});
after(async () => {
    await browser?.close();
    site?.close();
    await server?.stop();
});

async function open(path = '/') {
    const page = await context.newPage();
    page.errors = [];
    page.on('pageerror', (error) => page.errors.push(error.message));
    await page.goto(site.url + path);
    if (path === '/') await page.waitForFunction(() => window.bandit);
    return page;
}

const decide = (page, count) =>
    page.evaluate(async (count) => {
        const actions = { red: { color: 'red' }, blue: { color: 'blue' } };
        return (await bandit.decideMany(Array.from({ length: count }, () => actions))).map(({ id }) => id);
    }, count);
const rewardAll = (page, ids) => page.evaluate((ids) => ids.forEach((id) => queue.reward(id, 1)), ids);
const size = (page) => page.evaluate(() => queue.size);

// Each decision has its reward: another one does not count. And none is counted twice: the server took each once.
async function checkJoined(ids) {
    const { body } = await ask(server.url, '/v1/bandits/shop/reward/batch', { rewards: ids.map((id) => ({ id, value: 0 })) });
    assert.deepEqual(body.rewards.map(({ outcome }) => outcome), ids.map(() => 'repeated'));
    const taken = site.seen.filter(({ path }) => path.endsWith('/reward/batch')).flatMap((each) => each.body.rewards);
    assert.ok(taken.every(({ outcome }) => outcome === 'joined'), JSON.stringify(taken));
    assert.equal(taken.filter(({ repeated }) => !repeated).length, ids.length);
}

test('a page decides and rewards', { skip }, async () => {
    const page = await open();
    const [id] = await decide(page, 1);
    assert.deepEqual(await page.evaluate((id) => bandit.reward(id, 1), id), { outcome: 'joined', repeated: false });
    assert.equal(await page.evaluate(() => bandit.decide({}).catch((error) => error instanceof eenet.BadRequest && error.message)), 'actions: expected at least one');
    assert.deepEqual(page.errors, []);
});

test('rewards survive a server that is away, and a reload', { skip }, async () => {
    const page = await open();
    const ids = await decide(page, 3);
    site.isDown = true;
    await rewardAll(page, ids);
    assert.equal(await page.evaluate(() => queue.flush()), 3);
    await page.reload();
    await page.waitForFunction(() => window.bandit);
    assert.equal(await page.evaluate(() => queue.flush()), 3);
    const failed = await page.evaluate(() => bandit.reward('x', 1).catch(({ name, maybeDone, retried }) => [name, maybeDone, retried]));
    assert.deepEqual(failed, ['Unavailable', true, 0]);
    site.isDown = false;
    await page.reload();
    await page.waitForFunction(() => window.queue?.size === 0);
    await checkJoined(ids);
    assert.deepEqual(page.errors, []);
});

test('rewards are sent when the network returns', { skip }, async () => {
    const page = await open();
    const ids = await decide(page, 3);
    await context.setOffline(true);
    await rewardAll(page, ids);
    assert.equal(await page.evaluate(() => queue.flush()), 3);
    await context.setOffline(false);
    await page.waitForFunction(() => queue.size === 0);
    await checkJoined(ids);
});

test('a beacon brings the rewards of a page that is left', { skip }, async () => {
    const page = await open();
    const ids = await decide(page, 200);
    site.holdsRequests = true; // as slow as can be: only the beacon arrives
    await rewardAll(page, ids);
    await page.goto(`${site.url}/other`);
    const arrived = () => site.seen.filter(({ isBeacon }) => isBeacon);
    await until('the beacon', () => arrived().length);
    assert.equal(arrived()[0].type, 'application/json');
    assert.equal(arrived()[0].body.rewards.length, 200);

    // A beacon has no response: the next page sends them again, and the server recognises them.
    site.holdsRequests = false;
    const next = await open();
    await next.waitForFunction(() => queue.size === 0);
    await checkJoined(ids);
});

test('a key is not sent by a beacon: the rewards wait for the next page', { skip }, async () => {
    const page = await open();
    const ids = await decide(page, 2);
    site.holdsRequests = true;
    await page.evaluate((ids) => {
        queue.close();
        const keyed = new eenet.Client('/eenet', { key: 'ee_x' }).bandit('shop');
        const rewards = new eenet.RewardQueue(keyed);
        navigator.sendBeacon = () => localStorage.setItem('beacon', 'sent');
        ids.forEach((id) => rewards.reward(id, 1));
    }, ids);
    await page.goto(`${site.url}/other`);
    assert.equal(await page.evaluate(() => localStorage.beacon), undefined);
    site.holdsRequests = false;
    const next = await open();
    await next.waitForFunction(() => queue.size === 0);
    await checkJoined(ids);
});

test('two tabs share what is stored', { skip }, async () => {
    const tabs = [await open(), await open()];
    const ids = await decide(tabs[0], 40);
    site.isDown = true;
    await rewardAll(tabs[0], ids.slice(0, 20));
    await rewardAll(tabs[1], ids.slice(20));
    for (const tab of tabs) await tab.evaluate(() => queue.flush());
    assert.deepEqual([await size(tabs[0]), await size(tabs[1])], [40, 40]);
    site.isDown = false;
    await Promise.all(tabs.map((tab) => tab.evaluate(() => queue.flush())));
    assert.equal(await size(tabs[0]), 0);
    await checkJoined(ids);
    for (const tab of tabs) assert.deepEqual(tab.errors, []);
});

test('a page that must not store anything keeps rewards in memory', { skip }, async () => {
    const page = await context.newPage();
    await page.addInitScript(() => {
        Object.defineProperty(window, 'localStorage', { get: () => { throw new DOMException('denied', 'SecurityError'); } });
    });
    await page.goto(site.url);
    await page.waitForFunction(() => window.bandit);
    const ids = await decide(page, 2);
    site.isDown = true;
    await rewardAll(page, ids);
    assert.equal(await page.evaluate(() => queue.flush()), 2);
    site.isDown = false;
    assert.equal(await page.evaluate(() => queue.flush()), 0);
    await checkJoined(ids);
});

test('pages of another origin are refused by the server', { skip }, async () => {
    const page = await open();
    const name = await page.evaluate((url) => new eenet.Client(url, { retryFor: 0 }).bandits().catch((error) => error.name), server.url);
    assert.equal(name, 'Unavailable');
});
