/**
 * Client for `eenet serve`. The calls are those of Python's `eenet.Client`.
 *
 * Settings, descriptions and other responses that are not described here have the fields of the HTTP API.
 */

// ---- actions and contexts ----

/** A value of a feature. Missing values (null, undefined, NaN) are not features. */
export type FeatureValue = string | number | boolean | null | undefined | FeatureValue[] | Features;

/** Named features, nested as you like. A Map works too. */
export type Features = { readonly [name: string]: FeatureValue } | ReadonlyMap<string, FeatureValue>;

/** The features of an action of a bandit with vectors. */
export type Vector = readonly number[] | Float32Array | Float64Array;

/** An action as in the HTTP API. */
export type Action = { id: string; features: Features } | { id: string; vector: Vector };

/**
 * The actions of a round. The decision's `action` is the key of the mapping or the element of the array; for an `Action`
 * it is the id. In a mapping, null stands for no features besides the id. An array of features has the ids "0", "1", ... JavaScript sorts keys of objects that are whole numbers:
 * use a Map for these, because the first action is the baseline of evaluations.
 */
export type Actions<A = unknown> = ReadonlyMap<A, Features | Vector | null> | readonly A[] | { readonly [id: string]: Features | Vector | null };

/** What `Decision.action` is for these actions. */
export type ActionOf<T> = T extends ReadonlyMap<infer Key, unknown> ? Key
    : T extends readonly (infer Element)[] ? (Element extends { id: infer Id; features: unknown } | { id: infer Id; vector: unknown } ? Id : Element)
    : Extract<keyof T, string>;

/** A slot: its name, or with features, actions to exclude, and the action that you would show there without a bandit. */
export type Slot = string | { id: string; features?: Features; exclude?: readonly string[]; baseline?: string };

export interface DecideOptions {
    /** Makes the call idempotent: the same id with the same request returns the same decision. Default: a new random id. */
    id?: string | number | bigint | null;
    /** Ids of actions that must not be chosen. */
    exclude?: string | Iterable<string> | null;
    /** The decision counts only once it is activated. Default: false. */
    defer?: boolean;
    /** The person, for guardrails: control group, rollout, caps per person, stickiness. */
    key?: string | number | bigint | null;
}

/** A round of `decideMany`: the arguments of `decide` by name. With `slots` its result is an array. */
export interface Round extends DecideOptions {
    actions: Actions;
    context?: Features | null;
    slots?: number | readonly Slot[] | null;
}

/** A decision of the server. */
export interface Decision<A = unknown> {
    /** The id to send the reward with. */
    id: string;
    /** The chosen action as given: a key of the mapping, an element of the array. */
    action: A;
    /** Its position in the request, from 0. */
    arm: number;
    /** The probability with which it was chosen. */
    probability: number;
    /** The probability of each action, in the order of the request. */
    probabilities: number[];
    /** The version of the model that decided. */
    version: number;
    /** The slot, if the request had several. */
    slot?: string;
    /** With a control group or a rollout. */
    group?: 'treated' | 'control' | 'waiting' | 'fallback';
    /** The id of the decision whose action it repeats, if actions are sticky. */
    repeats?: string;
}

/** A decision, or its id. */
export type DecisionId = string | number | bigint | { id: string; slot?: string };

// ---- rewards ----

export interface RewardOptions {
    /** The slot. Default: the decision's. */
    slot?: string;
    /** Makes the call idempotent. Default: a new random id. Give one to repeat the call yourself. */
    rewardId?: string | number | bigint | null;
    /** Metrics of the bandit, such as `{refund: 1}`. */
    metrics?: { readonly [name: string]: number | boolean };
}

/** A reward of `rewardMany`: the arguments of `reward` by name. With metrics, the value may be missing. */
export interface Reward extends RewardOptions {
    id: DecisionId;
    value?: number | boolean | null;
}

/** A reward as the HTTP API names its fields. */
export interface StoredReward {
    id: string;
    value?: number;
    slot?: string;
    metrics?: { [name: string]: number };
    reward_id: string;
}

export interface Outcome {
    /**
     * `joined`: it counts. `repeated`: the decision already had a reward. `late`: the wait was over. `unknown`: no decision
     * has this id yet; the reward is kept, and counts when the decision arrives. `spooled`: the database is away; the
     * outcome follows.
     */
    outcome: 'joined' | 'repeated' | 'late' | 'unknown' | 'spooled';
    /** This reward was sent before; this was its outcome then. */
    repeated: boolean;
}

// ---- the server ----

export interface ClientOptions {
    /** The API key, if the server requires one. Keys do not belong in browsers. */
    key?: string;
    /** Seconds without a byte after which an attempt fails. Default: 10. */
    timeout?: number;
    /** Seconds during which failed attempts are repeated. 0: never. Default: 30. */
    retryFor?: number;
    /** The most requests at a time; others wait for their turn. Default: 64. */
    connections?: number;
}

/** An object of the HTTP API. */
export interface Fields {
    [field: string]: any;
}

/** Options of a policy or of features: `{"f1.width": 50}` or "f1.width=50". */
export type OptionValues = string | { readonly [name: string]: string | number | boolean | null };

export interface ChallengerSettings {
    name?: string;
    policy: string;
    options?: OptionValues;
    propensity?: string;
}

/** Settings of a bandit, named as in the HTTP API. */
export interface ChangeableSettings {
    wait?: number | string;
    default_reward?: number | null;
    aggregation?: 'first' | 'last' | 'sum' | 'mean' | 'max';
    mode?: 'online' | 'apprentice' | 'logging';
    rewards?: readonly [number, number];
    outside?: 'reject' | 'clip' | 'accept';
    confidence?: number;
    promote?: 'offer' | 'auto';
    challengers?: readonly ChallengerSettings[];
    retention_days?: number | null;
    /** Guardrails, metrics and other settings. */
    [setting: string]: unknown;
}

export interface Settings extends ChangeableSettings {
    /** Use named features; true: with their default options. */
    features?: boolean | OptionValues;
    /** Use vectors of this length instead. */
    dim?: number;
    policy?: string;
    options?: OptionValues;
    seed?: number;
    propensity?: string;
}

/** The description of a bandit; the HTTP API lists all its fields. */
export interface Description extends Fields {
    name: string;
    archived: boolean;
    settings: Fields;
    version: number;
    events: number;
    behind: number;
}

/** The server, at the URL that `eenet serve` prints; in a page, a path such as "/eenet" works too. */
export class Client {
    constructor(url: string | URL, options?: ClientOptions);
    /** The server's address. */
    readonly url: string;
    /** A bandit by name; sends nothing yet. */
    bandit(name: string): BanditClient;
    /**
     * Creates a bandit, and returns it. Repeating the call changes nothing; the same name with other settings throws
     * Conflict.
     */
    create(name: string, settings?: Settings): Promise<BanditClient>;
    /** The descriptions of all bandits, including archived ones. */
    bandits(): Promise<Description[]>;
    /** Whether the server accepts requests; does not retry. */
    ready(): Promise<boolean>;
    /** The servers that share a database. Throws NotFound if the server is alone. */
    fleet(): Promise<Fields>;
    /** The server's metrics in Prometheus text format. */
    metrics(): Promise<string>;
}

/** A part of the log, by the time of the decisions: a Date, or text such as 2026-11-16T10:00:00Z. */
export interface LogRange {
    since?: Date | string;
    until?: Date | string;
    /** The `_cursor` of an event, to continue after it. */
    after?: number;
    limit?: number;
}

/** A bandit on the server: `client.bandit("shop")`. */
export class BanditClient {
    private constructor();
    readonly name: string;

    /** Chooses one of the actions, given a context. */
    decide<const T extends Actions>(actions: T, context?: Features | null, options?: DecideOptions): Promise<Decision<ActionOf<T>>>;
    /**
     * Fills several slots (how many, or each), each with a different action. Returns a decision per slot, in order. All
     * have the same id; send each its reward with `reward(decision, value)`.
     */
    decideSlots<const T extends Actions>(actions: T, slots: number | readonly Slot[], context?: Features | null, options?: DecideOptions): Promise<Decision<ActionOf<T>>[]>;
    /**
     * Decides many rounds, in as few requests as the server allows. If some are refused, the others are decided all the
     * same, and SomeRefused is thrown with all results in `answers`. With `returnErrors` these are returned instead.
     */
    decideMany(rounds: Iterable<Actions | Round>, options?: ManyOptions & { returnErrors?: false }): Promise<any[]>;
    decideMany(rounds: Iterable<Actions | Round>, options: ManyOptions & { returnErrors: boolean }): Promise<any[]>;
    /** Sends the reward of a decision. It counts once, however often the client has to retry. */
    reward(decision: DecisionId, value?: number | boolean | null, options?: RewardOptions): Promise<Outcome>;
    /** Sends many rewards: pairs of a decision and a value, or objects. Errors are reported as by `decideMany`. */
    rewardMany(rewards: Iterable<Reward | readonly [DecisionId, number | boolean]>, options?: { returnErrors?: false }): Promise<Outcome[]>;
    rewardMany(rewards: Iterable<Reward | readonly [DecisionId, number | boolean]>, options: { returnErrors: boolean }): Promise<(Outcome | ServerError)[]>;
    /** Activates a deferred decision, so that it counts. */
    activate(decision: DecisionId): Promise<'activated' | 'repeated' | 'late' | 'unknown' | 'spooled'>;

    /** What each feature contributes to the score of each action, with the present model; decides nothing. */
    explain(actions: Actions, context?: Features | null, options?: { exclude?: string | Iterable<string> | null; features?: number }): Promise<Fields>;
    /** The same for an earlier decision. `features`: how many to return per action, largest first. */
    explainDecision(decision: DecisionId, options?: { slot?: string; features?: number }): Promise<Fields>;
    /** Which features matter most to the model, over the decisions of the last day. */
    importance(): Promise<Fields>;
    /** Recent activity: decisions per second, actions chosen, outcomes of rewards, training, latency. */
    activity(): Promise<Fields>;
    /** The live evaluation, a few moments old. */
    evaluation(): Promise<Fields>;
    /** The challengers, which learn from the same log. */
    challengers(): Promise<Fields[]>;
    /** Adds a challenger, which learns from the same log and is evaluated on it. */
    addChallenger(name: string, policy: string, options?: OptionValues | null, more?: { propensity?: string }): Promise<Fields>;
    /** Removes a challenger; returns the others. */
    removeChallenger(name: string): Promise<Fields[]>;
    /** Makes a challenger the deciding policy; returns the number of the event. Throws Conflict until it has learned the whole log. */
    promote(name: string): Promise<number>;
    /**
     * Starts an off-policy evaluation of candidates in the background of the server. `wait`: seconds to wait for the
     * results; without it, get them later with `evaluationResults(id)`.
     */
    evaluate(candidates?: readonly (string | ChallengerSettings)[] | null, options?: EvaluateOptions): Promise<Fields>;
    /** All evaluations, without their results. */
    evaluations(): Promise<Fields[]>;
    /** An evaluation; it has `results` once its `state` is "done". `wait`: seconds to wait for that, then Timeout is thrown. */
    evaluationResults(id: string, options?: { wait?: number }): Promise<Fields>;
    /** Deletes an evaluation, or cancels it. */
    deleteEvaluation(id: string): Promise<void>;

    /** Iterates over the log in the order of the decisions, up to the first pending decision. */
    log(range?: LogRange): AsyncGenerator<Fields, void, void>;
    /** The same as text: lines of dsjson without the line break, for a file that `eenet evaluate` reads. */
    logLines(range?: LogRange): AsyncGenerator<string, void, void>;

    /** The model: the latest, or a stored version. */
    modelBytes(version?: number): Promise<Uint8Array>;
    /** `current`: the version that decides; `versions`: those that `modelBytes` can fetch. */
    versions(): Promise<Fields>;
    /** Replaces the model; returns the number of the event. Versions above it include the new model. */
    upload(model: Uint8Array): Promise<number>;
    /** Resets the model to an untrained one; returns the number of the event. The log stays. */
    reset(): Promise<number>;
    /** The settings of the bandit and the state of its model. */
    describe(): Promise<Description>;
    /** Changes settings; returns the new description. */
    change(settings: ChangeableSettings): Promise<Description>;
    /** Takes the bandit out of service. Nothing is deleted; calls throw Gone until `restore`. */
    archive(): Promise<Description>;
    /** Removes the bandit and all its data for good. */
    purge(): Promise<void>;
    /** Erases decisions for good: those with these ids, those whose context has `value` at `path`, such as "user.id", and those
     * that were requested with `person` as their key. */
    erase(ids?: Iterable<string> | null, options?: { path?: string; value?: string; person?: string }): Promise<Fields>;
    /** Brings an archived bandit back. */
    restore(): Promise<Description>;
}

export interface ManyOptions {
    /** The context of each round. */
    contexts?: Iterable<Features | null | undefined> | null;
    /** The id of each round. */
    ids?: Iterable<string | number | bigint | null | undefined> | null;
}

export interface EvaluateOptions {
    name?: string;
    since?: Date | string;
    until?: Date | string;
    estimators?: string | readonly string[];
    confidence?: number;
    wait?: number;
}

// ---- rewards that outlive the page ----

/** The part of localStorage that the queue uses. */
export interface RewardStorage {
    readonly length: number;
    key(index: number): string | null;
    getItem(key: string): string | null;
    setItem(key: string, text: string): void;
    removeItem(key: string): void;
}

export interface RewardQueueOptions {
    /** Where rewards are kept until the server has them. Default: localStorage in a page, memory elsewhere. */
    storage?: RewardStorage;
    /** The most rewards that are kept; above, the oldest are lost. Default: 1000. */
    most?: number;
    /**
     * Called with a reward that will not be sent again: the server refused it, or the queue was full. Default: a warning.
     * An error that it throws is printed on the console.
     */
    onLost?: (reward: StoredReward, error: Error) => void;
}

/**
 * Rewards that survive a lost network and the end of the page. Each is stored, sent, and removed once the server has
 * answered. It is sent again when the network returns, on the next page and every 30 to 60 seconds; when the page is hidden
 * or left, by `navigator.sendBeacon`, unless the client has a key. The server counts it once.
 */
export class RewardQueue {
    constructor(bandit: BanditClient, options?: RewardQueueOptions);
    /** How many rewards are stored. */
    readonly size: number;
    /** Stores a reward and starts to send it. */
    reward(decision: DecisionId, value?: number | boolean | null, options?: RewardOptions): void;
    /** Sends what is stored now; resolves to how many are still stored. */
    flush(): Promise<number>;
    /** Stops sending. What is stored stays. A second call does nothing. */
    close(): void;
}

// ---- errors ----

/** The server refused the request, or could not be reached. `message` says why. */
export class ServerError extends Error {
    /** The status of the response; undefined if there was none. */
    readonly status: number | undefined;
    /** The server's name of the error, such as "BadRequest". */
    readonly code: string;
    /** The id to look up in the server's log. */
    readonly requestId: string;
    /** The body of the response. */
    readonly body: string;
    /** How often the request was sent again. */
    readonly retried: number;
    /** Whether the server may have carried out the request anyway. */
    readonly maybeDone: boolean;
}
/** The request is invalid. Values that JSON cannot hold are detected before anything is sent. */
export class BadRequest extends ServerError {}
/** More bytes, actions, features or items than the server accepts in one request. */
export class TooLarge extends BadRequest {}
/** The key is missing or unknown, or does not allow this call. */
export class Refused extends ServerError {}
/** No such bandit, version, challenger or decision. */
export class NotFound extends ServerError {}
/** The bandit is archived; `restore()` brings it back. */
export class Gone extends NotFound {}
/** The id or name is already in use, or the call does not fit the present state. */
export class Conflict extends ServerError {}
/** The server could not be reached, or was overloaded until `retryFor` ran out. */
export class Unavailable extends ServerError {}
/** No response arrived in time. */
export class Timeout extends Unavailable {}
/** Some items of a batch were refused; the others were carried out. */
export class SomeRefused extends ServerError {
    /** The result or the error of each item, in order. */
    readonly answers: any[];
}
