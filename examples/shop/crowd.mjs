// Many simulated visitors: each is shown a product, and some click a few seconds later.
import { PRODUCT, roundFor } from './catalog.mjs';
import { clickAfter, sale, someVisitor } from './visitors.mjs';

const TICK = 100; // milliseconds

export class Crowd {
    constructor(bandit, tally, rate) {
        this.bandit = bandit;
        this.tally = tally;
        this.rate = rate;
        this.due = 0; // visitors to come, with the fraction left from earlier ticks
        this.clicks = []; // {at, id, product}: clicks to come
        this.busy = false;
        this.trouble = '';
        this.metrics = []; // names of what is measured besides clicks
    }

    // What a sale of this product leads to, as far as the bandit has metrics for it.
    metricsOf(product) {
        const measured = sale(product);
        return Object.fromEntries(this.metrics.map((name) => [name, measured[name]]));
    }

    start() {
        this.timer = setInterval(() => this.turn(), TICK);
    }

    // No more visitors; waits for the requests in flight.
    async stop() {
        clearInterval(this.timer);
        while (this.busy) await new Promise((resolve) => setTimeout(resolve, 10));
    }

    // If a turn takes longer than a tick, ticks are skipped and fewer visitors come.
    async turn() {
        if (this.busy) return;
        this.busy = true;
        try {
            await this.show();
            await this.click();
            this.trouble = '';
        } catch (error) {
            this.trouble = error.message;
        }
        this.busy = false;
    }

    async show() {
        this.due = Math.min(this.due + (this.rate * TICK) / 1000, 100);
        const count = Math.floor(this.due);
        this.due -= count;
        if (!count) return;
        const visitors = Array.from({ length: count }, () => someVisitor());
        const decisions = await this.bandit.decideMany(visitors.map((visitor) => roundFor(visitor)));
        const now = performance.now();
        decisions.forEach((decision, i) => {
            this.tally.shown();
            const product = PRODUCT.get(decision.action);
            const seconds = clickAfter(visitors[i], product);
            if (seconds !== null) this.clicks.push({ at: now + 1000 * seconds, id: decision.id, product });
        });
    }

    async click() {
        const now = performance.now();
        const ripe = this.clicks.filter((click) => click.at <= now);
        if (!ripe.length) return;
        this.clicks = this.clicks.filter((click) => click.at > now);
        await this.bandit.rewardMany(ripe.map(({ id, product }) => ({ id, value: 1, metrics: this.metricsOf(product) })));
        ripe.forEach(() => this.tally.clicked());
    }
}

// Products shown and clicked, per second.
export class Tally {
    constructor(seconds) {
        this.kept = seconds;
        this.rows = new Map();
    }

    row() {
        const second = Math.floor(Date.now() / 1000);
        if (!this.rows.has(second)) this.rows.set(second, { shown: 0, clicked: 0 });
        for (const old of this.rows.keys()) if (old <= second - this.kept) this.rows.delete(old);
        return this.rows.get(second);
    }

    shown() {
        this.row().shown++;
    }

    clicked() {
        this.row().clicked++;
    }

    // The last whole seconds, oldest first, including those without visitors.
    list() {
        const last = Math.floor(Date.now() / 1000) - 1;
        const list = [];
        for (let second = last - this.kept + 2; second <= last; second++)
            list.push(this.rows.get(second) ?? { shown: 0, clicked: 0 });
        return list;
    }
}
