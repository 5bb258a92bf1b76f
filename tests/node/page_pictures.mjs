// Makes the pictures of the documentation: EENET=build/eenet SOURCE_FOLDER=. node page_pictures.mjs FOLDER [DECISIONS], in
// the folder of the packages (see CMakeLists.txt). The dashboard and the page of examples/shop after so many DECISIONS
// (default: 10000); the cards from a second server with two challengers.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { closePage, openPage, rendered, startBrowser } from './browser.mjs';
import { ask, start, startServer, until } from './server.mjs';
import { play } from './traffic.mjs';

const folder = process.argv[2] ?? '.';
const DESK = { width: 1280, height: 900 };
const DASHBOARD = [
    { name: 'dashboard-light', colorScheme: 'light', viewport: DESK },
    { name: 'dashboard-dark', colorScheme: 'dark', viewport: DESK },
    { name: 'dashboard-phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
];

async function shoot(page, part, name, options = {}) {
    await rendered(page);
    const path = join(folder, `${name}.png`);
    await part.screenshot({ path, ...options });
    console.log(`${path}: ${statSync(path).size} bytes${page.troubles.length ? `, ${page.troubles}` : ''}`);
    await closePage(page);
}

// The dashboard of a bandit, filled.
async function dashboard(browser, url, bandit, options) {
    const page = await openPage(browser, url, options);
    await page.goto(`${url}/#/b/${bandit}`);
    await page.locator('.chart .series').first().waitFor();
    return page;
}

mkdirSync(folder, { recursive: true });
const browser = await startBrowser();
const example = await start(join(process.env.SOURCE_FOLDER, 'examples/shop/run.sh'), [], (printed) => printed.includes('Ctrl-C'));
const place = { shop: example.urls[0], server: example.urls[1] };
const server = await startServer();
await ask(server.url, '/v1/bandits', { name: 'banners', features: '', propensity: 'floor:0.2' });
await ask(server.url, '/v1/bandits', { name: 'front-page', features: '', wait: '30m' });
for (const challenger of [{ name: 'linear', policy: 'linucb', propensity: 'floor:0.2' }, { name: 'explore-less', policy: 'eenet', propensity: 'floor:0.05' }])
    await ask(server.url, '/v1/bandits/banners/challengers', challenger);
await play(server.url, 'front-page', 0, 1500);
await ask(server.url, '/v1/bandits/front-page/evaluations', { name: 'autumn', estimators: ['dr'], candidates: ['logged', 'uniform', 'linucb', 'thompson'].map((policy) => ({ policy, name: { logged: 'this bandit', uniform: 'random' }[policy] ?? policy })) });
await play(server.url, 'banners', 0, 10000);
const decisions = Number(process.argv[3] ?? 10000);
await until('visitors of the shop', async () => (await ask(place.server, '/v1/bandits/shop')).body.decisions_since_start >= decisions);

for (const { name, ...options } of DASHBOARD) {
    const page = await dashboard(browser, place.server, 'shop', options);
    await shoot(page, page, name);
}
// The result and the chart alone, to be read at the width of a page.
const result = await dashboard(browser, place.server, 'shop', { colorScheme: 'light', viewport: { width: 860, height: 1200 }, deviceScaleFactor: 2 });
const top = (await result.locator('.head').boundingBox()).y - 14, chart = await result.getByRole('region', { name: 'Mean reward over time', exact: true }).boundingBox();
await shoot(result, result, 'dashboard-result', { clip: { x: 0, y: top, width: 860, height: chart.y + chart.height + 6 - top } });
const shop = await openPage(browser, place.shop, { colorScheme: 'light', viewport: DESK });
await shop.goto(place.shop);
await shop.getByText('on a phone').click();
await shop.waitForSelector('#pick[aria-busy="false"]');
await shoot(shop, shop, 'shop', { fullPage: true });
await example.end('SIGINT');

const compared = await dashboard(browser, server.url, 'banners', { viewport: DESK });
await shoot(compared, compared.getByRole('region', { name: 'Would another policy earn more?', exact: true }), 'dashboard-challengers');
const tried = await dashboard(browser, server.url, 'front-page', { viewport: { width: 1280, height: 1200 } });
await tried.getByRole('button', { name: 'Preview' }).click();
await tried.locator('.answer details').first().waitFor();
await shoot(tried, tried.getByRole('region', { name: 'Try a decision', exact: true }), 'dashboard-try');
const judged = await dashboard(browser, server.url, 'front-page', { viewport: { width: 1280, height: 1200 } });
await judged.getByRole('button', { name: 'Results of autumn' }).click();
await judged.getByRole('region', { name: 'Results of the evaluation' }).waitFor();
await shoot(judged, judged.getByRole('region', { name: 'Evaluations on the log', exact: true }), 'dashboard-evaluations');
const settings = await dashboard(browser, server.url, 'front-page', { viewport: { width: 1280, height: 1200 } });
await shoot(settings, settings.getByRole('region', { name: 'Settings', exact: true }), 'dashboard-settings');
await browser.close();
await server.stop();
