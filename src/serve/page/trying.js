// Trying a bandit by hand: a decision, why it is as it is, and its reward.
import { bars, card } from './cards.js';
import { field, reason } from './dialogs.js';
import { h, mark, say, show, tell } from './elements.js';
import { percent, real, signed } from './formats.js';
import { lacks } from './key.js';
import { can, pathOf, send } from './server.js';

const contextExample = { plan: 'free', device: 'phone' };
const namedExample = [
    { id: 'red', features: { color: 'red', price: 10 } },
    { id: 'blue', features: { color: 'blue', price: 12 } },
    { id: 'green', features: { color: 'green', price: 8 } },
];

// One line for each action.
function lines(actions) {
    return `[\n${actions.map((action) => `  ${JSON.stringify(action)}`).join(',\n')}\n]`;
}

function vectorExample(dim) {
    return ['a', 'b', 'c'].map((id, k) => ({ id, vector: Array.from({ length: dim }, (_, i) => Math.round(100 * Math.sin(1 + k + 3 * i)) / 100) }));
}

const outcomes = {
    joined: 'The reward was joined to the decision; the model learns it.',
    repeated: 'The decision has its reward already: this one does not count.',
    late: 'The wait of the decision is over: this reward does not count.',
    unknown: 'No decision has this id.',
};

export function tryCard(name, settings) {
    const vectors = settings.dim > 0;
    const context = h('textarea', { rows: '3', spellcheck: 'false', autocomplete: 'off' });
    const actions = h('textarea', { rows: vectors ? '5' : '6', spellcheck: 'false', autocomplete: 'off' });
    context.value = JSON.stringify(contextExample);
    actions.value = lines(vectors ? vectorExample(settings.dim) : namedExample);
    const wrong = h('p', { class: 'wrong', role: 'alert', hidden: true });
    const decideButton = h('button', { type: 'submit', class: 'main' }, 'Decide');
    const answer = h('div', { class: 'answer' }, h('p', { class: 'quiet-words' }, 'The answer will stand here: the action to take, and how probable each of them was.'));
    const form = h('form', { novalidate: true, onsubmit: submit },
        vectors ? null : field('Context', context, 'What is known of this moment, for all actions.'),
        field('Actions', actions, vectors ? `Each with an id and a vector of ${settings.dim} numbers.` : 'Each with an id, and what is known of it.'),
        wrong,
        h('div', { class: 'row' }, decideButton));
    const { node } = card('Try it', 'a decision for real: it is logged, and its reward is learned', h('div', { class: 'try' }, form, answer));

    function refuse(words, control) {
        for (const one of [context, actions]) mark(one, 'aria-invalid', one === control ? 'true' : null);
        show(say(wrong, words), words !== '');
        if (control) control.focus();
    }

    function read(control, what) {
        try {
            return JSON.parse(control.value);
        } catch (error) {
            refuse(`The ${what} are no JSON: ${error.message}`, control);
            return undefined;
        }
    }

    function request() {
        const list = read(actions, 'actions');
        if (list === undefined) return null;
        if (vectors) return JSON.stringify({ actions: list });
        const shared = context.value.trim() ? read(context, 'features of the context') : {};
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

    // ---- the answer ----

    function showDecision(decision, list, body) {
        const probabilities = bars('Probability of each action');
        const ids = list.map((action, i) => action?.id ?? String(i));
        probabilities.update(decision.probabilities.map((share, i) => ({ name: ids[i] + (i === decision.index ? ' (chosen)' : ''), share, words: percent(share), kind: i === decision.index ? '' : 'other' })));
        const why = h('div', {});
        answer.replaceChildren(
            h('div', {}, h('p', { class: 'quiet-words small' }, 'Take this action'), h('p', { class: 'chosen' }, decision.action)),
            probabilities.node, rewardForm(decision.id), why,
            h('p', { class: 'quiet-words small' }, `Decision ${decision.id}, by version ${decision.version} of the model.`));
        tell(`Chosen: ${decision.action}, with probability ${percent(decision.probability)}.`);
        if (can('/explain')) explain(body, decision, why);
    }

    function rewardForm(id) {
        const value = h('input', { type: 'number', step: 'any', inputmode: 'decimal', 'aria-label': 'Another reward' });
        const outcome = h('p', { role: 'status', class: 'outcome' });
        const group = h('div', { class: 'row', role: 'group', 'aria-label': 'Reward of this decision' },
            h('button', { type: 'button', onclick: () => give(0) }, '0'),
            h('button', { type: 'button', onclick: () => give(1) }, '1'),
            value,
            h('button', { type: 'button', onclick: () => give(value.value === '' ? NaN : Number(value.value)) }, 'Send'));
        async function give(reward) {
            if (!Number.isFinite(reward)) {
                say(outcome, 'A reward is a number.');
                return value.focus();
            }
            try {
                const told = await send(pathOf(name, '/reward'), { id, value: reward });
                say(outcome, `${real(reward, Number.isInteger(reward) ? 0 : 3)}: ${outcomes[told.outcome] ?? told.outcome}`);
            } catch (error) {
                say(outcome, reason(error));
            }
        }
        return h('div', {}, h('h3', {}, 'What came of it?'), group, outcome);
    }

    // Why each action is worth what the model thinks.
    async function explain(body, decision, into) {
        let told;
        try {
            told = await send(pathOf(name, '/explain'), body);
        } catch (error) {
            into.replaceChildren(h('p', { class: 'quiet-words small' }, `It could not be explained: ${reason(error)}`));
            return;
        }
        into.replaceChildren(h('h3', {}, 'What the model expects, and why'), ...told.actions.map((action, i) => explained(action, i === decision.index)));
    }

    function explained(action, open) {
        const most = Math.max(1e-12, ...(action.features ?? []).map((feature) => Math.abs(feature.contribution)));
        const base = `Of that ${real(action.base ?? 0)} comes from no feature: what is usual. The rest:`;
        const list = bars(`Features of ${action.action}`);
        const shown = (action.features ?? []).filter((feature) => Math.abs(feature.contribution) > 1e-3 * most).slice(0, 8);
        list.update(shown.map((feature) => ({ name: feature.name, share: Math.abs(feature.contribution) / most, words: signed(feature.contribution, most < 0.01 ? 4 : 3), kind: feature.contribution < 0 ? 'minus' : '' })));
        return h('details', { open },
            h('summary', {}, `${action.action}: expects ${real(action.f1)}, explores ${signed(action.f2)}`),
            h('p', { class: 'quiet-words small' }, shown.length ? base : 'No feature moves it yet.'),
            list.node);
    }

    return { node, focus: () => (vectors ? actions : context).focus() };
}
