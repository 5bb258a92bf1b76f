// The dashboard in a browser, against the real server: its files, the list of bandits, and what can be done with one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { TOGETHER, create, look, open, server, skip } from './dashboard.mjs';
import { startProxy } from './failing_proxy.mjs';
import { ask, startServer, until } from './server.mjs';
import { play, visit } from './traffic.mjs';

// ---- files ----

test('the files have strict headers and tags', { skip }, async () => {
    const answer = await fetch(`${server.url}/`);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.match(answer.headers.get('content-security-policy'), /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'/);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(answer.headers.get('referrer-policy'), 'same-origin');
    assert.equal(answer.headers.get('cache-control'), 'no-cache');
    const tag = answer.headers.get('etag');
    assert.match(tag, /^"[0-9a-f]{16}"$/);
    assert.equal((await fetch(`${server.url}/`, { headers: { 'If-None-Match': tag } })).status, 304);
    assert.equal((await fetch(`${server.url}/page/page.css`)).headers.get('content-type'), 'text/css; charset=utf-8');
    assert.equal((await fetch(`${server.url}/page/nothing.js`)).status, 404);
    assert.deepEqual((await ask(server.url, '/page/visitor')).body, { keys: false, role: 'admin', name: '', bandit: null });
});

test('it can be switched off', { skip }, async (t) => {
    const off = await startServer(['--page', 'off']);
    t.after(() => off.stop());
    for (const path of ['/', '/page/page.js', '/page/visitor', '/page/choices']) {
        const { status, body } = await ask(off.url, path);
        assert.equal(status, 404);
        assert.match(body.error.message, /dashboard is off/);
    }
});

// ---- choosing: one after the other, because they look at the whole list ----

test('without bandits it says what to do, creates one, and lists it', { skip }, async (t) => {
    const page = await open(t, server.url);
    await page.goto(server.url);
    await page.getByRole('heading', { name: 'Create your first bandit' }).waitFor();
    await page.getByRole('button', { name: 'Create a bandit' }).press('Enter');
    await page.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await page.getByText('A name must be 1 to 64 letters').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('shop');
    await page.getByRole('button', { name: 'Create', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).hash, '#/b/shop');
    assert.equal((await ask(server.url, '/v1/bandits/shop')).status, 200);
    await page.getByRole('link', { name: 'shop' }).waitFor();
});

test('bandits are searched, chosen, and linked to', { skip }, async (t) => {
    for (const name of ['paper', 'news', 'mail.eu', 'mail.us']) await create({ name, dim: 3, policy: 'linucb' });
    const page = await look(t, 'news');
    const list = page.locator('#bandits a');
    await list.nth(3).waitFor();
    assert.equal(await page.locator('#bandits [aria-current=page]').textContent().then((words) => words.startsWith('news')), true);
    await page.getByLabel('Search bandits').fill('MAIL');
    await page.waitForFunction(() => document.querySelectorAll('#bandits a').length === 2);
    await page.getByRole('link', { name: 'mail.us' }).press('Enter');
    await page.getByRole('heading', { name: 'mail.us', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).hash, '#/b/mail.us');
    await page.goto(`${server.url}/#/b/nobody`);
    await page.getByRole('heading', { name: 'Bandit not found' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'mail.us', level: 1 }).waitFor();
});

test('of many bandits the one that is looked at is seen in the list', { skip }, async (t) => {
    for (let i = 0; i < 40; i++) await create({ name: `loop-${i}`, dim: 3, policy: 'linucb' });
    const page = await look(t, 'loop-39');
    await page.locator('#bandits a').nth(39).waitFor();
    const names = (await page.locator('#bandits b').allTextContents()).filter((name) => name.startsWith('loop-'));
    assert.deepEqual(names, Array.from({ length: 40 }, (_, i) => `loop-${i}`));
    const isSeen = () => {
        const at = document.querySelector('#bandits [aria-current=page]').getBoundingClientRect();
        const list = document.getElementById('bandits').getBoundingClientRect();
        return at.top >= list.top - 1 && at.bottom <= list.bottom + 1;
    };
    await page.waitForFunction(isSeen);
    await page.goto(`${server.url}/#/b/loop-0`);
    await page.getByRole('heading', { name: 'loop-0', level: 1 }).waitFor();
    await page.waitForFunction(isSeen);
    assert.equal(await page.evaluate(() => scrollY), 0);
});

describe('a bandit', TOGETHER, () => {
    // ---- trying ----

    test('a bandit can be tried by the keyboard alone', async (t) => {
        await create({ name: 'tried', features: '', policy: 'linucb' });
        const page = await look(t, 'tried');
        const focused = () => page.evaluate(() => {
            const at = document.activeElement;
            return at.getAttribute('aria-label') || at.textContent.trim() || at.id;
        });
        // Presses Tab until the element has the focus; false after 80.
        const tabTo = async (words) => {
            for (let i = 0; i < 80; i++) {
                await page.keyboard.press('Tab');
                if ((await focused()).startsWith(words)) return true;
            }
            return false;
        };
        await page.evaluate(() => document.activeElement.blur());
        await page.keyboard.press('Tab');
        assert.equal(await focused(), 'Skip to the content');
        await page.keyboard.press('Enter');
        assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
        assert.ok(await tabTo('Try a decision'));
        await page.keyboard.press('Enter');
        assert.equal(await page.evaluate(() => document.activeElement.tagName), 'TEXTAREA');
        assert.ok(await tabTo('Preview'));
        await page.keyboard.press('Enter');
        await page.getByText('Nothing was written to the log.').waitFor();
        await page.keyboard.press('Shift+Tab');
        await page.keyboard.press('Space');
        assert.ok(await tabTo('Decide and log'));
        const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
        assert.equal(ring, 'solid');
        await page.keyboard.press('Enter');
        await page.getByText('Written to the log as decision').waitFor();
        assert.ok(await tabTo('0'));
        assert.ok(await tabTo('1'));
        await page.keyboard.press('Space');
        await page.getByText('Reward recorded').waitFor();
        await page.keyboard.press('Space');
        await page.getByText('Ignored: this decision already has a reward').waitFor();
        const { body } = await ask(server.url, '/v1/bandits/tried/activity');
        assert.deepEqual([body.decisions, body.joined], [1, 1]);
        assert.equal(body.actions[0].id, await page.locator('.chosen').textContent());
    });

    test('what is wrong with a request is said where it is', async (t) => {
        await create({ name: 'strict', features: '' });
        const page = await look(t, 'strict');
        await page.getByLabel('Actions', { exact: true }).fill('[{"id": "a", ');
        await page.getByRole('button', { name: 'Preview' }).press('Enter');
        await page.getByText('Actions: invalid JSON').waitFor();
        assert.equal(await page.getByLabel('Actions', { exact: true }).getAttribute('aria-invalid'), 'true');
        assert.deepEqual(page.troubles, []);
        page.allow = (line) => line.includes('status of 400'); // the browser reports each
        await page.getByLabel('Actions', { exact: true }).fill('[{"id": "a", "feature": {}}]');
        await page.getByRole('button', { name: 'Preview' }).press('Enter');
        await page.locator('.wrong', { hasText: 'feature' }).waitFor();
        await page.getByLabel('Actions', { exact: true }).fill('[{"id": "a", "features": {"x": 1}}]');
        await page.getByRole('button', { name: 'Preview' }).press('Enter');
        await page.locator('.chosen', { hasText: 'a' }).waitFor();
    });

    test('a preview leaves the log untouched, and writing it is asked for', async (t) => {
        await create({ name: 'preview', features: '', policy: 'linucb' });
        await play(server.url, 'preview', 0, 50);
        const state = async () => {
            const { body } = await ask(server.url, '/v1/bandits/preview');
            const { body: activity } = await ask(server.url, '/v1/bandits/preview/activity');
            return [activity.decisions, activity.waiting, (await (await fetch(`${server.url}/v1/bandits/preview/log`)).text()).split('\n').length, body.settings.policy];
        };
        const before = await until('50 rewards', async () => {
            const now = await state();
            return now[1] === 0 && now;
        });
        const page = await look(t, 'preview');
        const posts = [];
        page.on('request', (request) => request.method() === 'POST' && posts.push(JSON.parse(request.postData())));
        for (let i = 0; i < 3; i++) {
            await page.getByRole('button', { name: 'Preview' }).press('Enter');
            await page.getByText('Nothing was written to the log.').waitFor();
        }
        await page.locator('.answer').getByText(/: predicted reward .*, exploration bonus .*, score /).first().waitFor();
        assert.equal(await page.getByRole('list', { name: 'Probability of each action' }).locator('li').count(), 3);
        assert.equal(await page.getByRole('group', { name: 'Reward of this decision' }).count(), 0);
        assert.ok(posts.length > 0 && posts.every((body) => !('slots' in body)));
        assert.deepEqual(await state(), before);
        await page.getByLabel('Write this decision to the log').press('Space');
        await page.getByRole('button', { name: 'Decide and log' }).press('Enter');
        await page.getByText('Written to the log as decision').waitFor();
        assert.equal((await state())[0], before[0] + 1);
    });

    // ---- slots ----

    test('slots are tried and counted', async (t) => {
        await create({ name: 'slots', features: '', policy: 'linucb' });
        const page = await look(t, 'slots');
        await page.getByLabel('Fill several slots at once').press('Space');
        await page.getByRole('button', { name: 'Preview' }).press('Enter');
        await page.getByText('One draw for each slot').waitFor();
        assert.equal(await page.locator('.answer .chosen').count(), 2);
        assert.equal(await page.getByRole('region', { name: 'Slots', exact: true }).count(), 0);
        await page.getByRole('textbox', { name: 'Slots' }).fill('[{"id": "top"');
        await page.getByRole('button', { name: 'Preview' }).press('Enter');
        await page.getByText('Slots: invalid JSON').waitFor();
        await page.getByRole('textbox', { name: 'Slots' }).fill('[{"id": "top"}, {"id": "side", "exclude": ["red"]}]');
        await page.getByLabel('Write this decision to the log').press('Space');
        await page.getByRole('button', { name: 'Decide and log' }).press('Enter');
        await page.getByText('Chosen for each slot').waitFor();
        await page.getByLabel('Slot', { exact: true }).selectOption('side');
        await page.getByLabel('Other reward').fill('0.25');
        await page.getByRole('button', { name: 'Send' }).press('Enter');
        await page.getByText('0.25: Reward recorded').waitFor();
        const card = page.getByRole('region', { name: 'Slots', exact: true });
        await card.getByRole('row', { name: /^side 1 \d+\.\d% 1 0\.250$/ }).waitFor();
        await card.getByRole('row', { name: /^top 1 \d+\.\d% 0 –$/ }).waitFor();
    });

    // ---- policies and settings ----

    test('policies are chosen from the list of the program', async (t) => {
        const names = execFileSync(process.env.EENET, ['policies']).toString().trim().split('\n').map((line) => line.split(/\s/)[0]);
        const page = await open(t, server.url);
        await page.goto(server.url);
        await page.locator('#server-words', { hasText: 'Ready' }).waitFor();
        await page.getByRole('button', { name: 'New bandit' }).press('Enter');
        const dialog = page.getByRole('dialog', { name: 'New bandit' }), list = dialog.getByLabel('Policy', { exact: true });
        const offered = await list.locator('option').evaluateAll((options) => options.map((one) => [one.value, one.textContent]));
        assert.deepEqual(offered.map(([name]) => name).sort(), [...names].sort());
        for (const [name, words] of offered) assert.ok(words.startsWith(`${name} – `) && words.length > name.length + 10, words);
        const advised = await page.evaluate(async () => Object.keys((await import('/page/choices.js')).ADVICE));
        for (const name of advised) assert.ok(names.includes(name), name);
        assert.equal(await list.locator('optgroup').first().locator('option').count(), advised.length);
        await list.selectOption('lints'); // it samples its scores, and has no other rule
        await dialog.getByText('linear model with Thompson sampling', { exact: false }).last().waitFor();
        assert.equal(await dialog.getByLabel('Exploration', { exact: true }).isDisabled(), true);
        await list.selectOption('neural-ucb');
        await dialog.getByLabel('Random decisions, in %').fill('7');
        await dialog.getByLabel('Name', { exact: true }).fill('listed');
        await dialog.getByRole('button', { name: 'Create' }).press('Enter');
        await page.getByRole('heading', { name: 'listed', level: 1 }).waitFor();
        const { settings } = (await ask(server.url, '/v1/bandits/listed')).body;
        assert.deepEqual([settings.policy, settings.propensity], ['neural-ucb', 'floor:0.07']);
    });

    test('all settings are shown, marked if changed, and can be changed', async (t) => {
        await create({ name: 'settled', features: '', policy: 'lints', wait: '4h', retention_days: 30 });
        const page = await look(t, 'settled');
        const card = page.getByRole('region', { name: 'Settings', exact: true });
        const row = (name) => card.getByRole('row').filter({ has: page.locator('.code', { hasText: new RegExp(`^${name}$`) }) });
        await row('wait').getByText('4 hours').waitFor();
        await row('wait').getByText('changed').waitFor();
        await row('wait').getByText('default: 10 minutes').waitFor();
        const { settings } = (await ask(server.url, '/v1/bandits/settled')).body;
        for (const name of Object.keys(settings)) assert.equal(await row(name).count(), 1, name);
        const marked = await card.locator('tr.differs .code').allTextContents();
        assert.deepEqual(marked, ['policy', 'wait', 'retention_days']); // lints' rule of exploration is its default
        await card.getByRole('button', { name: 'Change settings' }).press('Enter');
        const dialog = page.getByRole('dialog', { name: 'Settings of settled' });
        await dialog.getByRole('button', { name: 'Save' }).press('Enter');
        await dialog.getByText('Nothing was changed.').waitFor();
        assert.equal(await dialog.getByLabel('Time for rewards, after a decision').inputValue(), '4h');
        await dialog.getByLabel('Time for rewards, after a decision').fill('20m');
        await dialog.getByLabel('Reward of a decision without one by then').fill('');
        await dialog.getByLabel('Highest reward').fill('5');
        await dialog.getByLabel('Events are kept, in days').fill('');
        await dialog.getByLabel('Confidence, in %').fill('20');
        page.allow = (line) => line.includes('status of 400');
        await dialog.getByRole('button', { name: 'Save' }).press('Enter');
        await dialog.getByText('Confidence must be a number from 0.5 to 0.9999.').waitFor();
        await dialog.getByLabel('Confidence, in %').fill('99');
        await dialog.getByRole('button', { name: 'Save' }).press('Enter');
        await dialog.waitFor({ state: 'hidden' });
        await row('wait').getByText('20 minutes').waitFor();
        await row('default_reward').getByText('it is not learned').waitFor();
        const now = (await ask(server.url, '/v1/bandits/settled')).body.settings;
        assert.deepEqual([now.wait, now.default_reward, now.rewards, now.confidence, now.retention_days], [1200, null, [0, 5], 0.99, undefined]);
    });

    // ---- keys, and a server that is away ----

    function addKey(file, name, ...words) {
        return execFileSync(process.env.EENET, ['keys', 'add', name, '--file', file, ...words]).toString().trim();
    }

    test('where keys are needed it asks for one, and says which role is missing', async (t) => {
        const first = await startServer();
        await create({ name: 'shop', features: '' }, first);
        await first.stop('SIGTERM', true);
        const file = join(first.folder, 'keys');
        const reader = addKey(file, 'looker', '--role', 'reader'), boss = addKey(file, 'boss', '--role', 'admin');
        const locked = await startServer(['--keys', file], first);
        const page = await open(t, locked.url);
        t.after(() => locked.stop()); // after the page is closed
        await page.goto(locked.url);
        const dialog = page.getByRole('dialog', { name: 'Enter your key' });
        await dialog.waitFor();
        await dialog.getByLabel('Key', { exact: true }).fill('ee_wrong');
        await page.keyboard.press('Enter');
        await dialog.getByText('Unknown key').waitFor();
        await dialog.getByLabel('Key', { exact: true }).fill(reader);
        await page.keyboard.press('Enter');
        await dialog.waitFor({ state: 'hidden' });
        await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
        await page.getByRole('button', { name: 'Key: looker (reader)' }).waitFor();
        // A reader sees what the bandit would choose, but cannot write to the log.
        await page.getByRole('button', { name: 'Preview' }).press('Enter');
        await page.locator('.answer').getByText('Most likely choice').waitFor();
        await page.getByLabel('Write this decision to the log').press('Space');
        await page.getByRole('button', { name: 'Decide and log' }).press('Enter');
        await page.getByText("This needs a key with the role app; your key 'looker' has the role reader.").waitFor();
        await page.getByRole('button', { name: 'New bandit' }).press('Enter');
        await page.getByText("This needs a key with the role admin; your key 'looker' has the role reader.").waitFor();
        await page.keyboard.press('Escape');
        assert.equal(await page.evaluate(() => localStorage.length), 0);
        await page.reload(); // it is kept for the tab
        await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
        await page.getByRole('button', { name: 'Key: looker (reader)' }).press('Enter');
        await dialog.getByLabel('Key', { exact: true }).fill(boss);
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Key: boss (admin)' }).waitFor();
        await page.getByLabel('Write this decision to the log').press('Space');
        await page.getByRole('button', { name: 'Decide and log' }).press('Enter');
        await page.getByText('Written to the log as decision').waitFor();
    });

    test('a server that stops and comes back is waited for', async (t) => {
        const first = await startServer();
        const proxy = await startProxy(first.url);
        await create({ name: 'shop', features: '', policy: 'linucb' }, first);
        await play(first.url, 'shop', 0, 20);
        const page = await look(t, 'shop', {}, proxy);
        t.after(() => proxy.close());
        await page.locator('#server-words', { hasText: 'Ready' }).waitFor();
        page.allow = (line) => /Failed to load resource|ERR_CONNECTION/.test(line); // the browser reports each try
        await first.stop('SIGTERM', true);
        await page.locator('#server-words', { hasText: 'Server not reachable; retrying' }).waitFor();
        await page.getByLabel('Write this decision to the log').press('Space');
        await page.getByRole('button', { name: 'Decide and log' }).press('Enter');
        await page.getByText('The server is not reachable.', { exact: true }).waitFor();
        const again = await startServer([], first);
        t.after(() => again.stop());
        proxy.target = again.url;
        await page.locator('#server-words', { hasText: 'Ready' }).waitFor();
        await page.getByRole('button', { name: 'Decide and log' }).press('Enter');
        await page.locator('.chosen').waitFor();
        await page.waitForFunction(() => document.querySelector('.number .under').textContent.startsWith('1 '));
    });
});
