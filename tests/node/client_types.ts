// Compiled by the TypeScript compiler, not run: the types accept what the client accepts, and refuse what it refuses.
import { BadRequest, Client, RewardQueue, ServerError, SomeRefused } from 'eenet';
import type { Decision, Description, Outcome, StoredReward } from 'eenet';

const client = new Client('http://127.0.0.1:8080', { key: 'ee_x', timeout: 1e6, retryFor: 0, connections: 2 });
const shop = await client.create('shop', { features: { names: 100 }, options: { 'f1.width': 50, recall: true }, wait: '30m', challengers: [{ policy: 'linucb' }] });
const actions = { red: { color: 'red', sizes: [1, 2], nested: { price: null } }, blue: {} };

// The action has the type of the keys or elements.
const decision = await shop.decide(actions, { plan: 'free', missing: undefined }, { exclude: 'red', key: 7 });
const color: 'red' | 'blue' = decision.action;
const number: number = (await shop.decide(new Map([[1, { a: 1 }], [2, null]]))).action;
const id: 'x' | 'y' = (await shop.decide([{ id: 'x', features: {} }, { id: 'y', vector: [1, 2] }])).action;
const element: { readonly color: 'red' } | { readonly color: 'blue' } = (await shop.decide([{ color: 'red' }, { color: 'blue' }])).action;
const slots: Decision<'red' | 'blue'>[] = await shop.decideSlots(actions, ['top', { id: 'side', features: { size: 1 } }]);
const many: Decision[] = await shop.decideMany([actions, { actions, context: { a: 1 }, slots: 2 }], { contexts: [null, null], returnErrors: true });

const outcome: Outcome = await shop.reward(decision, true, { rewardId: 'r', metrics: { refund: 1 } });
const outcomes: Outcome[] = await shop.rewardMany([[decision, 1], [decision.id, 0] as const]);
const mixed: (Outcome | ServerError)[] = await shop.rewardMany([{ id: decision, value: 1 }], { returnErrors: true });
for await (const event of shop.log({ since: new Date(), limit: 3 })) event['EventId'];
for await (const line of shop.logLines()) line.length;
const description: Description = await shop.change({ default_reward: null });
const event: number = await shop.upload(await shop.modelBytes());

const queue = new RewardQueue(shop, { most: 10, onLost: (reward: StoredReward, error: Error) => [reward.reward_id, error.message] });
queue.reward(decision, 1);
const left: number = await queue.flush();
const error: ServerError = new BadRequest('x');
if (error instanceof SomeRefused) error.answers.length;
export { color, description, element, event, id, left, many, mixed, number, outcome, outcomes, slots };

// @ts-expect-error: unknown option
new Client('http://127.0.0.1:8080', { retry: 3 });
// @ts-expect-error: unknown option
await shop.decide(actions, {}, { excluded: 'red' });
// @ts-expect-error: a time is no feature
await shop.decide(actions, { at: new Date() });
// @ts-expect-error: not a color
const green: 'green' = decision.action;
// @ts-expect-error: a reward is a number
await shop.reward(decision, '1');
// @ts-expect-error: clients make bandits
new (shop.constructor as typeof import('eenet').BanditClient)('shop');
export { green };
