// The web site in a browser: pages load nothing from other hosts and print no errors, search finds, colours follow the
// reader's choice, and nothing is wider than a phone. SITE is the folder of the built site.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { browserPath, closePage, openPage, startBrowser } from './browser.mjs';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };
const PAGES = ['index.html', 'docs/python.html', 'docs/architecture.html', 'docs/experiments.html', 'reference/c.html', 'reference/http.html', 'reference/eenet.html', 'reference/man/eenet-run.1.html'];
const skip = (!browserPath && 'there is no Chromium') || (!existsSync(join(process.env.SITE, 'index.html')) && 'the site is not built');
let server, url, browser;

before(async () => {
    if (skip) return;
    server = createServer(async (request, response) => {
        const path = new URL(request.url, 'http://site').pathname;
        try {
            const bytes = await readFile(join(process.env.SITE, path));
            response.writeHead(200, { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(bytes);
        } catch {
            response.writeHead(404).end();
        }
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${server.address().port}`;
    browser = await startBrowser();
});

after(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
});

test('search finds a page', { skip }, async () => {
    const page = await openPage(browser, url);
    await page.goto(`${url}/index.html`);
    await page.locator('.md-search__input').click();
    await page.keyboard.type('ee_bandit_decide_slots');
    await page.locator('.md-search-result__item a[href*="reference/c.html"]').first().waitFor();
    assert.deepEqual(page.troubles, []);
    await closePage(page);
});

test('the playground plays', { skip: skip || (!existsSync(join(process.env.SITE, 'playground.html')) && 'the playground is not built') }, async () => {
    const page = await openPage(browser, url);
    await page.goto(`${url}/playground.html`);
    await page.getByRole('link', { name: 'Open the playground' }).click();
    await page.waitForFunction(() => Number(document.body.dataset.round) > 20);
    assert.deepEqual(page.troubles, []);
    await closePage(page);
});

test('colours follow the system, and the switch', { skip }, async () => {
    for (const [colorScheme, first, second] of [['light', 'default', 'slate'], ['dark', 'slate', 'default']]) {
        const page = await openPage(browser, url, { colorScheme });
        await page.goto(`${url}/docs/python.html`);
        await page.locator(`body[data-md-color-scheme="${first}"]`).waitFor();
        await page.locator('form[data-md-component="palette"] label:not([hidden])').click();
        await page.locator(`body[data-md-color-scheme="${second}"]`).waitFor();
        assert.deepEqual(page.troubles, []);
        await closePage(page);
    }
});

test('no page is wider than a phone', { skip }, async () => {
    const page = await openPage(browser, url, { viewport: { width: 390, height: 844 } });
    for (const path of PAGES) {
        await page.goto(`${url}/${path}`);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, path);
    }
    assert.deepEqual(page.troubles, []);
    await closePage(page);
});
