// Elements without markup: text that comes from the server is never read as HTML.

const SVG = 'http://www.w3.org/2000/svg';

function put(node, properties, children) {
    for (const [name, value] of Object.entries(properties ?? {})) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
        else node.setAttribute(name, value === true ? '' : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return node;
}

// h('p', {class: 'big', onclick: f}, 'text', node, [more]).
export function h(tag, properties, ...children) {
    return put(document.createElement(tag), properties, children);
}

export function svg(tag, properties, ...children) {
    return put(document.createElementNS(SVG, tag), properties, children);
}

// Sets the text only if it differs: no repaint, and screen readers do not repeat it.
export function say(node, words) {
    if (node.textContent !== words) node.textContent = words;
    return node;
}

export function mark(node, name, value) {
    if (value === null || value === undefined || value === false) {
        if (node.hasAttribute(name)) node.removeAttribute(name);
    } else if (node.getAttribute(name) !== String(value)) {
        node.setAttribute(name, value);
    }
    return node;
}

export function show(node, visible) {
    if (node.hidden === visible) node.hidden = !visible;
    return node;
}

// Replaces the children only if `of` has changed. A control that has the focus keeps it, if a new one has its label.
const filled = new WeakMap();
export function fill(node, of, make) {
    const key = JSON.stringify(of);
    if (filled.get(node) === key) return;
    filled.set(node, key);
    const label = node.contains(document.activeElement) && document.activeElement.getAttribute('aria-label');
    node.replaceChildren(...[make()].flat().filter((child) => child !== null && child !== undefined));
    if (label) [...node.querySelectorAll('[aria-label]')].find((one) => one.getAttribute('aria-label') === label)?.focus();
}

// Scrolls a table that is larger than its place; focusable for the keyboard while it does.
export function scroller(label, ...children) {
    const node = h('div', { class: 'scroll', role: 'region', 'aria-label': label }, children);
    const look = () => mark(node, 'tabindex', node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight ? '0' : null);
    const watch = new ResizeObserver(look);
    watch.observe(node);
    for (const child of node.children) watch.observe(child);
    return node;
}

// Announces an outcome to screen readers; not for numbers that keep changing.
export function tell(words) {
    const live = document.getElementById('live');
    live.textContent = '';
    requestAnimationFrame(() => (live.textContent = words));
}
