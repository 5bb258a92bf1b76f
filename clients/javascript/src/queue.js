// Rewards that outlive the page: each is stored before it is sent, and removed once the server has answered.
//
// Each reward is a separate entry in the storage, so that tabs cannot overwrite each other's. Several tabs may send the
// same reward, and a beacon, which has no response, is followed by a request: the server counts a reward_id once.
import { batchBody, batchesOf } from './batches.js';
import { BanditClient, rewardItem } from './client.js';
import { BadRequest, Conflict, ServerError } from './errors.js';

const AGAIN_AFTER = 30; // seconds
const MOST_BEACON = 60000; // bytes: browsers refuse more than 64 KB under way

export class RewardQueue {
    #target;
    #storage;
    #memory = new MemoryStorage(); // for what the storage does not take
    #prefix;
    #most;
    #onLost;
    #count = 0; // of rewards stored by this page
    #sending;
    #timer;
    #isLeaving = false;
    #listeners = []; // null: closed

    constructor(bandit, { storage = pageStorage(), most = 1000, onLost = warn } = {}) {
        this.#target = BanditClient.queueTarget(bandit);
        this.#storage = storage ?? this.#memory;
        this.#prefix = `eenet ${this.#target.url} `;
        if (!Number.isInteger(most) || most < 1) throw new TypeError(`most: expected a whole number of at least 1, got ${most}`);
        this.#most = most;
        this.#onLost = onLost;
        this.#listen();
        if (this.size) this.flush();
    }

    get size() {
        return this.#entries().length;
    }

    reward(decision, value, options = {}) {
        const { text } = rewardItem({ ...options, id: decision, value });
        const order = `${String(Date.now()).padStart(15, '0')}-${String(this.#count++).padStart(9, '0')}`;
        this.#store(`${this.#prefix}${order} ${JSON.parse(text).reward_id}`, text);
        this.#dropOldest();
        if (this.#isLeaving || globalThis.document?.visibilityState === 'hidden') this.#sendBeacon();
        this.flush();
    }

    // Resolves to how many are still stored.
    flush() {
        this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
        return this.#sending;
    }

    close() {
        if (!this.#listeners) return;
        clearTimeout(this.#timer);
        for (const [target, name, call] of this.#listeners) target.removeEventListener(name, call);
        this.#listeners = null;
    }

    // ---- the storage ----

    // [key, text] of each reward, oldest first.
    #entries() {
        const entries = [];
        for (const storage of new Set([this.#storage, this.#memory]))
            for (let i = 0; i < storage.length; i++) {
                const key = storage.key(i);
                if (key?.startsWith(this.#prefix)) entries.push([key, storage.getItem(key)]);
            }
        return entries.filter(([, text]) => isReward(text)).sort(([a], [b]) => (a < b ? -1 : 1));
    }

    #store(key, text) {
        try {
            this.#storage.setItem(key, text);
        } catch {
            this.#memory.setItem(key, text); // the page's storage is full
        }
    }

    #remove(key) {
        this.#storage.removeItem(key);
        this.#memory.removeItem(key);
    }

    #dropOldest() {
        const entries = this.#entries();
        for (const [key, text] of entries.slice(0, Math.max(0, entries.length - this.#most)))
            this.#lose(key, text, new Error(`the queue is full: it keeps the newest ${this.#most} rewards`));
    }

    // An error of the caller's function must not stop the queue: the other rewards are still to be sent.
    #lose(key, text, error) {
        this.#remove(key);
        try {
            this.#onLost(JSON.parse(text), error);
        } catch (thrown) {
            console.error('eenet: onLost threw an error:', thrown);
        }
    }

    // ---- sending ----

    async #sendAll() {
        clearTimeout(this.#timer);
        const tried = new Set();
        for (;;) {
            const items = this.#entries().filter(([key]) => !tried.has(key)).map(([key, text]) => ({ key, text, read: (answer) => answer }));
            if (!items.length) break;
            const [batch] = batchesOf(items);
            batch.forEach(({ key }) => tried.add(key));
            try {
                const answers = await this.#target.send(batch);
                batch.forEach((item, i) => this.#settle(item, answers[i]));
            } catch (error) {
                if (!(error instanceof ServerError)) throw error;
                break; // not reached, or the batch was refused as a whole: all stay
            }
        }
        const left = this.size;
        if (left) this.#sendLater();
        return left;
    }

    // What the server refuses for what it is, it would refuse again; everything else stays.
    #settle({ key, text }, answer) {
        if (!(answer instanceof ServerError)) this.#remove(key);
        else if (answer instanceof BadRequest || answer instanceof Conflict) this.#lose(key, text, answer);
    }

    #sendLater() {
        if (!this.#listeners) return;
        this.#timer = setTimeout(() => this.flush(), 1000 * AGAIN_AFTER * (1 + Math.random()));
        this.#timer.unref?.(); // Node.js may end
    }

    #sendBeacon() {
        const url = this.#target.beaconUrl;
        if (!url || !globalThis.navigator?.sendBeacon) return;
        const items = this.#entries().map(([, text]) => ({ text }));
        for (const batch of batchesOf(items, MOST_BEACON)) {
            const body = new Blob([batchBody('rewards', batch)], { type: 'application/json' });
            if (!navigator.sendBeacon(url, body)) return;
        }
    }

    // ---- the page ----

    #listen() {
        if (!globalThis.document) return;
        const on = (target, name, call) => {
            target.addEventListener(name, call);
            this.#listeners.push([target, name, call]);
        };
        on(window, 'online', () => this.flush());
        on(window, 'pageshow', () => {
            this.#isLeaving = false;
            if (this.size) this.flush();
        });
        on(window, 'pagehide', () => {
            this.#isLeaving = true;
            this.#sendBeacon();
        });
        // Phones may end a hidden page without another event.
        on(document, 'visibilitychange', () => document.visibilityState === 'hidden' && this.#sendBeacon());
    }
}

// Other scripts of the page can write to its storage; and another tab may just have removed the entry.
function isReward(text) {
    try {
        return 'reward_id' in JSON.parse(text);
    } catch {
        return false;
    }
}

// The storage of a page; undefined elsewhere, and where the page must not store anything.
function pageStorage() {
    try {
        return globalThis.document ? globalThis.localStorage : undefined;
    } catch {
        return undefined;
    }
}

class MemoryStorage {
    #values = new Map();
    get length() {
        return this.#values.size;
    }
    key(i) {
        return [...this.#values.keys()][i] ?? null;
    }
    getItem(key) {
        return this.#values.get(key) ?? null;
    }
    setItem(key, text) {
        this.#values.set(key, text);
    }
    removeItem(key) {
        this.#values.delete(key);
    }
}

function warn(reward, error) {
    console.warn(`eenet: lost a reward of decision ${reward.id}: ${error.message}`);
}
