// The dashboard of a fleet, in a browser: two real servers on one PostgreSQL database.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SIZES, create, look, rendered, server as alone, skip as noBrowser, violations } from './dashboard.mjs';
import { startPostgres } from './postgres.mjs';
import { ask, startServer, until } from './server.mjs';
import { visit } from './traffic.mjs';

const database = noBrowser ? null : startPostgres();
const skip = noBrowser || (!database && 'there is no PostgreSQL');
const NAMES = ['ads', 'mail', 'news', 'shop'];

test('a server that is alone shows no fleet', { skip: noBrowser }, async (t) => {
    await create({ name: 'single', dim: 3, policy: 'linucb' }, alone);
    const page = await look(t, 'single', {}, alone);
    const requests = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    await until('two requests for the list', () => requests.filter((path) => path === '/v1/bandits').length > 1);
    assert.equal(requests.includes('/v1/fleet'), false);
    assert.equal(await page.locator('#fleet').isVisible(), false);
    assert.equal(await page.locator('#bandits .owner').first().isVisible(), false);
});

describe('a fleet', { skip }, () => {
    let here, there;
    const fleet = async (of = here) => (await ask(of.url, '/v1/fleet')).body;

    // The third server creates the bandits and stops, so that each of the others gets two of them.
    before(async () => {
        const words = ['--store', database.url, '--replication', 'any'];
        const first = await startServer(words);
        for (const name of NAMES) await create({ name, features: '', policy: 'linucb' }, first);
        [here, there] = await Promise.all([startServer(words), startServer(words)]);
        await until('three servers', async () => (await fleet(first)).servers.length === 3);
        await first.stop();
        await until('two bandits on each', async () => {
            const { servers, leader } = await fleet();
            return leader && servers.length === 2 && servers.every((server) => server.bandits === 2);
        });
    });
    after(async () => {
        await here?.stop();
        await there?.stop('SIGKILL');
        database.stop();
    });

    const section = (page) => page.getByRole('region', { name: 'Fleet', exact: true });
    const row = (page, number) => section(page).getByRole('listitem').filter({ has: page.getByText(String(number), { exact: true }) });
    const notices = (page) => page.locator('#fleet-notices').getByRole('paragraph').allTextContents();
    const ownersInList = async (page) => Object.fromEntries(await page.locator('#bandits a').evaluateAll((links) =>
        links.map((link) => [link.querySelector('b').textContent, link.querySelector('.owner').textContent])));

    test('it shows each server, and the owner of each bandit', async (t) => {
        const { server, leader, servers, bandits } = await fleet();
        const page = await look(t, 'shop', {}, here);
        await row(page, server).waitFor();
        assert.equal(await section(page).getByRole('listitem').count(), 2);
        for (const one of servers) {
            const of = row(page, one.server), tags = of.locator('.tag:visible');
            assert.equal(await of.locator('.where').textContent(), [here, there].find(({ url }) => url === one.address).url);
            assert.deepEqual(await tags.allTextContents(), ['serving', ...(one.server === leader ? ['leader'] : []), ...(one.server === server ? ['this server'] : [])]);
            await until('its load: one per bandit', async () => {
                const [, load, version] = (await of.locator('small').textContent()).match(/^2 bandits · load ([0-9.]+) (?:· models up to .* behind )?· version (.*)$/);
                assert.equal(version, one.version);
                return Number(load) >= 2;
            });
        }
        const expected = Object.fromEntries(bandits.map(({ name, owner }) => [name, `server ${owner}`]));
        assert.deepEqual(Object.keys(expected).sort(), NAMES);
        await until('all bandits in the list', async () => Object.keys(await ownersInList(page)).length === NAMES.length);
        assert.deepEqual(await ownersInList(page), expected);
        assert.deepEqual(await notices(page), []);
        // The numbers of a bandit come from its owner.
        const other = bandits.find(({ owner }) => owner !== server).name;
        assert.equal((await ask(here.url, `/v1/bandits/${other}/decide`, visit(1))).status, 200);
        await page.getByRole('link', { name: other }).press('Enter');
        await page.getByText('1 since the server started').waitFor();
    });

    for (const [colorScheme, size, viewport] of [['light', 'desk', SIZES.desk], ['dark', 'narrow', { width: 320, height: 640 }]])
        test(`axe finds nothing, and nothing overflows: ${colorScheme}, ${size}`, async (t) => {
            const page = await look(t, 'shop', { colorScheme, viewport }, here);
            if (size !== 'desk') await page.getByRole('button', { name: 'shop', exact: true }).press('Enter');
            await row(page, (await fleet()).server).waitFor();
            assert.deepEqual(await violations(page), []);
            await rendered(page);
            assert.deepEqual(await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth,
                ...[...document.querySelectorAll('#side *')].filter((node) => !node.closest('.hidden') && node.getBoundingClientRect().right > innerWidth + 0.5).map((node) => node.outerHTML.slice(0, 90))]), [0]);
        });

    // A server that is in the database and beats, but cannot be reached, and is alone in a newer version: so no other
    // takes over a bandit without an owner.
    test('it warns of bandits without an owner, and of servers that do not answer', async (t) => {
        const number = 1000;
        const state = (draining) => `'{"weight":1000000,"lag":12.3,"bandits":0,"draining":${draining}}'`;
        database.sql(`INSERT INTO eenet.servers VALUES (${number}, 'http://127.0.0.1:1#0011', '99.0.0', 1, ${state(false)})`);
        // The database beats itself, until the row is removed: this process would stop for each psql.
        database.begin(`DO $$ BEGIN LOOP
            UPDATE eenet.servers SET beat = beat + 1 WHERE number = ${number};
            EXIT WHEN NOT FOUND;
            COMMIT;
            PERFORM pg_sleep(0.3);
        END LOOP; END $$`);
        const remove = () => database.sql(`DELETE FROM eenet.servers WHERE number = ${number}`);
        t.after(remove);
        await until('the third server', async () => (await fleet()).servers.some((one) => one.server === number));
        const page = await look(t, 'shop', {}, here);
        page.allow = (line) => /status of 503/.test(line); // of the bandit without an owner
        await row(page, number).getByText('serving').waitFor();
        assert.equal(await row(page, number).locator('.where').textContent(), 'http://127.0.0.1:1');
        assert.match(await row(page, number).locator('small').textContent(), /^0 bandits · load .* · models up to 12 seconds behind · version 99\.0\.0$/);
        await page.getByText('1 server did not answer, so its bandits are missing from the list.').waitFor();
        database.sql(`UPDATE eenet.log_ends SET owner = 0, token = token + 1 WHERE bandit = (SELECT number FROM eenet.bandits WHERE name = 'shop');
            UPDATE eenet.fleet SET changes = changes + 1`);
        await page.getByText('Bandit shop has no owner. Requests for it wait until a server takes it over.').waitFor();
        assert.equal(await page.getByRole('heading', { name: 'shop', level: 1 }).isVisible(), true); // the view stays
        database.sql(`UPDATE eenet.servers SET state = ${state(true)} WHERE number = ${number}`); // it takes nothing any more
        await row(page, number).getByText('draining').waitFor();
        remove();
        await until('no warning', async () => (await notices(page)).length === 0);
        await until('all bandits', async () => Object.keys(await ownersInList(page)).length === NAMES.length);
        assert.equal(await row(page, number).count(), 0);
    });

    test('it says that a server does not respond, and who owns its bandits then', async (t) => {
        const { server, servers } = await fleet();
        const lost = servers.find((one) => one.server !== server).server;
        const page = await look(t, 'shop', {}, here);
        await row(page, lost).getByText('serving').waitFor();
        await there.stop('SIGKILL');
        await row(page, lost).getByText(/^not responding for \d+ seconds$/).waitFor();
        await page.getByText(`Server ${lost} is not responding.`).waitFor();
        const moved = Object.fromEntries(NAMES.map((name) => [name, `server ${server}`]));
        await until('all bandits on one server', async () => JSON.stringify(await ownersInList(page)) === JSON.stringify(moved));
        await page.getByText(`Server ${lost} is not responding. It owns no bandits.`).waitFor();
        await row(page, server).getByText('leader').waitFor();
        assert.equal(await row(page, lost).getByText('leader').isVisible(), false);
    });
});
