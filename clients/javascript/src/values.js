// Converts JavaScript values to the server's JSON.
import { BadRequest } from './errors.js';

// ---- JSON ----

// A copy of a value as JSON can hold it; an error says where it cannot. Missing values (null, undefined) are allowed; in
// features NaN is missing too.
export function plain(value, where, isFeature = false, above = []) {
    if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number') return finite(value, where, isFeature);
    if (typeof value !== 'object') throw unexpected(where, typeof value);
    if (above.includes(value)) throw new BadRequest(`${where} contains itself`);
    const inside = (each, name) => plain(each, `${where}${name}`, isFeature, [...above, value]);
    if (ArrayBuffer.isView(value)) value = Array.from(value);
    if (Array.isArray(value)) return value.map((each, i) => inside(each, `[${i}]`));
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    if (kind !== 'Object' && kind !== 'Map') throw unexpected(where, kind);
    const entries = kind === 'Map' ? [...value] : Object.entries(value);
    return Object.fromEntries(entries.map(([name, each]) => [String(name), inside(each, `.${String(name)}`)]));
}

function finite(value, where, isFeature) {
    if (Number.isFinite(value)) return value;
    if (isFeature && Number.isNaN(value)) return null;
    throw new BadRequest(`${where}: expected a finite number, got ${value}`);
}

function unexpected(where, kind) {
    const hint = { Date: '; for a time, send its hour or weekday', Promise: '; an await is missing' }[kind] ?? '';
    return new BadRequest(`${where}: expected a number, a string, a boolean, null, or an array or object of these, got ${kind}${hint}`);
}

// ---- actions ----

const isList = (value) => Array.isArray(value) || ArrayBuffer.isView(value);
const isObject = (value) => typeof value === 'object' && value !== null && !isList(value);
const isComplete = (action) => isObject(action) && ('features' in action || 'vector' in action);

// Actions in any form that decide accepts: {body, given}. given: the value of Decision.action for each.
export function actionsOf(actions) {
    const isMapping = isObject(actions);
    if (!isMapping && !Array.isArray(actions))
        throw new BadRequest(`actions: expected a mapping of ids to features or an array of actions, got ${actions === null ? 'null' : typeof actions}`);
    const entries = actions instanceof Map ? [...actions] : Object.entries(actions);
    const body = isMapping ? entries.map(([id, what]) => named(String(id), what)) : actions.map(actionOf);
    const given = isMapping ? entries.map(([id]) => id) : actions.map((each) => (isComplete(each) ? (each.id ?? each) : each));
    return { body: plain(body, 'actions', true), given };
}

// null: no features besides the id.
const named = (id, what) => ({ id, [isList(what) ? 'vector' : 'features']: what ?? undefined });

// An action as in the API, or only its features.
const actionOf = (action, place) => (!isObject(action) || isComplete(action) ? action : { id: String(place), features: action });

// ---- names, ids, times, settings ----

export function newId() {
    const words = new Uint32Array(4);
    // Node.js 18 has no crypto by default. Ids must be unique, not secret.
    if (globalThis.crypto) crypto.getRandomValues(words);
    else words.forEach((_, i) => (words[i] = Math.random() * 2 ** 32));
    return Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('');
}

// The id of a decision, or an id as given.
export function idText(of, what = 'id') {
    const id = isObject(of) ? of.id : of;
    if (typeof id === 'string') return id;
    if (Number.isInteger(id) || typeof id === 'bigint') return String(id);
    throw new BadRequest(`${what}: expected a string or a decision of the server, got ${of === null ? 'null' : typeof of}`);
}

export function pathPart(name) {
    // URLs drop the parts . and .. of a path.
    if (typeof name !== 'string' || /^\.{0,2}$/.test(name)) throw new BadRequest(`name: expected the name or id, got '${name}'`);
    try {
        return encodeURIComponent(name);
    } catch {
        throw new BadRequest('name: expected valid Unicode');
    }
}

// A query string of the members that are given.
export function query(members) {
    const parts = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
    return parts.length ? `?${parts.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}` : '';
}

export const timeText = (time) => (time instanceof Date ? time.toISOString() : time);

// A single name becomes a list.
export const listOf = (names) => (names === undefined || names === null ? undefined : typeof names === 'string' ? [names] : [...names]);

// Refuses names of options that a call does not have, so that a misspelled one is not ignored.
export function checkNames(what, given, known) {
    const unknown = Object.keys(given).find((name) => !known.includes(name));
    if (unknown !== undefined) throw new BadRequest(`${what}: unknown "${unknown}"; expected ${known.join(', ')}`);
}

// Settings of a bandit or a challenger as the server expects them. Options and features may be objects; features may be true.
export function settingsOf(settings) {
    const made = { ...settings };
    for (const name of ['features', 'options']) {
        if (made[name] === true) made[name] = '';
        else if (made[name] === false || made[name] === null || made[name] === undefined) delete made[name];
        else if (isObject(made[name])) made[name] = optionsText(name, made[name]);
    }
    if (Array.isArray(made.challengers)) made.challengers = made.challengers.map(settingsOf);
    return plain(made, 'settings');
}

// {"f1.width": 50, w2: 0.1} as "f1.width=50 w2=0.1".
const optionsText = (what, options) => Object.entries(options).map(([name, value]) => `${name}=${optionValue(what, name, value)}`).join(' ');

function optionValue(what, name, value) {
    if (value === null) return 'none';
    if (typeof value === 'boolean') return value ? 'on' : 'off';
    if (typeof value === 'number') return String(value);
    if (typeof value === 'string' && !/[\s,]/.test(value)) return value;
    throw new BadRequest(`${what}: ${name}: expected a number, a boolean, null, or a string without blanks and commas`);
}
