// The pictures of docs/page.md, made anew: EENET=build/eenet node page_pictures.mjs FOLDER, where the packages are (see
// CMakeLists.txt). A shop with visitors for some seconds, a challenger, a decision by hand.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openPage, startBrowser } from './browser.mjs';
import { ask, startServer } from './server.mjs';
import { keepPlaying, play } from './traffic.mjs';

const folder = process.argv[2] ?? '.';
const seconds = (count) => new Promise((resolve) => setTimeout(resolve, 1000 * count));
const PICTURES = [
    { name: 'page-light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
    { name: 'page-dark', colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
    { name: 'page-phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
    { name: 'page-challengers', colorScheme: 'light', viewport: { width: 1280, height: 900 }, card: 'Would another policy earn more?' },
    { name: 'page-try', colorScheme: 'light', viewport: { width: 1280, height: 1200 }, card: 'Try it' },
];

async function picture(browser, url, { name, card, ...options }) {
    const page = await openPage(browser, url, options);
    await page.goto(`${url}/#/b/shop`);
    await page.getByRole('list', { name: 'Shares of the actions' }).getByText('red').waitFor();
    await page.locator('.chart .series').first().waitFor();
    if (card === 'Try it') {
        await page.getByRole('button', { name: 'Decide' }).click();
        await page.locator('.answer details').first().waitFor();
        await page.getByRole('button', { name: '1', exact: true }).click();
        await page.getByText('The reward was joined').waitFor();
    }
    await seconds(2);
    const path = join(folder, `${name}.png`);
    if (card) await page.getByRole('region', { name: card, exact: true }).screenshot({ path });
    else await page.screenshot({ path });
    console.log(`${path}: ${statSync(path).size} bytes${page.troubles.length ? `, ${page.troubles}` : ''}`);
    await page.context().close();
}

mkdirSync(folder, { recursive: true });
const server = await startServer();
const browser = await startBrowser();
for (const settings of [{ name: 'shop', features: '' }, { name: 'news-front', dim: 6, policy: 'linucb' }, { name: 'mail', features: '', mode: 'apprentice' }]) await ask(server.url, '/v1/bandits', settings);
for (const challenger of [{ name: 'linear', policy: 'linucb' }, { name: 'greedy', policy: 'greedy', propensity: 'floor:0.05' }]) await ask(server.url, '/v1/bandits/shop/challengers', challenger);
for (const bandit of ['mail']) await play(server.url, bandit, 0, 200);
const visitors = keepPlaying(server.url, 'shop', 0, 60);
await seconds(Number(process.argv[3] ?? 75));
for (const one of PICTURES) await picture(browser, server.url, one);
await visitors.stop();
await browser.close();
await server.stop();
