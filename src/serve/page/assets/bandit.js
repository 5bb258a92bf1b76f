// The view of one bandit: its cards, and the requests that fill them.
import { actionsCard, card, empty, importanceCard, latencyCard, number, promotionsCard, ratePair, rewardsCard, slotsCard, trainingCard, warnings } from './cards.js';
import { challengersCard } from './challengers.js';
import { valueChart } from './chart.js';
import { fill, h, say, show } from './elements.js';
import { evaluationsCard } from './evaluations.js';
import { DASH, duration, exploration, interval, known, moment, percent, plain, plural, real } from './formats.js';
import { guardrailsCard } from './guardrails.js';
import { headlineCard } from './headline.js';
import { Refused, ask, can, pathOf, poll } from './server.js';
import { settingsCard } from './settings.js';
import { tryCard } from './trying.js';

function facts(settings) {
    const list = [['Policy', settings.policy], ['Exploration', exploration(settings.propensity)], ['Time for rewards', duration(settings.wait)],
        ['Decisions without a reward', settings.default_reward === null ? 'are not learned' : `count as ${plain(settings.default_reward)}`]];
    if (settings.options) list.splice(1, 0, ['Options', settings.options]);
    if (settings.dim > 0) list.push(['Input', `vectors of ${plural(settings.dim, 'number', 'numbers')}`]);
    if (settings.mode !== 'online') list.push(['Mode', settings.mode]);
    return list.map(([name, words]) => h('span', {}, `${name} `, h('b', {}, words)));
}

function valueWords(evaluation) {
    const online = evaluation.policies?.find((policy) => policy.kind === 'online');
    if (!known(online?.value)) return [DASH, '', evaluation.promotions?.length ? 'no results since the promotion' : 'no results yet'];
    return [real(online.value), 'per decision', known(online.low) ? `${percent(evaluation.confidence, 0)} interval: ${interval(online.low, online.high)}` : ''];
}

function exploredWords(activity) {
    if (!known(activity.explored)) return 'no decision since the server started';
    return `of the last ${plural(activity.shares_of, 'decision', 'decisions')} did not take the most probable action`;
}

function noData(evaluation, settings, pending) {
    const counts = `Decisions are evaluated in order, each once its reward has arrived or its time for rewards is over${settings ? ` (${duration(settings.wait)})` : ''}.${pending && !evaluation.events ? ' The first one is still waiting.' : ''}`;
    if (evaluation.events) return `Not enough data for a line yet: ${plural(evaluation.events, 'decision has', 'decisions have')} a final reward. ${counts}`;
    return evaluation.promotions?.length ? `Results start again after a promotion. ${counts}` : `No data yet. ${counts}`;
}

// counted(activity) is called with each count of decisions, changed() after a change of the settings.
export function bandit(name, counted, changed) {
    let entry = null, activity = null, trying = null;
    const details = h('div', { class: 'facts' });
    const notices = h('div', { class: 'notices', role: 'status' });
    const head = h('div', { class: 'head' }, h('h1', {}, name), details);
    const parts = h('nav', { class: 'parts', 'aria-label': 'Parts of this page' });
    const rates = ratePair(), value = number('Mean reward', 'Mean reward over time', 1e-6), chance = number('Exploration', 'Decisions per second that did not take the most probable action, last five minutes');
    const headline = headlineCard(name), chart = valueChart(), chartNone = empty('');
    const earned = card('Mean reward over time', '', chart.node, chartNone);
    const challengers = challengersCard(name, () => evaluationPoll.wake());
    const guardrails = guardrailsCard(name, () => { changed(); evaluationPoll.wake(); });
    const actions = actionsCard(), importance = importanceCard();
    const slots = slotsCard(), settings = settingsCard(name, changed), evaluations = evaluationsCard(name, () => jobsPoll.wake());
    const training = trainingCard(), rewards = rewardsCard(), latency = latencyCard(), promotions = promotionsCard();
    const tryPlace = h('div');
    const health = h('div', { class: 'columns three' }, training.node, rewards.node, latency.node);
    const node = h('div', { class: 'view' }, head, guardrails.banner, notices, parts, headline.node,
        h('div', { class: 'numbers' }, rates.nodes, value.node, chance.node),
        earned.node, guardrails.node, challengers.node, promotions.node,
        h('div', { class: 'columns' }, actions.node, importance.node),
        slots.node, tryPlace, evaluations.node, health, settings.node);
    const places = [['Result', headline.node], ['Guardrails', guardrails.node], ['Policies', challengers.node], ['Actions', actions.node], ['Try a decision', tryPlace], ['Evaluations', evaluations.node], ['Health', health], ['Settings', settings.node]];
    parts.append(...places.map(([words, place]) => h('button', { type: 'button', class: 'little', onclick: () => (place === tryPlace ? jump() : goTo(place)) }, words)));
    value.update(DASH, '', '');
    chance.update(DASH, '', '');
    earned.header.append(chart.choice);
    show(chart.node, false);
    show(chart.choice, false);

    function goTo(place) {
        place.scrollIntoView({ block: 'start' });
        place.setAttribute('tabindex', '-1');
        place.focus({ preventScroll: true });
    }

    // To the form, ready to type.
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
        for (const one of [actions, slots, training, rewards, latency]) one.update(activity);
        counted(activity);
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
        show(say(chartNone, any ? '' : noData(evaluation, entry?.settings, pending)), !any);
        say(earned.note, any ? `per decision, since ${moment(evaluation.from, 'short')}; shaded band and bars: ${percent(evaluation.confidence, 0)} intervals` : '');
        challengers.update(evaluation, entry, pending);
        promotions.update(evaluation.promotions ?? []);
        guardrails.update(evaluation);
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

    async function lookAtJobs() {
        show(evaluations.node, can('/evaluations'));
        if (can('/evaluations')) evaluations.update((await ask(pathOf(name, '/evaluations'))).evaluations);
    }

    promotions.update([]);
    importance.update(null);
    const evaluationPoll = poll(4, lookAtEvaluation), jobsPoll = poll(5, lookAtJobs);
    const polls = [poll(1, lookAtActivity), evaluationPoll, jobsPoll, poll(20, lookAtImportance)];
    return {
        name,
        node,
        describe(given) {
            entry = given;
            fill(details, given.settings, () => facts(given.settings));
            settings.update(given);
            guardrails.describe(given);
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
