// The web site in a browser: pages load nothing from other hosts and print no errors, search finds, colours follow the
// reader's choice, and nothing is wider than a phone. SITE is the folder of the built site.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { browserPath, openPage, overflow, startBrowser } from './browser.mjs';
import { serveFolder } from './server.mjs';

const PAGES = ['index.html', 'docs/python.html', 'docs/architecture.html', 'docs/experiments.html', 'reference/c.html', 'reference/http.html', 'reference/eenet.html', 'reference/man/eenet-run.1.html'];
const skip = (!browserPath && 'there is no Chromium') || (!existsSync(join(process.env.SITE, 'index.html')) && 'the site is not built');
let server, browser;

before(async () => {
    if (skip) return;
    server = await serveFolder(process.env.SITE);
    browser = await startBrowser();
});
after(async () => {
    await browser?.close();
    server?.close();
});

// A page, open at a path.
async function visit(t, path, options) {
    const page = await openPage(browser, server.url, options, t);
    await page.goto(`${server.url}/${path}`);
    return page;
}

test('search finds a page', { skip }, async (t) => {
    const page = await visit(t, 'index.html');
    await page.locator('.md-search__input').focus();
    await page.keyboard.type('ee_bandit_decide_slots');
    await page.locator('.md-search-result__item a[href*="reference/c.html"]').first().waitFor();
});

test('the playground plays', { skip: skip || (!existsSync(join(process.env.SITE, 'playground.html')) && 'the playground is not built') }, async (t) => {
    const page = await visit(t, 'playground.html');
    await page.getByRole('link', { name: 'Open the playground' }).press('Enter');
    await page.waitForFunction(() => Number(document.body.dataset.round) > 20);
});

test('colours follow the system, and the switch', { skip }, async (t) => {
    for (const [colorScheme, first, second] of [['light', 'default', 'slate'], ['dark', 'slate', 'default']]) {
        const page = await visit(t, 'docs/python.html', { colorScheme });
        await page.locator(`body[data-md-color-scheme="${first}"]`).waitFor();
        await page.locator('form[data-md-component="palette"] label:not([hidden])').click();
        await page.locator(`body[data-md-color-scheme="${second}"]`).waitFor();
    }
});

test('no page is wider than a phone', { skip }, async (t) => {
    const page = await visit(t, PAGES[0], { viewport: { width: 390, height: 844 } });
    for (const path of PAGES) {
        await page.goto(`${server.url}/${path}`);
        assert.equal(await overflow(page), 0, path);
    }
});
