// visitors.mjs URL FILE: visitors of the shop, until SIGTERM. A request that fails is sent again with the same id until it is
// acknowledged. FILE gets a line for each acknowledgement: decision or reward, id, and the action or outcome.
import { createWriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { PRODUCTS, roundFor } from '../shop/catalog.mjs';
import { clickAfter, someVisitor } from '../shop/visitors.mjs';

const [, , url, file] = process.argv;
const RATE = 50; // visitors per second
const PRODUCT = new Map(PRODUCTS.map((product) => [product.id, product]));
const SETTINGS = { policy: 'linucb', features: 'products=none,names=128,hashes=16', propensity: 'floor:0.2', wait: 5 };

const seen = createWriteStream(file);
const count = { decisions: 0, clicks: 0, retries: 0 };
let lastAnswer = performance.now(), longestPause = 0;

// Sends until there is an answer. After 503, or no response, it may have taken effect: so it is sent again with the same id.
async function post(path, body) {
    for (;;) {
        try {
            const answer = await fetch(url + path, {
                method: 'POST',
                headers: { 'Content-Type': 'application/json' },
                body: JSON.stringify(body),
                signal: AbortSignal.timeout(3000),
            });
            const text = await answer.text();
            if (answer.ok) {
                longestPause = Math.max(longestPause, performance.now() - lastAnswer);
                lastAnswer = performance.now();
                return JSON.parse(text);
            }
            if (answer.status < 500) throw Object.assign(new Error(`${path}: ${answer.status} ${text}`), { refused: true });
        } catch (error) {
            if (error.refused) throw error;
        }
        count.retries++;
        await sleep(100 + 200 * Math.random());
    }
}

async function visit(id) {
    const visitor = someVisitor();
    const { action } = await post('/v1/bandits/shop/decide', roundFor(visitor, id));
    seen.write(`decision,${id},${action}\n`);
    count.decisions++;
    const seconds = clickAfter(visitor, PRODUCT.get(action));
    if (seconds === null) return;
    await sleep(1000 * seconds);
    const { outcome } = await post('/v1/bandits/shop/reward', { id, value: 1, reward_id: 'click' });
    seen.write(`reward,${id},${outcome}\n`);
    count.clicks++;
}

let open = true;
process.on('SIGTERM', () => (open = false));
await post('/v1/bandits', { name: 'shop', ...SETTINGS });
const visits = [];
for (let number = 1, begin = performance.now(); open; number++) {
    visits.push(visit(`visit-${number}`));
    await sleep(Math.max(0, begin + (1000 * number) / RATE - performance.now()));
}
await Promise.all(visits);
seen.end();
console.log(`   ${count.decisions} decisions and ${count.clicks} clicks acknowledged; ${count.retries} requests were sent again; ` +
    `longest time without an answer: ${(longestPause / 1000).toFixed(1)} s`);
