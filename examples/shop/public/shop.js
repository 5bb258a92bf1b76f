// The page of the shop: one pick at a time, and the live results once a second.

const $ = (id) => document.getElementById(id);
const SVG = 'http://www.w3.org/2000/svg';
const NAMES = { online: 'deciding now', baseline: 'always the first product', uniform: 'random product' };
const WORDS = {
    linucb: 'is linear: it learns what sells, not to whom.',
    eenet: 'is a neural network: it learns what each visitor likes.',
};

async function ask(path, body) {
    const answer = await fetch(path, body && { method: 'POST', body: JSON.stringify(body) });
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.error);
    return told;
}

function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
}

function drawn(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
}

function complain(words) {
    $('trouble').textContent = words;
    $('trouble').hidden = !words;
}

const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`;

// ---- the visitor ----

const form = $('visitor');
localStorage.visitor ??= crypto.randomUUID(); // you stay the same person when you come again
const visitor = () => ({
    key: localStorage.visitor,
    device: form.elements.device.value,
    hour: Number(form.elements.hour.value),
    past: form.elements.past.value || null,
});

function beSomebody() {
    form.elements.device.value = matchMedia('(max-width: 36rem)').matches ? 'phone' : 'desktop';
    form.elements.hour.value = new Date().getHours();
    $('hour-shown').value = form.elements.hour.value;
}

// ---- the pick ----

let products = new Map();
let picked = null; // {id, product, probability}
let picks = 0; // only the newest request is shown

function show(pick) {
    const product = products.get(pick.product);
    picked = pick;
    $('pick-icon').setAttribute('href', `#${product.id}`);
    document.querySelector('#pick .picture').className = `picture ${product.category}`;
    $('pick-category').textContent = product.category;
    $('pick-name').textContent = product.name;
    $('pick-words').textContent = product.words;
    $('pick-price').textContent = `€${product.price}`;
    $('look').textContent = 'Take a look';
    $('look').className = 'primary';
    $('look').disabled = $('next').disabled = false;
    $('reasons').replaceChildren();
    if ($('why').open) explain();
}

async function pickAgain() {
    const number = ++picks;
    $('pick').setAttribute('aria-busy', 'true');
    try {
        const pick = await ask('/api/pick', visitor());
        if (number !== picks) return;
        show(pick);
        complain('');
        $('pick').setAttribute('aria-busy', 'false');
    } catch (error) {
        complain(error.message);
    }
}

// A click on the pick: sends the reward, and the shop remembers the category.
async function takeALook() {
    const { id, product } = picked;
    $('look').disabled = $('next').disabled = true;
    try {
        const { outcome } = await ask('/api/click', { id, product });
        $('look').textContent = outcome === 'joined' ? 'Thank you' : 'Too late to count';
        $('look').className = 'primary done';
        form.elements.past.value = products.get(product).category;
        setTimeout(pickAgain, 1200);
    } catch (error) {
        complain(error.message);
        $('look').disabled = $('next').disabled = false;
    }
}

// ---- why ----

// "visitor.past=coffee" is easier to read as "visitor past: coffee".
const plain = (name) => name.replaceAll('.', ' ').replaceAll('=', ': ').replaceAll('*', ' with ');

async function explain() {
    const { id, product, probability } = picked;
    try {
        const told = await ask(`/api/why/${encodeURIComponent(id)}`);
        if (picked.id !== id) return;
        const action = told.actions.find((one) => one.action === product);
        const rows = action.features.filter((feature) => feature.name !== 'constant').slice(0, 4);
        $('reasons').replaceChildren(
            ...rows.map(({ name, contribution }) =>
                element(
                    'div',
                    { class: 'reason' },
                    element('b', { class: contribution < 0 ? 'less' : 'more' }, `${contribution < 0 ? '−' : '+'}${Math.abs(contribution).toFixed(3)}`),
                    element('span', {}, plain(name)),
                ),
            ),
            element(
                'p',
                { class: 'note' },
                `Predicted click rate: ${percent(Math.max(0, Math.min(1, action.f1)))}. Shown with probability ${percent(probability)}.`,
            ),
        );
    } catch (error) {
        $('reasons').replaceChildren(element('p', { class: 'note' }, error.message));
    }
}

// ---- the shelf ----

function fillShelf() {
    $('shelf').replaceChildren(
        ...[...products.values()].map((product) => {
            const icon = drawn('svg', { 'aria-hidden': 'true' }, drawn('use', { href: `#${product.id}` }));
            const button = element(
                'button',
                { type: 'button', 'data-product': product.id },
                element('span', { class: `tile ${product.category}` }, icon),
                element(
                    'span',
                    { class: 'about' },
                    element('span', { class: 'name' }, product.name),
                    element('span', { class: 'more' }, `${product.category}, €${product.price}`),
                ),
            );
            // Not a click on the pick, so no reward; but the shop remembers the category.
            button.addEventListener('click', () => {
                form.elements.past.value = product.category;
                pickAgain();
                $('pick').scrollIntoView({ behavior: 'smooth', block: 'nearest' });
            });
            return element('li', {}, button);
        }),
    );
}

// ---- live results ----

const WIDTH = 300;
const HEIGHT = 90;
const SMOOTH = 10; // seconds

function shares(seconds) {
    return seconds.map((_, i) => {
        const rows = seconds.slice(Math.max(0, i + 1 - SMOOTH), i + 1);
        const shown = rows.reduce((sum, row) => sum + row.shown, 0);
        return shown > 20 ? rows.reduce((sum, row) => sum + row.clicked, 0) / shown : null;
    });
}

function drawChart(list, promotions) {
    const top = Math.max(0.2, ...list.filter((share) => share !== null)) * 1.1;
    const x = (i) => (WIDTH * i) / (list.length - 1);
    const y = (share) => HEIGHT - (HEIGHT * share) / top;
    const points = list.map((share, i) => (share === null ? null : `${x(i).toFixed(1)},${y(share).toFixed(1)}`)).filter(Boolean);
    const parts = [];
    for (let share = 0; share <= top; share += top > 0.35 ? 0.2 : 0.1) {
        parts.push(drawn('line', { class: 'grid', x1: 0, x2: WIDTH, y1: y(share), y2: y(share) }));
        parts.push(drawn('text', { class: 'grid-text', x: 0, y: y(share) - 2 }, percent(share)));
    }
    if (points.length > 1) {
        const first = points[0].split(',')[0];
        parts.push(drawn('path', { class: 'area', d: `M${first},${HEIGHT} L${points.join(' L')} L${WIDTH},${HEIGHT} Z` }));
        parts.push(drawn('polyline', { points: points.join(' ') }));
    }
    for (const { time } of promotions) {
        const at = x(list.length - 1 - (Date.now() / 1000 - seconds(time)));
        if (at > 0) parts.push(drawn('line', { class: 'promotion', x1: at, x2: at, y1: 0, y2: HEIGHT }));
    }
    $('chart').replaceChildren(...parts);
}

// From seconds since 1970, or from text.
const seconds = (time) => (typeof time === 'number' ? time : Date.parse(time) / 1000);

function drawPolicies(policies) {
    const known = policies.filter((policy) => policy.value !== null);
    if (!known.length) return;
    const top = Math.min(1, Math.max(...known.map((policy) => policy.high ?? policy.value)));
    const at = (value) => (296 * Math.max(0, Math.min(top, value))) / top + 2;
    $('policies').replaceChildren(
        ...known.map((policy) =>
            element(
                'li',
                { class: policy.kind === 'online' ? 'first' : 'other' },
                element('span', { class: 'who' }, policy.kind === 'challenger' ? `${policy.name} (${policy.policy})` : (NAMES[policy.kind] ?? policy.name)),
                element('span', { class: 'value' }, percent(policy.value)),
                drawn(
                    'svg',
                    { viewBox: '0 0 300 12', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
                    drawn('line', { class: 'track', x1: 2, x2: 298, y1: 6, y2: 6 }),
                    drawn('line', { class: 'interval', x1: at(policy.low ?? 0), x2: at(policy.high ?? top), y1: 6, y2: 6 }),
                    drawn('circle', { cx: at(policy.value), cy: 6, r: 5 }),
                ),
            ),
        ),
    );
}

function drawPromotions(promotions) {
    $('promotions').replaceChildren(
        ...promotions.map(({ time, from, to, gain, events }) => {
            const clock = new Date(1000 * seconds(time)).toLocaleTimeString();
            const earned = `${(100 * gain).toFixed(0)} more clicks per 100 visitors, measured on ${events} decisions`;
            return element('li', {}, element('strong', {}, `${to} took over from ${from}`), ` at ${clock}: ${earned}.`);
        }),
    );
}

async function look() {
    try {
        const state = await ask('/api/state');
        const list = shares(state.seconds);
        const now = list.at(-1);
        $('share').textContent = now === null ? '–' : percent(now);
        $('policy').textContent = state.policy;
        $('policy-words').textContent = WORDS[state.policy] ?? '';
        $('server').href = `${state.server}/`;
        drawChart(list, state.promotions);
        drawPolicies(state.policies);
        drawPromotions(state.promotions);
        if (document.activeElement !== $('crowd')) $('crowd').value = state.rate;
        $('crowd-shown').value = state.rate;
        complain(state.trouble);
    } catch (error) {
        complain(`The shop is not reachable: ${error.message}`);
    }
    setTimeout(look, 1000);
}

// ---- begin ----

beSomebody();
const catalog = await ask('/api/catalog');
products = new Map(catalog.products.map((product) => [product.id, product]));
form.elements.past.append(...catalog.categories.map((name) => element('option', { value: name }, name)));
fillShelf();
form.addEventListener('input', () => ($('hour-shown').value = form.elements.hour.value));
form.addEventListener('change', pickAgain);
form.addEventListener('submit', (event) => event.preventDefault());
$('look').addEventListener('click', takeALook);
$('next').addEventListener('click', pickAgain);
$('why').addEventListener('toggle', () => $('why').open && picked && explain());
$('crowd').addEventListener('input', () => ($('crowd-shown').value = $('crowd').value));
$('crowd').addEventListener('change', () => ask('/api/rate', { rate: Number($('crowd').value) }).catch((error) => complain(error.message)));
await pickAgain();
look();
