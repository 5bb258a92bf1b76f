// All settings of a bandit in words, and the form that changes those that can be changed.
import { card } from './cards.js';
import { defaultOf, policies, useOf } from './choices.js';
import { field, question } from './dialogs.js';
import { fill, h, scroller, tell } from './elements.js';
import { duration, exploration, percent, plain, plural } from './formats.js';
import { lacks } from './key.js';
import { Refused, pathOf, send } from './server.js';

const MODES = {
    online: 'online: the model decides and learns',
    apprentice: 'apprentice: returns the first allowed action, and learns to imitate it',
    logging: 'logging: returns the first allowed action, and learns nothing',
};
const AGGREGATIONS = {
    first: 'the first one counts, at once',
    last: 'the last one counts, when the time for rewards is over',
    sum: 'their sum counts, when the time for rewards is over',
    mean: 'their mean counts, when the time for rewards is over',
    max: 'the largest one counts, when the time for rewards is over',
};
const OUTSIDES = { accept: 'accept it unchanged', reject: 'reject the request', clip: 'learn the nearest limit' };
const HELD = { no: 'no', frozen: 'frozen: it decides and learns nothing', fallback: 'fallback: everybody gets the baseline' };
const PROMOTIONS = { offer: 'mark it here; a person promotes it', auto: 'promote it automatically' };

function retention(days) {
    return days === null ? 'as the server’s setting retention-days' : days === -1 ? 'for ever' : plural(days, 'day', 'days');
}

function noReward(value) {
    return value === null ? 'it is not learned' : `it is learned with the reward ${plain(value)}`;
}

// In the order of the table: [setting, label, its value in words].
const ROWS = [
    ['policy', 'Policy', (value) => `${value} – ${useOf(value)}`],
    ['options', 'Options of the policy', (value) => value || 'none: its defaults'],
    ['propensity', 'Exploration', (value) => exploration(value)],
    ['features', 'Input: named features', (value) => value || 'with default options'],
    ['dim', 'Input: vectors', (value) => `of ${plural(value, 'number', 'numbers')}`],
    ['seed', 'Seed of the random numbers', (value) => String(value)],
    ['mode', 'Mode', (value) => MODES[value] ?? value],
    ['wait', 'Time for rewards, after a decision', (value) => duration(value)],
    ['default_reward', 'A decision without a reward by then', noReward],
    ['aggregation', 'Several rewards for one decision', (value) => AGGREGATIONS[value] ?? value],
    ['rewards', 'Lowest and highest reward', (value) => `${plain(value[0])} to ${plain(value[1])}`],
    ['outside', 'A reward outside of these', (value) => OUTSIDES[value] ?? value],
    ['confidence', 'Confidence of intervals and promotions', (value) => percent(value, Number.isInteger(Math.round(value * 1e6) / 1e4) ? 0 : 2)],
    ['promote', 'A significantly better challenger', (value) => PROMOTIONS[value] ?? value],
    ['challengers', 'Challengers', (value) => value.map((one) => one.name).join(', ') || 'none'],
    ['metrics', 'Metrics besides the reward', (value) => value.map((one) => one.name).join(', ') || 'none'],
    ['guardrails', 'Guardrails', (value) => (value ? Object.keys(value).join(', ') : 'none')],
    ['held', 'Held', (value) => HELD[value] ?? value],
    ['retention_days', 'Events are kept', retention],
    ['personalizer', 'Settings of Personalizer’s API', (value) => (value ? JSON.stringify(value) : 'none')],
    ['tests', 'Challengers tested so far', (value) => String(value ?? 0)],
];
const USUAL = { options: '', seed: 0, challengers: [], metrics: [], guardrails: null, held: 'no', retention_days: null, personalizer: null };

function rowOf([name, label, words], settings) {
    const known = name in settings || name in USUAL;
    if (!known && name !== 'tests') return null;
    const value = settings[name] ?? USUAL[name] ?? null, usual = defaultOf(name, settings.policy) ?? USUAL[name] ?? null;
    const compared = name !== 'dim' && name !== 'tests' && policies().length > 0; // else the defaults are not loaded yet
    const differs = compared && JSON.stringify(value) !== JSON.stringify(usual);
    return h('tr', { class: differs ? 'differs' : null },
        h('th', { scope: 'row' }, label, h('small', { class: 'code' }, name)),
        h('td', {}, words(value), differs ? h('small', {}, h('span', { class: 'tag info' }, 'changed'), ` default: ${words(usual).split(' – ')[0]}`) : null));
}

const select = (name, words, chosen) => h('select', { name }, Object.entries(words).map(([value, text]) => h('option', { value, selected: value === chosen }, text)));

const input = (name, value, more = {}) => h('input', { name, value: value ?? '', autocomplete: 'off', spellcheck: 'false', ...more });

// The wait as the form shows it: "10m", or seconds.
function shortWait(seconds) {
    const [unit, size] = [['d', 86400], ['h', 3600], ['m', 60]].find(([, each]) => seconds % each === 0) ?? ['s', 1];
    return `${seconds / size}${unit}`;
}

function fieldsOf(settings) {
    const number = { type: 'number', step: 'any', inputmode: 'decimal' };
    return [
        field('Mode', select('mode', MODES, settings.mode), 'Another mode starts the results again.'),
        field('Time for rewards, after a decision', input('wait', shortWait(settings.wait)), 'For example 30s, 10m, 4h or 2d.'),
        field('Reward of a decision without one by then', input('default_reward', settings.default_reward, number), 'Empty: such decisions are not learned.'),
        field('Several rewards for one decision', select('aggregation', AGGREGATIONS, settings.aggregation)),
        field('Lowest reward', input('low', settings.rewards[0], number)),
        field('Highest reward', input('high', settings.rewards[1], number), 'Other limits start the results again.'),
        field('A reward outside of these', select('outside', OUTSIDES, settings.outside)),
        field('Confidence, in %', input('confidence', Math.round(settings.confidence * 1e6) / 1e4, number), '50 to 99.99. Applies to intervals and promotions.'),
        field('A significantly better challenger', select('promote', PROMOTIONS, settings.promote)),
        field('Events are kept, in days', input('retention_days', settings.retention_days, { ...number, step: '1' }), 'Empty: as the server’s setting. -1: for ever.'),
    ];
}

function read(data) {
    const number = (name) => (String(data.get(name)).trim() === '' ? null : Number(data.get(name)));
    return {
        mode: data.get('mode'), wait: String(data.get('wait')).trim(), default_reward: number('default_reward'), aggregation: data.get('aggregation'),
        rewards: [number('low'), number('high')], outside: data.get('outside'), confidence: Math.round(number('confidence') * 1e4) / 1e6, promote: data.get('promote'), retention_days: number('retention_days'),
    };
}

// Only what differs is sent, so that a change elsewhere in the meantime stays.
function differences(given, settings) {
    const now = { ...settings, wait: shortWait(settings.wait), retention_days: settings.retention_days ?? null };
    return Object.fromEntries(Object.entries(given).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(now[name])));
}

export function settingsCard(name, changed) {
    let settings = null;
    const body = h('tbody');
    const edit = h('button', { type: 'button', class: 'little end', onclick: () => change() }, 'Change settings');
    const table = scroller('Table of settings', h('table', { class: 'settings' },
        h('thead', {}, h('tr', {}, ['Setting', 'Value'].map((words) => h('th', { scope: 'col' }, words)))), body));
    const { node, header } = card('Settings', 'those that differ from the default are marked “changed”', table,
        h('p', { class: 'quiet-words small' }, 'Policy, options, exploration, input and seed are fixed when a bandit is created. To change the policy, add a challenger and promote it.'));
    header.append(edit);

    function change() {
        const before = settings;
        return question({
            title: `Settings of ${name}`,
            words: lacks('admin'),
            fields: fieldsOf(before),
            confirm: 'Save',
            act: async (data) => {
                const no = lacks('admin');
                if (no) throw new Refused(403, no, 0);
                const given = differences(read(data), before);
                if (!Object.keys(given).length) throw new Refused(0, 'nothing was changed', 0);
                await send(pathOf(name), given, 'PATCH');
                tell('Settings saved.');
                changed();
            },
        });
    }

    return {
        node,
        update(entry) {
            settings = entry.settings;
            edit.disabled = entry.archived;
            fill(body, [settings, useOf(settings.policy)], () => ROWS.map((row) => rowOf(row, settings)));
        },
    };
}
