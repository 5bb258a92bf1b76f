// The view of one bandit: its cards, and the requests that fill them.
import { actionsCard, card, empty, importanceCard, latencyCard, number, promotionsCard, ratePair, rewardsCard, trainingCard, warnings } from './cards.js';
import { challengersCard } from './challengers.js';
import { valueChart } from './chart.js';
import { fill, h, say, show } from './elements.js';
import { DASH, duration, exploration, interval, known, moment, percent, plural, real } from './formats.js';
import { headlineCard } from './headline.js';
import { Refused, ask, can, pathOf, poll } from './server.js';
import { tryCard } from './trying.js';

function facts(settings) {
    const list = [['Policy', settings.policy], ['Exploration', exploration(settings.propensity)], ['Reward wait', duration(settings.wait)],
        ['Default reward', settings.default_reward === null ? 'none' : real(settings.default_reward, Number.isInteger(settings.default_reward) ? 0 : 2)]];
    if (settings.options) list.splice(1, 0, ['Options', settings.options]);
    if (settings.dim > 0) list.push(['Input', `vectors of ${plural(settings.dim, 'number', 'numbers')}`]);
    if (settings.mode !== 'online') list.push(['Mode', settings.mode]);
    return list.map(([name, words]) => h('span', {}, `${name} `, h('b', {}, words)));
}

function valueWords(evaluation) {
    const online = evaluation.policies?.find((policy) => policy.kind === 'online');
    if (!known(online?.value)) return [DASH, '', evaluation.promotions?.length ? 'no results since the promotion' : 'no decision has its reward yet'];
    return [real(online.value), 'per decision', known(online.low) ? `${interval(online.low, online.high)} (${percent(evaluation.confidence, 0)})` : ''];
}

function exploredWords(activity) {
    return known(activity.entropy) ? `of decisions explored; randomness ${percent(activity.entropy, 0)}` : 'no decision since start';
}

const EXPLORED = 'Explored: did not take the most probable action. Randomness of the choices: 100% is uniform, 0% is deterministic.';

function noData(evaluation) {
    const counts = 'A decision counts once its reward has arrived or its waiting time is over.';
    if (evaluation.events) return `No data yet: ${plural(evaluation.events, 'decision has', 'decisions have')} a final reward. ${counts}`;
    return evaluation.promotions?.length ? `Results start again after a promotion. ${counts}` : `No data yet. ${counts}`;
}

export function bandit(name) {
    let entry = null, activity = null, trying = null;
    const details = h('div', { class: 'facts' });
    const notices = h('div', { class: 'notices', role: 'status' });
    const head = h('div', { class: 'head' }, h('h1', {}, name), h('button', { type: 'button', class: 'little', onclick: () => jump() }, 'Try a decision'), details);
    const rates = ratePair(), value = number('Mean reward', 'Mean reward over time', 1e-6), chance = number('Exploration', 'Exploring decisions per second, last five minutes');
    const headline = headlineCard(name), chart = valueChart(), chartNone = empty('');
    const earned = card('Mean reward over time', '', chart.node, chartNone);
    const challengers = challengersCard(name, () => evaluationPoll.wake());
    const actions = actionsCard(), importance = importanceCard();
    const training = trainingCard(), rewards = rewardsCard(), latency = latencyCard(), promotions = promotionsCard();
    const tryPlace = h('div');
    const node = h('div', { class: 'view' }, head, notices, headline.node,
        h('div', { class: 'numbers' }, rates.nodes, value.node, chance.node),
        earned.node, challengers.node,
        h('div', { class: 'columns' }, actions.node, importance.node),
        tryPlace,
        h('div', { class: 'columns three' }, training.node, rewards.node, latency.node),
        promotions.node);
    value.update(DASH, '', '');
    chance.update(DASH, '', '');
    chance.node.title = EXPLORED;
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
        chance.update(percent(activity.explored), '', exploredWords(activity), activity.seconds.map((second) => second.explored));
        for (const one of [actions, training, rewards, latency]) one.update(activity);
        warn();
    }

    async function lookAtEvaluation() {
        if (!can('/evaluation')) {
            const words = 'This server does not evaluate policies. Export the log (GET /v1/bandits/NAME/log) and run “eenet evaluate”.';
            challengers.say(words);
            show(say(chartNone, words), true);
            return;
        }
        const evaluation = await ask(pathOf(name, '/evaluation'));
        const pending = activity?.waiting ?? evaluation.waiting; // the first is exact, the other up to date only at times
        if (entry) headline.update(evaluation, entry, pending);
        value.update(...valueWords(evaluation), evaluation.series?.policies?.online?.value?.map((one) => one ?? 0));
        const any = chart.update(evaluation);
        show(say(chartNone, any ? '' : noData(evaluation)), !any);
        say(earned.note, any ? `since ${moment(evaluation.from, 'short')}; band and bars: ${percent(evaluation.confidence, 0)} intervals` : '');
        challengers.update(evaluation, entry, pending);
        promotions.update(evaluation.promotions ?? []);
    }

    async function lookAtImportance() {
        if (!can('/importance')) return importance.say('This server does not measure feature importance.');
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
