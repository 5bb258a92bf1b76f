// The dashboard in a browser, against the real server: the numbers that it shows.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TOGETHER, create, look, numberOf, server, violations } from './dashboard.mjs';
import { startProxy } from './failing_proxy.mjs';
import { ask, startServer, until } from './server.mjs';
import { play, visit } from './traffic.mjs';

describe('results', TOGETHER, () => {
    // ---- numbers ----

    test('numbers move while visitors decide', async (t) => {
        await create({ name: 'fast', features: '', policy: 'linucb' });
        const page = await look(t, 'fast');
        const rate = (isMoving) => page.waitForFunction((wanted) => {
            const number = Number.parseFloat(document.querySelector('.number .value')?.textContent);
            return wanted ? number > 0 : number === 0;
        }, isMoving);
        await rate(false);
        const version = await page.getByText('Model version').locator('+ dd').textContent();
        const moved = [rate(true), page.waitForFunction((before) => document.querySelector('dd').textContent !== before, version)];
        await play(server.url, 'fast', 0, 1000);
        await Promise.all(moved);
        await page.getByRole('list', { name: 'Shares of the actions' }).getByText('red').waitFor();
        await rate(false);
    });

    test('trouble is said in words', async (t) => {
        await create({ name: 'old', dim: 2, policy: 'linucb', mode: 'logging' });
        const page = await look(t, 'old');
        await page.getByText('Logging mode: returns the first allowed action').waitFor();
        page.allow = (line) => line.includes('status of 410'); // a poll may arrive after the removal
        await ask(server.url, '/v1/bandits/old', undefined, 'DELETE');
        await page.getByText('This bandit is archived').waitFor();
        await page.getByRole('button', { name: 'Preview' }).waitFor({ state: 'hidden' });
    });

    // Whenever the page draws, the list and the card have the same count.
    function watchCounts(name) {
        window.counts = new Set();
        const look = () => {
            const row = [...document.querySelectorAll('#bandits a')].find((link) => link.querySelector('b')?.textContent === name);
            const list = row?.querySelector('small').textContent.match(/([\d,]+|no) decisions? since start/)?.[1].replace('no', '0');
            const card = document.querySelector('.number .under')?.textContent.match(/^([\d,]+) since the server started/)?.[1];
            if (list && card) window.counts.add(`${list} ${card}`);
            requestAnimationFrame(look);
        };
        look();
    }

    test('the list and the cards have the same counts, also after a restart', async (t) => {
        const first = await startServer();
        const proxy = await startProxy(first.url);
        await create({ name: 'shop', features: '', policy: 'linucb' }, first);
        await play(first.url, 'shop', 0, 300);
        const page = await look(t, 'shop', {}, proxy);
        t.after(() => proxy.close());
        await page.getByText('300 since the server started', { exact: true }).waitFor();
        await page.evaluate(watchCounts, 'shop');
        await play(first.url, 'shop', 300, 300, 10);
        await page.getByText('600 since the server started', { exact: true }).waitFor();
        page.allow = (line) => /Failed to load resource|ERR_CONNECTION/.test(line);
        await first.stop('SIGTERM', true);
        const again = await startServer([], first);
        t.after(() => again.stop());
        proxy.target = again.url;
        await page.locator('#bandits a', { hasText: 'no decisions since start' }).waitFor();
        await page.getByText('0 since the server started', { exact: true }).waitFor();
        assert.equal((await ask(again.url, '/v1/bandits/shop')).body.decisions_since_start, 0);
        await play(again.url, 'shop', 100000, 40);
        await page.getByText('40 since the server started', { exact: true }).waitFor();
        const counts = await page.evaluate(() => [...window.counts].map((words) => words.split(' ')));
        for (const [list, card] of counts) assert.equal(list, card);
        assert.ok(counts.length >= 4); // 300, 600, 0, 40
    });

    // ---- evaluations ----

    test('an evaluation is started, followed, read and deleted', async (t) => {
        await create({ name: 'judged', features: '', policy: 'linucb', propensity: 'floor:0.5' });
        await play(server.url, 'judged', 0, 600);
        const page = await look(t, 'judged');
        const card = page.getByRole('region', { name: 'Evaluations on the log', exact: true });
        await card.getByText('No evaluation yet').waitFor();
        await card.getByRole('button', { name: 'Start an evaluation' }).press('Enter');
        const dialog = page.getByRole('dialog', { name: 'Start an evaluation' });
        await dialog.getByLabel('Name (optional)').fill('spring');
        await dialog.getByRole('checkbox', { name: 'thompson when' }).press('Space');
        await dialog.getByRole('checkbox', { name: 'eenet start here' }).press('Space');
        await dialog.getByLabel('Estimator').selectOption('snips');
        await dialog.getByRole('button', { name: 'Start' }).press('Enter');
        await dialog.waitFor({ state: 'hidden' });
        await card.getByRole('row', { name: /spring 5 policies, snips/ }).getByText('done').waitFor();
        await card.getByRole('button', { name: 'Results of spring' }).press('Enter');
        const results = card.getByRole('region', { name: 'Results of the evaluation' });
        await results.getByRole('row', { name: /^linucb/ }).waitFor();
        await card.getByText('Measured on 600 decisions from').waitFor();
        const { evaluations } = (await ask(server.url, '/v1/bandits/judged/evaluations')).body;
        const job = (await ask(server.url, `/v1/bandits/judged/evaluations/${evaluations[0].id}`)).body;
        for (const result of job.results) await results.getByRole('row', { name: new RegExp(`^${result.name} .*snips ${result.estimates[0].value.toFixed(3)}`) }).waitFor();
        await card.getByRole('button', { name: 'Delete spring' }).press('Enter');
        await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
        await card.getByText('No evaluation yet').waitFor();
        // What a server answers while one runs, and about one that failed.
        await page.route('**/evaluations', (route) => route.fulfill({ json: { evaluations: [{ ...evaluations[0], state: 'running', progress: 0.42 }, { ...evaluations[0], id: 'b', name: 'broken', state: 'failed', trouble: 'the log was removed' }] } }));
        await card.getByText('running: 42%').waitFor();
        await card.getByRole('button', { name: 'Cancel spring' }).waitFor();
        await card.getByText('the log was removed').waitFor();
    });

    // ---- challengers ----

    // Moves the pointer over the chart until its tip shows: cards above may grow meanwhile and move the chart.
    const pointAt = (stage, tip, x) => until('the tip', async () => {
        await stage.hover({ position: { x, y: 150 } });
        await stage.hover({ position: { x: x + 1, y: 150 } });
        return tip.isVisible();
    });

    test('a challenger is added, read in the chart, promoted and removed', async (t) => {
        await create({ name: 'contest', features: '', policy: 'uniform', propensity: 'own' });
        const page = await look(t, 'contest');
        await page.getByText('No data yet').waitFor();
        await page.locator('.facts', { hasText: 'Exploration by the policy' }).waitFor();
        await page.getByRole('button', { name: 'Add a challenger' }).press('Enter');
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Name', { exact: true }).fill('linear');
        await dialog.getByLabel('Policy', { exact: true }).selectOption('linucb');
        await dialog.getByLabel('Random decisions, in %').fill('5');
        await page.keyboard.press('Enter');
        await page.getByRole('rowheader', { name: 'linear' }).waitFor();
        await play(server.url, 'contest', 0, 2500);
        await page.getByText('significantly better', { exact: true }).waitFor();
        await page.locator('.headline', { hasText: 'The challenger linear would earn' }).waitFor();
        // The chart, by the keyboard.
        await page.getByRole('button', { name: 'Decisions', exact: true }).press('Enter');
        const stage = page.getByRole('group', { name: 'Chart of the mean reward' });
        await stage.focus();
        await page.keyboard.press('ArrowLeft');
        await page.locator('.tip', { hasText: 'linear' }).waitFor();
        const before = await page.locator('.tip').textContent();
        await page.keyboard.press('Home');
        assert.notEqual(await page.locator('.tip').textContent(), before);
        assert.match(await page.locator('.chart [aria-live]').textContent(), /This bandit .* to .*; Baseline .*; Random .*; linear /);
        await page.keyboard.press('Escape');
        await page.locator('.tip').waitFor({ state: 'hidden' });
        // By the pointer, and without a series.
        await pointAt(stage, page.locator('.tip', { hasText: 'Baseline' }), 300);
        await page.locator('.legend').getByRole('button', { name: 'Baseline' }).press('Enter');
        await pointAt(stage, page.locator('.tip:not(:has-text("Baseline"))', { hasText: 'linear' }), 320);
        // As a table.
        await page.getByText('Show as a table').press('Enter');
        await page.getByRole('region', { name: 'Mean reward over time, as a table' }).getByRole('row').nth(5).waitFor();
        assert.deepEqual(await violations(page), []);
        // The page shows the numbers of the server.
        await page.getByText(/Based on 2,500 decisions, up to [^.]*\. A significantly better challenger/).waitFor();
        const { body } = await ask(server.url, '/v1/bandits/contest/evaluation');
        const online = body.policies.find((policy) => policy.kind === 'online');
        assert.ok(Math.abs(await numberOf(page, 'Mean reward') - online.value) <= 0.000501);
        await page.getByRole('button', { name: 'Promote linear' }).press('Enter');
        await dialog.getByText('It is significantly better than this bandit.').waitFor();
        await dialog.getByText('Results start again: a new period begins').waitFor();
        await dialog.getByRole('button', { name: 'Promote' }).press('Enter');
        await page.getByRole('region', { name: 'Promotions', exact: true }).getByText('Significant: a challenger that is no better').waitFor();
        assert.equal((await ask(server.url, '/v1/bandits/contest')).body.settings.policy, 'linucb');
        await page.locator('.headline', { hasText: /New period since the promotion at .*Before, linucb was estimated to earn \+[\d.]+ per decision compared with uniform, measured on 2,500 decisions/ }).waitFor();
        await page.getByText('Results start again after a promotion.').waitFor();
        await page.locator('.number', { hasText: 'no results since the promotion' }).waitFor();
        await page.getByRole('button', { name: 'Remove former-' }).press('Enter');
        await dialog.getByRole('button', { name: 'Remove' }).press('Enter');
        await page.getByRole('rowheader', { name: 'former-' }).waitFor({ state: 'detached' });
    });

    test('the headline is what the server measured', async (t) => {
        await create({ name: 'headline', features: '', policy: 'linucb', propensity: 'floor:0.5' });
        const page = await look(t, 'headline');
        const headline = page.getByRole('region', { name: 'Result', exact: true });
        await headline.getByText('No results yet.').waitFor();
        await play(server.url, 'headline', 0, 20);
        await headline.getByText('Inconclusive so far: headline earns').waitFor();
        await play(server.url, 'headline', 20, 480);
        await until('the model', async () => (await ask(server.url, '/v1/bandits/headline/activity')).body.behind === 0);
        await play(server.url, 'headline', 500, 500);
        await headline.getByText('measured on 1,000 decisions').waitFor();
        const { body } = await ask(server.url, '/v1/bandits/headline/evaluation');
        const find = (kind) => body.policies.find((policy) => policy.kind === kind);
        const words = await headline.textContent();
        // How far the bandit leads depends on the load of the machine: the sentence must fit the numbers, whichever they are.
        const numbers = (pattern) => words.match(pattern).slice(1).map((word) => Number(word?.replace('−', '-')));
        const [earned, random, percent] = numbers(/headline earns ([\d.]+) per decision[;,] random choice would earn ([\d.]+)(?: \(\+(\d+)%\))?\./);
        assert.ok(Math.abs(earned - find('online').value) <= 0.000501);
        assert.ok(Math.abs(random - find('uniform').value) <= 0.000501);
        const [low, high] = numbers(/Difference [+−][\d.]+ \(95% interval ([+−][\d.]+) to ([+−][\d.]+)\)/);
        assert.ok(Math.abs(low + find('uniform').gain_high) <= 0.000501);
        assert.ok(Math.abs(high + find('uniform').gain_low) <= 0.000501);
        assert.equal(words.startsWith('Inconclusive so far: '), find('uniform').gain_high >= 0);
        if (find('uniform').gain_high < 0)
            assert.ok(Math.abs(percent / 100 - (find('online').value / find('uniform').value - 1)) <= 0.00501);

        // What a server would answer whose bandit does worse than chance, and one that never takes most of the actions.
        let change = () => Object.assign(find('uniform'), { value: 0.5, gain: 0.5 - find('online').value, gain_low: 0.1, gain_high: 0.4 });
        await page.route('**/evaluation', (route) => {
            change();
            return route.fulfill({ json: body });
        });
        await headline.getByText('random choice would earn more: 0.500 (').waitFor();
        await headline.getByText('Check your rewards').waitFor();
        change = () => body.policies.forEach((policy) => Object.assign(policy, { unsupported: 0.6 }));
        await headline.getByText('No comparison: some actions are never taken').waitFor();
        await page.unroute('**/evaluation');
    });

    test('it says that a pending decision stops the evaluation, and uses plain words', async (t) => {
        await create({ name: 'pending', features: '', policy: 'linucb', propensity: 'floor:0.5' });
        await play(server.url, 'pending', 0, 200);
        await ask(server.url, '/v1/bandits/pending/decide', { ...visit(200), id: 'never-rewarded' });
        await play(server.url, 'pending', 201, 99);
        const page = await look(t, 'pending');
        const words = '200 decisions, up to [^;]*; the next one waits for its reward, at most 10 minutes\\.';
        await page.getByRole('region', { name: 'Result', exact: true }).getByText(new RegExp(`measured on ${words}`)).waitFor();
        await page.getByText(new RegExp(`Based on ${words}`)).waitFor();
        await page.getByText('299 counted since the server started; 1 decision waits for a reward').waitFor();
        // Which features lead depends on how much was learned, and so on the load of the machine; here the id leads.
        await page.route('**/importance', async (route) => {
            const response = await route.fetch(), json = await response.json();
            if (response.ok()) json.features = [{ ...json.features[0], name: '_id', importance: 1 }];
            return route.fulfill({ response, json });
        });
        await page.reload();
        await page.getByRole('list', { name: 'Importance of the features' }).getByText('action id', { exact: true }).waitFor();
        await page.getByText(/on average over \d+ decisions of the last day/).waitFor();
        await page.getByText('of the last 300 decisions did not take the most probable action').waitFor();
    });

    // ---- trouble of the server ----

    test('lag, a clock in doubt and a server that cannot write are said in words', async (t) => {
        await create({ name: 'late', features: '', policy: 'linucb' });
        await play(server.url, 'late', 0, 20);
        const page = await look(t, 'late');
        const learning = page.getByRole('region', { name: 'Learning', exact: true });
        await learning.getByText('nothing').waitFor();
        let lag = 95;
        await page.route('**/activity', async (route) => {
            const response = await route.fetch(), json = { ...(await response.json()), behind: 1234 };
            if (lag) json.lag_seconds = lag;
            else Object.assign(json, { lag_seconds: undefined, awake: false });
            return route.fulfill({ response, json });
        });
        await learning.getByText('1.6 minutes (1,234 events)').waitFor();
        await page.locator('.notice.warn', { hasText: 'The model is 1.6 minutes behind the log' }).waitFor();
        lag = 0.4;
        await learning.getByText('400 ms (1,234 events)').waitFor();
        await page.locator('.notice.warn').waitFor({ state: 'detached' });
        lag = 0; // the server does not say, and has not loaded the model
        await learning.getByText('1,234 events', { exact: true }).waitFor();
        await learning.getByText('not loaded until a request').waitFor();
        await page.route('**/readyz', (route) => route.fulfill({ json: { ready: true, warning: 'The clock jumped: nothing is settled or removed. See /v1/clock.' } }));
        await page.locator('#server-notice', { hasText: 'The clock jumped: nothing is settled or removed.' }).waitFor();
        await page.locator('#server-words', { hasText: 'Ready, with a warning' }).waitFor();
        page.allow = (line) => line.includes('status of 503');
        await page.unroute('**/readyz');
        await page.route('**/readyz', (route) => route.fulfill({ status: 503, json: { error: { code: 'Unavailable', message: 'the store cannot be written' } } }));
        await page.locator('#server-notice', { hasText: 'The store cannot be written. Meanwhile the server is read-only: decisions and rewards are refused.' }).waitFor();
        await page.locator('#server-words', { hasText: 'Not ready' }).waitFor();
        await page.unroute('**/readyz');
        await page.locator('#server-words', { hasText: 'Ready' }).waitFor();
        await page.locator('#server-notice').waitFor({ state: 'hidden' });
    });
});
