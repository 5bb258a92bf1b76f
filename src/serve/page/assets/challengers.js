// The compared policies: this bandit, the baseline, random choice, and the challengers.
import { card, empty } from './cards.js';
import { explorationFields, policyField, withChoices } from './choices.js';
import { field, question, reason } from './dialogs.js';
import { fill, h, say, scroller, show, tell } from './elements.js';
import { DASH, exploration, interval, known, percent, plural, real, signed } from './formats.js';
import { measuredOn } from './headline.js';
import { lacks } from './key.js';
import { styled, swatch, titleOf } from './series.js';
import { Refused, can, pathOf, send } from './server.js';

function stateTag(policy) {
    if (policy.kind !== 'challenger') return null;
    const worse = known(policy.gain_high) && policy.gain_high < 0;
    const words = { learning: 'learning from the log', offered: 'significantly better', failed: 'failed' }[policy.state] ?? (policy.state || (worse ? 'significantly worse' : 'inconclusive so far'));
    return h('span', { class: `tag ${policy.state === 'offered' ? 'good' : policy.state === 'failed' ? 'bad' : ''}` }, words);
}

function explanationOf(policy) {
    if (policy.kind === 'baseline') return 'always the first action';
    if (policy.kind === 'uniform') return 'each action equally often';
    return [policy.policy, policy.options, policy.propensity && `exploration: ${exploration(policy.propensity)}`].filter(Boolean).join(', ');
}

function gain(policy) {
    if (policy.kind === 'online' || !known(policy.gain)) return [DASH];
    return [signed(policy.gain), h('small', {}, interval(policy.gain_low, policy.gain_high, signed))];
}

export function challengersCard(name, changed) {
    // Explicit roles: on a phone the rows are laid out as boxes, and a browser then no longer sees a table.
    const body = h('tbody', { role: 'rowgroup' }), wrong = h('p', { class: 'wrong', role: 'alert', hidden: true });
    const table = scroller('Compared policies', h('table', { class: 'compared', role: 'table', 'aria-label': 'Compared policies' },
        h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, ['Policy', 'Mean reward per decision', 'Difference from this bandit', 'Status'].map((name, i) =>
            h('th', { scope: 'col', role: 'columnheader', class: i === 1 || i === 2 ? 'right' : null }, name)))), body));
    const none = empty(''), under = h('p', { class: 'quiet-words small' });
    const add = h('button', { type: 'button', class: 'little end', onclick: () => withChoices(ask) }, 'Add a challenger');
    const { node, note, header } = card('Would another policy earn more?', '', table, none, under, wrong);
    header.append(add);
    show(table, false);
    show(add, false);

    // Sends the request and refreshes the card at once.
    async function act(words, path, body, method) {
        show(wrong, false);
        try {
            await send(path, body, method);
            tell(words);
        } catch (error) {
            say(wrong, reason(error));
            show(wrong, true);
        }
        changed();
    }

    function ask() {
        const explores = explorationFields(), policy = policyField('Policy', 'linucb', explores.look);
        policy.look();
        return question({
            title: 'Add a challenger',
            words: ['A challenger learns from the same decisions as this bandit. It decides nothing until it is promoted.', lacks('admin')],
            fields: [
                field('Name', h('input', { name: 'name', autocomplete: 'off', spellcheck: 'false', maxlength: '64', placeholder: 'linear' }), 'To recognise it by in the table and the chart.'),
                policy.node,
                ...explores.nodes,
                field('Options (optional)', h('input', { name: 'options', autocomplete: 'off', spellcheck: 'false', placeholder: 'f1.width=100' }), 'Empty: the defaults. The command “eenet describe POLICY” lists them.'),
            ],
            confirm: 'Add',
            act: async (form) => {
                const no = lacks('admin');
                if (no) throw new Refused(403, no, 0);
                const body = { propensity: explores.read() };
                for (const part of ['name', 'policy', 'options']) {
                    const words = String(form.get(part)).trim();
                    if (words || part === 'name') body[part] = words;
                }
                if (!body.name) throw new Refused(400, 'enter a name for the challenger', 0);
                await send(pathOf(name, '/challengers'), body);
                tell(`Challenger ${body.name} added.`);
                changed();
            },
        });
    }

    function promote(policy) {
        const shown = policy.state === 'offered' ? 'It is significantly better than this bandit.' : 'It is not significantly better so far: the difference may be chance.';
        return question({
            title: `Promote ${policy.name}?`,
            words: [shown, `${policy.policy} then makes all decisions, with what it has learned. The present policy becomes a challenger.`, 'Results start again: a new period begins, and the numbers above count from zero.'],
            confirm: 'Promote',
            act: async () => {
                await send(pathOf(name, `/challengers/${encodeURIComponent(policy.name)}/promote`), {});
                tell(`${policy.name} now makes the decisions.`);
                changed();
            },
        });
    }

    function remove(policy) {
        return question({
            title: `Remove ${policy.name}?`,
            words: 'Its model and its results are deleted.',
            confirm: 'Remove',
            danger: true,
            act: async () => {
                await act(`Challenger ${policy.name} removed.`, pathOf(name, `/challengers/${encodeURIComponent(policy.name)}`), undefined, 'DELETE');
            },
        });
    }

    function buttons(policy) {
        if (policy.kind !== 'challenger') return null;
        const no = lacks('admin');
        return h('div', { class: 'row' },
            h('button', { type: 'button', class: `little ${policy.state === 'offered' ? 'main' : ''}`, disabled: Boolean(no), title: no || null, 'aria-label': `Promote ${policy.name}`, onclick: () => promote(policy) }, 'Promote'),
            h('button', { type: 'button', class: 'little', disabled: Boolean(no), title: no || null, 'aria-label': `Remove ${policy.name}`, onclick: () => remove(policy) }, 'Remove'));
    }

    function row(policy, online) {
        return h('tr', { role: 'row' },
            h('th', { scope: 'row', role: 'rowheader' }, h('span', { class: 'row' }, swatch(policy.style), titleOf(policy)), h('small', {}, explanationOf(policy))),
            h('td', { class: 'right', role: 'cell', 'data-label': 'Mean reward' }, real(policy.value), h('small', {}, interval(policy.low, policy.high))),
            h('td', { class: 'right', role: 'cell', 'data-label': 'Difference' }, gain(policy)),
            h('td', { role: 'cell', class: 'state' }, stateTag(policy), policy.trouble ? h('small', {}, policy.trouble) : null, policy.kind === 'challenger' && policy.events < online ? h('small', {}, `measured on the last ${plural(policy.events, 'decision', 'decisions')}`) : null, known(policy.unsupported) && policy.unsupported > 0.01 ? h('small', {}, `${percent(policy.unsupported, 0)} of its choices are never made by this bandit, so its mean reward is underestimated`) : null, buttons(policy)));
    }

    return {
        node,
        say(words) {
            show(table, false);
            show(add, false);
            show(say(none, words), true);
        },
        update(evaluation, entry, pending) {
            const policies = styled(evaluation.policies ?? []);
            const some = policies.some((policy) => policy.kind === 'challenger');
            show(table, policies.length > 0);
            show(add, can('/challengers'));
            say(note, `small numbers: ${percent(evaluation.confidence, 0)} intervals, valid however often you look`);
            show(say(none, some ? '' : 'No challenger yet. Add one to compare it with this bandit on every decision from now on.'), !some);
            const promotes = evaluation.promote === 'auto' ? 'A significantly better challenger is promoted automatically.' : 'A significantly better challenger is marked here; you decide when to promote it.';
            say(under, `Based on ${measuredOn(evaluation, entry, pending)}. ${some ? promotes : ''}`);
            fill(body, [policies, lacks('admin')], () => policies.map((policy) => row(policy, evaluation.events)));
        },
    };
}
