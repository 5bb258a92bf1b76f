// Neural contextual bandits in a page: the C library as WebAssembly, with the vocabulary of Python's eenet.Bandit.
//
//     import { load } from './eenet.mjs';
//     const { Bandit } = await load();
//     const bandit = new Bandit('eenet', { features: true, seed: 1 });
//     const decision = bandit.decide({ tea: { served: 'hot' }, ice: { served: 'cold' } }, { context: { celsius: 28 } });
//     bandit.learn(decision, 1);

// A call failed. name is the status of the C library, such as 'EE_BAD_INPUT'.
export class EenetError extends Error {
    constructor(name, message) {
        super(message);
        this.name = name;
    }
}

// The module never opens a file: its C library only refers to these.
const REFUSED = 52; // ENOSYS of WASI
const wasi = { fd_close: () => REFUSED, fd_seek: () => REFUSED, fd_write: () => REFUSED };

async function compile(source) {
    if (source instanceof WebAssembly.Module) return source;
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
    const url = new URL(source);
    if (url.protocol === 'file:') { // Node.js cannot fetch these
        const { readFile } = await import('node:fs/promises');
        return WebAssembly.compile(await readFile(url));
    }
    const response = await fetch(url);
    if (!response.ok) throw new Error(`eenet: could not load ${url}: status ${response.status}`);
    return WebAssembly.compile(await response.arrayBuffer());
}

// Loads the module. source (optional) is the URL of eenet.wasm, its bytes, or a WebAssembly.Module; default: eenet.wasm
// beside this file. Each call gives separate memory.
export async function load(source = new URL('eenet.wasm', import.meta.url)) {
    const instance = await WebAssembly.instantiate(await compile(source), { wasi_snapshot_preview1: wasi });
    const c = instance.exports;
    c._initialize();
    const encoder = new TextEncoder();
    const decoder = new TextDecoder();

    // ---- memory of the module: it may grow in any call, so views are made when they are used ----

    function text(at) {
        const bytes = new Uint8Array(c.memory.buffer, at);
        return decoder.decode(bytes.subarray(0, bytes.indexOf(0)));
    }

    function check(result) {
        if (!result) throw new EenetError(text(c.error_name()), text(c.error_text()));
        return result;
    }

    function allocate(size) {
        return check(c.allocate(size)) >>> 0;
    }

    function copyIn(bytes) {
        const at = allocate(bytes.length);
        new Uint8Array(c.memory.buffer, at, bytes.length).set(bytes);
        return at;
    }

    // Calls use(pointer, size) with each text in memory; null becomes a null pointer.
    function withTexts(texts, use) {
        const blocks = [];
        try {
            for (const one of texts) blocks.push(one === null ? 0 : copyIn(encoder.encode(`${one}\0`)));
            return use(...blocks);
        } finally {
            blocks.forEach((block) => c.release(block));
        }
    }

    function withText(one, use) {
        const bytes = encoder.encode(one);
        const at = copyIn(bytes);
        try {
            return use(at, bytes.length);
        } finally {
            c.release(at);
        }
    }

    // ---- arguments ----

    // { 'f1.width': 50 } or { f1_width: 50 } becomes 'f1.width=50'.
    function optionsText(options) {
        if (typeof options === 'string') return options;
        return Object.entries(options ?? {}).map(([name, value]) => `${name.replaceAll('_', '.')}=${value}`).join(' ');
    }

    function featuresText(features) {
        if (features === undefined || features === null || features === false) return null;
        return features === true ? '' : optionsText(features);
    }

    // The rows of vectors as one array of floats.
    function flatten(rows, dim) {
        if (rows instanceof Float32Array) {
            if (rows.length % dim) throw new EenetError('EE_BAD_INPUT', `arms: ${rows.length} numbers are not rows of ${dim}`);
            return rows;
        }
        const values = new Float32Array(rows.length * dim);
        rows.forEach((row, i) => {
            if (row.length !== dim)
                throw new EenetError('EE_BAD_INPUT', `arms: row ${i} has ${row.length} features; expected ${dim}`);
            values.set(row, i * dim);
        });
        return values;
    }

    // What a bandit owns in the memory of the module. It must not refer to the bandit, which would then never be collected.
    class Owned {
        vectors = 0; // block of the vectors of a round, and its bytes
        vectorBytes = 0;
        results = 0; // block of probabilities, scores and a decision, for this many arms
        resultArms = 0;

        constructor(handle) {
            this.handle = handle;
        }

        release() {
            c.bandit_free(this.handle);
            c.release(this.vectors);
            c.release(this.results);
        }
    }

    const collected = new FinalizationRegistry((owned) => owned.release());

    class Bandit {
        #owned; // undefined once it is freed
        #dim;
        #named;

        // options are those of the C library, as a text or an object; features: true or their options.
        constructor(policy = 'eenet', { dim = 0, seed = 0, options, features } = {}) {
            const named = featuresText(features);
            this.#take(policy instanceof Loaded ? policy.handle : check(withTexts([policy, optionsText(options), named],
                (name, settings, ofFeatures) => c.bandit_create(name, dim, BigInt(seed), settings, ofFeatures))));
        }

        #take(handle) {
            this.#owned = new Owned(handle);
            collected.register(this, this.#owned, this);
            const counts = this.#counts();
            this.#dim = counts[0];
            this.#named = counts[4] !== 0;
        }

        // Loads what save returned, here, in C, in Python or on a server.
        static load(bytes) {
            const at = copyIn(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes));
            try {
                return new Bandit(new Loaded(check(c.bandit_load(at, bytes.length ?? bytes.byteLength))));
            } finally {
                c.release(at);
            }
        }

        // The model as a Uint8Array: everything, pending decisions included.
        save() {
            const size = allocate(4);
            try {
                const at = check(c.bandit_save(this.#open(), size)) >>> 0;
                const length = new DataView(c.memory.buffer).getUint32(size, true);
                const bytes = new Uint8Array(c.memory.buffer, at, length).slice();
                c.release(at);
                return bytes;
            } finally {
                c.release(size);
            }
        }

        // Releases the memory now; the garbage collector does so later.
        free() {
            if (!this.#owned) return;
            collected.unregister(this);
            this.#owned.release();
            this.#owned = undefined;
        }

        #open() {
            if (!this.#owned) throw new EenetError('EE_BAD_INPUT', 'the bandit was freed');
            return this.#owned.handle;
        }

        // Puts the arms of a round into memory and returns the name of each arm.
        #round(arms, context) {
            const handle = this.#open();
            if (this.#named) return this.#namedRound(handle, arms, context);
            const names = Array.isArray(arms) || ArrayBuffer.isView(arms) ? null : Object.keys(arms);
            const values = flatten(names ? Object.values(arms) : arms, this.#dim);
            const owned = this.#owned;
            if (values.byteLength > owned.vectorBytes) {
                c.release(owned.vectors);
                owned.vectorBytes = 0;
                owned.vectors = 0;
                owned.vectors = allocate(values.byteLength);
                owned.vectorBytes = values.byteLength;
            }
            new Float32Array(c.memory.buffer, owned.vectors, values.length).set(values);
            const count = values.length / this.#dim;
            c.round_vectors(handle, owned.vectors, count, this.#dim);
            return names ?? Array.from({ length: count }, (_, i) => i);
        }

        #namedRound(handle, arms, context) {
            check(c.round_begin(handle));
            if (context !== undefined)
                withText(JSON.stringify(context), (at, size) => check(c.round_context(handle, at, size)));
            const names = Array.isArray(arms) ? null : Object.keys(arms);
            (names ? Object.values(arms) : arms).forEach((action, i) => {
                withText(JSON.stringify(action), (at, size) => check(c.round_action(handle, at, size)));
                if (names) withText(names[i], (at, size) => check(c.round_action_id(handle, at, size)));
            });
            check(c.round_end(handle));
            return names ?? arms;
        }

        #reserve(count) {
            const owned = this.#owned;
            if (owned.resultArms < count) {
                c.release(owned.results);
                owned.resultArms = 0;
                owned.results = 0;
                owned.results = allocate(24 + count * 20);
                owned.resultArms = count;
            }
            const probabilities = owned.results + 24;
            return { decision: owned.results, probabilities, scores: probabilities + 8 * count };
        }

        #scoresAt(at, count) {
            const table = new Float32Array(c.memory.buffer, at, 3 * count);
            const column = (offset) => Float32Array.from({ length: count }, (_, i) => table[3 * i + offset]);
            return { exploitation: column(0), exploration: column(1), scores: column(2) };
        }

        // Chooses an arm. arms: rows of vectors (arrays, or one Float32Array), or for a bandit with named features an array or
        // object of objects. The decision has id, arm, action, probability, probabilities, exploitation, exploration, scores.
        decide(arms, { context } = {}) {
            const names = this.#round(arms, context);
            const at = this.#reserve(names.length);
            check(c.bandit_decide(this.#open(), at.decision, at.scores, at.probabilities));
            const [id, arm, probability] = new Float64Array(c.memory.buffer, at.decision, 3);
            const probabilities = new Float64Array(c.memory.buffer, at.probabilities, names.length).slice();
            return { id, arm, action: names[arm], probability, probabilities, ...this.#scoresAt(at.scores, names.length) };
        }

        // Scores the arms with what the bandit knows now; changes nothing. f1 is exploitation, f2 exploration, f3 scores.
        score(arms, { context } = {}) {
            const names = this.#round(arms, context);
            const at = this.#reserve(names.length);
            check(c.bandit_score(this.#open(), at.scores));
            return this.#scoresAt(at.scores, names.length);
        }

        // Learns the reward of a decision, or of its id.
        learn(decision, reward) {
            check(c.bandit_learn(this.#open(), decision.id ?? decision, reward));
        }

        // Learns from a decision that was made elsewhere: arm is the position of the arm that was chosen.
        learnFrom(arms, arm, reward, { context } = {}) {
            this.#round(arms, context);
            check(c.bandit_learn_from(this.#open(), arm, reward));
        }

        // Forgets a decision whose reward will never be known.
        forget(decision) {
            check(c.bandit_forget(this.#open(), decision.id ?? decision));
        }

        #counts() {
            const at = allocate(48);
            c.bandit_counts(this.#open(), at);
            const counts = new Float64Array(c.memory.buffer, at, 6).slice();
            c.release(at);
            return counts;
        }

        get info() {
            const [dim, decisions, rewards, pending, , memory] = this.#counts();
            const policy = text(c.bandit_policy(this.#open()));
            const options = text(c.bandit_options(this.#open()));
            return { policy, options, dim, seed: BigInt.asUintN(64, c.bandit_seed(this.#open())), decisions, rewards, pending, memory };
        }
    }

    return { Bandit, version: text(c.version()), kernels: text(c.kernels()) };
}

// What load gives to the constructor.
class Loaded {
    constructor(handle) {
        this.handle = handle;
    }
}
