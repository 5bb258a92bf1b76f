// The playground in Chromium, from a plain static server: it learns, paints, pauses, starts over, draws while the worker
// computes, and can be read in light, dark and on a phone. PLAYGROUND is what make playground builds.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { browserPath, openPage, overflow, rendered, startBrowser, violations } from './browser.mjs';
import { serveFolder } from './server.mjs';

const FOLDER = process.env.PLAYGROUND;
const built = existsSync(join(FOLDER, 'index.html'));
const skip = !browserPath ? 'there is no browser' : !built ? 'the WebAssembly compiler is not installed' : false;
let server, browser;

before(async () => {
    if (skip) return;
    server = await serveFolder(FOLDER);
    browser = await startBrowser();
});
after(async () => {
    await browser?.close();
    server?.close();
});

async function visit(t, options) {
    const page = await openPage(browser, server.url, options, t);
    page.allow = (line) => line.includes('willReadFrequently'); // about colours, below
    await page.goto(`${server.url}/`);
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

test('EE-Net learns the rings, with less regret than a linear policy', { skip }, async (t) => {
    const page = await visit(t);
    await played(page, 300);
    await page.waitForFunction(() => /right at [0-9]+%/.test(document.getElementById('f3-right').textContent));
    const [eenet, linucb] = await regrets(page);
    assert.ok(eenet < 0.8 * linucb, `EE-Net ${eenet}, LinUCB ${linucb}`);
    assert.ok(Object.keys(await colours(page, '#f3')).length === 3, 'f3 chooses each arm somewhere');
    assert.ok(Object.keys(await colours(page, '#f1')).length > 20, 'f1 is a map of shades');
});

test('painting, examples, arms, pause, speed and starting over', { skip }, async (t) => {
    const page = await visit(t);
    await page.getByRole('button', { name: 'Linear' }).press('Enter');
    await page.getByText('Arm B').click();
    const [before, after] = [await colours(page, '#problem'), {}];
    const box = await page.locator('#problem').boundingBox();
    await page.mouse.move(box.x + 0.1 * box.width, box.y + 0.1 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 0.1 * box.height, { steps: 8 });
    await page.mouse.up();
    await rendered(page); // while the worker computes
    Object.assign(after, await colours(page, '#problem'));
    assert.notDeepEqual(after, before);
    assert.equal(await page.locator('.selected').first().textContent(), 'B');

    await page.getByRole('button', { name: 'Pause' }).press('Enter');
    await page.locator('#status', { hasText: 'Paused after' }).waitFor();
    const paused = await rounds(page);
    await page.getByLabel('Speed').selectOption('10');
    assert.equal(await rounds(page), paused);
    await page.getByRole('button', { name: 'Resume' }).press('Enter');
    await played(page, paused + 3);
    await page.getByRole('button', { name: 'Start over' }).press('Enter');
    await page.waitForFunction((count) => Number(document.body.dataset.round) < count, paused);
});

test('it can be read: light, dark, on a phone, and by a screen reader', { skip }, async (t) => {
    for (const [name, options] of [
        ['light', { colorScheme: 'light' }],
        ['dark phone', { viewport: { width: 360, height: 740 }, colorScheme: 'dark', deviceScaleFactor: 2 }],
    ]) {
        const page = await visit(t, options);
        await played(page, 60);
        await page.waitForFunction(() => document.getElementById('f3-right').textContent.length > 2);
        await page.getByRole('button', { name: 'Pause' }).press('Enter');
        await page.locator('#status', { hasText: 'Paused after' }).waitFor();
        assert.ok(await overflow(page) <= 0, name);
        assert.deepEqual(await violations(page), [], name);
    }
});
