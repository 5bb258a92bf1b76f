// Evaluations of other policies on the log: start, follow, read and delete them.
import { card, empty } from './cards.js';
import { ADVICE, estimators, policies, useOf, withChoices } from './choices.js';
import { field, question, reason } from './dialogs.js';
import { fill, h, say, scroller, show, tell } from './elements.js';
import { DASH, interval, known, moment, percent, plural, real, signed } from './formats.js';
import { lacks } from './key.js';
import { Refused, ask, pathOf, send } from './server.js';

const FIXED = [{ name: 'this bandit', policy: 'logged' }, { name: 'baseline', policy: 'first' }, { name: 'random', policy: 'uniform' }];
const MEANINGS = { logged: 'its own decisions', first: 'always the first action', uniform: 'each action equally often' };
const STATES = { waiting: 'waiting for its turn', running: 'running', done: 'done', failed: 'failed' };

function stateOf(job) {
    const words = job.state === 'running' && known(job.progress) ? `running: ${percent(job.progress, 0)}` : STATES[job.state] ?? job.state;
    return [h('span', { class: `tag ${{ done: 'good', failed: 'bad' }[job.state] ?? 'info'}` }, words),
        job.state === 'running' ? h('progress', { max: '1', value: String(job.progress ?? 0), 'aria-label': 'Progress' }) : null,
        job.trouble ? h('small', {}, job.trouble) : null];
}

function partOf(job) {
    if (!job.from && !job.until) return 'the whole log';
    return `${job.from ? moment(job.from, 'short') : 'the beginning'} to ${job.until ? moment(job.until, 'short') : 'now'}`;
}

// ---- results ----

function verdict(estimate) {
    if (!known(estimate.gain_low) || !known(estimate.gain_high)) return DASH;
    return estimate.gain_low > 0 ? 'significantly more' : estimate.gain_high < 0 ? 'significantly less' : 'inconclusive';
}

function resultRows(job) {
    return job.results.flatMap((result, i) => {
        const candidate = job.candidates[i];
        const head = (rows) => h('th', { scope: 'row', rowspan: String(rows) }, result.name, h('small', {}, MEANINGS[candidate.policy] ?? (candidate.name === candidate.policy ? useOf(candidate.policy) : candidate.policy)));
        if (result.trouble) return [h('tr', {}, head(1), h('td', { colspan: '4' }, `Not evaluated: ${result.trouble}`))];
        const own = candidate.policy === 'logged';
        return result.estimates.map((one, k) => h('tr', {}, k ? null : head(result.estimates.length), h('td', {}, one.estimator),
            h('td', { class: 'right' }, real(one.value), h('small', {}, interval(one.low, one.high))),
            h('td', { class: 'right' }, own ? DASH : [signed(one.gain), h('small', {}, interval(one.gain_low, one.gain_high, signed))]),
            h('td', {}, own ? '' : verdict(one), k || result.trusted ? null : h('small', {}, 'Do not rely on this: see below.'))));
    });
}

function resultOf(job) {
    const doubts = job.results.filter((result) => !result.trusted && !result.trouble);
    return [
        h('p', { class: 'quiet-words small' }, `Measured on ${plural(job.events, 'decision', 'decisions')} from ${moment(job.first_time, 'short')} to ${moment(job.last_time, 'short')}. The bandit earned ${real(job.reward)} per decision. Intervals: ${percent(job.confidence, 0)}.`),
        scroller('Results of the evaluation', h('table', { class: 'wide' },
            h('thead', {}, h('tr', {}, ['Policy', 'Estimator', 'Mean reward per decision', 'Difference from this bandit', 'It would earn'].map((words, i) => h('th', { scope: 'col', class: i === 2 || i === 3 ? 'right' : null }, words)))),
            h('tbody', {}, resultRows(job)))),
        ...doubts.map((result) => h('div', {}, h('h3', {}, `Do not rely on ${result.name}`), ...result.sentences.map((words) => h('p', { class: 'quiet-words small' }, words)))),
    ];
}

// ---- starting one ----

function box(policy) {
    const id = `candidate-${policy.name.replace(/\W/g, '-')}`;
    return h('label', { class: 'check', for: id }, h('input', { type: 'checkbox', id, name: 'candidate', value: policy.name, checked: ['eenet', 'linucb'].includes(policy.name) }),
        h('span', {}, h('b', {}, policy.name), h('small', {}, useOf(policy.name))));
}

function candidateFields() {
    const list = policies().filter((policy) => policy.name !== 'uniform');
    const more = list.filter((policy) => !ADVICE[policy.name]);
    return h('fieldset', {}, h('legend', {}, 'Policies to compare with this bandit'), list.filter((policy) => ADVICE[policy.name]).map(box),
        more.length ? h('details', {}, h('summary', {}, `${more.length} more policies`), more.map(box)) : null);
}

function estimatorField() {
    const list = h('select', { name: 'estimator' }, estimators().map((one) => h('option', { value: one.name, selected: one.name === 'dr' }, `${one.name} – ${one.summary}`)));
    return field('Estimator', list, 'How the log is used to estimate what another policy would have earned. If unsure, keep dr.');
}

function start(name, changed) {
    const time = (part) => h('input', { name: part, type: 'datetime-local', step: '1' });
    return question({
        title: 'Start an evaluation',
        words: ['Estimates from the log what other policies would have earned. It runs in the background and changes nothing.', lacks('admin')],
        fields: [
            field('Name (optional)', h('input', { name: 'name', autocomplete: 'off', maxlength: '128', placeholder: 'autumn' })),
            candidateFields(),
            field('Decisions from (optional)', time('from'), 'In your time zone. Empty: from the first one.'),
            field('Decisions until (optional)', time('until'), 'Empty: up to the last one whose reward is final.'),
            estimatorField(),
        ],
        confirm: 'Start',
        act: async (data) => {
            const no = lacks('admin');
            if (no) throw new Refused(403, no, 0);
            const body = { name: String(data.get('name')).trim(), candidates: [...FIXED, ...data.getAll('candidate').map((policy) => ({ name: policy, policy }))] };
            if (data.get('estimator')) body.estimators = [data.get('estimator')];
            for (const part of ['from', 'until']) if (data.get(part)) body[part] = new Date(data.get(part)).toISOString();
            await send(pathOf(name, '/evaluations'), body);
            tell('Evaluation started.');
            changed();
        },
    });
}

// ---- the card ----

export function evaluationsCard(name, changed) {
    let shown = null; // id of the job whose results are open
    const body = h('tbody'), results = h('div', { class: 'results', role: 'region', 'aria-label': 'Results' }), wrong = h('p', { class: 'wrong', role: 'alert', hidden: true });
    const table = scroller('Table of evaluations', h('table', { class: 'wide' }, h('thead', {}, h('tr', {}, ['Evaluation', 'Status', 'Part of the log', ''].map((words) => h('th', { scope: 'col' }, words || h('span', { class: 'hidden' }, 'Actions'))))), body));
    const none = empty('No evaluation yet. Start one to see what other policies would have earned on past decisions.');
    const begin = h('button', { type: 'button', class: 'little end', onclick: () => withChoices(() => start(name, changed)) }, 'Start an evaluation');
    const { node, header } = card('Evaluations on the log', 'what other policies would have earned on past decisions', table, none, wrong, results);
    header.append(begin);
    show(table, false);
    show(results, false);

    async function open(job) {
        const same = shown === job.id;
        shown = same ? null : job.id;
        show(results, !same);
        changed();
        if (same) return;
        show(wrong, false);
        try {
            const read = await ask(pathOf(name, `/evaluations/${job.id}`));
            if (shown !== job.id) return;
            results.replaceChildren(h('h3', {}, `Results of ${titleOf(job)}`), ...resultOf(read));
        } catch (error) {
            show(say(wrong, reason(error)), true);
        }
    }

    function remove(job) {
        const over = job.state === 'done' || job.state === 'failed';
        return question({
            title: `${over ? 'Delete' : 'Cancel'} ${titleOf(job)}?`,
            words: over ? 'Its results are deleted. The log stays.' : 'The evaluation stops and is deleted. The log stays.',
            confirm: over ? 'Delete' : 'Cancel the evaluation',
            leave: over ? 'Keep it' : 'Let it run',
            danger: true,
            act: async () => {
                await ask(pathOf(name, `/evaluations/${job.id}`), { method: 'DELETE' });
                if (shown === job.id) show(results, false);
                tell('Evaluation deleted.');
                changed();
            },
        });
    }

    const titleOf = (job) => job.name || `evaluation of ${moment(job.created, 'short')}`;

    function row(job) {
        const no = lacks('admin'), over = job.state === 'done' || job.state === 'failed';
        return h('tr', {},
            h('th', { scope: 'row' }, titleOf(job), h('small', {}, `${plural(job.candidates.length, 'policy', 'policies')}, ${job.estimators.join(', ')}; started ${moment(job.created, 'short')}`)),
            h('td', {}, stateOf(job)),
            h('td', {}, partOf(job)),
            h('td', {}, h('div', { class: 'row end' },
                job.state === 'done' ? h('button', { type: 'button', class: 'little', 'aria-expanded': String(shown === job.id), 'aria-label': `Results of ${titleOf(job)}`, onclick: () => open(job) }, 'Results') : null,
                h('button', { type: 'button', class: 'little', disabled: Boolean(no), title: no || null, 'aria-label': `${over ? 'Delete' : 'Cancel'} ${titleOf(job)}`, onclick: () => remove(job) }, over ? 'Delete' : 'Cancel'))));
    }

    return {
        node,
        update(jobs) {
            show(none, !jobs.length);
            show(table, jobs.length > 0);
            fill(body, [jobs, shown, lacks('admin')], () => [...jobs].reverse().map(row));
        },
    };
}
