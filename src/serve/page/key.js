// Whose page this is. Where the server needs keys, it is asked for one: kept for this tab alone, and sent with every
// request. What the key may not do is said before it is tried.
import { field, question } from './dialogs.js';
import { h, show, tell } from './elements.js';
import { Refused, ask, hasKey, onStranger, setKey } from './server.js';

let known = null; // {keys, role, name, bandit}, as the server says
let asking = false;
let button, changed;

export async function visitor() {
    if (!known) {
        known = await ask('/page/visitor');
        show(button, known.keys);
        button.textContent = known.role === 'nobody' ? 'Enter a key' : `Key: ${known.name} (${known.role})`;
    }
    return known;
}

onStranger(() => (known = null));

const order = ['nobody', 'reader', 'app', 'admin'];

export function may(role) {
    return order.indexOf(known?.role ?? 'nobody') >= order.indexOf(role);
}

// Why a button is not for this visitor; '' where it is.
export function lacks(role) {
    if (may(role)) return '';
    const now = known?.role === 'nobody' || !known ? 'there is none' : `yours, '${known.name}', is ${known.role}`;
    return `This needs a key of the role ${role}; ${now}.`;
}

async function take(form) {
    const given = String(form.get('key')).trim();
    if (!given) throw new Refused(0, 'there is no key in the field', 0);
    const found = await ask('/page/visitor', { withKey: given });
    if (found.role === 'nobody') throw new Refused(401, 'the server does not know this key', 0);
    setKey(given);
    known = null;
    await visitor();
    tell(`The key ${found.name} is taken. Its role is ${found.role}.`);
    changed();
}

export async function askKey() {
    if (asking) return;
    asking = true;
    await question({
        title: 'A key, please',
        words: ['This server answers to keys alone. One of the role reader shows everything; app also decides and rewards; admin also changes.',
            'It stays in this tab and is forgotten with it.'],
        fields: [field('Key', h('input', { name: 'key', type: 'password', autocomplete: 'off', spellcheck: 'false', placeholder: 'ee_…' }))],
        confirm: 'Use this key',
        act: take,
    });
    asking = false;
}

let wanted = false;

// Asks once by itself; after that the button does.
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
