// A browser for a test, and all that goes wrong in its pages: errors on the console, requests to others, breaches of the
// content security policy.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import { PATIENCE } from './server.mjs';

const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

// The program of a browser; undefined: there is none here.
export const browserPath = PLACES.find((path) => path && existsSync(path));

export function startBrowser() {
    return chromium.launch({
        executablePath: browserPath,
        timeout: PATIENCE,
        args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
}

// A new page with what it does wrong in page.troubles: each as a line. allow(text) says which lines of the console are as
// they should be. It is closed after the test t (if any), which fails if there were troubles.
export async function openPage(browser, url, options = {}, t = null) {
    const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', viewport: { width: 1280, height: 900 }, ...options });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    page.troubles = [];
    page.allow = () => false;
    const trouble = (line) => page.allow(line) || page.troubles.push(line);
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && trouble(`console: ${message.text()}`));
    page.on('pageerror', (error) => trouble(`error: ${error.message}`));
    page.on('request', (request) => {
        const to = request.url();
        if (!to.startsWith(`${url}/`) && !to.startsWith('data:')) trouble(`request to ${to}`);
    });
    await page.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`));
    });
    t?.after(async () => {
        await closePage(page);
        assert.deepEqual(page.troubles, []);
    });
    return page;
}

// Closes a page. A request that one of its routes still handles must not fail the test.
export async function closePage(page) {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.context().close();
}

// When the page has drawn what it has: some of its parts look at their size only then.
export const rendered = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

// What assistive technology cannot read, by axe.
export async function violations(page) {
    await rendered(page);
    await page.evaluate(readFileSync(axe, 'utf8'));
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    return violations.map((one) => `${one.impact} ${one.id}: ${one.nodes.map((node) => node.target.join(' ')).slice(0, 3).join(', ')}`);
}
