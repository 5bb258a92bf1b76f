// Guardrails: who gets the decisions, whether that is better, what limits them; and the ways to hold, release and roll out.
import { bars, card } from './cards.js';
import { field, question } from './dialogs.js';
import { fill, h, say, show, tell } from './elements.js';
import { known, moment, percent, plainPercent, plural } from './formats.js';
import { lacks } from './key.js';
import { liftTables } from './lift.js';
import { boundsPart, limitsPart } from './limits.js';
import { Refused, ask, pathOf, send } from './server.js';

const STEPS = [0.01, 0.05, 0.25, 1];
const GROUPS = {
    treated: 'the bandit decides',
    control: 'the baseline, for good',
    waiting: 'the baseline, until the rollout reaches them',
    fallback: 'the baseline, while the bandit is held',
};
const EXAMPLE = { control: { share: 0.05, baseline: 'first' }, rollout: { share: 0.25 } };

const shareOf = (guardrails) => guardrails.rollout?.share ?? 1;
const treatedOf = (guardrails, share = shareOf(guardrails)) => (1 - (guardrails.control?.share ?? 0)) * share;

// ---- words ----

function heldWords({ held, held_because: because }, report) {
    const alarm = report?.alarms?.findLast((one) => one.sentence === because);
    const since = alarm ? ` since ${moment(alarm.time, 'short')}` : '';
    const what = held === 'fallback' ? `everybody gets the baseline${since}, and the bandit learns nothing` : `the bandit decides but learns nothing${since}`;
    return `Held: ${what}${because ? `, because: ${because}` : ''}${/[.!?]$/.test(because ?? '') ? '' : '.'}`;
}

// The report follows the settings a little later, and only it knows the stage of a schedule.
function rolloutWords(report, { guardrails = {}, held }) {
    const planned = Boolean(guardrails.rollout?.schedule), stage = (planned && report?.stage) || {};
    const share = planned ? report?.treated_share : treatedOf(guardrails);
    const words = known(share) ? [`${held === 'fallback' ? 'Once it is released, the' : 'The'} bandit decides for ${plainPercent(share)} of all people.`] : [];
    if (stage.of > 1) words.push(`Stage ${stage.number} of ${stage.of}.`);
    if (known(stage.next_share)) words.push(`The next one begins ${moment(stage.next_at, 'short')}: ${plainPercent(stage.next_share)} of the people outside the control group.`);
    return words.join(' ');
}

function groupRows(groups) {
    const shown = Object.keys(GROUPS).filter((name) => groups[name] > 0 || (name !== 'fallback' && name in groups));
    const all = shown.reduce((sum, name) => sum + groups[name], 0);
    return shown.map((name) => ({ name, share: all ? groups[name] / all : 0, words: plural(groups[name], 'decision', 'decisions'), note: GROUPS[name], kind: name === 'treated' ? '' : 'other' }));
}

// Who is affected by another share of the rollout.
function changeWords(guardrails, share) {
    const before = treatedOf(guardrails), after = treatedOf(guardrails, share), moved = plainPercent(Math.abs(after - before));
    const now = `The bandit then decides for ${plainPercent(after)} of all people; now it is ${plainPercent(before)}.`;
    return [now, after > before ? `${moved} of all people change from the baseline to the bandit.` : `${moved} of all people go back to the baseline.`];
}

// ---- dialogs ----

function permitted() {
    const no = lacks('admin');
    if (no) throw new Refused(403, no, 0);
}

function parse(words) {
    if (!words.trim()) return null;
    try {
        return JSON.parse(words);
    } catch (error) {
        throw new Refused(0, `invalid JSON: ${error.message}`, 0);
    }
}

// Sends settings that `make` returns and says what was done.
async function change(name, make, done, changed) {
    permitted();
    await send(pathOf(name), await make(), 'PATCH');
    tell(done);
    changed();
}

function hold(name, changed) {
    return question({
        title: `Hold ${name}?`,
        words: ['Everybody gets the baseline from the next decision on, and the bandit learns nothing until you release it.', lacks('admin')],
        fields: [field('Why (optional)', h('input', { name: 'because', autocomplete: 'off', maxlength: '200' }), 'Shown to everybody who looks at this bandit, and kept in its log.')],
        confirm: 'Hold',
        danger: true,
        act: (data) => change(name, () => ({ held: 'fallback', held_because: String(data.get('because')).trim() }), 'The bandit is held.', changed),
    });
}

function release(name, changed) {
    return question({
        title: `Release ${name}?`,
        words: ['The bandit decides and learns again from the next decision on. Bounds that were violated are tested again from the start.', lacks('admin')],
        confirm: 'Release',
        act: () => change(name, () => ({ held: 'no' }), 'The bandit is released.', changed),
    });
}

// Changes the guardrails as they are on the server then, so that other changes in the meantime stay.
function roll(name, guardrails, share, changed) {
    return question({
        title: `Roll out to ${plainPercent(share)}?`,
        words: [...changeWords(guardrails, share), lacks('admin')],
        confirm: `Roll out to ${plainPercent(share)}`,
        act: () => change(name, async () => {
            const now = (await ask(pathOf(name))).settings.guardrails ?? {};
            if (now.rollout?.schedule) throw new Refused(0, 'a schedule moves the rollout by now; change it in the guardrails', 0);
            return { guardrails: { ...now, rollout: { ...now.rollout, share } } };
        }, `Rolled out to ${plainPercent(share)}.`, changed),
    });
}

function edit(name, guardrails, changed) {
    const text = h('textarea', { name: 'guardrails', rows: '16', spellcheck: 'false', autocomplete: 'off' });
    text.value = JSON.stringify(guardrails ?? EXAMPLE, null, 2);
    return question({
        title: `Guardrails of ${name}`,
        words: [guardrails ? '' : 'An example to start from: one person in twenty stays in the control group, and the bandit decides for a quarter of the others.', lacks('admin')],
        fields: [field('Guardrails', text, 'A JSON object, as in docs/guardrails.md. It replaces the present one; empty removes all guardrails.')],
        confirm: 'Save',
        act: (data) => change(name, () => ({ guardrails: parse(String(data.get('guardrails'))) }), 'Guardrails saved.', changed),
    });
}

// ---- the card ----

export function guardrailsCard(name, changed) {
    let entry = null, report = null;
    const button = (words, act, kind = '') => h('button', { type: 'button', class: `little ${kind}`, onclick: act }, words);
    const editNow = () => edit(name, entry.settings.guardrails, changed);
    const set = button('Set guardrails', editNow), alter = button('Edit', editNow), stop = button('Hold', () => hold(name, changed));
    const free = button('Release', () => release(name, changed), 'main'), why = h('p', {});
    const banner = h('div', { class: 'notice bad held', role: 'status', hidden: true }, why, free);
    const none = h('p', { class: 'empty' }, 'Nobody is in a control group, and nothing limits the decisions.');
    const who = h('p', {}), groups = bars('Decisions per group'), steps = h('div', { class: 'row rollout', role: 'group', 'aria-label': 'Rollout' });
    const lift = liftTables(), early = h('p', { class: 'empty' }), bounds = boundsPart(), limits = limitsPart();
    const people = h('div', {}, h('h3', {}, 'Groups'), who, groups.node, steps), lifted = h('div', {}, h('h3', {}, 'Lift over people who are not treated'), early, lift.nodes);
    const parts = h('div', { class: 'guardrails' }, people, lifted, bounds.nodes, limits.nodes);
    const { node, note, header } = card('Guardrails', '', none, parts);
    header.append(h('div', { class: 'row end' }, set, alter, stop));

    function showSteps(guardrails) {
        const no = lacks('admin'), present = shareOf(guardrails);
        show(steps, !guardrails.rollout?.schedule);
        fill(steps, [guardrails, no, entry.archived], () => [h('span', { class: 'quiet-words small' }, 'Roll out to'), h('div', { class: 'choice' }, STEPS.map((share) =>
            h('button', { type: 'button', class: 'little', 'aria-label': `Roll out to ${plainPercent(share)}`, 'aria-pressed': String(share === present), disabled: Boolean(no) || entry.archived, title: no || null, onclick: () => share === present || roll(name, guardrails, share, changed) }, plainPercent(share))))]);
    }

    function showHeld({ held }) {
        const is = Boolean(held) && held !== 'no', no = lacks('admin');
        show(banner, is);
        if (is) say(why, heldWords(entry.settings, report));
        for (const one of [free, stop, set, alter]) {
            one.disabled = Boolean(no) || entry.archived;
            one.title = no;
        }
        return is;
    }

    function update() {
        if (!entry) return;
        const { settings } = entry, guardrails = settings.guardrails ?? {};
        const any = showHeld(settings) || Boolean(settings.guardrails);
        show(none, !any);
        show(parts, any);
        show(set, !settings.guardrails);
        show(alter, Boolean(settings.guardrails));
        show(stop, any && settings.held !== 'fallback');
        if (!any) return;
        say(who, rolloutWords(report, settings));
        const counted = groupRows(report?.groups ?? {});
        groups.update(counted);
        show(groups.node, counted.some((row) => row.share > 0));
        showSteps(guardrails);
        const measured = lift.update(report, guardrails.segment);
        show(say(early, measured ? '' : 'Appears once decisions of both groups have their rewards.'), !measured);
        bounds.update(report, guardrails);
        limits.update(entry.limits, guardrails);
    }

    return {
        node,
        banner,
        describe(given) {
            entry = given;
            update();
        },
        update(evaluation) {
            report = evaluation.guardrails ?? null;
            say(note, report?.lift?.length ? `small numbers: ${percent(evaluation.confidence, 0)} intervals, valid however often you look` : '');
            update();
        },
    };
}
