// The read-only cards of a bandit.
import { fill, h, mark, say, scroller, show } from './elements.js';
import { DASH, count, duration, featureName, interval, known, milliseconds, moment, percent, plain, plural, rate, real, signed } from './formats.js';
import { spark } from './spark.js';

let made = 0;

// A card with a heading; `under` is a line beside it.
export function card(title, under, ...children) {
    const id = `card-${++made}`;
    const note = h('p', {}, under);
    const header = h('header', {}, h('h2', { id }, title), note);
    return { node: h('section', { class: 'card', 'aria-labelledby': id }, header, children), note, header };
}

// An empty state.
export function empty(words) {
    return h('p', { class: 'empty' }, words);
}

// ---- numbers ----

// sparkOf: label of the line below (optional). least: see spark.
export function number(title, sparkOf, least) {
    const id = `card-${++made}`;
    const value = h('p', { class: 'value' }, DASH), under = h('p', { class: 'under' });
    const line = sparkOf ? spark(sparkOf, least) : null;
    const node = h('div', { class: 'card number', role: 'group', 'aria-labelledby': id }, h('h2', { id }, title), value, under, line?.node);
    return {
        node,
        update(words, unit, below, values) {
            fill(value, [words, unit], () => [words, unit ? h('small', {}, ` ${unit}`) : null]);
            say(under, below ?? '');
            if (line && values) line.update(values);
        },
    };
}

// The mean of the last few seconds, steady enough to read.
export function lately(seconds, name, span = 10) {
    const last = seconds.slice(-span);
    return last.length ? last.reduce((sum, second) => sum + second[name], 0) / last.length : 0;
}

export function ratePair() {
    const decisions = number('Decisions', 'Decisions per second, last five minutes'), rewards = number('Rewards', 'Rewards per second, last five minutes');
    return {
        nodes: [decisions.node, rewards.node],
        update(activity) {
            const { seconds } = activity;
            decisions.update(rate(lately(seconds, 'decisions')), 'per second', `${count(activity.decisions)} since the server started`, seconds.map((s) => s.decisions));
            rewards.update(rate(lately(seconds, 'rewards')), 'per second', `${count(activity.joined)} counted since the server started; ${plural(activity.waiting, 'decision waits', 'decisions wait')} for a reward`, seconds.map((s) => s.rewards));
        },
    };
}

// ---- bars ----

// rows: [{name, share, words, note, kind}], share from 0 to 1 of the track.
export function bars(label) {
    const node = h('ul', { class: 'bars', 'aria-label': label });
    const rows = [];
    return {
        node,
        update(list) {
            while (rows.length < list.length) {
                const row = { name: h('span', { class: 'name' }), share: h('span', { class: 'share' }), fill: h('i'), note: h('span', { class: 'note' }) };
                row.node = h('li', {}, row.name, row.share, h('span', { class: 'track', 'aria-hidden': 'true' }, row.fill), row.note);
                rows.push(row);
                node.append(row.node);
            }
            rows.forEach((row, i) => {
                const of = list[i];
                show(row.node, Boolean(of));
                if (!of) return;
                say(row.name, of.name);
                say(row.share, of.words);
                show(say(row.note, of.note ?? ''), Boolean(of.note));
                mark(row.node, 'class', of.kind === 'bad' ? 'bad' : null);
                row.fill.className = of.kind ?? '';
                const width = `${(100 * Math.max(0, Math.min(1, of.share))).toFixed(2)}%`;
                if (row.fill.style.width !== width) row.fill.style.width = width;
            });
        },
    };
}

export function actionsCard() {
    const list = bars('Shares of the actions'), none = empty('No decision since the server started. Shares appear with the first one.');
    const { node, note } = card('Which actions are chosen', '', list.node, none);
    return {
        node,
        update(activity) {
            const any = activity.actions.length > 0;
            show(none, !any);
            say(note, any ? `share of the last ${plural(activity.shares_of, 'decision', 'decisions')}` : '');
            const most = Math.max(0.0001, activity.others, ...activity.actions.map((action) => action.share));
            const rows = activity.actions.map((action) => ({ name: action.id, share: action.share / most, words: percent(action.share), note: `chosen with a probability of ${percent(action.probability, 0)} on average` }));
            if (activity.others > 0.0005) rows.push({ name: 'all other actions', share: activity.others / most, words: percent(activity.others), kind: 'other' });
            list.update(rows);
        },
    };
}

export function importanceCard() {
    const list = bars('Importance of the features'), none = empty('');
    const { node, note } = card('Which features matter', '', list.node, none);
    return {
        node,
        update(found) {
            const features = (found?.features ?? []).filter((feature) => feature.importance > 0).slice(0, 12);
            show(none, !features.length);
            say(none, found?.features?.length ? 'No feature changes the predicted reward yet: the model needs more rewards.' : 'Not measured yet. The server measures this in the background, on the decisions of the last day.');
            say(note, features.length ? `how much each changes the predicted reward, on average over ${plural(found.decisions, 'decision', 'decisions')} of the last day` : '');
            const most = features[0]?.importance ?? 1;
            list.update(features.map((feature) => ({ name: featureName(feature.name), share: feature.importance / most, words: real(feature.importance, feature.importance < 0.01 ? 4 : 3) })));
        },
        say(words) {
            list.update([]);
            say(note, '');
            show(say(none, words), true);
        },
    };
}

// ---- facts ----

function facts() {
    const node = h('dl', { class: 'facts-list' });
    const rows = new Map();
    return {
        node,
        set(name, words) {
            if (!rows.has(name)) {
                const value = h('dd');
                rows.set(name, value);
                node.append(h('dt', {}, name), value);
            }
            say(rows.get(name), words);
        },
    };
}

// How far the model is behind: in seconds, if the server says so, and in events.
function behindWords({ behind, lag_seconds: lag }) {
    if (!behind) return 'nothing';
    const events = plural(behind, 'event', 'events');
    return known(lag) ? `${duration(lag)} (${events})` : events;
}

export function trainingCard() {
    const list = facts();
    const { node } = card('Learning', 'in the background; model versions are numbers of log events', list.node);
    return {
        node,
        update(activity) {
            list.set('Newest model made', activity.awake ? (activity.model_age < 2 ? 'just now' : `${duration(activity.model_age)} ago`) : 'not loaded until a request');
            list.set('Model version', count(activity.version));
            list.set('Behind the log by', behindWords(activity));
            list.set('Learns from', activity.stride > 1 ? `1 in ${count(activity.stride)} rewards` : 'every reward');
            list.set('Training time since loaded', duration(activity.train_seconds));
        },
    };
}

export function rewardsCard() {
    const list = facts();
    const { node } = card('What happened to rewards', 'since the server started', list.node);
    return {
        node,
        update(activity) {
            list.set('Rewards counted for their decision', count(activity.joined));
            list.set('Decisions waiting for a reward', count(activity.waiting));
            list.set('Decisions without a reward in time', count(activity.defaulted));
            list.set('Rewards too late: not learned', count(activity.late));
            list.set('Rewards with an unknown decision id', count(activity.unknown));
            list.set('Further rewards, ignored', count(activity.repeated));
            list.set('Rewards out of range: rejected', count(activity.rejected));
            list.set('Rewards out of range: limited', count(activity.clipped));
            list.set('Outliers: learned with less effect', count(activity.limited));
        },
    };
}

export function latencyCard() {
    const rows = {};
    const body = h('tbody', {}, ['decide', 'reward'].map((name) => {
        rows[name] = { p50: h('td', { class: 'right' }, DASH), p99: h('td', { class: 'right' }, DASH) };
        return h('tr', {}, h('th', { scope: 'row' }, name === 'decide' ? 'Decisions' : 'Rewards'), rows[name].p50, rows[name].p99);
    }));
    const { node } = card('Response time', 'requests to all bandits in the last two minutes', scroller('Table of response times', h('table', { class: 'latency' },
        h('thead', {}, h('tr', {}, h('td'), h('th', { scope: 'col', class: 'right' }, 'half within'), h('th', { scope: 'col', class: 'right' }, '99% within'))), body)));
    return {
        node,
        update(activity) {
            for (const [name, cells] of Object.entries(rows))
                for (const quantile of ['p50', 'p99']) say(cells[quantile], milliseconds(activity.latency[name][quantile]));
        },
    };
}

// Why a challenger took over; changes by other requests bring their own words.
function whyOf(promotion) {
    if (!known(promotion.gain)) return promotion.why ?? DASH;
    const by = promotion.by === 'auto' ? 'Automatically' : promotion.by === 'request' ? 'By hand' : `By ${promotion.by}`;
    const gained = `${signed(promotion.gain)} reward per decision, measured on ${plural(promotion.events, 'decision', 'decisions')}`;
    if (promotion.won) return `${by}: ${gained}. Significant: a challenger that is no better passes this test with a probability of at most ${percent(promotion.alpha)}.`;
    return `${by}, not significant: ${gained} (interval ${interval(promotion.gain_low, promotion.gain_high, signed)}).`;
}

export function promotionsCard() {
    const list = h('tbody');
    const table = scroller('Table of promotions', h('table', {},
        h('thead', {}, h('tr', {}, ['When', 'From', 'To', 'Why'].map((name) => h('th', { scope: 'col' }, name)))), list));
    const none = empty('No promotion yet. Once a challenger is significantly better, promote it above; it then makes the decisions.');
    const { node } = card('Promotions', 'when a challenger became the policy of this bandit', table, none);
    return {
        node,
        update(promotions) {
            show(none, !promotions.length);
            show(table, promotions.length > 0);
            fill(list, promotions, () => [...promotions].reverse().map((one) =>
                h('tr', {}, h('th', { scope: 'row' }, moment(one.time, 'short')), h('td', {}, one.from ?? DASH), h('td', {}, one.to ?? DASH), h('td', {}, whyOf(one)))));
        },
    };
}

// ---- slots ----

// Only for bandits that fill several slots at once.
export function slotsCard() {
    const body = h('tbody'), more = h('p', { class: 'quiet-words small' });
    const table = scroller('Table of slots', h('table', {}, h('thead', {}, h('tr', {}, ['Slot', 'Decisions', 'Explored', 'Rewards', 'Mean of these rewards'].map((words, i) =>
        h('th', { scope: 'col', class: i ? 'right' : null }, words)))), body));
    const { node } = card('Slots', 'since the server started; each slot of a request is a decision', table, more);
    show(node, false);
    return {
        node,
        update(activity) {
            const slots = activity.slots ?? [];
            show(node, slots.length > 0);
            fill(body, slots, () => slots.map((slot) => h('tr', {}, h('th', { scope: 'row' }, slot.id),
                [count(slot.decisions), percent(slot.decisions ? slot.explored / slot.decisions : NaN), count(slot.rewards), real(slot.mean_reward)].map((words) => h('td', { class: 'right' }, words)))));
            const others = activity.other_slots ? ` Further slots made ${plural(activity.other_slots, 'decision', 'decisions')}.` : '';
            say(more, `Explored: the slot did not get the most probable action. Rewards: those that named the slot.${others}`);
        },
    };
}

// ---- warnings ----

const LARGE_LAG = 10; // seconds

export function warnings(entry, activity) {
    const list = [];
    const settings = entry?.settings ?? {};
    if (entry?.archived) list.push(['warn', 'This bandit is archived: it no longer decides or learns. Its log and model are kept, and an administrator can restore it.']);
    if (entry?.trouble) list.push(['bad', `Learning has stopped: ${entry.trouble}`]);
    if (settings.mode === 'apprentice') list.push(['', 'Apprentice mode: returns the first allowed action of each request, and learns to imitate it.']);
    if (settings.mode === 'logging') list.push(['', 'Logging mode: returns the first allowed action of each request, and learns nothing.']);
    if (!activity) return list;
    if (known(activity.lag_seconds) && activity.lag_seconds > LARGE_LAG) list.push(['warn', `The model is ${duration(activity.lag_seconds)} behind the log: decisions do not use the latest rewards yet. If this lasts, add cores or use a smaller network.`]);
    if (activity.stride > 1) list.push(['warn', `Rewards arrive faster than the model can learn: it trains on 1 in ${count(activity.stride)} and is ${plural(activity.behind, 'event', 'events')} behind. Add cores or use a smaller network.`]);
    const received = activity.joined + activity.late + activity.unknown + activity.repeated;
    if (received >= 100 && activity.late > 0.05 * received) list.push(['warn', `${percent(activity.late / received, 0)} of rewards arrive too late and are not learned: they have ${duration(settings.wait)}. Increase the time for rewards (“wait”) in the settings.`]);
    if (received >= 100 && activity.unknown > 0.05 * received) list.push(['warn', `${percent(activity.unknown / received, 0)} of rewards have an id that no decision has so far, and are not learned. Send the id that the decision returned.`]);
    if (activity.rejected > 0) list.push(['warn', `${plural(activity.rejected, 'reward was', 'rewards were')} rejected: outside ${plain(settings.rewards?.[0])} to ${plain(settings.rewards?.[1])}. Fix the callers, or change the lowest and highest reward in the settings.`]);
    if (known(activity.decisions) && activity.decisions >= 1000 && received === 0) list.push(['warn', `${count(activity.decisions)} decisions but no reward: the bandit cannot learn which action is better. Check that your application sends rewards.`]);
    return list;
}
