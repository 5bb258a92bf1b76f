// What forms offer. The policies, the estimators and the defaults come from the server, so that no copy of them ages here.
import { field } from './dialogs.js';
import { h, say, show } from './elements.js';
import { ask } from './server.js';

let known = null; // {policies: [{name, summary, propensity}], estimators: [{name, summary}], defaults: {...}}

export async function loadChoices() {
    known ??= await ask('/page/choices');
}

// Opens a form that offers them. If they cannot be loaded, the form says so.
export async function withChoices(open) {
    await loadChoices().catch(() => {});
    return open();
}

export const policies = () => known?.policies ?? [];
export const estimators = () => known?.estimators ?? [];

// The default of a setting. Policies that sample their scores have only their own rule of exploration.
export function defaultOf(name, policy) {
    if (name === 'propensity' && policies().find((one) => one.name === policy)?.propensity === false) return 'own';
    return known?.defaults[name] ?? null;
}

// When to use which; a test compares the names with “eenet policies”.
export const ADVICE = {
    eenet: 'start here: the default, and the best overall',
    'eenet:fast': 'when a decision must take only microseconds',
    linucb: 'when each feature adds its own effect to the reward; learns from little data',
    'neural-ucb': 'when rewards are rare and noisy, such as clicks',
    thompson: 'when the best action is the same for everybody',
    uniform: 'random choice: to collect data, or to compare with',
};

export function useOf(policy) {
    return ADVICE[policy] ?? policies().find((one) => one.name === policy)?.summary ?? '';
}

const option = (policy, chosen) => h('option', { value: policy.name, selected: policy.name === chosen }, `${policy.name} – ${useOf(policy.name)}`);

// A list of the policies, and below it what the selected one does.
export function policyField(label, chosen, changed = () => {}) {
    const recommended = policies().filter((one) => ADVICE[one.name]);
    const preset = (one) => /:(paper|authors)$/.test(one.name);
    const others = policies().filter((one) => !ADVICE[one.name] && !preset(one));
    const group = (words, list) => list.length && h('optgroup', { label: words }, list.map((one) => option(one, chosen)));
    const list = h('select', { name: 'policy' }, group('Recommended', recommended), group('More policies', others), group('As published, to reproduce papers', policies().filter(preset)));
    const node = field(label, list, ' ');
    const hint = node.querySelector('small');
    const look = () => {
        const one = policies().find((policy) => policy.name === list.value);
        say(hint, one ? `${one.summary[0].toUpperCase()}${one.summary.slice(1)}.` : 'The list of policies could not be loaded. Reload the page.');
        changed(one);
    };
    list.addEventListener('change', look);
    return { node, look };
}

// The rules by which scores become probabilities: {words, amount: label of the number, usual}.
const RULES = {
    floor: { words: 'A fixed share of decisions is random', amount: 'Random decisions, in %', usual: 5 },
    softmax: { words: 'Better scores are chosen more often (softmax)', amount: 'Temperature: higher is more random', usual: 0.1 },
    igw: { words: 'The clearer the lead, the fewer random choices (inverse-gap weighting)', amount: 'Gamma: higher is less random', usual: 100 },
    own: { words: 'The policy’s own rule' },
};

// How a new policy explores: a rule and its number. `look(policy)` follows the selected policy.
export function explorationFields() {
    const rule = h('select', { name: 'rule' }, Object.entries(RULES).map(([name, { words }]) => h('option', { value: name }, words)));
    const amount = h('input', { name: 'amount', type: 'number', step: 'any', min: '0', inputmode: 'decimal' });
    const ruleField = field('Exploration', rule, ' '), amountField = field(' ', amount);
    const hint = ruleField.querySelector('small'), label = amountField.querySelector('label');
    const turn = () => {
        const { amount: words, usual } = RULES[rule.value];
        show(amountField, Boolean(words));
        say(label, words ?? '');
        amount.value = usual ?? '';
    };
    rule.addEventListener('change', turn);
    turn();
    return {
        nodes: [ruleField, amountField],
        look(policy) {
            const fixed = policy?.propensity === false;
            rule.disabled = fixed;
            if (fixed !== (rule.value === 'own')) {
                rule.value = fixed ? 'own' : 'floor';
                turn();
            }
            say(hint, fixed ? 'This policy explores by sampling; it has no other rule.' : 'Some random decisions are needed to learn, and to compare policies later.');
        },
        // As the server takes it: "floor:0.05".
        read() {
            if (rule.value === 'own') return 'own';
            const number = Number(amount.value);
            return `${rule.value}:${rule.value === 'floor' ? number / 100 : number}`;
        },
    };
}
