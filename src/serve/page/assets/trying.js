// A decision by hand: what the bandit would choose and why. It is written to the log only if asked.
import { bars, card } from './cards.js';
import { field, reason } from './dialogs.js';
import { h, mark, say, show, tell } from './elements.js';
import { featureName, percent, plain, real, signed } from './formats.js';
import { lacks, may } from './key.js';
import { can, pathOf, send } from './server.js';

const contextExample = { plan: 'free', device: 'phone' };
const namedExample = [
    { id: 'red', features: { color: 'red', price: 10 } },
    { id: 'blue', features: { color: 'blue', price: 12 } },
    { id: 'green', features: { color: 'green', price: 8 } },
];
const slotsExample = [{ id: 'top' }, { id: 'side' }];

// One line per element.
function lines(list) {
    return `[\n${list.map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n]`;
}

function vectorExample(dim) {
    return ['a', 'b', 'c'].map((id, k) => ({ id, vector: Array.from({ length: dim }, (_, i) => Math.round(100 * Math.sin(1 + k + 3 * i)) / 100) }));
}

const outcomes = {
    joined: 'Reward recorded; the model learns from it.',
    repeated: 'Ignored: this decision already has a reward.',
    late: 'Too late: the time for rewards of this decision is over.',
    unknown: 'Unknown: no decision has this id.',
};

const code = (rows) => h('textarea', { rows: String(rows), spellcheck: 'false', autocomplete: 'off' });

const check = (label, hint, changed) => {
    const input = h('input', { type: 'checkbox', onchange: changed });
    return { input, node: h('label', { class: 'check' }, input, h('span', {}, h('b', {}, label), h('small', {}, hint))) };
};

export function tryCard(name, settings) {
    const vectors = settings.dim > 0;
    const context = code(3), actions = code(vectors ? 5 : 6), slots = code(4);
    context.value = JSON.stringify(contextExample);
    actions.value = lines(vectors ? vectorExample(settings.dim) : namedExample);
    slots.value = lines(slotsExample);
    const wrong = h('p', { class: 'wrong', role: 'alert', hidden: true });
    const button = h('button', { type: 'submit', class: 'main' }, 'Preview');
    const slotsField = field('Slots', slots, 'A JSON array; each slot has an id, and may have features. Each gets another action.');
    const several = check('Fill several slots at once', 'For a page with several places, such as top and side.', () => show(slotsField, several.input.checked));
    const writes = check('Write this decision to the log', 'Off: a preview; nothing is stored, counted or learned. On: a real decision, whose reward is learned.', () => say(button, writes.input.checked ? 'Decide and log' : 'Preview'));
    const answer = h('div', { class: 'answer' }, h('p', { class: 'quiet-words' }, 'What the bandit would choose appears here: the probability and the score of each action.'));
    show(slotsField, false);
    const form = h('form', { novalidate: true, onsubmit: submit },
        vectors ? null : field('Context', context, 'What you know about the situation: a JSON object.'),
        field('Actions', actions, vectors ? `A JSON array; each action has an id and a vector of ${settings.dim} numbers.` : 'A JSON array; each action has an id and its features.'),
        several.node, slotsField, writes.node, wrong,
        h('div', { class: 'row' }, button));
    const { node } = card('Try a decision', 'a preview, unless you choose to write it to the log', h('div', { class: 'try' }, form, answer));

    function refuse(words, control) {
        for (const one of [context, actions, slots]) mark(one, 'aria-invalid', one === control ? 'true' : null);
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

    // The request; undefined if a part is not JSON.
    function request() {
        const body = {};
        if (!vectors && context.value.trim()) body.context = read(context, 'Context');
        body.actions = read(actions, 'Actions');
        if (several.input.checked) body.slots = read(slots, 'Slots');
        return Object.values(body).includes(undefined) ? undefined : body;
    }

    async function submit(event) {
        event.preventDefault();
        refuse('');
        const body = request(), logged = writes.input.checked;
        // A reader may see the model's probabilities, but only an app may decide.
        const no = logged || body?.slots ? lacks('app') : lacks('reader');
        if (no) return refuse(no);
        if (!body) return;
        button.disabled = true;
        try {
            const drawn = may('app') ? await send(pathOf(name, '/decide'), logged ? body : { ...body, dry_run: true }) : null;
            const told = body.slots || !can('/explain') ? null : await explained(body);
            if (drawn?.slots) showSlots(drawn, body, logged);
            else if (logged) showDecision(drawn, body, told);
            else showPreview(drawn ?? probabilitiesOf(told), body, told);
        } catch (error) {
            refuse(reason(error));
        } finally {
            button.disabled = false;
        }
    }

    // ---- the decision ----

    const idsOf = (body) => body.actions.map((action, i) => action?.id ?? String(i));

    // From an explanation; an excluded action is not in it.
    function probabilitiesOf(told) {
        if (told.refused) throw told.refused;
        const probabilities = [];
        for (const action of told.actions) probabilities[action.index] = action.probability;
        return { probabilities: Array.from(probabilities, (one) => one ?? 0), version: told.version };
    }

    // marked: indices of the actions to mark, with these words.
    function barsOf(probabilities, ids, label, marked, words) {
        const list = bars(label);
        list.update(probabilities.map((share, i) => ({ name: ids[i] + (marked.includes(i) ? ` (${words})` : ''), share, words: percent(share), kind: marked.includes(i) ? '' : 'other' })));
        return list.node;
    }

    function footOf(decision, logged) {
        const words = logged ? `Written to the log as decision ${decision.id}, made by model version ${decision.version}.` : `Preview by model version ${decision.version}. Nothing was written to the log.`;
        return h('p', { class: 'quiet-words small' }, words);
    }

    const LABEL = 'Probability of each action';

    function result(title, action, probability, more = '') {
        tell(`${title}: ${action}, with probability ${percent(probability)}.`);
        return h('div', {}, h('p', { class: 'quiet-words small' }, title), h('p', { class: 'chosen' }, action), h('p', { class: 'quiet-words small' }, `with a probability of ${percent(probability)}${more}.`));
    }

    // A decision is drawn at random, so a preview has no single choice: it names the most likely one.
    function showPreview({ probabilities, version }, body, told) {
        const ids = idsOf(body), most = Math.max(...probabilities);
        const likely = ids.map((_, i) => i).filter((i) => probabilities[i] > most * (1 - 1e-9));
        const each = likely.length > 1;
        answer.replaceChildren(
            result(each ? 'Most likely choices' : 'Most likely choice', likely.map((i) => ids[i]).join(', '), most, each ? ' each' : ''),
            barsOf(probabilities, ids, LABEL, likely, 'most likely'),
            h('p', { class: 'quiet-words small' }, 'Each decision is drawn at random with these probabilities.'),
            ...(told ? whyOf(told, likely[0]) : []),
            footOf({ version }, false));
    }

    function showDecision(decision, body, told) {
        answer.replaceChildren(
            result('Chosen action', decision.action, decision.probability),
            barsOf(decision.probabilities, idsOf(body), LABEL, [decision.index], 'chosen'),
            rewardForm(decision.id, []),
            ...(told ? whyOf(told, decision.index) : []),
            footOf(decision, true));
    }

    function showSlots(decision, body, logged) {
        answer.replaceChildren(
            h('p', { class: 'quiet-words small' }, `${logged ? 'Chosen for each slot' : 'One draw for each slot; the next may differ'}. An action that an earlier slot took has 0%.`),
            ...decision.slots.map((slot) => h('div', {}, h('h3', {}, slot.id), h('p', { class: 'chosen' }, slot.action), barsOf(slot.probabilities, idsOf(body), `${LABEL} for ${slot.id}`, [slot.index], logged ? 'chosen' : 'drawn'))),
            ...(logged ? [rewardForm(decision.id, decision.slots.map((slot) => slot.id))] : []),
            footOf(decision, logged));
        tell(decision.slots.map((slot) => `${slot.id}: ${slot.action}`).join('; '));
    }

    // slots: their ids; a reward is for one of them.
    function rewardForm(id, slots) {
        const value = h('input', { type: 'number', step: 'any', inputmode: 'decimal', 'aria-label': 'Other reward' });
        const slot = h('select', { 'aria-label': 'Slot' }, slots.map((one) => h('option', {}, one)));
        const outcome = h('p', { role: 'status', class: 'outcome' });
        const group = h('div', { class: 'row', role: 'group', 'aria-label': 'Reward of this decision' },
            slots.length ? slot : null,
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
                const told = await send(pathOf(name, '/reward'), { id, value: reward, slot: slots.length ? slot.value : undefined });
                say(outcome, `${plain(reward)}: ${outcomes[told.outcome] ?? told.outcome}`);
            } catch (error) {
                say(outcome, reason(error));
            }
        }
        return h('div', {}, h('h3', {}, 'Send its reward'), group, outcome);
    }

    // ---- why ----

    // The explanation, or {refused}: a decision is shown without it too.
    async function explained(body) {
        try {
            return await send(pathOf(name, '/explain'), body);
        } catch (error) {
            return { refused: error };
        }
    }

    function whyOf(told, index) {
        if (told.refused) return [h('p', { class: 'quiet-words small' }, `No explanation: ${reason(told.refused)}`)];
        return [h('div', {}, h('h3', {}, 'What the model predicts, and why'), told.actions.map((action) => predicted(action, action.index === index)))];
    }

    function predicted(action, open) {
        const most = Math.max(1e-12, ...(action.features ?? []).map((feature) => Math.abs(feature.contribution)));
        const list = bars(`Features of ${action.action}`);
        const shown = (action.features ?? []).filter((feature) => Math.abs(feature.contribution) > 1e-3 * most).slice(0, 8);
        list.update(shown.map((feature) => ({ name: featureName(feature.name), share: Math.abs(feature.contribution) / most, words: signed(feature.contribution, most < 0.01 ? 4 : 3), kind: feature.contribution < 0 ? 'minus' : '' })));
        return h('details', { open },
            h('summary', {}, `${action.action}: predicted reward ${real(action.f1)}, exploration bonus ${signed(action.f2)}, score ${real(action.score)}`),
            h('p', { class: 'quiet-words small' }, shown.length ? `Predicted reward without any feature: ${real(action.base ?? 0)}. Each feature changes it by:` : 'A small change of any one feature does not change this prediction.'),
            list.node);
    }

    return { node, focus: () => (vectors ? actions : context).focus() };
}
