// Creating a bandit, and the view of a server without any.
import { explorationFields, policyField, withChoices } from './choices.js';
import { field, question } from './dialogs.js';
import { h } from './elements.js';
import { lacks } from './key.js';
import { Refused, send } from './server.js';

function form() {
    const dim = h('input', { name: 'dim', type: 'number', min: '1', step: '1', value: '8', inputmode: 'numeric' });
    const dimField = field('Numbers in each vector', dim);
    dimField.hidden = true;
    const kind = h('select', { name: 'kind', onchange: () => (dimField.hidden = kind.value !== 'vectors') },
        h('option', { value: 'features' }, 'Named features, for example {"plan": "free"}'),
        h('option', { value: 'vectors' }, 'Vectors of numbers'));
    const explores = explorationFields(), policy = policyField('Policy', 'eenet', explores.look);
    policy.look();
    const fields = [
        field('Name', h('input', { name: 'name', autocomplete: 'off', spellcheck: 'false', maxlength: '64', placeholder: 'shop' }), 'Letters, digits, “-”, “_” and “.”'),
        field('How actions are described', kind),
        dimField,
        policy.node,
        ...explores.nodes,
        field('How long rewards may take', h('input', { name: 'wait', value: '10m', autocomplete: 'off', spellcheck: 'false' }), 'For example 30s, 10m, 4h or 2d after the decision. A decision without a reward by then is learned with the reward 0.'),
    ];
    return { fields, explores };
}

async function create(data, explores) {
    const no = lacks('admin');
    if (no) throw new Refused(403, no, 0);
    const name = String(data.get('name')).trim();
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) throw new Refused(400, 'a name must be 1 to 64 letters, digits, “-”, “_” or “.”, and begin with a letter or digit', 0);
    const body = { name, policy: data.get('policy') ?? undefined, propensity: explores.read(), wait: String(data.get('wait')).trim() };
    if (data.get('kind') === 'vectors') body.dim = Number(data.get('dim'));
    else body.features = '';
    await send('/v1/bandits', body);
    return name;
}

export async function createBandit(done) {
    const { fields, explores } = await withChoices(form);
    const name = await question({ title: 'New bandit', words: lacks('admin'), fields, confirm: 'Create', act: (data) => create(data, explores) });
    if (name) await done(name);
}

// Shown by a server without bandits.
export function welcome(done) {
    return h('section', { class: 'card welcome' },
        h('h1', {}, 'Create your first bandit'),
        h('p', {}, 'A bandit chooses one of several actions, for example which banner to show. You report how well it did (the reward). The bandit learns which action works best for whom.'),
        h('ol', {},
            h('li', {}, 'Create a bandit: all it needs is a name.'),
            h('li', {}, 'Try it here by hand, then call it from your application over HTTP.'),
            h('li', {}, 'Come back to see what its decisions earn, and whether another policy would earn more.')),
        h('div', { class: 'row' }, h('button', { type: 'button', class: 'main', onclick: () => createBandit(done) }, 'Create a bandit')));
}
