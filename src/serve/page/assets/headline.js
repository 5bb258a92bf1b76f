// The main result as one sentence, with the numbers behind it.
import { fill, h } from './elements.js';
import { clock, duration, interval, known, moment, percent, plural, real, signed } from './formats.js';

const OTHERS = { uniform: 'random choice', baseline: 'always the first action' };

// What this bandit earns more than the policy, with its interval; null without a fair comparison.
function difference(policy, online) {
    if (!policy || !known(policy.gain) || !known(policy.gain_low) || !known(policy.gain_high)) return null;
    if (policy.unsupported > 0.01) return null; // this bandit never takes some of its actions, so its value is too low
    if (policy.policy === online.policy) return null;
    return { policy, mean: -policy.gain, low: -policy.gain_high, high: -policy.gain_low };
}

// " (+68%)", if rewards cannot be negative and the ratio is below 11.
function share(online, policy, rewards) {
    if (!(rewards?.[0] >= 0) || !(policy.value > 0)) return '';
    const more = online.value / policy.value - 1;
    return Math.abs(more) < 10 ? ` (${more < 0 ? '−' : '+'}${percent(Math.abs(more), 0)})` : '';
}

function verdict(than) {
    if (than.low > 0) return 'good';
    return than.high < 0 ? 'bad' : '';
}

function sentence(bandit, online, than, rewards) {
    const earned = real(online.value), other = real(than.policy.value), name = OTHERS[than.policy.kind];
    if (!verdict(than)) return `Inconclusive so far: ${bandit} earns ${earned} per decision, ${name} would earn ${other}.`;
    return `${bandit} earns ${earned} per decision; ${name} would earn ${verdict(than) === 'bad' ? 'more: ' : ''}${other}${share(online, than.policy, rewards)}.`;
}

// What the results are measured on. Decisions are evaluated in their order, up to the first one that waits for its reward.
export function measuredOn(evaluation, entry, pending) {
    const measured = `${plural(evaluation.events, 'decision', 'decisions')}${evaluation.to ? `, up to ${clock(evaluation.to)}` : ''}`;
    return pending ? `${measured}; the next one waits for its reward${entry ? `, at most ${duration(entry.settings.wait)}` : ''}` : measured;
}

function explanation(than, evaluation, measured) {
    const range = interval(than.low, than.high, signed), sure = percent(evaluation.confidence, 0);
    const words = `Difference ${signed(than.mean)} (${sure} interval ${range}), measured on ${measured}.`;
    if (!verdict(than)) return `${words} More decisions narrow the interval.`;
    return verdict(than) === 'bad' ? `${words} Check your rewards: a higher value must mean a better outcome.` : words;
}

// One sentence each: the baseline, and challengers that are significantly better.
function others(evaluation, online, shown) {
    const list = [];
    const baseline = difference(evaluation.policies.find((policy) => policy.kind === 'baseline'), online);
    if (baseline && baseline.policy !== shown.policy) {
        const words = { good: 'significantly less', bad: 'significantly more', '': 'inconclusive' }[verdict(baseline)];
        list.push(`The baseline (${OTHERS.baseline}) would earn ${real(baseline.policy.value)}: ${words}, difference ${interval(baseline.low, baseline.high, signed)}.`);
    }
    for (const policy of evaluation.policies)
        if (policy.state === 'offered') list.push(`The challenger ${policy.name} would earn ${real(policy.value)}: significantly more. You can promote it below.`);
    return list;
}

// Results start again after a promotion.
function afterPromotion(promotion, settings) {
    const before = known(promotion.gain) ? ` Before, ${promotion.to ?? 'the challenger'} was estimated to earn ${signed(promotion.gain)} per decision compared with ${promotion.from ?? 'the former policy'}, measured on ${plural(promotion.events, 'decision', 'decisions')}.` : '';
    return ['', `New period since the promotion at ${moment(promotion.time, 'short')}.`, `${results(settings)}${before}`, []];
}

function waiting(settings) {
    return `Decisions are evaluated in order, and the first one still waits for its reward, at most ${duration(settings.wait)}.`;
}

function results(settings) {
    return `Results appear as soon as decisions have their rewards, or their time for rewards (${duration(settings.wait)}) is over.`;
}

function result(bandit, evaluation, entry, pending) {
    const { settings } = entry;
    const find = (kind) => evaluation.policies?.find((policy) => policy.kind === kind);
    const online = find('online');
    const promotion = evaluation.promotions?.at(-1);
    if (!known(online?.value)) return promotion ? afterPromotion(promotion, settings) : ['', 'No results yet.', pending ? waiting(settings) : results(settings), []];
    const than = settings.mode === 'online' ? (difference(find('uniform'), online) ?? difference(find('baseline'), online)) : null;
    if (!than) return ['', `${bandit} earns ${real(online.value)} per decision.`, 'No comparison: some actions are never taken, so the log does not show what they would earn.', []];
    return [verdict(than), sentence(bandit, online, than, evaluation.rewards), explanation(than, evaluation, measuredOn(evaluation, entry, pending)), others(evaluation, online, than)];
}

export function headlineCard(bandit) {
    const node = h('section', { class: 'card headline', 'aria-label': 'Result', hidden: true });
    return {
        node,
        update(evaluation, entry, pending) {
            const [kind, words, small, more] = result(bandit, evaluation, entry, pending);
            node.hidden = false;
            node.className = `card headline ${kind}`;
            fill(node, [words, small, more], () => [h('p', { class: 'result' }, words), h('p', { class: 'quiet-words' }, small), ...more.map((line) => h('p', { class: 'quiet-words' }, line))]);
        },
    };
}
