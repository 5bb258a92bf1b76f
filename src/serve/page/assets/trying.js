// A decision by hand: its explanation and its reward.
import { bars, card } from './cards.js';
import { field, reason } from './dialogs.js';
import { h, mark, say, show, tell } from './elements.js';
import { featureName, percent, real, signed } from './formats.js';
import { lacks } from './key.js';
import { can, pathOf, send } from './server.js';

const contextExample = { plan: 'free', device: 'phone' };
const namedExample = [
    { id: 'red', features: { color: 'red', price: 10 } },
    { id: 'blue', features: { color: 'blue', price: 12 } },
    { id: 'green', features: { color: 'green', price: 8 } },
];

// One line per action.
function lines(actions) {
    return `[\n${actions.map((action) => `  ${JSON.stringify(action)}`).join(',\n')}\n]`;
}

function vectorExample(dim) {
    return ['a', 'b', 'c'].map((id, k) => ({ id, vector: Array.from({ length: dim }, (_, i) => Math.round(100 * Math.sin(1 + k + 3 * i)) / 100) }));
}

const outcomes = {
    joined: 'Reward recorded; the model learns from it.',
    repeated: 'Ignored: this decision already has a reward.',
    late: 'Too late: the waiting time of this decision is over.',
    unknown: 'Unknown: no decision has this id.',
};

export function tryCard(name, settings) {
    const vectors = settings.dim > 0;
    const context = h('textarea', { rows: '3', spellcheck: 'false', autocomplete: 'off' });
    const actions = h('textarea', { rows: vectors ? '5' : '6', spellcheck: 'false', autocomplete: 'off' });
    context.value = JSON.stringify(contextExample);
    actions.value = lines(vectors ? vectorExample(settings.dim) : namedExample);
    const wrong = h('p', { class: 'wrong', role: 'alert', hidden: true });
    const decideButton = h('button', { type: 'submit', class: 'main' }, 'Decide');
    const answer = h('div', { class: 'answer' }, h('p', { class: 'quiet-words' }, 'The decision appears here: the chosen action, and the probability of each.'));
    const form = h('form', { novalidate: true, onsubmit: submit },
        vectors ? null : field('Context', context, 'What you know about the situation: a JSON object.'),
        field('Actions', actions, vectors ? `A JSON array; each action has an id and a vector of ${settings.dim} numbers.` : 'A JSON array; each action has an id and its features.'),
        wrong,
        h('div', { class: 'row' }, decideButton));
    const { node } = card('Try a decision', 'a real one: it is logged, and its reward is learned', h('div', { class: 'try' }, form, answer));

    function refuse(words, control) {
        for (const one of [context, actions]) mark(one, 'aria-invalid', one === control ? 'true' : null);
        show(say(wrong, words), words !== '');
        if (control) control.focus();
    }

    function read(control, what) {
        try {
            return JSON.parse(control.value);
        } catch (error) {
            refuse(`${what}: invalid JSON: ${error.message}`, control);
            return undefined;
        }
    }

    function request() {
        const list = read(actions, 'Actions');
        if (list === undefined) return null;
        if (vectors) return JSON.stringify({ actions: list });
        const shared = context.value.trim() ? read(context, 'Context') : {};
        return shared === undefined ? null : JSON.stringify({ context: shared, actions: list });
    }

    async function submit(event) {
        event.preventDefault();
        refuse('');
        const no = lacks('app');
        if (no) return refuse(no);
        const body = request();
        if (!body) return;
        decideButton.disabled = true;
        try {
            showDecision(await send(pathOf(name, '/decide'), body), JSON.parse(body).actions, body);
        } catch (error) {
            refuse(reason(error));
        } finally {
            decideButton.disabled = false;
        }
    }

    // ---- the decision ----

    function showDecision(decision, list, body) {
        const probabilities = bars('Probability of each action');
        const ids = list.map((action, i) => action?.id ?? String(i));
        probabilities.update(decision.probabilities.map((share, i) => ({ name: ids[i] + (i === decision.index ? ' (chosen)' : ''), share, words: percent(share), kind: i === decision.index ? '' : 'other' })));
        const why = h('div', {});
        answer.replaceChildren(
            h('div', {}, h('p', { class: 'quiet-words small' }, 'Chosen action'), h('p', { class: 'chosen' }, decision.action)),
            probabilities.node, rewardForm(decision.id), why,
            h('p', { class: 'quiet-words small' }, `Decision ${decision.id}, made by model version ${decision.version}.`));
        tell(`Chosen action: ${decision.action}, with probability ${percent(decision.probability)}.`);
        if (can('/explain')) explain(body, decision, why);
    }

    function rewardForm(id) {
        const value = h('input', { type: 'number', step: 'any', inputmode: 'decimal', 'aria-label': 'Other reward' });
        const outcome = h('p', { role: 'status', class: 'outcome' });
        const group = h('div', { class: 'row', role: 'group', 'aria-label': 'Reward of this decision' },
            h('button', { type: 'button', onclick: () => give(0) }, '0'),
            h('button', { type: 'button', onclick: () => give(1) }, '1'),
            value,
            h('button', { type: 'button', onclick: () => give(value.value === '' ? NaN : Number(value.value)) }, 'Send'));
        async function give(reward) {
            if (!Number.isFinite(reward)) {
                say(outcome, 'Enter a number as the reward.');
                return value.focus();
            }
            try {
                const told = await send(pathOf(name, '/reward'), { id, value: reward });
                say(outcome, `${real(reward, Number.isInteger(reward) ? 0 : 3)}: ${outcomes[told.outcome] ?? told.outcome}`);
            } catch (error) {
                say(outcome, reason(error));
            }
        }
        return h('div', {}, h('h3', {}, 'Send its reward'), group, outcome);
    }

    // Explains the predicted reward of each action.
    async function explain(body, decision, into) {
        let told;
        try {
            told = await send(pathOf(name, '/explain'), body);
        } catch (error) {
            into.replaceChildren(h('p', { class: 'quiet-words small' }, `No explanation: ${reason(error)}`));
            return;
        }
        into.replaceChildren(h('h3', {}, 'What the model predicts, and why'), ...told.actions.map((action, i) => explained(action, i === decision.index)));
    }

    function explained(action, open) {
        const most = Math.max(1e-12, ...(action.features ?? []).map((feature) => Math.abs(feature.contribution)));
        const base = `Without any feature: ${real(action.base ?? 0)}. Each feature adds:`;
        const list = bars(`Features of ${action.action}`);
        const shown = (action.features ?? []).filter((feature) => Math.abs(feature.contribution) > 1e-3 * most).slice(0, 8);
        list.update(shown.map((feature) => ({ name: featureName(feature.name), share: Math.abs(feature.contribution) / most, words: signed(feature.contribution, most < 0.01 ? 4 : 3), kind: feature.contribution < 0 ? 'minus' : '' })));
        return h('details', { open },
            h('summary', {}, `${action.action}: predicted reward ${real(action.f1)}, exploration bonus ${signed(action.f2)}`),
            h('p', { class: 'quiet-words small' }, shown.length ? base : 'A small change of any one feature does not change this prediction.'),
            list.node);
    }

    return { node, focus: () => (vectors ? actions : context).focus() };
}
