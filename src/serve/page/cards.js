// The cards of a bandit that only show.
import { fill, h, say, scroller, show } from './elements.js';
import { DASH, count, duration, known, milliseconds, moment, percent, plural, rate, real } from './formats.js';
import { spark } from './spark.js';

let made = 0;

// A card with a heading; `under` is a line beside it.
export function card(title, under, ...children) {
    const id = `card-${++made}`;
    const note = h('p', {}, under);
    const header = h('header', {}, h('h2', { id }, title), note);
    return { node: h('section', { class: 'card', 'aria-labelledby': id }, header, children), note, header };
}

// A sentence where there is nothing to show.
export function empty(words) {
    return h('p', { class: 'empty' }, words);
}

// ---- numbers ----

// sparkOf: what the line beneath it is of; none without. least: see spark.
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

// The mean of the last few seconds, so that the number can be read.
export function lately(seconds, name, span = 10) {
    const last = seconds.slice(-span);
    return last.length ? last.reduce((sum, second) => sum + second[name], 0) / last.length : 0;
}

export function ratePair() {
    const decisions = number('Decisions', 'Decisions of each second, the last five minutes'), rewards = number('Rewards', 'Rewards of each second, the last five minutes');
    return {
        nodes: [decisions.node, rewards.node],
        update(activity) {
            const { seconds } = activity;
            decisions.update(rate(lately(seconds, 'decisions')), 'a second', `${count(activity.decisions)} since the start`, seconds.map((s) => s.decisions));
            rewards.update(rate(lately(seconds, 'rewards')), 'a second', `${count(activity.joined)} joined, ${count(activity.waiting)} awaited`, seconds.map((s) => s.rewards));
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
                row.fill.className = of.kind ?? '';
                const width = `${(100 * Math.max(0, Math.min(1, of.share))).toFixed(2)}%`;
                if (row.fill.style.width !== width) row.fill.style.width = width;
            });
        },
    };
}

export function actionsCard() {
    const list = bars('Shares of the actions'), none = empty('No decision since the server started.');
    const { node, note } = card('Which actions are taken', '', list.node, none);
    return {
        node,
        update(activity) {
            const any = activity.actions.length > 0;
            show(none, !any);
            say(note, any ? `of the last ${plural(activity.shares_of, 'decision', 'decisions')}` : '');
            const most = Math.max(0.0001, activity.others, ...activity.actions.map((action) => action.share));
            const rows = activity.actions.map((action) => ({ name: action.id, share: action.share / most, words: percent(action.share), note: `mean probability when chosen: ${real(action.probability, 2)}` }));
            if (activity.others > 0.0005) rows.push({ name: 'all others', share: activity.others / most, words: percent(activity.others), kind: 'other' });
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
            say(none, found?.features?.length ? 'None moves the expected reward yet: the model has learned too little.' : 'Nothing is known yet: this is measured in the background, from the decisions of the last day.');
            say(note, features.length ? `how far each moves the expected reward, mean over ${plural(found.decisions, 'decision', 'decisions')}` : '');
            const most = features[0]?.importance ?? 1;
            list.update(features.map((feature) => ({ name: feature.name, share: feature.importance / most, words: real(feature.importance, feature.importance < 0.01 ? 4 : 3) })));
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

export function trainingCard() {
    const list = facts();
    const { node } = card('Training', 'the model follows the log', list.node);
    return {
        node,
        update(activity) {
            list.set('Version that decides', count(activity.version));
            list.set('Published', activity.awake ? (activity.model_age < 2 ? 'just now' : `${duration(activity.model_age)} ago`) : 'asleep: nobody asks');
            list.set('Events behind', count(activity.behind));
            list.set('Trains for', activity.stride > 1 ? `one reward in ${count(activity.stride)}` : 'every reward');
            list.set('Time spent on training', duration(activity.train_seconds));
        },
    };
}

export function rewardsCard() {
    const list = facts();
    const { node } = card('What became of rewards', 'since the server started', list.node);
    return {
        node,
        update(activity) {
            list.set('Joined to a decision', count(activity.joined));
            list.set('Decisions that still wait', count(activity.waiting));
            list.set('Came too late', count(activity.late));
            list.set('For no known decision', count(activity.unknown));
            list.set('Repeated', count(activity.repeated));
            list.set('Settled by the default', count(activity.defaulted));
            list.set('Rejected: outside the range', count(activity.rejected));
            list.set('Clipped to the range', count(activity.clipped));
            list.set('Outliers, learned limited', count(activity.limited));
        },
    };
}

export function latencyCard() {
    const rows = {};
    const body = h('tbody', {}, ['decide', 'reward'].map((name) => {
        rows[name] = { p50: h('td', { class: 'right' }, DASH), p99: h('td', { class: 'right' }, DASH) };
        return h('tr', {}, h('th', { scope: 'row' }, name === 'decide' ? 'A decision' : 'A reward'), rows[name].p50, rows[name].p99);
    }));
    const { node } = card('How fast it answers', 'all bandits, the last two minutes', h('table', { class: 'latency' },
        h('thead', {}, h('tr', {}, h('td'), h('th', { scope: 'col', class: 'right' }, 'half within'), h('th', { scope: 'col', class: 'right' }, '99 of 100 within'))), body));
    return {
        node,
        update(activity) {
            for (const [name, cells] of Object.entries(rows))
                for (const quantile of ['p50', 'p99']) say(cells[quantile], milliseconds(activity.latency[name][quantile]));
        },
    };
}

export function promotionsCard() {
    const list = h('tbody');
    const table = scroller('Table of promotions', h('table', {},
        h('thead', {}, h('tr', {}, ['When', 'From', 'To', 'Why'].map((name) => h('th', { scope: 'col' }, name)))), list));
    const none = empty('None yet. A challenger is promoted once it is shown to earn more, by hand or by itself.');
    const { node } = card('Promotions', 'when another policy took over', table, none);
    return {
        node,
        update(promotions) {
            show(none, !promotions.length);
            show(table, promotions.length > 0);
            fill(list, promotions, () => [...promotions].reverse().map((one) =>
                h('tr', {}, h('th', { scope: 'row' }, moment(one.time)), h('td', {}, one.from ?? DASH), h('td', {}, one.to ?? DASH), h('td', {}, one.why ?? DASH))));
        },
    };
}

// ---- warnings ----

export function warnings(entry, activity) {
    const list = [];
    const settings = entry?.settings ?? {};
    if (entry?.archived) list.push(['warn', 'This bandit is archived: it decides and learns no more. Its log and its model are kept.']);
    if (entry?.trouble) list.push(['bad', `It does not learn: ${entry.trouble}`]);
    if (settings.mode === 'apprentice') list.push(['', 'Apprentice mode: it answers the first action of each request, and learns to do as that does.']);
    if (settings.mode === 'logging') list.push(['', 'Logging mode: it answers the first action of each request, and learns nothing.']);
    if (!activity) return list;
    if (activity.stride > 1) list.push(['warn', `More rewards come than it can learn: it trains for one in ${count(activity.stride)}, and is ${plural(activity.behind, 'event', 'events')} behind. More cores or a smaller network help.`]);
    const told = activity.joined + activity.late + activity.unknown + activity.repeated;
    if (told >= 100 && activity.late > 0.05 * told) list.push(['warn', `${percent(activity.late / told, 0)} of the rewards come too late: the wait of ${duration(settings.wait)} is too short.`]);
    if (told >= 100 && activity.unknown > 0.05 * told) list.push(['warn', `${percent(activity.unknown / told, 0)} of the rewards are for ids that nobody decided: callers mix up ids, or rewards overtake decisions.`]);
    if (activity.rejected > 0) list.push(['warn', `${plural(activity.rejected, 'reward was', 'rewards were')} rejected: outside ${settings.rewards?.[0]} to ${settings.rewards?.[1]}. Correct the callers, or change "rewards" in the settings.`]);
    if (known(activity.decisions) && activity.decisions >= 1000 && told === 0) list.push(['warn', 'Decisions come, but no rewards: without them it learns that nothing is worth anything.']);
    return list;
}
