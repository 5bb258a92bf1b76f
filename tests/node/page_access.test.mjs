// The dashboard in a browser, for everybody: with assistive technology, on small screens, light and dark.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { SIZES, TOGETHER, create, evaluated, look, rendered, server, violations } from './dashboard.mjs';
import { ask } from './server.mjs';
import { play, visit } from './traffic.mjs';

describe('for everybody', TOGETHER, () => {
    before(async () => {
        await create({ name: 'everybody', features: '', policy: 'linucb', wait: 1 });
        await play(server.url, 'everybody', 0, 200);
        await evaluated('everybody');
    });

    for (const [colorScheme, size] of [['light', 'desk'], ['dark', 'phone']])
        test(`axe finds nothing: ${colorScheme}, ${size}`, async (t) => {
            const page = await look(t, 'everybody', { colorScheme, viewport: SIZES[size] });
            assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
            await page.getByRole('list', { name: 'Shares of the actions' }).getByText('red').waitFor();
            await page.getByRole('button', { name: 'Preview' }).press('Enter');
            await page.locator('.answer details').first().waitFor();
            await page.getByRole('button', { name: 'Results of' }).first().press('Enter');
            await page.getByRole('region', { name: 'Results of the evaluation' }).waitFor();
            assert.deepEqual(await violations(page), []);
            for (const [button, title] of [['Change settings', 'Settings of everybody'], ['Start an evaluation', 'Start an evaluation'], ['Add a challenger', 'Add a challenger']]) {
                await page.getByRole('button', { name: button }).press('Enter');
                await page.getByRole('dialog', { name: title }).waitFor();
                assert.deepEqual(await violations(page), []);
                await page.keyboard.press('Escape');
            }
            if (size === 'phone') await page.getByRole('button', { name: 'everybody', exact: true }).press('Enter');
            await page.getByRole('button', { name: 'New bandit' }).press('Enter');
            await page.getByRole('dialog', { name: 'New bandit' }).waitFor();
            assert.deepEqual(await violations(page), []);
        });

    test('on a phone tables scroll, nothing overflows, and buttons are large enough', async (t) => {
        await create({ name: 'pocket', features: '', policy: 'linucb', wait: 1 });
        await play(server.url, 'pocket', 0, 300);
        await ask(server.url, '/v1/bandits/pocket/decide', { ...visit(400), slots: [{ id: 'top' }, { id: 'a-slot-with-a-long-name' }] });
        await ask(server.url, '/v1/bandits/pocket/challengers', { name: 'a-challenger-with-a-rather-long-name', policy: 'neural-ucb' });
        await evaluated('pocket');
        const page = await look(t, 'pocket', { viewport: SIZES.phone, hasTouch: true, isMobile: true });
        await page.getByRole('list', { name: 'Shares of the actions' }).getByText('red').waitFor();
        await page.getByRole('region', { name: 'Slots', exact: true }).waitFor();
        await page.getByText('Show as a table').press('Enter');
        await page.getByRole('button', { name: 'Results of' }).first().press('Enter');
        const results = page.getByRole('region', { name: 'Results of the evaluation' });
        await results.waitFor();
        const overflow = () => page.evaluate(() => [document.documentElement.scrollWidth, ...[...document.querySelectorAll('body *')].filter((node) => !node.closest('.scroll, .parts, .hidden, svg, option') && node.getBoundingClientRect().right > innerWidth + 0.5).map((node) => node.outerHTML.slice(0, 90))]);
        await rendered(page);
        assert.deepEqual(await overflow(), [390]);
        assert.equal(await results.evaluate((node) => { // scrolls, by itself
            node.scrollLeft = 50;
            return node.scrollWidth > node.clientWidth && node.scrollLeft === 50 && node.tabIndex === 0;
        }), true);
        const small = () => page.evaluate(() => [...document.querySelectorAll('button, input, select, summary, a[href], .check')].filter((node) => {
            const { width, height } = (node.type === 'checkbox' ? node.closest('.check') : node).getBoundingClientRect();
            return width && !node.matches('.skip') && (height < 43.5 || width < 40);
        }).map((node) => `${node.outerHTML.slice(0, 70)} ${node.getBoundingClientRect().height}`));
        assert.deepEqual(await small(), []);
        for (const button of ['Change settings', 'Start an evaluation', 'Add a challenger']) {
            await page.getByRole('button', { name: button }).press('Enter');
            await page.getByRole('dialog').waitFor();
            assert.deepEqual(await overflow(), [390]);
            assert.deepEqual(await small(), []);
            await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).press('Enter');
        }
    });

    test('320 pixels are enough, and colours can be chosen', async (t) => {
        await create({ name: 'a-rather-long-name-that-somebody-gave-to-this-bandit-of-theirs', features: '', policy: 'linucb' });
        const name = 'a-rather-long-name-that-somebody-gave-to-this-bandit-of-theirs';
        await play(server.url, name, 0, 50);
        const page = await look(t, name, { viewport: { width: 320, height: 640 }, reducedMotion: 'reduce' });
        await page.getByRole('button', { name: 'Preview' }).press('Enter');
        await page.locator('.chosen').waitFor();
        const wide = await page.evaluate(() => [...document.querySelectorAll('main *')].filter((node) => !node.closest('.scroll, .parts, .hidden, svg') && node.getBoundingClientRect().right > innerWidth + 0.5).map((node) => node.outerHTML.slice(0, 90)));
        assert.deepEqual(wide, []);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
        assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('.track i')).transitionDuration), '0s');
        await page.getByRole('button', { name: 'Dark theme' }).press('Enter');
        assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
        await page.reload();
        await page.getByRole('button', { name: 'Light theme' }).waitFor();
    });
});
