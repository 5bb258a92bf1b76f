// The fleet that the server belongs to: its servers, the owner of each bandit, and what is wrong. Hidden if the server is
// alone.
import { fill, h, mark, say, scroller, show } from './elements.js';
import { duration, plural, rate } from './formats.js';
import { may } from './key.js';
import { Refused, ask } from './server.js';

let section, notices;
let fleet = null; // from the server; null: it is alone, or the key has no access to the fleet
let owners = new Map(); // name of a bandit: number of its server, 0: none
let missing = 0; // servers that did not list their bandits
const servers = h('ul', { 'aria-label': 'Servers of the fleet' });
const rows = new Map(); // by the number of the server

export function startFleet(place, noticePlace) {
    section = place;
    notices = noticePlace;
    section.append(scroller('Servers', servers), h('p', { class: 'small quiet-words' }, 'Load: events per second, plus 1 per bandit and 1 for the leader'));
}

// The number of the server that owns the bandit; 0: none. undefined without a fleet.
export function ownerOf(bandit) {
    return owners.get(bandit);
}

// How many bandits the fleet has; 0 without a fleet.
export function fleetBandits() {
    return owners.size;
}

// ---- the servers ----

function stateOf(server) {
    if (!server.alive) return ['bad', `not responding for ${duration(Math.floor(server.silent_seconds))}`];
    return server.draining ? ['warn', 'draining'] : ['good', 'serving'];
}

const SHOWN_LAG = 1; // seconds: a model that follows is behind by less

// What a server that does not respond carried is no load any more.
function numbersOf(server) {
    const load = server.alive ? `load ${rate(server.load)}` : '';
    const lag = server.alive && server.lag_seconds >= SHOWN_LAG ? `models up to ${duration(server.lag_seconds)} behind` : '';
    return [plural(server.bandits, 'bandit', 'bandits'), load, lag, `version ${server.version}`].filter(Boolean).join(' · ');
}

function makeRow(number) {
    const made = { where: h('span', { class: 'where' }), state: h('span'), leader: h('span', { class: 'tag info' }, 'leader'), here: h('span', { class: 'tag' }, 'this server'), numbers: h('small') };
    made.node = h('li', {}, h('p', { class: 'name' }, h('b', {}, String(number)), ' ', made.where),
        h('p', { class: 'tags' }, made.state, ' ', made.leader, ' ', made.here), made.numbers);
    return made;
}

function row(server) {
    if (!rows.has(server.server)) rows.set(server.server, makeRow(server.server));
    const made = rows.get(server.server), [kind, words] = stateOf(server);
    say(made.where, server.address.replace(/#.*/, '')); // after '#': the fingerprint of its certificate
    mark(say(made.state, words), 'class', `tag ${kind}`);
    show(made.leader, server.server === fleet.leader);
    show(made.here, server.server === fleet.server);
    say(made.numbers, numbersOf(server));
    return made.node;
}

function showServers() {
    show(section, fleet !== null);
    mark(section.parentElement, 'data-fleet', fleet !== null);
    const nodes = fleet ? fleet.servers.map(row) : [];
    if (nodes.length !== servers.children.length || nodes.some((node, i) => node !== servers.children[i])) servers.replaceChildren(...nodes);
}

// ---- warnings: without numbers that keep changing, which screen readers would repeat ----

function firstFew(names) {
    return names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '');
}

function silentWords(silent) {
    const numbers = firstFew(silent.map((server) => server.server)), owned = silent.reduce((sum, server) => sum + server.bandits, 0);
    const bandits = plural(owned, 'bandit', 'bandits');
    if (silent.length === 1) return `Server ${numbers} is not responding. ${owned ? `Other servers take over its ${bandits}.` : 'It owns no bandits.'}`;
    return `${silent.length} servers are not responding: ${numbers}. ${owned ? `Other servers take over their ${bandits}.` : 'They own no bandits.'}`;
}

function orphanWords(names) {
    if (names.length === 1) return `Bandit ${names[0]} has no owner. Requests for it wait until a server takes it over.`;
    return `${names.length} bandits have no owner: ${firstFew(names)}. Requests for them wait until a server takes them over.`;
}

function warningList() {
    const list = [], silent = fleet?.servers.filter((server) => !server.alive) ?? [];
    const orphans = [...owners].filter(([, owner]) => !owner).map(([name]) => name);
    if (silent.length) list.push(silentWords(silent));
    if (orphans.length) list.push(orphanWords(orphans));
    if (fleet && !fleet.leader) list.push('The fleet has no leader. No bandit can be created until a server takes the lead.');
    if (missing) list.push(`${plural(missing, 'server', 'servers')} did not answer, so ${missing === 1 ? 'its' : 'their'} bandits are missing from the list.`);
    return list;
}

function showWarnings() {
    const list = warningList();
    fill(notices, list, () => list.map((words) => h('p', { class: 'notice warn' }, words)));
}

export function sayMissing(servers) {
    missing = servers;
    showWarnings();
}

// Asks only if there is a fleet and the key may see it: a browser reports each refusal as an error.
export async function takeFleet(visit) {
    try {
        fleet = visit.fleet && !visit.bandit && may('reader') ? await ask('/v1/fleet') : null;
    } catch (error) {
        if (!(error instanceof Refused) || error.status >= 500 || error.status === 429) throw error;
        fleet = null;
    }
    // A bandit that is being deleted has no name any more.
    owners = new Map(fleet?.bandits.filter((bandit) => bandit.name).map((bandit) => [bandit.name, bandit.owner]));
    showServers();
    showWarnings();
}
