export class EenetError extends Error {
    /** The status of the C library, such as "EE_BAD_INPUT". */
    name: string;
}

/** Options of the C library: "f1.width=50", { 'f1.width': 50 } or { f1_width: 50 }. */
export type Options = string | Record<string, string | number | boolean>;

/** Rows of vectors, vectors by name, or with named features objects, as a list or by name. */
export type Arms =
    | Float32Array
    | ArrayLike<number>[]
    | Record<string, ArrayLike<number>>
    | object[]
    | Record<string, object>;

export interface Scores {
    /** f1: the expected reward of each arm. */
    exploitation: Float32Array;
    /** f2: the exploration bonus of each arm. */
    exploration: Float32Array;
    /** f3: what ranks the arms. */
    scores: Float32Array;
}

export interface Decision extends Scores {
    id: number;
    /** The position of the chosen arm, from 0. */
    arm: number;
    /** The chosen arm as it was given: its name, its object, or its position. */
    action: unknown;
    /** The probability with which this arm was chosen. */
    probability: number;
    probabilities: Float64Array;
}

export interface Info {
    policy: string;
    options: string;
    dim: number;
    seed: bigint;
    decisions: number;
    rewards: number;
    pending: number;
    /** Bytes. */
    memory: number;
}

export interface Settings {
    /** Features of each arm; 0 with named features. */
    dim?: number;
    /** Default: 0. */
    seed?: number | bigint;
    options?: Options;
    /** true, or options of named features. */
    features?: boolean | Options;
}

export interface Round {
    /** Features that all arms share; only with named features. */
    context?: object;
}

export declare class Bandit {
    constructor(policy?: string, settings?: Settings);
    static load(bytes: Uint8Array | ArrayBuffer): Bandit;
    save(): Uint8Array;
    free(): void;
    decide(arms: Arms, round?: Round): Decision;
    score(arms: Arms, round?: Round): Scores;
    learn(decision: Decision | number, reward: number): void;
    learnFrom(arms: Arms, arm: number, reward: number, round?: Round): void;
    forget(decision: Decision | number): void;
    readonly info: Info;
}

export interface Module {
    Bandit: typeof Bandit;
    version: string;
    kernels: string;
}

/** source: the URL of eenet.wasm, its bytes, or a compiled module; default: eenet.wasm beside eenet.mjs. */
export function load(source?: string | URL | ArrayBuffer | ArrayBufferView | WebAssembly.Module): Promise<Module>;
