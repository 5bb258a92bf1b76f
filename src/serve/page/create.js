// A new bandit: a name, and what it decides over.
import { field, question } from './dialogs.js';
import { h } from './elements.js';
import { lacks } from './key.js';
import { Refused, send } from './server.js';

function fields() {
    const dim = h('input', { name: 'dim', type: 'number', min: '1', step: '1', value: '8', inputmode: 'numeric' });
    const dimField = field('Numbers of a vector', dim);
    dimField.hidden = true;
    const kind = h('select', { name: 'kind', onchange: () => (dimField.hidden = kind.value !== 'vectors') },
        h('option', { value: 'features' }, 'Named features, as {"plan": "free"}'),
        h('option', { value: 'vectors' }, 'Vectors of numbers'));
    return [
        field('Name', h('input', { name: 'name', autocomplete: 'off', spellcheck: 'false', maxlength: '64', placeholder: 'shop' }), 'Letters, digits, “-”, “_” and “.”.'),
        field('What is known of an action', kind),
        dimField,
        field('Policy', h('input', { name: 'policy', value: 'eenet', autocomplete: 'off', spellcheck: 'false', list: 'policies' }), 'As “eenet policies” lists them; eenet is the usual one.'),
        field('How long a reward may take', h('input', { name: 'wait', value: '10m', autocomplete: 'off', spellcheck: 'false' }), 'As 30s, 10m, 4h, 2d. A decision without a reward counts 0 after that.'),
    ];
}

async function create(form) {
    const no = lacks('admin');
    if (no) throw new Refused(403, no, 0);
    const name = String(form.get('name')).trim();
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) throw new Refused(400, 'a name is 1 to 64 letters, digits, “-”, “_” and “.”, and begins with a letter or digit', 0);
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

// What a server without bandits shows.
export function welcome(done) {
    return h('section', { class: 'card welcome' },
        h('h1', {}, 'No bandit yet'),
        h('p', {}, 'A bandit is asked which of some actions to take. It answers with one, is told later what came of it, and learns which does best for whom.'),
        h('ol', {},
            h('li', {}, 'Create one: a name is enough.'),
            h('li', {}, 'Try it here, by hand; or let an application ask it over HTTP.'),
            h('li', {}, 'Come back to this page: it shows what decisions earn, and whether another policy would earn more.')),
        h('div', { class: 'row' }, h('button', { type: 'button', class: 'main', onclick: () => createBandit(done) }, 'Create a bandit')));
}
