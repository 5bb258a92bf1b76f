// The shop of examples/shop, started as its page says, with somebody in a browser who shops among its made-up visitors.
// Screenshots of what is seen lie in the folder shop-pictures, beside the packages.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { browserPath, closePage, openPage, startBrowser } from './browser.mjs';
import { ask, until } from './server.mjs';

const SCRIPT = join(process.env.SOURCE_FOLDER, 'examples/shop/run.sh');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
const PICTURES = join(process.cwd(), 'shop-pictures');

// Resolves when the shop has printed both addresses: {shop, server, stop(), printed()}.
async function openShop(words) {
    const child = spawn(SCRIPT, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    const [shop, server] = await new Promise((resolve, reject) => {
        const look = (bytes) => {
            printed += bytes;
            const found = [...printed.matchAll(/http:\/\/[0-9.:]+/g)].map((match) => match[0]);
            if (printed.includes('Ctrl-C')) resolve(found);
        };
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        ended.then(() => reject(new Error(`the shop ended:\n${printed}`)));
    });
    const stop = async () => {
        child.kill('SIGINT');
        return ended;
    };
    return { shop, server, stop, printed: () => printed };
}

const skip = browserPath ? false : 'there is no browser';
let folder, place, browser;
before(async () => {
    if (skip) return;
    mkdirSync(PICTURES, { recursive: true });
    folder = mkdtempSync(join(tmpdir(), 'eenet-shop-test-'));
    place = await openShop(['--folder', join(folder, 'store')]);
    browser = await startBrowser();
});
after(async () => {
    if (browser) await browser.close();
    if (place) await place.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
});

async function visit(options) {
    const page = await openPage(browser, place.shop, options);
    await page.goto(place.shop);
    await page.waitForSelector('#pick[aria-busy="false"]');
    return page;
}

test('a visitor shops, and the bandit learns of the click', { skip }, async () => {
    const page = await visit();
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
    const line = await until('the click in the log', async () => {
        const log = await (await fetch(`${place.server}/v1/bandits/shop/log`)).text();
        return log.split('\n').find((row) => row.includes(`"EventId":"${id}"`));
    });
    assert.equal(JSON.parse(line)._label_cost, -1);
    assert.equal(JSON.parse(line).c.visitor.device, 'phone');
    assert.deepEqual(page.troubles, []);
    await closePage(page);
});

test('the shelf changes the past, and the next pick knows it', { skip }, async () => {
    const page = await visit();
    const asked = page.waitForRequest((request) => request.url().endsWith('/api/pick'));
    await page.locator('[data-product="novel"]').click();
    const sent = (await asked).postDataJSON();
    assert.equal(sent.past, 'books');
    assert.equal(sent.key, await page.evaluate(() => localStorage.visitor));
    assert.equal(await page.locator('select[name=past]').inputValue(), 'books');
    assert.deepEqual(page.troubles, []);
    await closePage(page);
});

test('the challenger is promoted, and more is clicked than before', { skip }, async () => {
    const page = await visit();
    const begun = Date.now();
    const { promotions } = await until('the promotion', async () => {
        const { body } = await ask(place.server, '/v1/bandits/shop/evaluation');
        return body.promotions.length && body;
    });
    console.log(`promoted ${((Date.now() - begun) / 1000).toFixed(0)} s after the tests before`);
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
    await page.screenshot({ path: join(PICTURES, 'shop.png'), fullPage: true });
    assert.deepEqual(page.troubles, []);
    await closePage(page);
});

test('it can be read: light, dark, on a phone, and by a screen reader', { skip }, async () => {
    for (const [name, options] of [
        ['light', { colorScheme: 'light' }],
        ['dark', { colorScheme: 'dark' }],
        ['phone', { viewport: { width: 390, height: 844 }, colorScheme: 'light' }],
        ['phone-dark', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }],
    ]) {
        const page = await visit(options);
        await page.waitForSelector('.policies .first');
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(overflow <= 0, `${name}: ${overflow} pixels too wide`);
        await page.evaluate(AXE);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map((one) => `${name}: ${one.id}: ${one.nodes[0].html}`), []);
        await page.getByText('Why this?').click();
        await page.waitForSelector('.reason');
        await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
        await closePage(page);
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
        const answer = await ask(place.shop, path, body);
        assert.equal(answer.status, status);
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
    const refused = spawn(SCRIPT, ['--rate', 'many'], { stdio: 'pipe' });
    let said = '';
    refused.stderr.on('data', (bytes) => (said += bytes));
    const code = await new Promise((resolve) => refused.once('exit', resolve));
    assert.equal(code, 1);
    assert.match(said, /--rate must be a whole number/);
});
