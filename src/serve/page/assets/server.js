// Requests to the server, with the key if there is one; and whether the server is reachable.

const KEY = 'eenet-key';
const listeners = new Set();
let away = false;

export class Refused extends Error {
    constructor(status, message, wait) {
        super(message);
        this.status = status;
        this.wait = wait; // seconds before a retry
    }
}

// The server is not reachable. Polls go on.
export class Away extends Error {}

function storage() {
    try {
        return window.sessionStorage;
    } catch {
        return null; // storage is disabled: the key lasts as long as the page
    }
}

let key = storage()?.getItem(KEY) ?? '';

export function setKey(given) {
    key = given;
    if (given) storage()?.setItem(KEY, given);
    else storage()?.removeItem(KEY);
}

export function hasKey() {
    return key !== '';
}

function setAway(now) {
    if (away === now) return;
    away = now;
    for (const listener of listeners) listener(away);
}

export function isAway() {
    return away;
}

export function onAway(listener) {
    listeners.add(listener);
}

// Called when the server rejects the key.
const strangers = new Set();
export function onStranger(listener) {
    strangers.add(listener);
}

function words(status, body) {
    if (body?.error?.message) return body.error.message;
    return `the server responded with status ${status}`;
}

// Returns the JSON of the response. Throws Refused or Away.
export async function ask(path, { method = 'GET', body, withKey = key } = {}) {
    const headers = { Accept: 'application/json' };
    if (withKey) headers.Authorization = `Bearer ${withKey}`;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    let answer, text;
    try {
        answer = await fetch(path, { method, headers, body, cache: 'no-store', signal: AbortSignal.timeout(20000) });
        text = await answer.text();
    } catch {
        setAway(true);
        throw new Away('the server is not reachable');
    }
    setAway(false);
    let read = null;
    try {
        read = text ? JSON.parse(text) : null;
    } catch {
        if (answer.ok) throw new Refused(answer.status, 'the response is not JSON: is a proxy in front of the server?', 5);
    }
    if (answer.status === 401) for (const listener of strangers) listener();
    if (!answer.ok) throw new Refused(answer.status, words(answer.status, read), Number(answer.headers.get('Retry-After')) || 0);
    return read;
}

export function send(path, body, method = 'POST') {
    return ask(path, { method, body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body) });
}

// ---- routes of this server ----

let paths = null;

// Reads which routes exist, so that no other is requested.
export async function learnRoutes() {
    if (!paths) paths = Object.keys((await ask('/openapi.json')).paths ?? {});
}

// can('/evaluation'): whether bandits have this route.
export function can(tail) {
    return paths?.includes(`/v1/bandits/{name}${tail}`) ?? false;
}

export function pathOf(bandit, tail = '') {
    return `/v1/bandits/${encodeURIComponent(bandit)}${tail}`;
}

// ---- polling ----

// Calls `work` every `seconds` while the page is visible. While the server is not reachable only the poll that `probes`
// tries. wake() calls it at once; stop() ends it.
export function poll(seconds, work, { probes = false } = {}) {
    let timer = 0, running = false, stopped = false, failures = 0;
    const later = (wait) => {
        clearTimeout(timer);
        if (!stopped) timer = setTimeout(turn, wait * 1000);
    };
    async function turn() {
        if (stopped || running || document.hidden) return;
        if (away && !probes) return later(0.5);
        running = true;
        let wait = seconds;
        try {
            await work();
            failures = 0;
        } catch (error) {
            failures++;
            wait = error instanceof Away ? Math.min(0.5 * 2 ** failures, 5) : Math.max(error.wait ?? 0, Math.min(seconds * failures, 30));
            if (!(error instanceof Away || error instanceof Refused)) throw error;
        } finally {
            running = false;
            later(wait);
        }
    }
    const seen = () => !document.hidden && later(0);
    document.addEventListener('visibilitychange', seen);
    later(0);
    return {
        wake: () => later(0),
        stop: () => {
            stopped = true;
            clearTimeout(timer);
            document.removeEventListener('visibilitychange', seen);
        },
    };
}
