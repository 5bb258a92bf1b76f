// The visitor's API key: asked for if the server requires one, kept for this tab only, sent with every request. What the
// key may not do is said before a request is made.
import { field, question } from './dialogs.js';
import { h, show, tell } from './elements.js';
import { Refused, ask, hasKey, onStranger, setKey } from './server.js';

let known = null; // {keys, role, name, bandit}, from the server
let asking = false;
let button, changed;

export async function visitor() {
    if (!known) {
        known = await ask('/page/visitor');
        show(button, known.keys);
        button.textContent = known.role === 'nobody' ? 'Enter key' : `Key: ${known.name} (${known.role})`;
    }
    return known;
}

onStranger(() => (known = null));

const order = ['nobody', 'client', 'reader', 'app', 'admin'];

export function may(role) {
    return order.indexOf(known?.role ?? 'nobody') >= order.indexOf(role);
}

// Why this visitor may not do it; '' if allowed.
export function lacks(role) {
    if (may(role)) return '';
    const now = known?.role === 'nobody' || !known ? 'no key is set' : `your key '${known.name}' has the role ${known.role}`;
    return `This needs a key with the role ${role}; ${now}.`;
}

async function take(form) {
    const given = String(form.get('key')).trim();
    if (!given) throw new Refused(0, 'enter a key', 0);
    const found = await ask('/page/visitor', { withKey: given });
    if (found.role === 'nobody') throw new Refused(401, 'unknown key: check that you copied all of it', 0);
    setKey(given);
    known = null;
    await visitor();
    tell(`Key ${found.name} accepted. Role: ${found.role}.`);
    changed();
}

export async function askKey() {
    if (asking) return;
    asking = true;
    await question({
        title: 'Enter your key',
        words: ['This server requires a key. With the role reader you see everything; app can also decide and send rewards; admin can also create bandits, change settings, start evaluations and promote challengers.',
            'The key stays in this tab and is forgotten when you close it.'],
        fields: [field('Key', h('input', { name: 'key', type: 'password', autocomplete: 'off', spellcheck: 'false', placeholder: 'ee_…' }))],
        confirm: 'Use this key',
        act: take,
    });
    asking = false;
}

let wanted = false;

// Asks once; after that the visitor uses the button.
export function wantKey() {
    if (wanted && !hasKey()) return;
    wanted = true;
    askKey();
}

export function startKey(node, onChange) {
    button = node;
    changed = onChange;
    button.addEventListener('click', askKey);
}
