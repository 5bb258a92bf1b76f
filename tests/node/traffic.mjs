// Visitors of a shop, for a server to learn from: those on the free plan like red, on phones they like what is cheap.
// What they do is a function of the number of the visit, so that it can be played again.
import { ask } from './server.mjs';

// From 0 to 1.
function chance(number, salt) {
    let x = Math.imul(number + 0x9e3779b9, 0x85ebca6b) ^ Math.imul(salt + 1, 0xc2b2ae35);
    x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
    x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
    return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

const ACTIONS = [
    { id: 'plain', features: { color: 'grey', price: 14 } },
    { id: 'red', features: { color: 'red', price: 12 } },
    { id: 'blue', features: { color: 'blue', price: 16 } },
    { id: 'green', features: { color: 'green', price: 8 } },
    { id: 'gold', features: { color: 'gold', price: 30 } },
];

export function visit(number) {
    const plan = chance(number, 1) < 0.6 ? 'free' : 'pro', device = chance(number, 2) < 0.5 ? 'phone' : 'desk';
    return { id: `visit-${number}`, context: { plan, device, visits: 1 + Math.floor(9 * chance(number, 3)) }, actions: ACTIONS };
}

export function likes(number, action) {
    const { plan, device } = visit(number).context;
    let odds = { plain: 0.14, red: 0.1, blue: 0.12, green: 0.1, gold: 0.05 }[action];
    if (plan === 'free' && action === 'red') odds += 0.3;
    if (plan === 'pro' && action === 'blue') odds += 0.28;
    if (device === 'phone' && action === 'green') odds += 0.2;
    return chance(number, 4) < odds ? 1 : 0;
}

// count visits from a number on, with their rewards, in a few requests.
export async function play(url, bandit, from, count, portion = 100) {
    for (let at = from; at < from + count; at += portion) {
        const numbers = Array.from({ length: Math.min(portion, from + count - at) }, (_, i) => at + i);
        const { body } = await ask(url, `/v1/bandits/${bandit}/decide/batch`, { decisions: numbers.map(visit) });
        const rewards = body.decisions.map((decision, i) => ({ id: decision.id, value: likes(numbers[i], decision.action) }));
        await ask(url, `/v1/bandits/${bandit}/reward/batch`, { rewards });
    }
}
