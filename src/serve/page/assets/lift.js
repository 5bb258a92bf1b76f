// The lift over the people who are not treated: a table with the interval of each metric drawn beside it.
import { fill, h, scroller, show, svg } from './elements.js';
import { count, interval, known, percent, plural, real, signed } from './formats.js';
import { scale } from './scale.js';

const WIDTH = 180, HEIGHT = 22, EDGE = 4;

export function signedPercent(share) {
    const shown = Math.round(share * 1000); // not "−0.0%"
    return (shown > 0 ? '+' : shown < 0 ? '−' : '') + percent(Math.abs(share));
}

const isKnown = (one) => known(one.relative_low) && known(one.relative_high);

// The same for all rows, and symmetric, so that zero is in the middle. Intervals that are much wider than the lifts are cut:
// they would hide the others.
function reach(lifts) {
    const there = lifts.filter(isKnown);
    const widest = Math.max(0.02, ...there.flatMap((one) => [Math.abs(one.relative_low), Math.abs(one.relative_high)]));
    return Math.min(widest, Math.max(1, ...there.map((one) => 1.5 * Math.abs(one.relative))));
}

// A bar from zero to the lift, and whiskers from the low end of its interval to the high one.
function picture(one, most) {
    const x = scale(-most, most, EDGE, WIDTH - EDGE), middle = HEIGHT / 2;
    const at = (value) => Math.min(Math.max(x(value), 1), WIDTH - 1);
    const [low, high, zero, value] = [one.relative_low, one.relative_high, 0, one.relative].map(at);
    const line = (x1, y1, x2, y2, kind) => svg('line', { x1, y1, x2, y2, class: kind });
    const sure = one.relative_low > 0 || one.relative_high < 0;
    return svg('svg', { class: `lift ${sure ? 'sure' : ''}`, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'aria-hidden': 'true', focusable: 'false' },
        line(zero, 0, zero, HEIGHT, 'zero'),
        svg('rect', { x: Math.min(zero, value), y: middle - 5, width: Math.abs(value - zero), height: 10 }),
        line(low, middle, high, middle, 'whisker'), line(low, middle - 4, low, middle + 4, 'whisker'), line(high, middle - 4, high, middle + 4, 'whisker'));
}

function liftCell(one, most) {
    const cell = (...children) => h('td', { role: 'cell', class: 'lifted', 'data-label': 'Lift' }, children);
    if (isKnown(one)) return cell(picture(one, most), h('span', {}, h('b', {}, signedPercent(one.relative)), h('small', {}, interval(one.relative_low, one.relative_high, signedPercent))));
    // Without a positive mean to divide by there is only the difference.
    if (known(one.low) && known(one.high)) return cell(h('span', {}, h('b', {}, signed(one.lift)), h('small', {}, `${interval(one.low, one.high, signed)}, not relative`)));
    return cell(h('span', { class: 'tag' }, 'too early'));
}

// The report has an object for each side; a number is its mean.
const side = (of) => (typeof of === 'object' && of !== null ? of : { mean: of });

function people(one) {
    const [treated, control] = [side(one.treated).people ?? one.treated_people, side(one.control).people ?? one.control_people];
    return [count(treated), h('small', {}, `and ${count(control)} not treated`)];
}

function row(one, most, segment) {
    const mean = (label, of) => h('td', { class: 'right', role: 'cell', 'data-label': label }, real(side(of).mean));
    return h('tr', { role: 'row' },
        h('th', { scope: 'row', role: 'rowheader' }, segment ?? one.metric, segment === undefined ? null : h('small', {}, one.metric)),
        mean('Treated', one.treated), mean('Not treated', one.control), liftCell(one, most),
        h('td', { class: 'right', role: 'cell', 'data-label': 'People' }, people(one)));
}

function table(label, first) {
    const body = h('tbody', { role: 'rowgroup' });
    const heads = [first, 'Treated', 'Not treated', 'Lift', 'People'];
    // Explicit roles: see challengers.js.
    const node = scroller(label, h('table', { class: 'compared lifts', role: 'table', 'aria-label': label },
        h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, heads.map((words, i) => h('th', { scope: 'col', role: 'columnheader', class: i && i !== 3 ? 'right' : null }, words)))), body));
    return { node, body };
}

const nameOf = ({ segment, decisions }) => (segment === null ? 'all other values' : segment === '' ? 'no value' : segment) + (known(decisions) ? ` (${plural(decisions, 'decision', 'decisions')})` : '');

export function liftTables() {
    const all = table('Lift over people who are not treated', 'Metric'), each = table('Lift in each segment', 'Segment');
    const name = h('summary', {}), segments = h('details', {}, name, each.node);
    return {
        nodes: [all.node, segments],
        // feature: the one that divides people into segments.
        update(report, feature) {
            const lifts = report?.lift ?? [], parts = report?.segments ?? [];
            const inside = parts.flatMap((part) => part.lift ?? []);
            show(all.node, lifts.length > 0);
            show(segments, inside.length > 0);
            fill(all.body, lifts, () => lifts.map((one) => row(one, reach(lifts))));
            fill(name, [feature, parts.length], () => `By ${feature ?? 'segment'}: ${plural(parts.length, 'segment', 'segments')}`);
            fill(each.body, parts, () => parts.flatMap((part) => (part.lift ?? []).map((one) => row(one, reach(inside), nameOf(part)))));
            return lifts.length > 0;
        },
    };
}
