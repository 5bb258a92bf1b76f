// Visitors whose click probabilities are known, what they are shown, and checks of what must follow.
import { Client } from '../../../clients/javascript/index.js';
import { PRODUCT, roundFor } from '../catalog.mjs';
import { clickProbability, someVisitor } from '../visitors.mjs';

const BATCH = 500;
const DEVIATIONS = 4; // a check allows this many standard deviations: chance fails it once in 16,000

export const percent = (share) => `${(100 * share).toFixed(1)}%`;
export const mean = (list, value) => list.reduce((sum, each) => sum + value(each), 0) / list.length;
export const count = (list, condition) => list.filter(condition).length;
export const deviation = (share, size) => Math.sqrt((share * (1 - share)) / size); // of a share that is counted

// The same numbers in every run (mulberry32).
function seeded(seed) {
    let state = seed;
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let bits = Math.imul(state ^ (state >>> 15), 1 | state);
        bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
        return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
    };
}

// Prints sentences and tables; remembers what was outside of what it stated.
export class Report {
    failures = 0;

    title = (words) => console.log(`\n${words}\n${'-'.repeat(words.length)}`);
    say = (words) => console.log(words);

    table(head, rows) {
        const lines = [head, ...rows].map((row) => row.map(String));
        const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
        for (const line of lines)
            console.log(`    ${line.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join('  ')}`);
    }

    check(holds, words) {
        if (!holds) this.failures++;
        console.log(`  ${holds ? 'ok' : 'WRONG'}: ${words}`);
    }

    equal(what, measured, expected) {
        this.check(measured === expected, `${what}: ${measured}, expected ${expected}`);
    }

    // sd: standard deviation of what is measured.
    near(what, measured, expected, sd) {
        const allowed = DEVIATIONS * sd;
        const words = `${what}: ${percent(measured)}, expected ${percent(expected)} ± ${percent(allowed)}`;
        this.check(Math.abs(measured - expected) <= allowed, words);
    }
}

export class Simulation {
    constructor(url, visits) {
        this.client = new Client(url);
        this.visits = visits; // of a chapter
        this.random = seeded(1);
    }

    // Pairs of attributes of visitor and product (the default features) let linucb learn who likes what.
    async bandit(name, guardrails, settings = {}) {
        return this.client.create(name, { policy: 'linucb', seed: 1, propensity: 'floor:0.2', guardrails, ...settings });
    }

    // Everybody is another person.
    people(size) {
        return Array.from({ length: size }, (_, i) => ({ ...someVisitor(this.random), key: `v${i}` }));
    }

    // Each of a few people comes several times, in mixed order.
    guests(people, visits) {
        return Array.from({ length: people * visits }, (_, i) => ({ ...someVisitor(this.random), key: `v${i % people}` }));
    }

    // Shows a product to each visitor. round: changes the request.
    async show(bandit, visitors, round = (request) => request) {
        const shown = [];
        for (let begin = 0; begin < visitors.length; begin += BATCH) {
            const batch = visitors.slice(begin, begin + BATCH);
            const decisions = await bandit.decideMany(batch.map((visitor) => round(roundFor(visitor))));
            decisions.forEach((decision, i) => {
                shown.push({ ...decision, visitor: batch[i], product: PRODUCT.get(decision.action) });
            });
        }
        return shown;
    }

    drawClicks(shown) {
        for (const each of shown) each.clicked = this.random() < clickProbability(each.visitor, each.product) ? 1 : 0;
    }

    // Sends a reward for every visit: 1 for a click, 0 for none.
    async click(bandit, shown) {
        this.drawClicks(shown);
        for (let begin = 0; begin < shown.length; begin += BATCH) {
            const rewards = shown.slice(begin, begin + BATCH).map(({ id, clicked }) => ({ id, value: clicked }));
            if (!(await this.send(bandit, rewards))) throw new Error('a reward came after the wait of its decision');
        }
    }

    // Whether all came within the wait.
    async send(bandit, rewards) {
        const outcomes = (await bandit.rewardMany(rewards)).map(({ outcome }) => outcome);
        const lost = outcomes.find((outcome) => outcome !== 'joined' && outcome !== 'late');
        if (lost) throw new Error(`the server did not join a reward: ${lost}`);
        return !outcomes.includes('late');
    }

    // Show and click, batch by batch, so that the bandit learns on the way.
    async showAndClick(bandit, visitors) {
        const shown = [];
        for (let begin = 0; begin < visitors.length; begin += BATCH) {
            const batch = await this.show(bandit, visitors.slice(begin, begin + BATCH));
            await this.click(bandit, batch);
            await this.caughtUp(bandit);
            shown.push(...batch);
        }
        return shown;
    }

    // Waits until the model has learned from everything that was sent.
    async caughtUp(bandit) {
        while ((await bandit.describe()).behind) await new Promise((resolve) => setTimeout(resolve, 20));
    }
}
