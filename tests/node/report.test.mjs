// A report in a real browser: light, dark, on a telephone and without scripts. What it must be is in tests/report/look.js;
// what it does is here.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { browserPath, openPage, startBrowser } from './browser.mjs';

const TESTS = join(process.env.EENET_SOURCE ?? '../../..', 'tests', 'report');
const LOOK = readFileSync(join(TESTS, 'look.js'), 'utf8');
const hasGnuplot = !spawnSync('gnuplot', ['--version']).error;
if (!browserPath || !hasGnuplot) process.exit(77);

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const SECTION = 'section:has(h2#synthetic-cosine)';
let folder, browser;

before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'eenet-report-'));
    const made = spawnSync('sh', [join(TESTS, 'folder.sh'), process.env.EENET], { cwd: folder, encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    browser = await startBrowser();
});
after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
});

// The report, opened; closed with the test, which fails where the page asked for other files or said an error.
async function open(t, options = {}) {
    const page = await openPage(browser, `file://${folder}`, options);
    t.after(() => page.context().close());
    await page.goto(`file://${folder}/runs/report.html`);
    return page;
}
const lookAt = (page, width) => page.evaluate(`${LOOK};look(${width})`);

describe('what is seen', () => {
    const ways = { light: {}, dark: { colorScheme: 'dark' }, phone: PHONE, 'dark phone': { ...PHONE, colorScheme: 'dark' }, 'no scripts': { javaScriptEnabled: false } };
    for (const [name, options] of Object.entries(ways))
        test(name, async (t) => {
            const page = await open(t, options);
            assert.deepEqual(await lookAt(page, options.viewport?.width ?? 1280), []);
            assert.deepEqual(page.troubles, []);
        });
});
