// Sends requests, and sends them again: the same bytes each time.
import { ServerError, Timeout, Unavailable, errorOfAnswer } from './errors.js';

const FIRST_PAUSE = 0.05; // seconds
const LONGEST_PAUSE = 5;
const LONGEST_TIMEOUT = 86400; // above, somebody meant milliseconds

// Statuses after which a request is sent again.
const AGAIN = new Set([408, 429, 500, 502, 503, 504]);

export const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

// How long to wait before each retry; undefined once the time is up.
export class Backoff {
    constructor(retryFor) {
        this.until = performance.now() + 1000 * retryFor;
        this.pause = FIRST_PAUSE;
    }

    next(retryAfter = 0) {
        // Jitter, so that clients disconnected together do not reconnect together.
        const pause = retryAfter + this.pause * (0.5 + Math.random() / 2);
        this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
        return performance.now() + 1000 * pause < this.until ? pause : undefined;
    }
}

export class Transport {
    constructor(url, { key, timeout = 10, retryFor = 30, connections = 64 } = {}) {
        this.base = baseOf(url);
        this.timeout = seconds('timeout', timeout, Number.MIN_VALUE);
        this.retryFor = seconds('retryFor', retryFor, 0);
        if (!Number.isInteger(connections) || connections < 1)
            throw new TypeError(`connections: expected a whole number of at least 1, got ${connections}`);
        if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) throw new TypeError('key: expected printable ASCII without blanks');
        this.key = key;
        this.free = connections; // how many more requests may be sent now
        this.waiting = []; // for their turn
    }

    urlOf(path) {
        return this.base + path;
    }

    // The response to a request. repeatable: it may be sent again if its outcome is unknown.
    async ask(method, path, body, { repeatable = true, retryFor = this.retryFor, type = 'application/json' } = {}) {
        const headers = { ...(this.key && { Authorization: `Bearer ${this.key}` }), ...(body !== undefined && { 'Content-Type': type }) };
        const backoff = new Backoff(retryFor);
        let maybeDone = false;
        for (let retried = 0; ; retried++) {
            const answer = await this.exchange(path, { method, headers, body });
            if (!(answer instanceof Error) && answer.status < 300) return answer;
            const error = answer instanceof Error ? answer : errorOfAnswer(answer);
            maybeDone = error.maybeDone ||= maybeDone;
            error.retried = retried;
            const passes = answer instanceof Error ? !isFinal(error.cause) : AGAIN.has(answer.status);
            const wait = passes && (repeatable || !maybeDone) ? backoff.next(retryAfter(answer)) : undefined;
            if (wait === undefined) throw error;
            await pause(wait);
        }
    }

    async askJson(method, path, body, more) {
        const isValue = typeof body === 'object' && !(body instanceof Uint8Array);
        const answer = await this.ask(method, path, isValue ? JSON.stringify(body) : body, more);
        try {
            return JSON.parse(answer.text());
        } catch {
            const message = 'expected eenet serve at this url, got a response that is not JSON';
            throw new ServerError(message, { status: answer.status, body: answer.text(), maybeDone: true });
        }
    }

    // One attempt: the response, or the error if there was none.
    async exchange(path, request) {
        if (this.free) this.free--;
        else await new Promise((resolve) => this.waiting.push(resolve));
        const control = new AbortController();
        let timer;
        const watch = () => {
            clearTimeout(timer);
            timer = setTimeout(() => control.abort(), 1000 * this.timeout);
        };
        try {
            watch();
            const response = await fetch(this.urlOf(path), { ...request, signal: control.signal, redirect: 'manual', cache: 'no-store' });
            return await readAnswer(response, watch);
        } catch (error) {
            return control.signal.aborted ? this.timeoutError(error) : this.failure(error);
        } finally {
            clearTimeout(timer);
            const next = this.waiting.shift();
            if (next) next();
            else this.free++;
        }
    }

    timeoutError(cause) {
        return new Timeout(`${this.base} did not respond within ${this.timeout} s`, { maybeDone: true, cause });
    }

    failure(cause) {
        const inner = cause.cause;
        let reason = inner?.message || inner?.code || cause.message;
        if (inner?.code === 'ECONNREFUSED') reason = 'connection refused; is eenet serve running there?';
        return new Unavailable(`${this.base}: ${reason}`, { maybeDone: !isUnsent(inner), cause });
    }
}

function baseOf(url) {
    let parts;
    try {
        parts = new URL(url, globalThis.location?.href); // in a page, a path is enough
    } catch {
        parts = null;
    }
    if (!parts || !/^https?:$/.test(parts.protocol))
        throw new TypeError(`url: expected http://HOST:PORT or https://HOST/BASE, got '${url}'`);
    if (parts.username || parts.password || parts.search || parts.hash)
        throw new TypeError('url: expected only scheme, host, port and base path; pass a key as {key}');
    return parts.origin + parts.pathname.replace(/\/+$/, '');
}

function seconds(name, value, least) {
    if (typeof value === 'number' && value >= least && value <= LONGEST_TIMEOUT) return value;
    throw new TypeError(`${name}: expected seconds, ${least ? 'above 0' : 'at least 0'} and at most ${LONGEST_TIMEOUT}, got ${value}`);
}

// Each piece that arrives resets the timeout. Incomplete responses throw.
async function readAnswer(response, watch) {
    const pieces = [];
    if (response.body)
        for (const reader = response.body.getReader(); ; ) {
            const { done, value } = await reader.read();
            if (done) break;
            watch();
            pieces.push(value);
        }
    const bytes = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
    pieces.reduce((at, piece) => (bytes.set(piece, at), at + piece.length), 0);
    // Browsers hide the status of a redirection.
    const status = response.type === 'opaqueredirect' ? 302 : response.status;
    return { status, headers: response.headers, bytes, text: () => new TextDecoder().decode(bytes) };
}

// Retry-After in seconds; dates, which our server does not send, are ignored.
function retryAfter(answer) {
    const text = (!(answer instanceof Error) && answer.headers.get('retry-after')) || '';
    return /^\d{1,8}$/.test(text) ? Number(text) : 0;
}

// Errors of Node.js, whose fetch gives the reason as `cause`. Browsers give none.

// Whether no byte of the request can have arrived.
function isUnsent(cause) {
    const codes = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];
    return codes.includes(cause?.code) || isUntrusted(cause) || cause?.message === 'bad port';
}

// Whether a retry is pointless: an unknown host, an untrusted certificate, another protocol, a port that fetch refuses.
function isFinal(error) {
    const cause = error?.cause;
    return cause?.code === 'ENOTFOUND' || isUntrusted(cause) || /^HPE_INVALID/.test(cause?.code) || cause?.message === 'bad port';
}

function isUntrusted(cause) {
    return /CERT|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/.test(cause?.code);
}
