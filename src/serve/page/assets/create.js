// Creating a bandit, and the view of a server without any.
import { field, question } from './dialogs.js';
import { h } from './elements.js';
import { lacks } from './key.js';
import { Refused, send } from './server.js';

function fields() {
    const dim = h('input', { name: 'dim', type: 'number', min: '1', step: '1', value: '8', inputmode: 'numeric' });
    const dimField = field('Numbers in each vector', dim);
    dimField.hidden = true;
    const kind = h('select', { name: 'kind', onchange: () => (dimField.hidden = kind.value !== 'vectors') },
        h('option', { value: 'features' }, 'Named features, for example {"plan": "free"}'),
        h('option', { value: 'vectors' }, 'Vectors of numbers'));
    return [
        field('Name', h('input', { name: 'name', autocomplete: 'off', spellcheck: 'false', maxlength: '64', placeholder: 'shop' }), 'Letters, digits, “-”, “_” and “.”'),
        field('How actions are described', kind),
        dimField,
        field('Policy', h('input', { name: 'policy', value: 'eenet', autocomplete: 'off', spellcheck: 'false', list: 'policies' }), 'Default: eenet. “eenet policies” lists them.'),
        field('How long to wait for a reward', h('input', { name: 'wait', value: '10m', autocomplete: 'off', spellcheck: 'false' }), 'For example 30s, 10m, 4h, 2d. A decision without a reward then counts as 0.'),
    ];
}

async function create(form) {
    const no = lacks('admin');
    if (no) throw new Refused(403, no, 0);
    const name = String(form.get('name')).trim();
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) throw new Refused(400, 'a name must be 1 to 64 letters, digits, “-”, “_” or “.”, and begin with a letter or digit', 0);
    const body = { name, policy: String(form.get('policy')).trim(), wait: String(form.get('wait')).trim() };
    if (form.get('kind') === 'vectors') body.dim = Number(form.get('dim'));
    else body.features = '';
    await send('/v1/bandits', body);
    return name;
}

export async function createBandit(done) {
    const name = await question({ title: 'New bandit', words: lacks('admin'), fields: fields(), confirm: 'Create', act: create });
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
