// What decisions may not exceed, and how much of it is used: bounds on metrics, alarms, caps, budgets and shares.
import { bars } from './cards.js';
import { fill, h, say, show } from './elements.js';
import { DASH, count, duration, known, moment, percent, plain, plainPercent, plural } from './formats.js';

const CONSEQUENCES = { alert: 'an alert', freeze: 'learning stops', fallback: 'everybody gets the baseline' };
const UNITS = { s: 1, m: 60, h: 3600, d: 86400 };

// A heading with a list below it; hidden if the list is empty.
function part(title) {
    const list = bars(title), node = h('div', {}, h('h3', {}, title), list.node);
    return {
        node,
        update(rows) {
            show(node, rows.length > 0);
            list.update(rows);
        },
    };
}

// ---- bounds ----

function boundOf(settings) {
    const below = known(settings.most_below);
    return { metric: settings.metric, side: below ? 'below' : 'above', limit: below ? 1 - settings.most_below : 1 + (settings.most_above ?? 0), then: settings.then ?? 'alert' };
}

function boundRow(one) {
    const words = one.violated ? 'violated' : known(one.evidence) ? `evidence ${percent(one.evidence, 0)}` : DASH;
    return {
        name: `${one.metric}: at most ${plainPercent(Math.abs(one.limit - 1))} ${one.side ?? (one.limit < 1 ? 'below' : 'above')} people who are not treated`,
        share: one.violated ? 1 : one.evidence ?? 0,
        words,
        kind: one.violated ? 'bad' : '',
        note: `If violated: ${CONSEQUENCES[one.then] ?? CONSEQUENCES.alert}`,
    };
}

export function boundsPart() {
    const bounds = part('Bounds');
    const list = h('ol', { class: 'alarms', 'aria-label': 'Alarms' }), alarms = h('div', {}, h('h3', {}, 'Alarms'), list);
    return {
        nodes: [bounds.node, alarms],
        update(report, guardrails) {
            bounds.update((report?.bounds ?? (guardrails.bounds ?? []).map(boundOf)).map(boundRow));
            const said = report?.alarms ?? [];
            show(alarms, said.length > 0);
            fill(list, said, () => [...said].reverse().map((one) => h('li', {}, h('time', {}, moment(one.time, 'short')), ` ${one.sentence}`)));
        },
    };
}

// ---- caps, budgets, shares ----

// "1d", the default, as "1 day".
function span(words = '1d') {
    const [, number, unit] = String(words).match(/^([0-9.]+)([smhd]?)$/) ?? [];
    return number === undefined ? words : duration(Number(number) * (UNITS[unit] ?? 1));
}

function capRow(one, now) {
    const each = one.each === 'key';
    return {
        name: `Cap: ${one.name}`,
        share: each || !known(now?.count) ? 0 : now.count / one.most,
        words: each ? `${count(one.most)} for each person` : `${count(now?.count)} of ${count(one.most)}`,
        kind: !each && now?.count >= one.most ? 'bad' : '',
        note: `in ${span(one.per)}${each && now ? `; ${plural(now.persons, 'person has', 'people have')} a decision that counts` : ''}`,
    };
}

function budgetRow(one, now) {
    return {
        name: `Budget: ${one.name}`,
        share: known(now?.spent) ? now.spent / one.limit : 0,
        words: `${plain(now?.spent)} of ${plain(one.limit)}`,
        note: `in ${span(one.per)}${known(now?.price) && now.price > 0 ? `; a unit of cost takes ${plain(now.price)} from the score of an action` : ''}`,
    };
}

function shareRow(one, now) {
    return {
        name: `Share: ${one.name}`,
        share: now?.mean ?? 0,
        words: percent(now?.mean),
        note: `within ${plainPercent(one.low ?? 0)} to ${plainPercent(one.high ?? 1)} ${one.window ? `on average over ${span(one.window)}` : 'in every decision'}`,
    };
}

export function limitsPart() {
    const list = part('Limits'), asleep = h('p', { class: 'quiet-words small' });
    return {
        nodes: [list.node, asleep],
        // state: of the server, in the order of the settings; empty while the model is not loaded.
        update(state, guardrails) {
            const rows = (kind, make) => (guardrails[kind] ?? []).map((one, i) => make(one, state?.[kind]?.[i]));
            const all = [...rows('caps', capRow), ...rows('budgets', budgetRow), ...rows('shares', shareRow)];
            list.update(all);
            show(say(asleep, all.length && !state?.caps ? 'Not counted until a request loads the model.' : ''), all.length > 0 && !state?.caps);
        },
    };
}
