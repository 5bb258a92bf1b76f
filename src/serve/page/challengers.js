// The policies that are compared: this bandit, what is there without it, and those that would take its place.
import { card, empty } from './cards.js';
import { field, question, reason } from './dialogs.js';
import { fill, h, say, scroller, show, tell } from './elements.js';
import { DASH, interval, known, percent, plural, real, signed } from './formats.js';
import { lacks } from './key.js';
import { styled, swatch, titleOf } from './series.js';
import { Refused, can, pathOf, send } from './server.js';

const POLICIES = ['eenet', 'eenet:fast', 'neural-epsilon', 'neural-ucb', 'neural-ts', 'neural-linear', 'neural-linucb', 'neural-ensemble', 'neural-fastcb', 'squarecb', 'linucb', 'lints', 'kernelucb', 'kernelts', 'greedy', 'ucb1', 'thompson', 'uniform'];

function stateTag(policy) {
    if (policy.kind !== 'challenger') return null;
    const words = { learning: 'being compared', offered: 'shown to be better', failed: 'failed' }[policy.state] ?? (policy.state || 'being compared');
    return h('span', { class: `tag ${policy.state === 'offered' ? 'good' : policy.state === 'failed' ? 'bad' : ''}` }, words);
}

function explanationOf(policy) {
    if (policy.kind === 'online') return `${policy.policy}${policy.propensity ? `, ${policy.propensity}` : ''}`;
    if (policy.kind === 'baseline') return 'what is shown without a bandit';
    if (policy.kind === 'uniform') return 'every action as often';
    return [policy.policy, policy.options, policy.propensity].filter(Boolean).join(', ');
}

function gain(policy) {
    if (policy.kind === 'online' || !known(policy.gain)) return [DASH];
    return [signed(policy.gain), h('small', {}, interval(policy.gain_low, policy.gain_high, signed))];
}

export function challengersCard(name, changed) {
    // The roles are said because on a phone the rows are laid out as boxes, and a browser then forgets the table.
    const body = h('tbody', { role: 'rowgroup' }), wrong = h('p', { class: 'wrong', role: 'alert', hidden: true });
    const table = scroller('Policies that are compared', h('table', { class: 'compared', role: 'table', 'aria-label': 'Policies that are compared' },
        h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, ['Policy', 'Mean reward', 'Against this bandit', 'State'].map((name, i) =>
            h('th', { scope: 'col', role: 'columnheader', class: i === 1 || i === 2 ? 'right' : null }, name)))), body));
    const none = empty(''), under = h('p', { class: 'quiet-words small' });
    const add = h('button', { type: 'button', class: 'little end', onclick: () => ask() }, 'Add a challenger');
    const { node, note, header } = card('Would another policy earn more?', '', table, none, under, wrong);
    header.append(add);
    show(table, false);
    show(add, false);

    // Does it, and shows at once what became of it.
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
        const list = h('datalist', { id: 'policy-names' }, POLICIES.map((policy) => h('option', { value: policy })));
        return question({
            title: 'Add a challenger',
            words: ['It learns from the same decisions beside this bandit, and decides nothing, until it is shown to earn more.', lacks('admin')],
            fields: [
                field('Name', h('input', { name: 'name', autocomplete: 'off', spellcheck: 'false', maxlength: '64', placeholder: 'linear' })),
                field('Policy', h('input', { name: 'policy', list: 'policy-names', value: 'linucb', autocomplete: 'off', spellcheck: 'false' }), 'As “eenet policies” lists them.'),
                list,
                field('Options', h('input', { name: 'options', autocomplete: 'off', spellcheck: 'false', placeholder: 'none' }), 'As f1.width=100; empty for the usual ones.'),
                field('Propensity', h('input', { name: 'propensity', autocomplete: 'off', spellcheck: 'false', value: 'floor:0.05' }), 'How scores become probabilities: floor:E, softmax:T, igw:G, own.'),
            ],
            confirm: 'Add',
            act: async (form) => {
                const no = lacks('admin');
                if (no) throw new Refused(403, no, 0);
                const body = {};
                for (const part of ['name', 'policy', 'options', 'propensity']) {
                    const words = String(form.get(part)).trim();
                    if (words || part === 'name') body[part] = words;
                }
                if (!body.name) throw new Refused(400, 'it needs a name', 0);
                await send(pathOf(name, '/challengers'), body);
                tell(`The challenger ${body.name} was added.`);
                changed();
            },
        });
    }

    function promote(policy) {
        const shown = policy.state === 'offered' ? 'It is shown to earn more than this bandit does now.' : 'It is not shown to earn more yet: what is seen so far may be chance.';
        return question({
            title: `Promote ${policy.name}?`,
            words: [shown, `From then on ${policy.policy} decides, with what it has learned; the present policy becomes a challenger.`],
            confirm: 'Promote',
            act: async () => {
                await send(pathOf(name, `/challengers/${encodeURIComponent(policy.name)}/promote`), {});
                tell(`${policy.name} decides now.`);
                changed();
            },
        });
    }

    function remove(policy) {
        return question({
            title: `Remove ${policy.name}?`,
            words: 'What it has learned, and what was found out about it, is gone.',
            confirm: 'Remove',
            danger: true,
            act: async () => {
                await act(`${policy.name} was removed.`, pathOf(name, `/challengers/${encodeURIComponent(policy.name)}`), undefined, 'DELETE');
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
            h('td', { class: 'right', role: 'cell', 'data-label': 'Against this bandit' }, gain(policy)),
            h('td', { role: 'cell', class: 'state' }, stateTag(policy), policy.trouble ? h('small', {}, policy.trouble) : null, policy.kind === 'challenger' && policy.events < online ? h('small', {}, `since ${plural(policy.events, 'decision', 'decisions')}`) : null, known(policy.unsupported) && policy.unsupported > 0.01 ? h('small', {}, `${percent(policy.unsupported, 0)} of its choices were never taken`) : null, buttons(policy)));
    }

    return {
        node,
        say(words) {
            show(table, false);
            show(add, false);
            show(say(none, words), true);
        },
        update(evaluation) {
            const policies = styled(evaluation.policies ?? []);
            const some = policies.some((policy) => policy.kind === 'challenger');
            show(table, policies.length > 0);
            show(add, can('/challengers'));
            say(note, `mean reward, ${percent(evaluation.confidence, 0)} intervals that hold at any time`);
            show(say(none, some ? '' : 'No challenger yet: add one, and it is compared with this bandit on every decision that is made from now on.'), !some);
            const waits = evaluation.waiting ? `; ${plural(evaluation.waiting, 'decision waits', 'decisions wait')} for ${evaluation.waiting === 1 ? 'its' : 'their'} reward` : '';
            const promotes = evaluation.promote === 'auto' ? 'A challenger that is shown to be better takes over by itself.' : 'A challenger that is shown to be better is offered here, and takes over when you say so.';
            say(under, `Of ${plural(evaluation.events, 'settled decision', 'settled decisions')}${waits}. ${some ? promotes : ''}`);
            fill(body, [policies, lacks('admin')], () => policies.map((policy) => row(policy, evaluation.events)));
        },
    };
}
