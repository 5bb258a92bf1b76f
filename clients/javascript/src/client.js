// The calls of the server and of one bandit. index.d.ts describes them.
//
// Only idempotent requests are sent again if they may already have been carried out: a decision gets its id, and a reward
// its reward_id, before the first attempt.
import { inBatches, sendBatch } from './batches.js';
import { BadRequest, ServerError, Timeout } from './errors.js';
import { Transport, pause } from './transport.js';
import { actionsOf, checkNames, idText, listOf, newId, pathPart, plain, query, settingsOf, timeText } from './values.js';

const PAGE = 1000; // lines of the log per request
const ONCE = { repeatable: false };

export class Client {
    #transport;

    constructor(url, options = {}) {
        checkNames('options', options, ['key', 'timeout', 'retryFor', 'connections']);
        this.#transport = new Transport(url, options);
        this.url = this.#transport.base;
    }

    bandit(name) {
        return new BanditClient(this.#transport, name);
    }

    async create(name, settings = {}) {
        await this.#transport.askJson('POST', '/v1/bandits', { name, ...settingsOf(settings) });
        return this.bandit(name);
    }

    async bandits() {
        return (await this.#transport.askJson('GET', '/v1/bandits')).bandits;
    }

    async ready() {
        try {
            await this.#transport.ask('GET', '/readyz', undefined, { retryFor: 0 });
            return true;
        } catch (error) {
            if (error instanceof ServerError) return false;
            throw error;
        }
    }

    fleet() {
        return this.#transport.askJson('GET', '/v1/fleet');
    }

    async metrics() {
        return (await this.#transport.ask('GET', '/metrics')).text();
    }
}

export class BanditClient {
    #transport;
    #path;

    constructor(transport, name) {
        this.name = name;
        this.#transport = transport;
        this.#path = `/v1/bandits/${pathPart(name)}`;
    }

    // ---- decisions and rewards ----

    async decide(actions, context, options = {}) {
        checkNames('options', options, ['id', 'exclude', 'defer', 'key']);
        return this.#decideItem({ ...options, actions, context });
    }

    async decideSlots(actions, slots, context, options = {}) {
        checkNames('options', options, ['id', 'exclude', 'defer', 'key']);
        return this.#decideItem({ ...options, actions, context, slots });
    }

    async #decideItem(round) {
        const { text, read } = roundItem(round);
        return read(await this.#ask('POST', '/decide', text));
    }

    async decideMany(rounds, { contexts, ids, returnErrors = false } = {}) {
        const all = [...rounds];
        const given = { contexts: [...(contexts ?? all.map(() => undefined))], ids: [...(ids ?? all.map(() => undefined))] };
        if (given.contexts.length !== all.length || given.ids.length !== all.length)
            throw new BadRequest(`expected one context and one id per round, got ${all.length} rounds, ${given.contexts.length} contexts and ${given.ids.length} ids`);
        const items = all.map((round, i) => {
            const isRequest = !Array.isArray(round) && !(round instanceof Map) && typeof round === 'object' && round && 'actions' in round;
            return roundItem({ context: given.contexts[i], id: given.ids[i], ...(isRequest ? round : { actions: round }) });
        });
        return inBatches(this.#transport, `${this.#path}/decide/batch`, 'decisions', items, returnErrors);
    }

    async reward(decision, value, options = {}) {
        checkNames('options', options, ['slot', 'rewardId', 'metrics']);
        return outcomeOf(await this.#ask('POST', '/reward', rewardItem({ ...options, id: decision, value }).text));
    }

    async rewardMany(rewards, { returnErrors = false } = {}) {
        const items = Array.from(rewards, (each) => rewardItem(Array.isArray(each) ? { id: each[0], value: each[1] } : each));
        return inBatches(this.#transport, `${this.#path}/reward/batch`, 'rewards', items, returnErrors);
    }

    async activate(decision) {
        return (await this.#ask('POST', '/activate', { id: idText(decision) })).outcome;
    }

    // ---- why, and how well ----

    async explain(actions, context, { exclude, features } = {}) {
        const body = { context: plain(context, 'context', true), actions: actionsOf(actions).body, exclude: listOf(exclude) };
        return this.#ask('POST', `/explain${query({ features })}`, body);
    }

    async explainDecision(decision, { slot = decision?.slot, features } = {}) {
        return this.#ask('GET', `/decisions/${pathPart(idText(decision))}/explain${query({ features, slot })}`);
    }

    importance() {
        return this.#ask('GET', '/importance');
    }

    activity() {
        return this.#ask('GET', '/activity');
    }

    evaluation() {
        return this.#ask('GET', '/evaluation');
    }

    async challengers() {
        return (await this.#ask('GET', '/challengers')).challengers;
    }

    async addChallenger(name, policy, options, { propensity } = {}) {
        return this.#ask('POST', '/challengers', settingsOf({ name, policy, options, propensity }));
    }

    async removeChallenger(name) {
        return (await this.#ask('DELETE', `/challengers/${pathPart(name)}`)).challengers;
    }

    async promote(name) {
        return (await this.#ask('POST', `/challengers/${pathPart(name)}/promote`, '', ONCE)).event;
    }

    async evaluate(candidates, { name, since, until, estimators, confidence, wait } = {}) {
        const body = plain({
            name, from: timeText(since), until: timeText(until), estimators: listOf(estimators), confidence,
            candidates: candidates?.map((each) => settingsOf(typeof each === 'string' ? { policy: each } : each)),
        }, 'options');
        const asked = await this.#ask('POST', '/evaluations', body, ONCE);
        return wait === undefined ? asked : this.evaluationResults(asked.id, { wait });
    }

    async evaluations() {
        return (await this.#ask('GET', '/evaluations')).evaluations;
    }

    async evaluationResults(id, { wait = 0 } = {}) {
        const end = performance.now() + 1000 * wait;
        for (let seconds = 0.02; ; seconds = Math.min(1.5 * seconds, 1)) {
            const found = await this.#ask('GET', `/evaluations/${pathPart(id)}`);
            if (found.state === 'failed') throw new ServerError(`evaluation ${id} failed: ${found.trouble ?? ''}`);
            if (found.state === 'done' || wait <= 0) return found;
            if (performance.now() > end)
                throw new Timeout(`evaluation ${id} is ${found.state} after ${wait} s and continues; get it with evaluationResults('${id}')`);
            await pause(seconds);
        }
    }

    async deleteEvaluation(id) {
        await this.#ask('DELETE', `/evaluations/${pathPart(id)}`);
    }

    // ---- the log ----

    async *log(options) {
        for await (const line of this.logLines(options)) yield JSON.parse(line);
    }

    // Page by page; each line comes once, even if a request is sent again.
    async *logLines({ since, until, after, limit = Infinity } = {}) {
        for (let left = limit; left > 0; left -= PAGE) {
            const count = Math.min(PAGE, left);
            const page = query({ after, from: timeText(since), until: timeText(until), limit: count });
            const text = (await this.#transport.ask('GET', `${this.#path}/log${page}`)).text();
            const lines = text.split('\n').filter(Boolean);
            yield* lines;
            if (lines.length < count) return;
            after = JSON.parse(lines.at(-1))._cursor;
        }
    }

    // ---- the model and the bandit ----

    async modelBytes(version) {
        return (await this.#transport.ask('GET', `${this.#path}/model${query({ version })}`)).bytes;
    }

    versions() {
        return this.#ask('GET', '/model/versions');
    }

    async upload(model) {
        if (!(model instanceof Uint8Array)) throw new BadRequest('model: expected a Uint8Array, such as the result of modelBytes()');
        return (await this.#ask('PUT', '/model', model, { ...ONCE, type: 'application/octet-stream' })).event;
    }

    async reset() {
        return (await this.#ask('DELETE', '/model', undefined, ONCE)).event;
    }

    describe() {
        return this.#ask('GET', '');
    }

    async change(settings) {
        return this.#ask('PATCH', '', settingsOf(settings));
    }

    archive() {
        return this.#ask('DELETE', '');
    }

    async purge() {
        await this.#transport.ask('DELETE', this.#path + query({ purge: true, confirm: this.name }));
    }

    async erase(ids, { path, value, person } = {}) {
        const key = path === undefined && value === undefined ? undefined : { path, value };
        return this.#ask('POST', '/erase', { ids: ids ? [...ids] : undefined, key, person });
    }

    restore() {
        return this.#ask('POST', '/restore', '');
    }

    // ---- inside ----

    #ask(method, path, body, more) {
        return this.#transport.askJson(method, this.#path + path, body, more);
    }

    // For RewardQueue: where it sends and stores. beaconUrl: undefined if requests need a key, which a beacon cannot have.
    static queueTarget(bandit) {
        const transport = bandit.#transport;
        const path = `${bandit.#path}/reward/batch`;
        return {
            url: transport.urlOf(path),
            beaconUrl: transport.key ? undefined : transport.urlOf(path),
            send: (items) => sendBatch(transport, path, 'rewards', items),
        };
    }
}

// ---- requests and responses of items: {text, read} ----

function roundItem(round) {
    checkNames('a round', round, ['id', 'key', 'context', 'actions', 'exclude', 'defer', 'slots']);
    const { id, key, context, actions, exclude, defer, slots } = round;
    const { body, given } = actionsOf(actions);
    const text = JSON.stringify({
        id: id === undefined || id === null ? newId() : idText(id),
        key: key === undefined || key === null ? undefined : idText(key, 'key'),
        context: plain(context, 'context', true) ?? undefined,
        actions: body,
        exclude: listOf(exclude),
        defer: defer ? true : undefined,
        slots: slots === undefined || slots === null ? undefined : slotsOf(slots),
    });
    return { text, read: (answer) => decisionOf(answer, given) };
}

function slotsOf(slots) {
    if (Number.isInteger(slots)) return Array.from({ length: slots }, (_, place) => ({ id: String(place) }));
    if (!Array.isArray(slots)) throw new BadRequest(`slots: expected a number or an array of names or objects, got ${typeof slots}`);
    return plain(slots.map((each) => (typeof each === 'string' ? { id: each } : each)), 'slots', true);
}

// For a request with slots, an array.
function decisionOf(answer, given) {
    const { id, version, slots } = answer;
    if (!slots) return decision(answer, id, version, given);
    return slots.map((slot) => ({ ...decision(slot, id, version, given), slot: slot.id }));
}

function decision({ index, probability, probabilities, group, repeats }, id, version, given) {
    const optional = { ...(group !== undefined && { group }), ...(repeats !== undefined && { repeats }) };
    return { id, action: given[index], arm: index, probability, probabilities, version, ...optional };
}

export function rewardItem(reward) {
    checkNames('a reward', reward, ['id', 'value', 'slot', 'metrics', 'rewardId']);
    const { id, value, slot = id?.slot, metrics, rewardId } = reward;
    const measured = metrics && Object.keys(metrics).length ? numbersOf(metrics) : undefined;
    if ((value === undefined || value === null) && !measured) throw new BadRequest('a reward: expected a value or metrics');
    const text = JSON.stringify({
        id: idText(id),
        value: value === undefined || value === null ? undefined : numberOf(value, 'value'),
        slot,
        metrics: measured,
        reward_id: rewardId === undefined || rewardId === null ? newId() : idText(rewardId, 'rewardId'),
    });
    return { text, read: outcomeOf };
}

const numbersOf = (metrics) => Object.fromEntries(Object.entries(metrics).map(([name, each]) => [name, numberOf(each, `metrics.${name}`)]));

// A reward as a number; a boolean counts as 0 or 1.
function numberOf(value, where) {
    if (typeof value === 'boolean') return Number(value);
    if (Number.isFinite(value)) return value;
    throw new BadRequest(`${where}: expected a finite number or a boolean, got ${typeof value === 'number' ? value : typeof value}`);
}

function outcomeOf({ outcome, repeated = false }) {
    return { outcome, repeated };
}
