// Guardrails on the dashboard, in a browser against the real server.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SIZES, TOGETHER, create, look, overflow, server, violations } from './dashboard.mjs';
import { answered, ask, until } from './server.mjs';

const ACTIONS = [{ id: 'card', features: { kind: 'card', cost: 0 } }, { id: 'mail', features: { kind: 'mail', cost: 1 } }];
const GUARDRAILS = {
    control: { share: 0.2 },
    rollout: { share: 0.05 },
    segment: 'country',
    bounds: [{ metric: 'refund', most_above: 0.1, then: 'alert' }],
    caps: [{ name: 'mails', action: { kind: 'mail' }, most: 5000, per: '1d' }],
    budgets: [{ name: 'stamps', cost: 'cost', limit: 4000 }],
    shares: [{ name: 'letters', action: { kind: 'mail' }, low: 0.1, high: 0.9, window: '1d' }],
};

const section = (page) => page.getByRole('region', { name: 'Guardrails', exact: true });
const settingsOf = async (name) => (await ask(server.url, `/v1/bandits/${name}`)).body.settings;

// Metrics are final at the end of the wait: long enough for those of a few visits to arrive on a busy machine.
const guarded = (name, guardrails) => create({ name, features: '', policy: 'linucb', propensity: 'floor:0.5', wait: 10, metrics: [{ name: 'refund', aggregation: 'sum', missing: 0 }], guardrails });

// A decision for each of so many people, and what follows: the treated ones earn more and give back more. Returns the
// decisions. On a machine that stalls, people whose rewards came late come again.
async function visits(name, people, portion = 100) {
    const made = [];
    const outcome = ({ id, group }, i) => ({ id, value: i % 10 < (group === 'treated' ? 8 : 4) ? 1 : 0, metrics: { refund: i % 10 < (group === 'treated' ? 6 : 1) ? 1 : 0 } });
    for (let from = 0; from < people; from += portion) {
        const decisions = Array.from({ length: Math.min(portion, people - from) }, (_, i) => ({ key: `u${from + i}`, context: { country: i % 2 ? 'DE' : 'FR' }, actions: ACTIONS }));
        for (let late = true; late; ) {
            const { body } = await ask(server.url, `/v1/bandits/${name}/decide/batch`, { decisions });
            const rewarded = await ask(server.url, `/v1/bandits/${name}/reward/batch`, { rewards: body.decisions.map(outcome) });
            const outcomes = new Set(rewarded.body.rewards.map((one) => one.outcome));
            late = outcomes.delete('late');
            assert.ok([...outcomes].every((one) => one === 'joined'), `${[...outcomes]}`);
            made.push(...body.decisions);
        }
    }
    return made;
}

async function confirmed(page, title, button) {
    const dialog = page.getByRole('dialog', { name: title });
    await dialog.getByRole('button', { name: button, exact: true }).press('Enter');
    await dialog.waitFor({ state: 'hidden' });
}

describe('guardrails', TOGETHER, () => {
    test('a bandit without guardrails gets them', async (t) => {
        await create({ name: 'bare', features: '', policy: 'linucb' });
        const page = await look(t, 'bare'), card = section(page);
        await card.getByText('Nobody is in a control group').waitFor();
        assert.equal(await card.getByRole('button', { name: 'Hold' }).isVisible(), false);
        await card.getByRole('button', { name: 'Set guardrails' }).press('Enter');
        const dialog = page.getByRole('dialog', { name: 'Guardrails of bare' });
        assert.deepEqual(JSON.parse(await dialog.getByLabel('Guardrails').inputValue()), { control: { share: 0.05, baseline: 'first' }, rollout: { share: 0.25 } });
        await dialog.getByRole('button', { name: 'Save' }).press('Enter');
        await card.getByText('The bandit decides for 23.75% of all people.').waitFor();
        assert.deepEqual((await settingsOf('bare')).guardrails, { control: { share: 0.05, baseline: 'first' }, rollout: { share: 0.25 } });
    });

    test('a wrong object is refused with the sentence of the server', async (t) => {
        await create({ name: 'wrong', features: '', policy: 'linucb', guardrails: { control: { share: 0.1 } } });
        const page = await look(t, 'wrong');
        page.allow = (line) => line.includes('status of 400');
        await section(page).getByRole('button', { name: 'Edit' }).press('Enter');
        const dialog = page.getByRole('dialog', { name: 'Guardrails of wrong' }), text = dialog.getByLabel('Guardrails'), save = dialog.getByRole('button', { name: 'Save' });
        await text.fill('{"control": ');
        await save.press('Enter');
        await dialog.getByText(/^Invalid JSON: /).waitFor();
        const bad = { control: { share: 7 } };
        await text.fill(JSON.stringify(bad));
        await save.press('Enter');
        const { body } = await answered(400, ask(server.url, '/v1/bandits/wrong', { guardrails: bad }, 'PATCH'));
        const said = dialog.getByRole('alert');
        await until('the sentence', async () => (await said.textContent()).toLowerCase().startsWith(body.error.message.toLowerCase()));
        assert.deepEqual((await settingsOf('wrong')).guardrails, { control: { share: 0.1 } });
        await text.fill('');
        await save.press('Enter');
        await section(page).getByText('Nobody is in a control group').waitFor();
        assert.equal((await settingsOf('wrong')).guardrails, undefined);
    });

    test('a bandit is held and released', async (t) => {
        await guarded('stopped', { control: { share: 0.1 } });
        const page = await look(t, 'stopped'), banner = page.locator('.held');
        assert.equal(await banner.isVisible(), false);
        await section(page).getByRole('button', { name: 'Hold' }).press('Enter');
        await page.getByRole('dialog').getByLabel('Why (optional)').fill('prices are wrong');
        await confirmed(page, 'Hold stopped?', 'Hold');
        await banner.getByText('Held: everybody gets the baseline, and the bandit learns nothing, because: prices are wrong.').waitFor();
        const { held, held_because: because } = await settingsOf('stopped');
        assert.deepEqual([held, because], ['fallback', 'prices are wrong']);
        assert.deepEqual([...new Set((await visits('stopped', 20)).map(({ group }) => group))], ['fallback']);
        assert.equal(await section(page).getByRole('button', { name: 'Hold' }).isVisible(), false);
        await banner.getByRole('button', { name: 'Release' }).press('Enter');
        await confirmed(page, 'Release stopped?', 'Release');
        await banner.waitFor({ state: 'hidden' });
        assert.equal((await settingsOf('stopped')).held, undefined);
        assert.equal((await visits('stopped', 20)).some(({ group }) => group === 'fallback'), false);
    });

    test('the rollout moves, and the dialog says whom it affects', async (t) => {
        await guarded('rolled', GUARDRAILS);
        const page = await look(t, 'rolled'), card = section(page), step = (share) => card.getByRole('button', { name: `Roll out to ${share}`, exact: true });
        await card.getByText('The bandit decides for 4% of all people.').waitFor();
        assert.equal(await step('5%').getAttribute('aria-pressed'), 'true');
        await step('25%').press('Enter');
        const dialog = page.getByRole('dialog', { name: 'Roll out to 25%?' });
        await dialog.getByText('The bandit then decides for 20% of all people; now it is 4%.').waitFor();
        await dialog.getByText('16% of all people change from the baseline to the bandit.').waitFor();
        await confirmed(page, 'Roll out to 25%?', 'Roll out to 25%');
        await card.getByText('The bandit decides for 20% of all people.').waitFor();
        assert.deepEqual((await settingsOf('rolled')).guardrails, { ...GUARDRAILS, rollout: { share: 0.25 } });
        await step('1%').press('Enter');
        await page.getByRole('dialog').getByText('19.2% of all people go back to the baseline.').waitFor();
        await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).press('Enter');
        assert.equal((await settingsOf('rolled')).guardrails.rollout.share, 0.25);
    });

    test('limits show what is used', async (t) => {
        await guarded('limited', { ...GUARDRAILS, rollout: { share: 1 } });
        const mails = (await visits('limited', 400)).filter(({ action }) => action === 'mail').length;
        assert.ok(mails > 0);
        const page = await look(t, 'limited'), limits = section(page).getByRole('list', { name: 'Limits' });
        await limits.getByText(`${mails} of 5,000`, { exact: true }).waitFor();
        await limits.getByText(`${mails} of 4,000`, { exact: true }).waitFor();
        await limits.getByText('within 10% to 90% on average over 1 day', { exact: true }).waitFor();
        assert.doesNotMatch(await limits.textContent(), /undefined/); // the budget has no "per"
        const { caps, budgets, shares } = (await ask(server.url, '/v1/bandits/limited')).body.limits;
        assert.deepEqual([caps, budgets.map(({ name, spent }) => [name, spent]), shares.map(({ name }) => name)], [[{ name: 'mails', count: mails, most: 5000 }], [['stamps', mails]], ['letters']]);
        assert.ok(shares[0].mean >= 0.1 && shares[0].mean <= 0.9);
    });

    test('groups, lift, segments, bounds and alarms', async (t) => {
        await guarded('measured', { ...GUARDRAILS, rollout: { share: 1 } });
        const decided = await visits('measured', 1000), among = (group) => decided.filter((one) => one.group === group).length;
        const page = await look(t, 'measured'), card = section(page);
        await card.getByRole('list', { name: 'Decisions per group' }).getByText(`${among('treated')} decisions`).waitFor();
        await card.getByRole('list', { name: 'Decisions per group' }).getByText(`${among('control')} decisions`).waitFor();
        const { guardrails } = (await ask(server.url, '/v1/bandits/measured/evaluation')).body;
        const refund = guardrails.lift.find(({ metric }) => metric === 'refund');
        const row = card.getByRole('table', { name: 'Lift over people who are not treated' }).getByRole('row', { name: /^refund/ });
        assert.equal(await row.getByRole('cell').nth(0).textContent(), refund.treated.mean.toFixed(3));
        assert.equal(await row.getByRole('cell').nth(1).textContent(), refund.control.mean.toFixed(3));
        assert.match(await row.getByRole('cell').nth(2).textContent(), /^\+[0-9,.]+%\+/);
        assert.equal(await row.locator('svg.lift.sure').count(), 1);
        await card.getByText('By country: 2 segments').press('Enter');
        await card.getByRole('table', { name: 'Lift in each segment' }).getByRole('row', { name: /^DE \(\d+ decisions\) *refund/ }).waitFor();
        await card.getByRole('list', { name: 'Bounds' }).getByText('violated', { exact: true }).waitFor();
        await card.getByRole('list', { name: 'Alarms' }).getByText(/refund: the mean of treated people/).waitFor();
        for (const [colorScheme, viewport] of [['light', SIZES.desk], ['dark', { width: 320, height: 640 }]]) {
            await page.emulateMedia({ colorScheme });
            await page.setViewportSize(viewport);
            assert.deepEqual(await violations(page), []);
            assert.equal(await overflow(page), 0);
        }
    });
});
