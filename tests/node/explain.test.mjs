// Explaining over HTTP loads the model of a bandit that sleeps.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answered, ask, startServer, until } from './server.mjs';

test('a bandit that is asleep is woken to explain', async (t) => {
    const server = await startServer(['--sleep-seconds', '1', '--publish-interval', '0.01']);
    t.after(() => server.stop());
    const news = '/v1/bandits/news', actions = ['a', 'b'].map((id) => ({ id, features: { item: id } }));
    await ask(server.url, '/v1/bandits', { name: 'news', policy: 'linucb', features: 'names=200,hashes=20' });
    await ask(server.url, `${news}/decide`, { id: 'first', context: { plan: 'free' }, actions });
    await ask(server.url, `${news}/reward`, { id: 'first', value: 1 });
    const sleeps = () => until('sleep', async () => !(await ask(server.url, news)).body.awake);
    await sleeps();
    assert.equal((await ask(server.url, `${news}/decisions/first/explain`)).body.id, 'first');
    await sleeps();
    assert.equal((await ask(server.url, `${news}/importance`)).body.decisions, 1);
    await sleeps();
    const { body } = await answered(200, ask(server.url, `${news}/explain?features=1000`, { context: { plan: 'free' }, actions }));
    for (const action of body.actions) {
        const parts = action.features.reduce((sum, one) => sum + one.contribution, action.base);
        assert.ok(Math.abs(parts - action.f1) < 1e-5, `${action.action}: ${parts}, not ${action.f1}`);
    }
});
