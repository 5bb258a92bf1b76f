// The playground in Chromium, from a plain static server: it learns, paints, pauses, starts over, draws while the worker
// computes, and can be read in light, dark and on a phone. Screenshots lie in the folder playground-pictures, beside the
// packages. PLAYGROUND is what make playground builds.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { basename, extname, join } from 'node:path';
import { after, before, test } from 'node:test';

import { browserPath, closePage, openPage, startBrowser } from './browser.mjs';

const FOLDER = process.env.PLAYGROUND;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
const PICTURES = join(process.cwd(), 'playground-pictures');
const TYPES = { '.html': 'text/html', '.css': 'text/css', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };
const built = existsSync(join(FOLDER, 'index.html'));
const skip = !browserPath ? 'there is no browser' : !built ? 'the WebAssembly compiler is not installed' : false;
let server, browser, url;

before(async () => {
    if (skip) return;
    mkdirSync(PICTURES, { recursive: true });
    server = createServer((request, response) => {
        const path = join(FOLDER, basename(request.url) || 'index.html');
        if (!existsSync(path)) return response.writeHead(404).end();
        response.writeHead(200, { 'Content-Type': TYPES[extname(path)] }).end(readFileSync(path));
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${server.address().port}`;
    browser = await startBrowser();
});
after(async () => {
    await browser?.close();
    server?.close();
});

async function visit(options) {
    const page = await openPage(browser, url, options);
    page.allow = (line) => line.includes('willReadFrequently'); // about colours, below
    await page.goto(`${url}/`);
    await played(page, 1);
    return page;
}

const rounds = (page) => page.evaluate(() => Number(document.body.dataset.round));
const played = (page, least) => page.waitForFunction((count) => Number(document.body.dataset.round) >= count, least);
const regrets = (page) => page.locator('#policies tr td:nth-child(2)').allTextContents().then((all) => all.map(Number));

// How many cells of a canvas have each colour.
const colours = (page, canvas) => page.evaluate((selector) => {
    const node = document.querySelector(selector);
    const { data } = node.getContext('2d').getImageData(0, 0, node.width, node.height);
    const counts = {};
    for (let i = 0; i < data.length; i += 4) counts[data.slice(i, i + 3)] = (counts[data.slice(i, i + 3)] ?? 0) + 1;
    return counts;
}, canvas);

test('EE-Net learns the rings, with less regret than a linear policy', { skip }, async () => {
    const page = await visit();
    await played(page, 300);
    await page.waitForFunction(() => /right at [0-9]+%/.test(document.getElementById('f3-right').textContent));
    const [eenet, linucb] = await regrets(page);
    assert.ok(eenet < 0.8 * linucb, `EE-Net ${eenet}, LinUCB ${linucb}`);
    assert.ok(Object.keys(await colours(page, '#f3')).length === 3, 'f3 chooses each arm somewhere');
    assert.ok(Object.keys(await colours(page, '#f1')).length > 20, 'f1 is a map of shades');
    assert.deepEqual(page.troubles, []);
    await closePage(page);
});

test('the page draws while the worker computes', { skip }, async () => {
    const page = await visit();
    const begun = await rounds(page);
    const rate = await page.evaluate(() => new Promise((resolve) => {
        const first = performance.now();
        let frames = 0;
        const count = (now) => (++frames < 120 ? requestAnimationFrame(count) : resolve((1000 * frames) / (now - first)));
        requestAnimationFrame(count);
    }));
    await played(page, begun + 10);
    console.log(`${rate.toFixed(0)} frames a second`);
    assert.ok(rate > 10); // other tests run at the same time; 60 on an idle machine
    await closePage(page);
});

test('painting, examples, arms, pause, speed and starting over', { skip }, async () => {
    const page = await visit();
    await page.getByRole('button', { name: 'Linear' }).click();
    await page.getByText('Arm B').click();
    const [before, after] = [await colours(page, '#problem'), {}];
    const box = await page.locator('#problem').boundingBox();
    await page.mouse.move(box.x + 0.1 * box.width, box.y + 0.1 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 0.1 * box.height, { steps: 8 });
    await page.mouse.up();
    await page.waitForFunction(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true)))));
    Object.assign(after, await colours(page, '#problem'));
    assert.notDeepEqual(after, before);
    assert.equal(await page.locator('.selected').first().textContent(), 'B');

    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('#status', { hasText: 'Paused after' }).waitFor();
    const paused = await rounds(page);
    await page.getByLabel('Speed').selectOption('10');
    assert.equal(await rounds(page), paused);
    await page.getByRole('button', { name: 'Resume' }).click();
    await played(page, paused + 3);
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.waitForFunction((count) => Number(document.body.dataset.round) < count, paused);
    assert.deepEqual(page.troubles, []);
    await closePage(page);
});

test('it can be read: light, dark, on a phone, and by a screen reader', { skip }, async () => {
    for (const [name, options] of [
        ['light', { colorScheme: 'light' }],
        ['dark', { colorScheme: 'dark' }],
        ['phone', { viewport: { width: 360, height: 740 }, colorScheme: 'light', deviceScaleFactor: 2 }],
    ]) {
        const page = await visit(options);
        await played(page, 60);
        await page.waitForFunction(() => document.getElementById('f3-right').textContent.length > 2);
        await page.getByRole('button', { name: 'Pause' }).click();
        await page.locator('#status', { hasText: 'Paused after' }).waitFor();
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(overflow <= 0, `${name}: ${overflow} pixels too wide`);
        await page.evaluate(AXE);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map((one) => `${name}: ${one.id}: ${one.nodes[0].html}`), []);
        await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
        assert.deepEqual(page.troubles, []);
        await closePage(page);
    }
});
