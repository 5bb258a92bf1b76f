// The dashboard in a browser, against the real server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { browserPath, closePage, openPage, startBrowser } from './browser.mjs';
import { PATIENCE, ask, startServer, until } from './server.mjs';
import { keepPlaying, play, visit } from './traffic.mjs';

const skip = browserPath ? false : 'there is no browser';
const SIZES = { desk: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
let browser, server;

// Most tests share a server and create their own bandits: under a sanitizer a server is slow to start.
before(async () => {
    if (skip) return;
    browser = await startBrowser();
    server = await startServer();
});
after(async () => {
    await browser?.close();
    await server?.stop();
});

async function create(settings, on = server) {
    const { status } = await ask(on.url, '/v1/bandits', settings);
    assert.ok(status === 201 || status === 200);
}

// A page that is closed after the test.
async function open(t, url, options) {
    const page = await openPage(browser, url, options);
    t.after(() => closePage(page));
    return page;
}

// The dashboard of a bandit.
async function look(t, name, options, on = server) {
    const page = await open(t, on.url, options);
    await page.goto(`${on.url}/#/b/${name}`);
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    return page;
}

// When the page has drawn what it has: some of its parts look at their size only then.
const rendered = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

// The number of a card.
async function numberOf(page, card) {
    const words = await page.locator('.number').filter({ has: page.getByRole('heading', { name: card }) }).locator('.value').textContent();
    return Number.parseFloat(words.replaceAll(',', ''));
}

// ---- files ----

test('the files have strict headers and tags', { skip }, async () => {
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
    const off = await startServer(['--page', 'off']);
    t.after(() => off.stop());
    for (const path of ['/', '/page/page.js', '/page/visitor', '/page/choices']) {
        const { status, body } = await ask(off.url, path);
        assert.equal(status, 404);
        assert.match(body.error.message, /dashboard is off/);
    }
});

// ---- choosing ----

test('without bandits it says what to do, creates one, and lists it', { skip }, async (t) => {
    const page = await open(t, server.url);
    await page.goto(server.url);
    await page.getByRole('heading', { name: 'Create your first bandit' }).waitFor();
    await page.getByRole('button', { name: 'Create a bandit' }).click();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('A name must be 1 to 64 letters').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('shop');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).hash, '#/b/shop');
    assert.equal((await ask(server.url, '/v1/bandits/shop')).status, 200);
    await page.getByRole('link', { name: 'shop' }).waitFor();
    assert.deepEqual(page.troubles, []);
});

test('bandits are searched, chosen, and linked to', { skip }, async (t) => {
    for (const name of ['paper', 'news', 'mail.eu', 'mail.us']) await create({ name, dim: 3, policy: 'linucb' });
    const page = await look(t, 'news');
    const list = page.locator('#bandits a');
    await list.nth(3).waitFor();
    assert.equal(await page.locator('#bandits [aria-current=page]').textContent().then((words) => words.startsWith('news')), true);
    await page.getByLabel('Search bandits').fill('MAIL');
    await page.waitForFunction(() => document.querySelectorAll('#bandits a').length === 2);
    await page.getByRole('link', { name: 'mail.us' }).click();
    await page.getByRole('heading', { name: 'mail.us', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).hash, '#/b/mail.us');
    await page.goto(`${server.url}/#/b/nobody`);
    await page.getByRole('heading', { name: 'Bandit not found' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'mail.us', level: 1 }).waitFor();
    assert.deepEqual(page.troubles, []);
});

test('of many bandits the one that is looked at is seen in the list', { skip }, async (t) => {
    for (let i = 0; i < 40; i++) await create({ name: `loop-${i}`, dim: 3, policy: 'linucb' });
    const page = await look(t, 'loop-39');
    await page.locator('#bandits a').nth(39).waitFor();
    const names = (await page.locator('#bandits b').allTextContents()).filter((name) => name.startsWith('loop-'));
    assert.deepEqual(names, Array.from({ length: 40 }, (_, i) => `loop-${i}`));
    const isSeen = () => {
        const at = document.querySelector('#bandits [aria-current=page]').getBoundingClientRect();
        const list = document.getElementById('bandits').getBoundingClientRect();
        return at.top >= list.top - 1 && at.bottom <= list.bottom + 1;
    };
    await page.waitForFunction(isSeen);
    await page.goto(`${server.url}/#/b/loop-0`);
    await page.getByRole('heading', { name: 'loop-0', level: 1 }).waitFor();
    await page.waitForFunction(isSeen);
    assert.equal(await page.evaluate(() => scrollY), 0);
    assert.deepEqual(page.troubles, []);
});

// ---- numbers ----

test('numbers move, and the page stays smooth at 200 decisions a second', { skip }, async (t) => {
    await create({ name: 'fast', features: '', policy: 'linucb' });
    const page = await open(t, server.url);
    await page.goto(`${server.url}/#/b/fast`);
    await page.getByRole('heading', { name: 'fast', level: 1 }).waitFor();
    await page.waitForFunction(() => Number.parseFloat(document.querySelector('.number .value')?.textContent) === 0);
    const traffic = keepPlaying(server.url, 'fast', 0, 200);
    await page.waitForFunction(() => Number.parseFloat(document.querySelector('.number .value').textContent) > 0);
    // The processor time of the page's thread: independent of other work on the machine.
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const busy = async () => (await session.send('Performance.getMetrics')).metrics.find((each) => each.name === 'TaskDuration').value;
    const smooth = async () => {
        const before = await busy();
        const gaps = await page.evaluate(() => new Promise((resolve) => {
            const found = [], begin = performance.now();
            let last = begin;
            const turn = (now) => {
                found.push(now - last);
                last = now;
                if (now - begin < 5000) requestAnimationFrame(turn);
                else resolve(found.sort((a, b) => a - b));
            };
            requestAnimationFrame(turn);
        }));
        const used = (await busy()) - before, seconds = gaps.reduce((sum, gap) => sum + gap, 0) / 1000;
        t.diagnostic(`in ${seconds.toFixed(1)} s: ${gaps.length} frames, median ${gaps[gaps.length >> 1].toFixed(1)} ms, longest ${gaps.at(-1).toFixed(1)} ms; ${used.toFixed(2)} s of processor time`);
        return used < seconds / 2;
    };
    // A machine that is shared may count time that others took: a page that computes too much does so every time.
    let tries = 1;
    while (!(await smooth())) assert.ok(tries++ < 5, 'the page computes more than half of the time');
    const shares = page.getByRole('list', { name: 'Shares of the actions' });
    await shares.getByText('red').waitFor();
    const first = await numberOf(page, 'Decisions');
    const version = await page.getByText('Model version').locator('+ dd').textContent();
    await page.waitForFunction((before) => [...document.querySelectorAll('dd')][0].textContent !== before, version);
    assert.ok(first > 0);
    assert.ok((await traffic.stop()) > 400);
    await page.waitForFunction(() => Number.parseFloat(document.querySelector('.number .value').textContent) === 0);
    assert.deepEqual(page.troubles, []);
});

test('trouble is said in words', { skip }, async (t) => {
    await create({ name: 'old', dim: 2, policy: 'linucb', mode: 'logging' });
    const page = await look(t, 'old');
    await page.getByText('Logging mode: returns the first allowed action').waitFor();
    await ask(server.url, '/v1/bandits/old', undefined, 'DELETE');
    await page.getByText('This bandit is archived').waitFor();
    await page.getByRole('button', { name: 'Preview' }).waitFor({ state: 'hidden' });
    assert.deepEqual(page.troubles, []);
});

// The words of the list and of the card, read in one moment.
function countsOf(page, name) {
    return page.evaluate((wanted) => {
        const row = [...document.querySelectorAll('#bandits a')].find((link) => link.querySelector('b').textContent === wanted);
        return [row.querySelector('small').textContent.match(/([\d,]+|no) decisions? since start/)[1], document.querySelector('.number .under').textContent.match(/^([\d,]+) since the server started/)[1]];
    }, name);
}

test('the list and the cards have the same counts, also after a restart', { skip }, async (t) => {
    const first = await startServer();
    await create({ name: 'shop', features: '', policy: 'linucb' }, first);
    await play(first.url, 'shop', 0, 300);
    const page = await look(t, 'shop', {}, first);
    await page.getByText('300 since the server started', { exact: true }).waitFor();
    const traffic = keepPlaying(first.url, 'shop', 300, 100);
    for (let i = 0; i < 20; i++) {
        const [list, card] = await countsOf(page, 'shop');
        assert.equal(list, card);
        await new Promise((resolve) => setTimeout(resolve, 150)); // at other moments of the polls
    }
    await traffic.stop();
    page.allow = (line) => /Failed to load resource|ERR_CONNECTION/.test(line);
    await first.stop('SIGTERM', true);
    const again = await startServer([], first);
    t.after(() => again.stop());
    await page.locator('#bandits a', { hasText: 'no decisions since start' }).waitFor();
    await page.getByText('0 since the server started', { exact: true }).waitFor();
    const { body } = await ask(again.url, '/v1/bandits/shop');
    assert.equal(body.decisions_since_start, 0);
    await play(again.url, 'shop', 100000, 40);
    await page.getByText('40 since the server started', { exact: true }).waitFor();
    assert.deepEqual(await countsOf(page, 'shop'), ['40', '40']);
    assert.deepEqual(page.troubles, []);
});

// ---- trying ----

test('a bandit can be tried by the keyboard alone', { skip }, async (t) => {
    await create({ name: 'tried', features: '', policy: 'linucb' });
    const page = await look(t, 'tried');
    const focused = () => page.evaluate(() => {
        const at = document.activeElement;
        return at.getAttribute('aria-label') || at.textContent.trim() || at.id;
    });
    // Presses Tab until the element has the focus; false after 80.
    const tabTo = async (words) => {
        for (let i = 0; i < 80; i++) {
            await page.keyboard.press('Tab');
            if ((await focused()).startsWith(words)) return true;
        }
        return false;
    };
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Skip to the content');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    assert.ok(await tabTo('Try a decision'));
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'TEXTAREA');
    assert.ok(await tabTo('Preview'));
    await page.keyboard.press('Enter');
    await page.getByText('Nothing was written to the log.').waitFor();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Space');
    assert.ok(await tabTo('Decide and log'));
    const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(ring, 'solid');
    await page.keyboard.press('Enter');
    await page.getByText('Written to the log as decision').waitFor();
    assert.ok(await tabTo('0'));
    assert.ok(await tabTo('1'));
    await page.keyboard.press('Space');
    await page.getByText('Reward recorded').waitFor();
    await page.keyboard.press('Space');
    await page.getByText('Ignored: this decision already has a reward').waitFor();
    const { body } = await ask(server.url, '/v1/bandits/tried/activity');
    assert.deepEqual([body.decisions, body.joined], [1, 1]);
    assert.equal(body.actions[0].id, await page.locator('.chosen').textContent());
    assert.deepEqual(page.troubles, []);
});

test('what is wrong with a request is said where it is', { skip }, async (t) => {
    await create({ name: 'strict', features: '' });
    const page = await look(t, 'strict');
    await page.getByLabel('Actions', { exact: true }).fill('[{"id": "a", ');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Actions: invalid JSON').waitFor();
    assert.equal(await page.getByLabel('Actions', { exact: true }).getAttribute('aria-invalid'), 'true');
    assert.deepEqual(page.troubles, []);
    page.allow = (line) => line.includes('status of 400'); // the browser reports each
    await page.getByLabel('Actions', { exact: true }).fill('[{"id": "a", "feature": {}}]');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.locator('.wrong', { hasText: 'feature' }).waitFor();
    await page.getByLabel('Actions', { exact: true }).fill('[{"id": "a", "features": {"x": 1}}]');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.locator('.chosen', { hasText: 'a' }).waitFor();
    assert.deepEqual(page.troubles, []);
});

test('a bandit of vectors has an example of its dimension', { skip }, async (t) => {
    await create({ name: 'vectors', dim: 7, policy: 'linucb' });
    const page = await look(t, 'vectors');
    await page.getByLabel('Write this decision to the log').check();
    await page.getByRole('button', { name: 'Decide and log' }).click();
    await page.locator('.chosen').waitFor();
    assert.equal(await page.getByRole('list', { name: 'Probability of each action' }).locator('li').count(), 3);
    await page.getByLabel('Other reward').fill('0.25');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Reward recorded').waitFor();
    assert.deepEqual(page.troubles, []);
});

test('a preview leaves the log untouched, and writing it is asked for', { skip }, async (t) => {
    await create({ name: 'preview', features: '', policy: 'linucb' });
    await play(server.url, 'preview', 0, 50);
    const state = async () => {
        const { body } = await ask(server.url, '/v1/bandits/preview');
        const { body: activity } = await ask(server.url, '/v1/bandits/preview/activity');
        return [activity.decisions, activity.waiting, (await (await fetch(`${server.url}/v1/bandits/preview/log`)).text()).split('\n').length, body.settings.policy];
    };
    const before = await until('50 rewards', async () => {
        const now = await state();
        return now[1] === 0 && now;
    });
    const page = await look(t, 'preview');
    const posts = [];
    page.on('request', (request) => request.method() === 'POST' && posts.push(JSON.parse(request.postData())));
    for (let i = 0; i < 3; i++) {
        await page.getByRole('button', { name: 'Preview' }).click();
        await page.getByText('Nothing was written to the log.').waitFor();
    }
    await page.locator('.answer').getByText(/: predicted reward .*, exploration bonus .*, score /).first().waitFor();
    assert.equal(await page.getByRole('list', { name: 'Probability of each action' }).locator('li').count(), 3);
    assert.equal(await page.getByRole('group', { name: 'Reward of this decision' }).count(), 0);
    assert.ok(posts.length > 0 && posts.every((body) => !('slots' in body)));
    assert.deepEqual(await state(), before);
    await page.getByLabel('Write this decision to the log').check();
    await page.getByRole('button', { name: 'Decide and log' }).click();
    await page.getByText('Written to the log as decision').waitFor();
    assert.equal((await state())[0], before[0] + 1);
    assert.deepEqual(page.troubles, []);
});

test('a dry run answers like a decision and is not stored', { skip }, async () => {
    await create({ name: 'dry', features: '', policy: 'linucb' });
    const body = { ...visit(1), id: 'dry-1', dry_run: true };
    const dry = await ask(server.url, '/v1/bandits/dry/decide', body);
    assert.equal(dry.status, 200);
    assert.equal(dry.body.probabilities.length, 5);
    assert.equal((await ask(server.url, '/v1/bandits/dry/reward', { id: 'dry-1', value: 1 })).body.outcome, 'unknown');
    // The id is free, and draws the same action.
    const real = await ask(server.url, '/v1/bandits/dry/decide', { ...body, dry_run: false });
    assert.deepEqual(real.body, dry.body);
    // Of a batch only the others are written; and a round of slots is not.
    const batch = await ask(server.url, '/v1/bandits/dry/decide/batch', { decisions: [{ ...visit(2), dry_run: true }, visit(3)] });
    assert.equal(batch.body.decisions.length, 2);
    const slots = await ask(server.url, '/v1/bandits/dry/decide', { ...visit(4), slots: [{ id: 'top' }, { id: 'side' }], dry_run: true });
    assert.equal(slots.body.slots.length, 2);
    const { body: activity } = await ask(server.url, '/v1/bandits/dry/activity');
    assert.deepEqual([activity.decisions, activity.slots], [2, []]);
    const { status, body: refused } = await ask(server.url, '/v1/bandits/dry/decide', { ...visit(5), dry_run: 'yes' });
    assert.equal(status, 400);
    assert.match(refused.error.message, /dry_run must be true or false/);
});

// ---- slots ----

test('slots are tried and counted', { skip }, async (t) => {
    await create({ name: 'slots', features: '', policy: 'linucb' });
    const page = await look(t, 'slots');
    await page.getByLabel('Fill several slots at once').check();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('One draw for each slot').waitFor();
    assert.equal(await page.locator('.answer .chosen').count(), 2);
    assert.equal(await page.getByRole('region', { name: 'Slots', exact: true }).count(), 0);
    await page.getByRole('textbox', { name: 'Slots' }).fill('[{"id": "top"');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Slots: invalid JSON').waitFor();
    await page.getByRole('textbox', { name: 'Slots' }).fill('[{"id": "top"}, {"id": "side", "exclude": ["red"]}]');
    await page.getByLabel('Write this decision to the log').check();
    await page.getByRole('button', { name: 'Decide and log' }).click();
    await page.getByText('Chosen for each slot').waitFor();
    await page.getByLabel('Slot', { exact: true }).selectOption('side');
    await page.getByLabel('Other reward').fill('0.25');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('0.25: Reward recorded').waitFor();
    const card = page.getByRole('region', { name: 'Slots', exact: true });
    await card.getByRole('row', { name: /^side 1 \d+\.\d% 1 0\.250$/ }).waitFor();
    await card.getByRole('row', { name: /^top 1 \d+\.\d% 0 –$/ }).waitFor();
    assert.deepEqual(page.troubles, []);
});

// ---- policies and settings ----

test('policies are chosen from the list of the program', { skip }, async (t) => {
    const names = execFileSync(process.env.EENET, ['policies']).toString().trim().split('\n').map((line) => line.split(/\s/)[0]);
    const page = await open(t, server.url);
    await page.goto(server.url);
    await page.locator('#server-words', { hasText: 'Ready' }).waitFor();
    await page.getByRole('button', { name: 'New bandit' }).click();
    const dialog = page.getByRole('dialog', { name: 'New bandit' }), list = dialog.getByLabel('Policy', { exact: true });
    const offered = await list.locator('option').evaluateAll((options) => options.map((one) => [one.value, one.textContent]));
    assert.deepEqual(offered.map(([name]) => name).sort(), [...names].sort());
    for (const [name, words] of offered) assert.ok(words.startsWith(`${name} – `) && words.length > name.length + 10, words);
    const advised = await page.evaluate(async () => Object.keys((await import('/page/choices.js')).ADVICE));
    for (const name of advised) assert.ok(names.includes(name), name);
    assert.equal(await list.locator('optgroup').first().locator('option').count(), advised.length);
    await list.selectOption('lints'); // it samples its scores, and has no other rule
    await dialog.getByText('linear model with Thompson sampling', { exact: false }).last().waitFor();
    assert.equal(await dialog.getByLabel('Exploration', { exact: true }).isDisabled(), true);
    await list.selectOption('neural-ucb');
    await dialog.getByLabel('Random decisions, in %').fill('7');
    await dialog.getByLabel('Name', { exact: true }).fill('listed');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'listed', level: 1 }).waitFor();
    const { settings } = (await ask(server.url, '/v1/bandits/listed')).body;
    assert.deepEqual([settings.policy, settings.propensity], ['neural-ucb', 'floor:0.07']);
    assert.deepEqual(page.troubles, []);
});

test('all settings are shown, marked if changed, and can be changed', { skip }, async (t) => {
    await create({ name: 'settled', features: '', policy: 'lints', wait: '4h', retention_days: 30 });
    const page = await look(t, 'settled');
    const card = page.getByRole('region', { name: 'Settings', exact: true });
    const row = (name) => card.getByRole('row').filter({ has: page.locator('.code', { hasText: new RegExp(`^${name}$`) }) });
    await row('wait').getByText('4 hours').waitFor();
    await row('wait').getByText('changed').waitFor();
    await row('wait').getByText('default: 10 minutes').waitFor();
    const { settings } = (await ask(server.url, '/v1/bandits/settled')).body;
    for (const name of Object.keys(settings)) assert.equal(await row(name).count(), 1, name);
    const marked = await card.locator('tr.differs .code').allTextContents();
    assert.deepEqual(marked, ['policy', 'wait', 'retention_days']); // lints' rule of exploration is its default
    await card.getByRole('button', { name: 'Change settings' }).click();
    const dialog = page.getByRole('dialog', { name: 'Settings of settled' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Nothing was changed.').waitFor();
    assert.equal(await dialog.getByLabel('Time for rewards, after a decision').inputValue(), '4h');
    await dialog.getByLabel('Time for rewards, after a decision').fill('20m');
    await dialog.getByLabel('Reward of a decision without one by then').fill('');
    await dialog.getByLabel('Highest reward').fill('5');
    await dialog.getByLabel('Events are kept, in days').fill('');
    await dialog.getByLabel('Confidence, in %').fill('20');
    page.allow = (line) => line.includes('status of 400');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Confidence must be a number from 0.5 to 0.9999.').waitFor();
    await dialog.getByLabel('Confidence, in %').fill('99');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await row('wait').getByText('20 minutes').waitFor();
    await row('default_reward').getByText('it is not learned').waitFor();
    const now = (await ask(server.url, '/v1/bandits/settled')).body.settings;
    assert.deepEqual([now.wait, now.default_reward, now.rewards, now.confidence, now.retention_days], [1200, null, [0, 5], 0.99, undefined]);
    assert.deepEqual(page.troubles, []);
});

// ---- evaluations ----

// Starts an evaluation of the bandit, unless it has one, and waits for its end.
async function evaluated(name, on = server) {
    const path = `/v1/bandits/${name}/evaluations`;
    if (!(await ask(on.url, path)).body.evaluations.length) await ask(on.url, path, { name: 'autumn', candidates: [{ name: 'online', policy: 'logged' }, { name: 'linucb', policy: 'linucb' }] });
    await until('the evaluation', async () => (await ask(on.url, path)).body.evaluations.every((job) => !['waiting', 'running'].includes(job.state)));
}

test('an evaluation is started, followed, read and deleted', { skip }, async (t) => {
    await create({ name: 'judged', features: '', policy: 'linucb', propensity: 'floor:0.5' });
    await play(server.url, 'judged', 0, 600);
    const page = await look(t, 'judged');
    const card = page.getByRole('region', { name: 'Evaluations on the log', exact: true });
    await card.getByText('No evaluation yet').waitFor();
    await card.getByRole('button', { name: 'Start an evaluation' }).click();
    const dialog = page.getByRole('dialog', { name: 'Start an evaluation' });
    await dialog.getByLabel('Name (optional)').fill('spring');
    await dialog.getByRole('checkbox', { name: 'thompson when' }).check();
    await dialog.getByRole('checkbox', { name: 'eenet start here' }).uncheck();
    await dialog.getByLabel('Estimator').selectOption('snips');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await card.getByRole('row', { name: /spring 5 policies, snips/ }).getByText('done').waitFor();
    await card.getByRole('button', { name: 'Results of spring' }).click();
    const results = card.getByRole('region', { name: 'Results of the evaluation' });
    await results.getByRole('row', { name: /^linucb/ }).waitFor();
    await card.getByText('Measured on 600 decisions from').waitFor();
    const { evaluations } = (await ask(server.url, '/v1/bandits/judged/evaluations')).body;
    const job = (await ask(server.url, `/v1/bandits/judged/evaluations/${evaluations[0].id}`)).body;
    for (const result of job.results) await results.getByRole('row', { name: new RegExp(`^${result.name} .*snips ${result.estimates[0].value.toFixed(3)}`) }).waitFor();
    await card.getByRole('button', { name: 'Delete spring' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await card.getByText('No evaluation yet').waitFor();
    // What a server answers while one runs, and about one that failed.
    await page.route('**/evaluations', (route) => route.fulfill({ json: { evaluations: [{ ...evaluations[0], state: 'running', progress: 0.42 }, { ...evaluations[0], id: 'b', name: 'broken', state: 'failed', trouble: 'the log was removed' }] } }));
    await card.getByText('running: 42%').waitFor();
    await card.getByRole('button', { name: 'Cancel spring' }).waitFor();
    await card.getByText('the log was removed').waitFor();
    assert.deepEqual(page.troubles, []);
});

// ---- challengers ----

// Moves the pointer over the chart until its tip shows: cards above may grow meanwhile and move the chart.
async function pointAt(stage, tip, x) {
    const end = Date.now() + PATIENCE;
    for (let i = 0; !(await tip.isVisible()); i++) {
        assert.ok(Date.now() < end, 'the tip does not show');
        await stage.hover({ position: { x: x + (i % 2), y: 150 } });
    }
}

test('a challenger is added, read in the chart, promoted and removed', { skip }, async (t) => {
    await create({ name: 'contest', features: '', policy: 'uniform', propensity: 'own' });
    const page = await look(t, 'contest');
    await page.getByText('No data yet').waitFor();
    await page.locator('.facts', { hasText: 'Exploration by the policy' }).waitFor();
    await page.getByRole('button', { name: 'Add a challenger' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('linear');
    await dialog.getByLabel('Policy', { exact: true }).selectOption('linucb');
    await dialog.getByLabel('Random decisions, in %').fill('5');
    await page.keyboard.press('Enter');
    await page.getByRole('rowheader', { name: 'linear' }).waitFor();
    await play(server.url, 'contest', 0, 4000);
    await page.getByText('significantly better', { exact: true }).waitFor();
    await page.locator('.headline', { hasText: 'The challenger linear would earn' }).waitFor();
    // The chart, by the keyboard.
    await page.getByRole('button', { name: 'Decisions', exact: true }).click();
    const stage = page.getByRole('group', { name: 'Chart of the mean reward' });
    await stage.focus();
    await page.keyboard.press('ArrowLeft');
    await page.locator('.tip', { hasText: 'linear' }).waitFor();
    const before = await page.locator('.tip').textContent();
    await page.keyboard.press('Home');
    assert.notEqual(await page.locator('.tip').textContent(), before);
    assert.match(await page.locator('.chart [aria-live]').textContent(), /This bandit .* to .*; Baseline .*; Random .*; linear /);
    await page.keyboard.press('Escape');
    await page.locator('.tip').waitFor({ state: 'hidden' });
    // By the pointer, and without a series.
    await pointAt(stage, page.locator('.tip', { hasText: 'Baseline' }), 300);
    await page.locator('.legend').getByRole('button', { name: 'Baseline' }).click();
    await pointAt(stage, page.locator('.tip:not(:has-text("Baseline"))', { hasText: 'linear' }), 320);
    // As a table.
    await page.getByText('Show as a table').click();
    await page.getByRole('region', { name: 'Mean reward over time, as a table' }).getByRole('row').nth(5).waitFor();
    assert.deepEqual(await violations(page), []);
    // The page shows the numbers of the server.
    await page.getByText(/Based on 4,000 decisions, up to [^.]*\. A significantly better challenger/).waitFor();
    const { body } = await ask(server.url, '/v1/bandits/contest/evaluation');
    const online = body.policies.find((policy) => policy.kind === 'online');
    assert.ok(Math.abs(await numberOf(page, 'Mean reward') - online.value) <= 0.000501);
    await page.getByRole('button', { name: 'Promote linear' }).click();
    await dialog.getByText('It is significantly better than this bandit.').waitFor();
    await dialog.getByText('Results start again: a new period begins').waitFor();
    await dialog.getByRole('button', { name: 'Promote' }).click();
    await page.getByRole('region', { name: 'Promotions', exact: true }).getByText('Significant: a challenger that is no better').waitFor();
    assert.equal((await ask(server.url, '/v1/bandits/contest')).body.settings.policy, 'linucb');
    await page.locator('.headline', { hasText: /New period since the promotion at .*Before, linucb was estimated to earn \+[\d.]+ per decision compared with uniform, measured on 4,000 decisions/ }).waitFor();
    await page.getByText('Results start again after a promotion.').waitFor();
    await page.locator('.number', { hasText: 'no results since the promotion' }).waitFor();
    await page.getByRole('button', { name: 'Remove former-' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('rowheader', { name: 'former-' }).waitFor({ state: 'detached' });
    assert.deepEqual(page.troubles, []);
});

test('the headline is what the server measured', { skip }, async (t) => {
    await create({ name: 'headline', features: '', policy: 'linucb', propensity: 'floor:0.5' });
    const page = await look(t, 'headline');
    const headline = page.getByRole('region', { name: 'Result', exact: true });
    await headline.getByText('No results yet.').waitFor();
    await play(server.url, 'headline', 0, 20);
    await headline.getByText('Inconclusive so far: headline earns').waitFor();
    await play(server.url, 'headline', 20, 480);
    await until('the model', async () => (await ask(server.url, '/v1/bandits/headline/activity')).body.behind === 0);
    await play(server.url, 'headline', 500, 3500);
    await headline.getByText('measured on 4,000 decisions').waitFor();
    const { body } = await ask(server.url, '/v1/bandits/headline/evaluation');
    const find = (kind) => body.policies.find((policy) => policy.kind === kind);
    const words = await headline.textContent();
    // How far the bandit leads depends on the load of the machine: the sentence must fit the numbers, whichever they are.
    const numbers = (pattern) => words.match(pattern).slice(1).map((word) => Number(word?.replace('−', '-')));
    const [earned, random, percent] = numbers(/headline earns ([\d.]+) per decision[;,] random choice would earn ([\d.]+)(?: \(\+(\d+)%\))?\./);
    assert.ok(Math.abs(earned - find('online').value) <= 0.000501);
    assert.ok(Math.abs(random - find('uniform').value) <= 0.000501);
    const [low, high] = numbers(/Difference [+−][\d.]+ \(95% interval ([+−][\d.]+) to ([+−][\d.]+)\)/);
    assert.ok(Math.abs(low + find('uniform').gain_high) <= 0.000501);
    assert.ok(Math.abs(high + find('uniform').gain_low) <= 0.000501);
    assert.equal(words.startsWith('Inconclusive so far: '), find('uniform').gain_high >= 0);
    if (find('uniform').gain_high < 0)
        assert.ok(Math.abs(percent / 100 - (find('online').value / find('uniform').value - 1)) <= 0.00501);

    // What a server would answer whose bandit does worse than chance, and one that never takes most of the actions.
    let change = () => Object.assign(find('uniform'), { value: 0.5, gain: 0.5 - find('online').value, gain_low: 0.1, gain_high: 0.4 });
    await page.route('**/evaluation', (route) => {
        change();
        return route.fulfill({ json: body });
    });
    await headline.getByText('random choice would earn more: 0.500 (').waitFor();
    await headline.getByText('Check your rewards').waitFor();
    change = () => body.policies.forEach((policy) => Object.assign(policy, { unsupported: 0.6 }));
    await headline.getByText('No comparison: some actions are never taken').waitFor();
    await page.unroute('**/evaluation');
    assert.deepEqual(page.troubles, []);
});

test('it says that a pending decision stops the evaluation, and uses plain words', { skip }, async (t) => {
    await create({ name: 'pending', features: '', policy: 'linucb', propensity: 'floor:0.5' });
    await play(server.url, 'pending', 0, 200);
    await ask(server.url, '/v1/bandits/pending/decide', { ...visit(200), id: 'never-rewarded' });
    await play(server.url, 'pending', 201, 99);
    const page = await look(t, 'pending');
    const words = '200 decisions, up to [^;]*; the next one waits for its reward, at most 10 minutes\\.';
    await page.getByRole('region', { name: 'Result', exact: true }).getByText(new RegExp(`measured on ${words}`)).waitFor();
    await page.getByText(new RegExp(`Based on ${words}`)).waitFor();
    await page.getByText('299 counted since the server started; 1 decision waits for a reward').waitFor();
    // Which features lead depends on how much was learned, and so on the load of the machine; here the id leads.
    await page.route('**/importance', async (route) => {
        const response = await route.fetch(), json = await response.json();
        if (response.ok()) json.features = [{ ...json.features[0], name: '_id', importance: 1 }];
        return route.fulfill({ response, json });
    });
    await page.reload();
    await page.getByRole('list', { name: 'Importance of the features' }).getByText('action id', { exact: true }).waitFor();
    await page.getByText(/on average over \d+ decisions of the last day/).waitFor();
    await page.getByText('of the last 300 decisions did not take the most probable action').waitFor();
    assert.deepEqual(page.troubles, []);
});

// ---- keys, and a server that is away ----

function addKey(file, name, ...words) {
    return execFileSync(process.env.EENET, ['keys', 'add', name, '--file', file, ...words]).toString().trim();
}

test('where keys are needed it asks for one, and says which role is missing', { skip }, async (t) => {
    const first = await startServer();
    await create({ name: 'shop', features: '' }, first);
    await first.stop('SIGTERM', true);
    const file = join(first.folder, 'keys');
    const reader = addKey(file, 'looker', '--role', 'reader'), boss = addKey(file, 'boss', '--role', 'admin');
    const locked = await startServer(['--keys', file], first);
    t.after(() => locked.stop());
    const page = await open(t, locked.url);
    await page.goto(locked.url);
    const dialog = page.getByRole('dialog', { name: 'Enter your key' });
    await dialog.waitFor();
    await dialog.getByLabel('Key', { exact: true }).fill('ee_wrong');
    await page.keyboard.press('Enter');
    await dialog.getByText('Unknown key').waitFor();
    await dialog.getByLabel('Key', { exact: true }).fill(reader);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Key: looker (reader)' }).waitFor();
    // A reader sees what the bandit would choose, but cannot write to the log.
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.locator('.answer').getByText('Most likely choice').waitFor();
    await page.getByLabel('Write this decision to the log').check();
    await page.getByRole('button', { name: 'Decide and log' }).click();
    await page.getByText("This needs a key with the role app; your key 'looker' has the role reader.").waitFor();
    await page.getByRole('button', { name: 'New bandit' }).click();
    await page.getByText("This needs a key with the role admin; your key 'looker' has the role reader.").waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate(() => localStorage.length), 0);
    await page.reload(); // it is kept for the tab
    await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Key: looker (reader)' }).click();
    await dialog.getByLabel('Key', { exact: true }).fill(boss);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Key: boss (admin)' }).waitFor();
    await page.getByLabel('Write this decision to the log').check();
    await page.getByRole('button', { name: 'Decide and log' }).click();
    await page.getByText('Written to the log as decision').waitFor();
    assert.deepEqual(page.troubles, []);
});

test('a server that stops and comes back is waited for', { skip }, async (t) => {
    const first = await startServer();
    await create({ name: 'shop', features: '', policy: 'linucb' }, first);
    await play(first.url, 'shop', 0, 20);
    const page = await look(t, 'shop', {}, first);
    await page.locator('#server-words', { hasText: 'Ready' }).waitFor();
    page.allow = (line) => /Failed to load resource|ERR_CONNECTION/.test(line); // the browser reports each try
    await first.stop('SIGTERM', true);
    await page.locator('#server-words', { hasText: 'Server not reachable; retrying' }).waitFor();
    await page.getByLabel('Write this decision to the log').check();
    await page.getByRole('button', { name: 'Decide and log' }).click();
    await page.getByText('The server is not reachable.', { exact: true }).waitFor();
    const again = await startServer([], first);
    t.after(() => again.stop());
    await page.locator('#server-words', { hasText: 'Ready' }).waitFor();
    await page.getByRole('button', { name: 'Decide and log' }).click();
    await page.locator('.chosen').waitFor();
    await page.waitForFunction(() => document.querySelector('.number .under').textContent.startsWith('1 '));
    assert.deepEqual(page.troubles, []);
});

// ---- trouble of the server ----

test('lag, a clock in doubt and a server that cannot write are said in words', { skip }, async (t) => {
    await create({ name: 'late', features: '', policy: 'linucb' });
    await play(server.url, 'late', 0, 20);
    const page = await look(t, 'late');
    const learning = page.getByRole('region', { name: 'Learning', exact: true });
    await learning.getByText('nothing').waitFor();
    let lag = 95;
    await page.route('**/activity', async (route) => {
        const response = await route.fetch(), json = { ...(await response.json()), behind: 1234 };
        if (lag) json.lag_seconds = lag;
        else Object.assign(json, { lag_seconds: undefined, awake: false });
        return route.fulfill({ response, json });
    });
    await learning.getByText('1.6 minutes (1,234 events)').waitFor();
    await page.locator('.notice.warn', { hasText: 'The model is 1.6 minutes behind the log' }).waitFor();
    lag = 0.4;
    await learning.getByText('400 ms (1,234 events)').waitFor();
    await page.locator('.notice.warn').waitFor({ state: 'detached' });
    lag = 0; // the server does not say, and has not loaded the model
    await learning.getByText('1,234 events', { exact: true }).waitFor();
    await learning.getByText('not loaded until a request').waitFor();
    await page.route('**/readyz', (route) => route.fulfill({ json: { ready: true, warning: 'The clock jumped: nothing is settled or removed. See /v1/clock.' } }));
    await page.locator('#server-notice', { hasText: 'The clock jumped: nothing is settled or removed.' }).waitFor();
    await page.locator('#server-words', { hasText: 'Ready, with a warning' }).waitFor();
    page.allow = (line) => line.includes('status of 503');
    await page.unroute('**/readyz');
    await page.route('**/readyz', (route) => route.fulfill({ status: 503, json: { error: { code: 'Unavailable', message: 'the store cannot be written' } } }));
    await page.locator('#server-notice', { hasText: 'The store cannot be written. Meanwhile the server is read-only: decisions and rewards are refused.' }).waitFor();
    await page.locator('#server-words', { hasText: 'Not ready' }).waitFor();
    await page.unroute('**/readyz');
    await page.locator('#server-words', { hasText: 'Ready' }).waitFor();
    await page.locator('#server-notice').waitFor({ state: 'hidden' });
    assert.deepEqual(page.troubles, []);
});

// ---- for everybody ----

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

async function violations(page) {
    await rendered(page);
    await page.evaluate(readFileSync(axe, 'utf8'));
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    return violations.map((one) => `${one.impact} ${one.id}: ${one.nodes.map((node) => node.target.join(' ')).slice(0, 3).join(', ')}`);
}

for (const colorScheme of ['light', 'dark'])
    for (const [size, viewport] of Object.entries(SIZES))
        test(`axe finds nothing: ${colorScheme}, ${size}`, { skip }, async (t) => {
            await create({ name: 'everybody', features: '', policy: 'linucb', wait: 1 });
            await play(server.url, 'everybody', 0, 200); // the same visits each time: the server repeats its answers
            await evaluated('everybody');
            const page = await look(t, 'everybody', { colorScheme, viewport });
            assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
            await page.getByRole('list', { name: 'Shares of the actions' }).getByText('red').waitFor();
            await page.getByRole('button', { name: 'Preview' }).click();
            await page.locator('.answer details').first().waitFor();
            await page.getByRole('button', { name: 'Results of' }).first().click();
            await page.getByRole('region', { name: 'Results of the evaluation' }).waitFor();
            assert.deepEqual(await violations(page), []);
            for (const [button, title] of [['Change settings', 'Settings of everybody'], ['Start an evaluation', 'Start an evaluation'], ['Add a challenger', 'Add a challenger']]) {
                await page.getByRole('button', { name: button }).click();
                await page.getByRole('dialog', { name: title }).waitFor();
                assert.deepEqual(await violations(page), []);
                await page.keyboard.press('Escape');
            }
            if (size === 'phone') await page.getByRole('button', { name: 'everybody', exact: true }).click();
            await page.getByRole('button', { name: 'New bandit' }).click();
            await page.getByRole('dialog', { name: 'New bandit' }).waitFor();
            assert.deepEqual(await violations(page), []);
            assert.deepEqual(page.troubles, []);
        });

test('on a phone tables scroll, nothing overflows, and buttons are large enough', { skip }, async (t) => {
    await create({ name: 'pocket', features: '', policy: 'linucb', wait: 1 });
    await play(server.url, 'pocket', 0, 300);
    await ask(server.url, '/v1/bandits/pocket/decide', { ...visit(400), slots: [{ id: 'top' }, { id: 'a-slot-with-a-long-name' }] });
    await ask(server.url, '/v1/bandits/pocket/challengers', { name: 'a-challenger-with-a-rather-long-name', policy: 'neural-ucb' });
    await evaluated('pocket');
    const page = await look(t, 'pocket', { viewport: SIZES.phone, hasTouch: true, isMobile: true });
    await page.getByRole('list', { name: 'Shares of the actions' }).getByText('red').waitFor();
    await page.getByRole('region', { name: 'Slots', exact: true }).waitFor();
    await page.getByText('Show as a table').click();
    await page.getByRole('button', { name: 'Results of' }).first().click();
    const results = page.getByRole('region', { name: 'Results of the evaluation' });
    await results.waitFor();
    const overflow = () => page.evaluate(() => [document.documentElement.scrollWidth, ...[...document.querySelectorAll('body *')].filter((node) => !node.closest('.scroll, .parts, .hidden, svg, option') && node.getBoundingClientRect().right > innerWidth + 0.5).map((node) => node.outerHTML.slice(0, 90))]);
    await rendered(page);
    assert.deepEqual(await overflow(), [390]);
    assert.equal(await results.evaluate((node) => { // scrolls, by itself
        node.scrollLeft = 50;
        return node.scrollWidth > node.clientWidth && node.scrollLeft === 50 && node.tabIndex === 0;
    }), true);
    const small = () => page.evaluate(() => [...document.querySelectorAll('button, input, select, summary, a[href], .check')].filter((node) => {
        const { width, height } = (node.type === 'checkbox' ? node.closest('.check') : node).getBoundingClientRect();
        return width && !node.matches('.skip') && (height < 43.5 || width < 40);
    }).map((node) => `${node.outerHTML.slice(0, 70)} ${node.getBoundingClientRect().height}`));
    assert.deepEqual(await small(), []);
    for (const button of ['Change settings', 'Start an evaluation', 'Add a challenger']) {
        await page.getByRole('button', { name: button }).click();
        await page.getByRole('dialog').waitFor();
        assert.deepEqual(await overflow(), [390]);
        assert.deepEqual(await small(), []);
        await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    }
    assert.deepEqual(page.troubles, []);
});

test('320 pixels are enough, and colours can be chosen', { skip }, async (t) => {
    await create({ name: 'a-rather-long-name-that-somebody-gave-to-this-bandit-of-theirs', features: '', policy: 'linucb' });
    const name = 'a-rather-long-name-that-somebody-gave-to-this-bandit-of-theirs';
    await play(server.url, name, 0, 50);
    const page = await look(t, name, { viewport: { width: 320, height: 640 }, reducedMotion: 'reduce' });
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.locator('.chosen').waitFor();
    const wide = await page.evaluate(() => [...document.querySelectorAll('main *')].filter((node) => !node.closest('.scroll, .parts, .hidden, svg') && node.getBoundingClientRect().right > innerWidth + 0.5).map((node) => node.outerHTML.slice(0, 90)));
    assert.deepEqual(wide, []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('.track i')).transitionDuration), '0s');
    await page.getByRole('button', { name: 'Dark theme' }).click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await page.reload();
    await page.getByRole('button', { name: 'Light theme' }).waitFor();
    assert.deepEqual(page.troubles, []);
});
