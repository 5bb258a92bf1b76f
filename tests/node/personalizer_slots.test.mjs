// Several slots: multi-slot ranks, rewards and activations with the client that has them, and the same by /v1.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { meal, newClient, readLog, startPersonalizer, until } from './personalizer.mjs';

let server, client;
before(async () => {
    server = await startPersonalizer({ default_reward: null, wait: 2 });
    client = newClient(server.url, server.app);
});
after(() => server.stop());

const ids = meal.actions.map((action) => action.id);
const slots = [
    { id: 'top', baselineAction: 'pasta', features: [{ size: 'large' }] },
    { id: 'side', baselineAction: 'juice', excludedActions: ['ice cream'], positionFeatures: [{ size: 'small' }] },
];
const rank = (body) => client.path('/multislot/rank').post({ body });
const settled = (eventId) =>
    until(async () => (await readLog(server)).find((line) => line.EventId === eventId), `${eventId} is settled`);

test('each slot gets another action, and none that it excludes', async () => {
    const seen = new Set();
    for (let i = 0; i < 40; i++) {
        const answer = await rank({ ...meal, slots, eventId: `round ${i}` });
        assert.equal(answer.status, '201');
        assert.equal(answer.body.eventId, `round ${i}`);
        assert.deepEqual(answer.body.slots.map((slot) => slot.id), ['top', 'side']);
        const [top, side] = answer.body.slots.map((slot) => slot.rewardActionId);
        assert.ok(ids.includes(top) && ids.includes(side) && top !== side && side !== 'ice cream');
        seen.add(`${top}, ${side}`);
    }
    assert.ok(seen.size > 1, 'nothing is ever explored');
});

test('rewards go to their slots, and the log has the round', async () => {
    const { body } = await rank({ ...meal, slots, eventId: 'rewarded' });
    const rewarded = await client
        .path('/multislot/events/{eventId}/reward', 'rewarded')
        .post({ body: { reward: [{ slotId: 'side', value: 1 }, { slotId: 'top', value: 0.5 }] } });
    assert.equal(rewarded.status, '204');
    const line = await settled('rewarded');
    assert.deepEqual(line._outcomes.map((slot) => slot._id), ['top', 'side']);
    assert.deepEqual(line._outcomes.map((slot) => slot._label_cost), [-0.5, -1]);
    assert.deepEqual(line._outcomes.map((slot) => ids[slot._a[0]]), body.slots.map((slot) => slot.rewardActionId));
    assert.deepEqual(line.c.FromUrl, meal.contextFeatures);
    assert.deepEqual(line.c._slots.map((slot) => slot.sj), [slots[0].features, slots[1].positionFeatures]);
});

test('a deferred round counts once it is activated', async () => {
    for (const eventId of ['shown', 'not shown']) {
        assert.equal((await rank({ ...meal, slots, eventId, deferActivation: true })).status, '201');
        const reward = { reward: [{ slotId: 'top', value: 1 }, { slotId: 'side', value: 0 }] };
        await client.path('/multislot/events/{eventId}/reward', eventId).post({ body: reward });
    }
    const activated = await client.path('/multislot/events/{eventId}/activate', 'shown').post();
    assert.equal(activated.status, '204');
    const line = await settled('shown');
    assert.deepEqual(line._outcomes.map((slot) => Math.abs(slot._label_cost)), [1, 0]);
    const skipped = await settled('not shown');
    assert.ok(skipped._outcomes.every((slot) => slot._skipLearn === true), JSON.stringify(skipped._outcomes));
    assert.ok(line._outcomes.every((slot) => !slot._skipLearn));
});

test('what is wrong', async () => {
    const many = Array.from({ length: 51 }, (_, i) => ({ id: `s${i}`, baselineAction: 'pasta' }));
    for (const [more, message] of [
        [{ slots: [] }, 'slots: expected at least one'],
        [{ slots: many }, 'more than 50 slots'],
        [{ slots: [{ id: 'a' }] }, 'slots[0]: missing baselineAction'],
        [{ slots: [{ baselineAction: 'pasta' }] }, 'slots[0]: missing id'],
        [{ slots: [slots[0], { ...slots[0], baselineAction: 'juice' }] }, 'slots[1] and slots[0] have the same id, "top"'],
        [{ slots: [slots[0], { id: 'b', baselineAction: 'pasta' }] }, 'slots[1]: the baseline is "pasta", but an earlier slot has the same baseline'],
        [{ slots: [{ id: 'a', baselineAction: 'soup' }] }, 'slots[0]: the baseline is "soup", but no action has this id'],
        [{ slots: [{ id: 'a', baselineAction: 'juice', excludedActions: ['juice'] }] }, 'slots[0]: the baseline is "juice", but this action is excluded'],
        [
            { actions: meal.actions.slice(0, 2), slots: ids.slice(0, 2).map((id, i) => ({ id: `s${i}`, baselineAction: id, excludedActions: [ids[1 - i]] })).concat({ id: 's2', baselineAction: 'pasta' }) },
            'slots[2]: the baseline is "pasta", but an earlier slot has the same baseline',
        ],
        [
            { slots: [{ id: 'a', baselineAction: 'pasta' }, { id: 'b', baselineAction: 'juice', excludedActions: ['pasta', 'ice cream'] }] },
            'slots[1]: the slots before it may take every action it allows; add actions, or exclude fewer',
        ],
    ]) {
        const answer = await rank({ ...meal, ...more });
        assert.equal(answer.status, '400', message);
        assert.deepEqual(answer.body, { error: { code: 'InvalidRankRequest', message } });
    }
    for (const body of [{}, { reward: [] }, { reward: 1 }, { reward: [{ slotId: 'a' }] }, { reward: [{ slotId: 'a', value: 7 }] }]) {
        const answer = await client.path('/multislot/events/{eventId}/reward', 'x').post({ body });
        assert.equal(answer.status, '400');
        assert.equal(answer.body.error.code, 'InvalidRewardRequest');
    }
    // Another round of that id.
    const answer = await rank({ ...meal, slots: [slots[0]], eventId: 'rewarded' });
    assert.equal(answer.status, '409');
});

test('apprentice: every slot shows its baseline', async () => {
    assert.equal((await server.ask('/v1/bandits/personalizer', { mode: 'apprentice' }, 'PATCH')).status, 200);
    for (let i = 0; i < 10; i++) {
        const { body } = await rank({ ...meal, slots });
        assert.deepEqual(body.slots.map((slot) => slot.rewardActionId), ['pasta', 'juice']);
    }
    assert.equal((await server.ask('/v1/bandits/personalizer', { mode: 'online' }, 'PATCH')).status, 200);
});

test('the same by /v1', async () => {
    const decide = {
        id: 'v1 round',
        context: { plan: 'free' },
        actions: ['a', 'b', 'c'].map((id) => ({ id, features: { is: id } })),
        slots: [{ id: 'top', features: { size: 2 } }, { id: 'side', exclude: ['c'], baseline: 'b' }],
    };
    const first = await server.ask('/v1/bandits/personalizer/decide', decide);
    assert.equal(first.status, 200);
    assert.equal(first.body.id, 'v1 round');
    const [top, side] = first.body.slots;
    for (const slot of [top, side]) {
        assert.equal(['a', 'b', 'c'][slot.index], slot.action);
        assert.equal(slot.probabilities[slot.index], slot.probability);
        assert.ok(Math.abs(slot.probabilities.reduce((a, b) => a + b) - 1) < 1e-12);
    }
    assert.equal(side.probabilities[2], 0);
    assert.equal(side.probabilities[top.index], 0);
    assert.deepEqual((await server.ask('/v1/bandits/personalizer/decide', decide)).body, first.body);
    const batch = await server.ask('/v1/bandits/personalizer/decide/batch', { decisions: [decide, { ...decide, slots: [] }, { ...decide, id: 'x', slots: null }] });
    assert.deepEqual(batch.body.decisions[0], first.body);
    assert.equal(batch.body.decisions[1].error.message, 'slots: expected at least one');
    assert.equal(batch.body.decisions[2].probabilities.length, 3);
    for (const [slot, value] of [['top', 1], ['side', 0]])
        assert.deepEqual((await server.ask('/v1/bandits/personalizer/reward', { id: 'v1 round', slot, value })).body, { outcome: 'joined' });
    assert.deepEqual((await server.ask('/v1/bandits/personalizer/reward', { id: 'v1 round', slot: 'other', value: 1 })).body, { outcome: 'unknown' });
    const line = await settled('v1 round');
    assert.deepEqual(line._outcomes.map((slot) => Math.abs(slot._label_cost)), [1, 0]);
});

test('deferred decisions by /v1', async () => {
    const decide = { id: 'later', defer: true, actions: ['a', 'b'].map((id) => ({ id, features: {} })) };
    assert.equal((await server.ask('/v1/bandits/personalizer/decide', decide)).status, 200);
    assert.equal((await server.ask('/v1/bandits/personalizer/reward', { id: 'later', value: 1 })).status, 200);
    assert.deepEqual((await server.ask('/v1/bandits/personalizer/activate', { id: 'later' })).body, { outcome: 'activated' });
    assert.equal((await settled('later'))._label_cost, -1);
    assert.equal((await server.ask('/v1/bandits/personalizer/activate', { id: 'nobody' })).body.outcome, 'unknown');
    assert.equal((await server.ask('/v1/bandits/personalizer/activate', {})).body.error.message, 'missing "id"');
});
