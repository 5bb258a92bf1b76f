// The shop of examples/shop, started as its page says, with somebody in a browser who shops among its made-up visitors; and
// its tour of guardrails, in which every check holds.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { browserPath, openPage, overflow, startBrowser, violations } from './browser.mjs';
import { answered, ask, readLog, start, until } from './server.mjs';

const SCRIPT = join(process.env.SOURCE_FOLDER, 'examples/shop/run.sh');

async function openShop(words) {
    const { urls, end } = await start(SCRIPT, words, (printed) => printed.includes('Ctrl-C'));
    return { shop: urls[0], server: urls[1], stop: () => end('SIGINT') };
}

// Runs it to its end.
const run = (...words) => new Promise((resolve) => execFile(SCRIPT, words, (error, printed, said) => resolve({ code: error?.code ?? 0, printed, said })));

const skip = browserPath ? false : 'there is no browser';
let folder, place, browser;
before(async () => {
    if (skip) return;
    folder = mkdtempSync(join(tmpdir(), 'eenet-shop-test-'));
    place = await openShop(['--folder', join(folder, 'store')]);
    browser = await startBrowser();
});
after(async () => {
    if (browser) await browser.close();
    if (place) await place.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
});

async function visit(t, options) {
    const page = await openPage(browser, place.shop, options, t);
    await page.goto(place.shop);
    await page.waitForSelector('#pick[aria-busy="false"]');
    return page;
}

test('a visitor shops, and the bandit learns of the click', { skip }, async (t) => {
    const page = await visit(t);
    await page.getByText('on a phone').click();
    await page.waitForSelector('#pick[aria-busy="false"]');
    await page.getByText('Why this?').click();
    await page.waitForSelector('.reason, .note');

    // The page thanks for about a second. A click that comes too late for its decision, on a busy machine, is tried again
    // with the next one.
    const thanked = page.evaluate(() => new Promise((resolve) => {
        const look = document.getElementById('look');
        new MutationObserver(() => look.textContent === 'Thank you' && look.matches('.done') && resolve()).observe(look, { attributes: true });
    }));
    const id = await until('a click in time', async () => {
        const answered = page.waitForResponse((response) => response.url().endsWith('/api/click'));
        await page.getByRole('button', { name: 'Take a look' }).click();
        const response = await answered;
        const { outcome } = await response.json();
        assert.ok(['joined', 'late'].includes(outcome), outcome);
        return outcome === 'joined' && response.request().postDataJSON().id;
    });
    await thanked;

    // The decision is in the log with its click: what the model learns.
    const line = await until('the click in the log', async () => (await readLog(place.server, 'shop')).find(({ EventId }) => EventId === id));
    assert.equal(line._label_cost, -1);
    assert.equal(line.c.visitor.device, 'phone');
});

test('the shelf changes the past, and the next pick knows it', { skip }, async (t) => {
    const page = await visit(t);
    const asked = page.waitForRequest((request) => request.url().endsWith('/api/pick'));
    await page.locator('[data-product="novel"]').click();
    const sent = (await asked).postDataJSON();
    assert.equal(sent.past, 'books');
    assert.equal(sent.key, await page.evaluate(() => localStorage.visitor));
    assert.equal(await page.locator('select[name=past]').inputValue(), 'books');
});

test('the challenger is promoted, and more is clicked than before', { skip }, async (t) => {
    const page = await visit(t);
    const { promotions } = await until('the promotion', async () => {
        const { body } = await ask(place.server, '/v1/bandits/shop/evaluation');
        return body.promotions.length && body;
    });
    assert.equal(promotions[0].from, 'linucb');
    assert.equal(promotions[0].to, 'eenet');
    assert.equal((await ask(place.server, '/v1/bandits/shop')).body.settings.policy, 'eenet');

    // linucb without products has some 15 %, who knows all tastes 50 %.
    await until('a click rate of 25 %', async () => {
        const { body } = await ask(place.shop, '/api/state');
        let shown = 0, clicked = 0; // of the last 200
        for (const second of body.seconds.reverse()) {
            if (shown > 200) break;
            shown += second.shown;
            clicked += second.clicked;
        }
        return shown > 200 && clicked / shown > 0.25;
    });
    await page.waitForSelector('.promotions li');
    await page.locator('#policy', { hasText: 'eenet' }).waitFor();
});

test('it can be read: light, dark, on a phone, and by a screen reader', { skip }, async (t) => {
    for (const [name, options] of [
        ['light', { colorScheme: 'light' }],
        ['dark phone', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }],
    ]) {
        const page = await visit(t, options);
        await page.waitForSelector('.policies .first');
        assert.ok(await overflow(page) <= 0, name);
        assert.deepEqual(await violations(page), [], name);
        await page.getByText('Why this?').press('Enter');
        await page.waitForSelector('.reason');
    }
});

test('bad requests get a sentence', { skip }, async () => {
    for (const [path, body, status] of [
        ['/api/pick', { device: 'toaster' }, 400],
        ['/api/pick', { device: 'phone', hour: 8, past: null, key: '' }, 400],
        ['/api/click', {}, 400],
        ['/api/click', { id: 'nothing', product: 'toaster' }, 400],
        ['/api/rate', { rate: -1 }, 400],
        ['/api/nothing', {}, 404],
    ]) {
        const answer = await answered(status, ask(place.shop, path, body));
        assert.ok(answer.body.error.length > 5);
    }
    assert.equal((await ask(place.shop, '/api/rate', { rate: 0 })).body.rate, 0);
});

test('Ctrl-C stops both, and the shop goes on from its folder', { skip }, async () => {
    assert.deepEqual(await place.stop(), { code: 0, signal: null });
    await assert.rejects(fetch(place.server));
    assert.ok(readdirSync(folder).includes('store'));
    place = await openShop(['--folder', join(folder, 'store'), '--rate', '0']);
    assert.equal((await ask(place.server, '/v1/bandits/shop')).body.settings.policy, 'eenet');
    const { code, said } = await run('--rate', 'many');
    assert.equal(code, 1);
    assert.match(said, /--rate must be a whole number/);
});

// ---- guardrails ----

const FEATURES = ['Control group', 'Rollout', 'Rules', 'Shares', 'Caps', 'Budget', 'Stickiness', 'Objective', 'Bound', 'Held'];

test('visitors whose behaviour is known see what guardrails promise', async () => {
    const { code, printed, said } = await run('guardrails', '--visits', '2000');
    assert.equal(code, 0, said);
    for (const feature of FEATURES) {
        const chapter = printed.split('\n\n').find((words) => words.trimStart().startsWith(`${feature}:`));
        assert.ok(chapter, `${feature} is missing`);
        assert.match(chapter, /^ {2}ok: /m, `${feature} checks nothing`);
    }
    assert.doesNotMatch(printed, /WRONG/);
    const refused = await run('guardrails', '--visits', '10');
    assert.equal(refused.code, 1);
    assert.match(refused.said, /--visits must be a whole number from 1000/);
});
