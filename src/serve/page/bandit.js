// One bandit: its cards, and what is asked for them.
import { actionsCard, card, empty, importanceCard, latencyCard, number, promotionsCard, ratePair, rewardsCard, trainingCard, warnings } from './cards.js';
import { challengersCard } from './challengers.js';
import { valueChart } from './chart.js';
import { fill, h, say, show } from './elements.js';
import { DASH, duration, interval, known, moment, percent, plural, real, signed } from './formats.js';
import { Refused, ask, can, pathOf, poll } from './server.js';
import { tryCard } from './trying.js';

function facts(settings) {
    const list = [['Policy', settings.policy], ['Takes', settings.dim > 0 ? `vectors of ${settings.dim}` : 'named features'], ['Chance', settings.propensity], ['Waits', duration(settings.wait)],
        ['Then counts', settings.default_reward === null ? 'nothing' : real(settings.default_reward, Number.isInteger(settings.default_reward) ? 0 : 2)], ['Mode', settings.mode]];
    if (settings.options) list.splice(1, 0, ['Options', settings.options]);
    return list.map(([name, words]) => h('span', {}, `${name} `, h('b', {}, words)));
}

// What this bandit earns, and by how much that is more than without it.
function valueWords(evaluation) {
    const find = (kind) => evaluation.policies?.find((policy) => policy.kind === kind);
    const online = find('online'), baseline = find('baseline');
    if (!known(online?.value)) return [DASH, '', 'no settled decisions yet'];
    const against = known(baseline?.value) ? `; ${signed(online.value - baseline.value)} against the baseline` : '';
    return [real(online.value), '', known(online.low) ? `${interval(online.low, online.high)}${against}` : against.slice(2)];
}

export function bandit(name) {
    let entry = null, activity = null, trying = null;
    const details = h('div', { class: 'facts' });
    const notices = h('div', { class: 'notices', role: 'status' });
    const head = h('div', { class: 'head' }, h('h1', {}, name), h('button', { type: 'button', class: 'little', onclick: () => jump() }, 'Try it'), details);
    const rates = ratePair(), value = number('Mean reward', 'Mean reward over time', 1e-6), chance = number('Explored', 'Explored decisions of each second, the last five minutes');
    const chart = valueChart(), chartNone = empty('');
    const earned = card('What decisions earn', '', chart.node, chartNone);
    const challengers = challengersCard(name, () => evaluationPoll.wake());
    const actions = actionsCard(), importance = importanceCard();
    const training = trainingCard(), rewards = rewardsCard(), latency = latencyCard(), promotions = promotionsCard();
    const tryPlace = h('div');
    const node = h('div', { class: 'view' }, head, notices,
        h('div', { class: 'numbers' }, rates.nodes, value.node, chance.node),
        earned.node, challengers.node,
        h('div', { class: 'columns' }, actions.node, importance.node),
        tryPlace,
        h('div', { class: 'columns three' }, training.node, rewards.node, latency.node),
        promotions.node);
    value.update(DASH, '', '');
    chance.update(DASH, '', '');
    earned.header.append(chart.choice);
    show(chart.node, false);
    show(chart.choice, false);

    function jump() {
        trying?.node.scrollIntoView({ block: 'start' });
        trying?.focus();
    }

    function warn() {
        const list = warnings(entry, activity);
        fill(notices, list, () => list.map(([kind, words]) => h('p', { class: `notice ${kind}` }, words)));
    }

    async function lookAtActivity() {
        activity = await ask(pathOf(name, '/activity'));
        rates.update(activity);
        chance.update(percent(activity.explored), '', known(activity.entropy) ? `of decisions; probabilities ${percent(activity.entropy, 0)} even` : 'no decision since the start', activity.seconds.map((second) => second.explored));
        for (const one of [actions, training, rewards, latency]) one.update(activity);
        warn();
    }

    async function lookAtEvaluation() {
        if (!can('/evaluation')) {
            const words = 'This server does not evaluate while it runs. “eenet evaluate” does it on the log that it exports.';
            challengers.say(words);
            show(say(chartNone, words), true);
            return;
        }
        const evaluation = await ask(pathOf(name, '/evaluation'));
        value.update(...valueWords(evaluation), evaluation.series?.policies?.online?.value?.map((one) => one ?? 0));
        const any = chart.update(evaluation);
        show(say(chartNone, any ? '' : `Nothing to draw yet: ${plural(evaluation.events, 'decision is', 'decisions are')} settled. A decision counts once its reward came or its wait is over.`), !any);
        say(earned.note, any ? `mean reward since ${moment(evaluation.from)}` : '');
        challengers.update(evaluation);
        promotions.update(evaluation.promotions ?? []);
    }

    async function lookAtImportance() {
        if (!can('/importance')) return importance.say('This server does not measure it.');
        try {
            importance.update(await ask(pathOf(name, '/importance')));
        } catch (error) {
            if (error instanceof Refused && error.status < 500) return importance.say(`${error.message}.`);
            throw error;
        }
    }

    promotions.update([]);
    importance.update(null);
    const activityPoll = poll(1, lookAtActivity), evaluationPoll = poll(4, lookAtEvaluation), importancePoll = poll(20, lookAtImportance);
    const polls = [activityPoll, evaluationPoll, importancePoll];
    return {
        name,
        node,
        describe(given) {
            entry = given;
            fill(details, given.settings, () => facts(given.settings));
            if (!trying) {
                trying = tryCard(name, given.settings);
                tryPlace.replaceChildren(trying.node);
            }
            show(tryPlace, !given.archived);
            warn();
        },
        wake: () => polls.forEach((one) => one.wake()),
        stop: () => polls.forEach((one) => one.stop()),
    };
}
