// The dashboard: server status, list of bandits, and the view of the selected one.
import { startKey, visitor, wantKey } from './key.js';
import { bandit } from './bandit.js';
import { loadChoices } from './choices.js';
import { createBandit, welcome } from './create.js';
import { sentence } from './dialogs.js';
import { h, mark, say, show, tell } from './elements.js';
import { fleetBandits, ownerOf, sayMissing, startFleet, takeFleet } from './fleet.js';
import { plural } from './formats.js';
import { Refused, ask, learnRoutes, onAway, poll } from './server.js';
import { startTheme } from './theme.js';

const at = (id) => document.getElementById(id);
const main = at('main');
let bandits = null; // from the server; null: not loaded yet
let view = null; // of the selected bandit
let asked = null; // what is shown in place of a bandit, and its name
let missing = 0; // servers of the fleet whose bandits are not in the list

// ---- the server ----

function serverState(state, words) {
    mark(at('server-state'), 'data-state', state);
    say(at('server-words'), words);
}

async function lookAtServer() {
    try {
        const visit = await visitor();
        await learnRoutes();
        if (visit.keys && visit.role === 'nobody') {
            serverState('warn', 'Key required');
            wantKey();
            return;
        }
        await loadChoices();
        const { warning } = await ask('/readyz');
        serverState(warning ? 'warn' : 'good', warning ? 'Ready, with a warning' : 'Ready');
        serverNotice(warning);
    } catch (error) {
        if (error instanceof Refused) {
            serverState('bad', 'Not ready');
            serverNotice(sentence(error.message) + (/cannot be written/.test(error.message) ? ' Meanwhile the server is read-only: decisions and rewards are refused.' : ''));
        }
        throw error;
    }
}

// What the state of the server means, above everything else.
function serverNotice(words) {
    show(say(at('server-notice'), words || ''), Boolean(words));
}

onAway((away) => {
    if (away) serverState('bad', 'Server not reachable; retrying');
    tell(away ? 'The server is not reachable. Retrying.' : 'The server is back.');
    mark(document.body, 'data-away', away);
    if (!away) wakeAll();
});

// ---- the list ----

const wanted = () => {
    const found = location.hash.match(/^#\/b\/(.+)$/);
    try {
        return found ? decodeURIComponent(found[1]) : null;
    } catch {
        return null;
    }
};

const address = (name) => `#/b/${encodeURIComponent(name)}`;

function describe(entry) {
    if (entry.archived) return 'archived';
    if (entry.trouble) return 'learning has stopped';
    const mode = entry.settings.mode === 'online' ? '' : `, ${entry.settings.mode}`;
    const number = entry.decisions_since_start;
    return `${entry.settings.policy}${mode} · ${number ? plural(number, 'decision', 'decisions') : 'no decisions'} since start`;
}

const rows = new Map();
let reached = null; // the bandit that the list was last scrolled to

function row(entry) {
    let made = rows.get(entry.name);
    if (!made) {
        made = { words: h('small'), owner: h('span', { class: 'owner' }), item: null, link: null };
        made.link = h('a', { href: address(entry.name) }, h('b', {}, entry.name), ' ', made.owner, ' ', made.words);
        made.item = h('li', {}, made.link);
        rows.set(entry.name, made);
    }
    say(made.words, describe(entry));
    mark(made.words, 'class', entry.trouble ? 'alarm' : null);
    const owner = ownerOf(entry.name);
    show(say(made.owner, owner === undefined ? '' : owner ? `server ${owner}` : 'no server'), owner !== undefined);
    mark(made.link, 'aria-current', entry.name === wanted() ? 'page' : null);
    return made.item;
}

function showList() {
    const words = at('search').value.trim().toLowerCase();
    const seen = bandits.filter((entry) => entry.name.toLowerCase().includes(words));
    seen.sort((a, b) => a.archived - b.archived || a.name.localeCompare(b.name, undefined, { numeric: true }));
    const items = seen.slice(0, 200).map(row);
    const list = at('bandits');
    if (items.length !== list.children.length || items.some((item, i) => item !== list.children[i])) list.replaceChildren(...items);
    if (reached !== wanted() && rows.has(wanted())) {
        reached = wanted();
        rows.get(reached).link.scrollIntoView({ block: 'nearest' });
    }
    const none = !bandits.length ? (isIncomplete() ? '' : 'No bandits yet.') : !seen.length ? 'No bandit has this name.' : seen.length > 200 ? `${seen.length - 200} more: search to find them.` : '';
    show(say(at('bandits-none'), none), none !== '');
    say(at('side-now'), wanted() ?? 'Select a bandit');
}

// The list lacks bandits of the fleet whose server did not answer, or that move to another server.
const isIncomplete = () => missing > 0 || fleetBandits() > bandits.length;

// The owners are in the list too.
async function lookAtFleet(visit) {
    await takeFleet(visit);
    if (bandits) showList();
}

async function lookAtBandits() {
    const answer = await ask('/v1/bandits');
    bandits = answer.bandits;
    missing = answer.servers_missing ?? 0;
    sayMissing(missing);
    if (latest) keepCount();
    showList();
    choose();
}

// ---- the bandit ----

function close() {
    view?.stop();
    view = latest = null;
}

function open(name) {
    close();
    asked = null;
    view = bandit(name, (activity) => counted(name, activity), () => list.wake());
    main.replaceChildren(view.node);
    document.title = `${name} – eenet`;
}

// The list shows the same count as the view, taken at the same moment.
let latest = null; // {name, decisions}: the last count of the view

function counted(name, activity) {
    latest = { name, decisions: activity.decisions };
    const entry = keepCount();
    if (entry && rows.has(name)) row(entry);
}

function keepCount() {
    const entry = bandits?.find((one) => one.name === latest.name);
    if (entry) entry.decisions_since_start = latest.decisions;
    return entry;
}

function showInstead(name, title, words) {
    if (asked === `${title} ${name}`) return;
    close();
    asked = `${title} ${name}`;
    document.title = 'eenet';
    main.replaceChildren(h('section', { class: 'card' }, h('h1', {}, title), h('p', {}, words)));
}

// A bandit of a fleet is not in the list while its server does not answer. The view stays open: it retries.
function showMissing(name) {
    if (!missing && ownerOf(name) === undefined) return showInstead(name, 'Bandit not found', `This server has no bandit '${name}', or your key has no access to it.`);
    if (view?.name !== name) showInstead(name, 'Bandit not available', `The server that owns '${name}' did not answer. Retrying.`);
}

// Shows the bandit that the address names; the first one if it names none.
function choose() {
    if (!bandits) return;
    const name = wanted();
    if (!bandits.length && !name) {
        if (asked !== '' && !isIncomplete()) {
            close();
            asked = '';
            document.title = 'eenet';
            main.replaceChildren(welcome(created));
        }
        return;
    }
    if (!name) {
        const first = bandits.find((entry) => !entry.archived) ?? bandits[0];
        history.replaceState(null, '', address(first.name));
        return choose();
    }
    const entry = bandits.find((one) => one.name === name);
    if (!entry) return showMissing(name);
    if (view?.name !== name) open(name);
    view.describe(entry);
    showList();
}

async function created(name) {
    location.hash = address(name);
    await lookAtBandits();
    tell(`Bandit ${name} created.`);
    main.focus();
}

window.addEventListener('hashchange', () => {
    if (!location.hash.startsWith('#/')) return; // the skip link
    at('side-toggle').setAttribute('aria-expanded', 'false');
    if (bandits) showList();
    choose();
    if (view) main.focus({ preventScroll: true });
});

// ---- start ----

startTheme(at('theme-button'));
startFleet(at('fleet'), at('fleet-notices'));
startKey(at('key-button'), () => wakeAll());
at('search').addEventListener('input', () => bandits && showList());
at('side-toggle').addEventListener('click', (event) => {
    const open = event.currentTarget.getAttribute('aria-expanded') === 'true';
    event.currentTarget.setAttribute('aria-expanded', String(!open));
});
at('create-button').addEventListener('click', () => createBandit(created));
document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
});

const server = poll(5, lookAtServer, { probes: true });
const list = poll(3, async () => {
    const visit = await visitor();
    if (visit.keys && visit.role === 'nobody') return;
    await learnRoutes();
    await Promise.all([lookAtFleet(visit), lookAtBandits()]);
});

function wakeAll() {
    server.wake();
    list.wake();
    view?.wake();
}
