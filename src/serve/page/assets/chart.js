// Mean reward over time: a line per policy, and the interval of this bandit as a band. Readable by pointer, by the arrow
// keys, and as a table.
import { fill, h, mark, say, scroller, show, svg } from './elements.js';
import { count, interval, known, moment, plural, real, tick } from './formats.js';
import { digits, scale, ticks, timeTicks } from './scale.js';
import { marker, styled, swatch, titleOf } from './series.js';

const TOP = 12, BOTTOM = 30, LEFT = 50, MARKERS = 6, END = 9, LABEL = 122;

function path(xs, ys) {
    let text = '', pen = false;
    for (let i = 0; i < xs.length; i++) {
        if (!Number.isFinite(ys[i])) {
            pen = false;
            continue;
        }
        text += `${pen ? 'L' : 'M'}${xs[i].toFixed(1)} ${ys[i].toFixed(1)}`;
        pen = true;
    }
    return text;
}

function band(xs, lows, highs) {
    const there = xs.map((_, i) => i).filter((i) => Number.isFinite(lows[i]) && Number.isFinite(highs[i]));
    if (there.length < 2) return '';
    const up = there.map((i) => `${xs[i].toFixed(1)} ${highs[i].toFixed(1)}`);
    const down = there.reverse().map((i) => `${xs[i].toFixed(1)} ${lows[i].toFixed(1)}`);
    return `M${up.join('L')}L${down.join('L')}Z`;
}

// The range of all values, and of this bandit's band without its first fifth: early intervals are so wide that they would
// flatten the lines.
function range(series, [least, most]) {
    const seen = [];
    for (const one of series) {
        const from = Math.floor(one.value.length / 5);
        seen.push(...one.value.filter((_, i) => i >= Math.min(from, one.value.length - 1)));
        if (one.kind === 'online') seen.push(...one.low.slice(from), ...one.high.slice(from));
    }
    const real = seen.filter(known);
    if (!real.length) return [0, 1];
    const low = Math.min(...real), high = Math.max(...real), room = (high - low) * 0.08 || 0.05;
    return [low >= least ? Math.max(least, low - room) : low - room, high <= most ? Math.min(most, high + room) : high + room];
}

// The present interval of each policy, beside the end of its line.
function ends(series, y, right, height) {
    const inside = (value) => Math.min(Math.max(y(value), TOP - 4), height - BOTTOM + 4);
    return series.flatMap((one, k) => {
        const last = one.value.findLastIndex(known), x = right + 9 + k * END;
        if (last < 0 || !known(one.low[last]) || !known(one.high[last])) return [];
        return [svg('line', { class: `end ${one.style.colour}`, x1: x, x2: x, y1: inside(one.low[last]), y2: inside(one.high[last]) }), marker(one.style, x, inside(one.value[last]))];
    });
}

// Labels at the ends of the lines, pushed apart.
function labels(series, y, right, height) {
    const list = series.map((one) => {
        const last = one.value.findLastIndex(known);
        return last < 0 ? null : { one, at: Math.min(Math.max(y(one.value[last]), TOP + 6), height - BOTTOM - 2) };
    }).filter(Boolean).sort((a, b) => a.at - b.at);
    for (let i = 1; i < list.length; i++) list[i].at = Math.max(list[i].at, list[i - 1].at + 16);
    let floor = height - BOTTOM;
    for (let i = list.length - 1; i >= 0; i--) {
        list[i].at = Math.min(list[i].at, floor);
        floor = list[i].at - 16;
    }
    return list.map(({ one, at }) => svg('text', { x: right, y: at + 4, class: `label ${one.style.colour} of-colour` }, short(titleOf(one))));
}

function short(words) {
    return words.length > 15 ? `${words.slice(0, 14)}…` : words;
}

export function valueChart() {
    let series = [], times = [], events = [], promotions = [], place = -1, drawn = null, byTime = true, looked = null, bounds = [-Infinity, Infinity];
    const off = new Set();
    const picture = svg('svg', { 'aria-hidden': 'true', focusable: 'false' });
    const tip = h('div', { class: 'tip', hidden: true });
    const spoken = h('p', { class: 'hidden', 'aria-live': 'polite' });
    const legend = h('div', { class: 'legend', role: 'group', 'aria-label': 'Series' });
    const stage = h('div', { class: 'stage', tabindex: '0', role: 'group', 'aria-label': 'Chart of the mean reward over time. Use the left and right arrow keys to read it point by point.', onkeydown: key, onblur: leave }, picture, tip);
    const rows = h('tbody'), heads = h('tr');
    const table = h('details', { ontoggle: () => fillTable() }, h('summary', {}, 'Show as a table'),
        scroller('Mean reward over time, as a table',
            h('table', {}, h('caption', { class: 'hidden' }, 'Mean reward over time, with intervals'), h('thead', {}, heads), rows)));
    const node = h('div', {}, h('div', { class: 'chart' }, stage, spoken), legend, table);

    const visible = () => series.filter((one) => !off.has(one.name));

    function draw() {
        const width = Math.round(stage.clientWidth), height = picture.clientHeight || 320;
        if (!width || !times.length) return;
        const shown = visible(), wide = width > 620;
        const edge = width - (wide ? LABEL : 4), right = edge - 8 - shown.length * END;
        const [low, high] = range(shown, bounds);
        const along = byTime ? times : events;
        const x = scale(along[0], along.at(-1), LEFT, right), y = scale(low, high, height - BOTTOM, TOP);
        const xs = along.map(x), marks = ticks(low, high, 5), places = digits(marks);
        mark(picture, 'viewBox', `0 0 ${width} ${height}`);
        const parts = [svg('defs', {}, svg('clipPath', { id: 'plot' }, svg('rect', { x: LEFT, y: TOP - 4, width: Math.max(right - LEFT + 6, 1), height: height - TOP - BOTTOM + 8 })))];
        for (const value of marks)
            parts.push(svg('line', { class: 'grid', x1: LEFT, x2: right, y1: y(value), y2: y(value) }), svg('text', { class: 'axis', x: LEFT - 8, y: y(value) + 4, 'text-anchor': 'end' }, real(value, places)));
        const span = along.at(-1) - along[0];
        for (const at of (byTime ? timeTicks : ticks)(along[0], along.at(-1), Math.max(2, Math.floor((right - LEFT) / 100))))
            if (x(at) > LEFT + 18 && x(at) < right - 18) parts.push(svg('text', { class: 'axis', x: x(at), y: height - 10, 'text-anchor': 'middle' }, byTime ? tick(at, span) : count(at)));
        for (const promotion of byTime ? promotions : [])
            if (promotion >= times[0] && promotion <= times.at(-1)) parts.push(svg('line', { class: 'promoted', x1: x(promotion), x2: x(promotion), y1: TOP, y2: height - BOTTOM }));
        const inside = svg('g', { 'clip-path': 'url(#plot)' });
        for (const one of [...shown].reverse()) {
            if (one.kind === 'online' || one.name === looked) inside.append(svg('path', { class: `band of-colour ${one.style.colour}`, d: band(xs, one.low.map((v) => known(v) ? y(v) : NaN), one.high.map((v) => known(v) ? y(v) : NaN)) }));
        }
        for (const one of [...shown].reverse()) {
            const ys = one.value.map((v) => known(v) ? y(v) : NaN);
            inside.append(svg('path', { class: `series ${one.style.colour}${one.kind === 'online' ? ' first' : ''}`, d: path(xs, ys), 'stroke-dasharray': one.style.dash || null }));
            for (let k = 0; k < MARKERS; k++) {
                const i = Math.round(((k + 1) / MARKERS) * (xs.length - 1));
                if (Number.isFinite(ys[i])) inside.append(marker(one.style, xs[i], ys[i]));
            }
        }
        parts.push(inside, svg('line', { class: 'cursor', x1: 0, x2: 0, y1: TOP, y2: height - BOTTOM, visibility: 'hidden' }));
        parts.push(...ends(shown, y, right, height));
        if (wide) parts.push(...labels(shown, y, edge + 8, height));
        picture.replaceChildren(...parts);
        drawn = { xs, width, cursor: picture.querySelector('.cursor') };
        if (place >= 0) point(Math.min(place, times.length - 1));
    }

    // ---- one point ----

    function point(index) {
        place = index;
        const at = drawn.xs[index];
        for (const name of ['x1', 'x2']) drawn.cursor.setAttribute(name, at);
        drawn.cursor.setAttribute('visibility', 'visible');
        tip.replaceChildren(h('p', {}, moment(times[index]), h('small', {}, ` after ${plural(events[index], 'decision', 'decisions')}`)), h('table', {}, h('tbody', {}, visible().map((one) =>
            h('tr', {}, h('th', { class: one.style.colour }, titleOf(one)), h('td', { class: 'right' }, real(one.value[index])), h('td', { class: 'right quiet-words' }, interval(one.low[index], one.high[index])))))));
        show(tip, true);
        const left = at > drawn.width / 2;
        tip.style.left = left ? 'auto' : `${at + 12}px`;
        tip.style.right = left ? `${drawn.width - at + 12}px` : 'auto';
        if (drawn.width < 520) [tip.style.left, tip.style.right] = ['8px', 'auto'];
    }

    function leave() {
        place = -1;
        show(tip, false);
        drawn?.cursor.setAttribute('visibility', 'hidden');
    }

    function key(event) {
        const last = times.length - 1;
        if (!drawn || last < 0) return;
        const step = event.shiftKey ? 10 : 1, from = place < 0 ? last : place;
        const to = { ArrowLeft: from - step, ArrowRight: from + step, Home: 0, End: last }[event.key];
        if (event.key === 'Escape') leave();
        if (to === undefined) return;
        event.preventDefault();
        point(Math.max(0, Math.min(last, to)));
        say(spoken, `${moment(times[place])}: ${visible().map((one) => `${titleOf(one)} ${real(one.value[place])}, ${interval(one.low[place], one.high[place])}`).join('; ')}`);
    }

    function hover(event) {
        if (!drawn || !times.length) return;
        const at = event.clientX - picture.getBoundingClientRect().left;
        let best = 0;
        for (let i = 1; i < drawn.xs.length; i++) if (Math.abs(drawn.xs[i] - at) < Math.abs(drawn.xs[best] - at)) best = i;
        point(best);
    }
    picture.addEventListener('pointermove', hover);
    picture.addEventListener('pointerdown', hover);
    picture.addEventListener('pointerleave', leave);

    // ---- beneath it ----

    function showLegend() {
        fill(legend, [series.map(({ name, kind, style }) => [name, kind, style]), [...off]], () => series.map((one) =>
            h('button', { type: 'button', 'aria-pressed': String(!off.has(one.name)), onclick: () => toggle(one.name), onpointerenter: () => lookAt(one.name), onpointerleave: () => lookAt(null), onfocus: () => lookAt(one.name), onblur: () => lookAt(null) }, swatch(one.style), titleOf(one))));
    }

    // Also shows the interval of this series.
    function lookAt(name) {
        if (looked === name) return;
        looked = name;
        draw();
    }

    function toggle(name) {
        if (!off.delete(name)) off.add(name);
        const index = series.findIndex((one) => one.name === name);
        showLegend();
        draw();
        legend.children[index]?.focus();
    }

    function fillTable() {
        if (!table.open) return;
        const count = Math.min(times.length, 24);
        const picked = [...new Set(Array.from({ length: count }, (_, k) => Math.round((k / Math.max(count - 1, 1)) * (times.length - 1))))].reverse();
        fill(heads, series.map((one) => one.name), () => [h('th', { scope: 'col' }, 'Time'), ...series.map((one) => h('th', { scope: 'col', class: 'right' }, titleOf(one)))]);
        fill(rows, [picked.map((i) => times[i]), series.map((one) => [one.name, one.value.at(-1)])], () => picked.map((i) =>
            h('tr', {}, h('th', { scope: 'row' }, moment(times[i])), series.map((one) => h('td', { class: 'right' }, real(one.value[i]), h('small', {}, interval(one.low[i], one.high[i])))))));
    }

    // Horizontal axis: time, or decisions.
    const choice = h('div', { class: 'choice end', role: 'group', 'aria-label': 'Horizontal axis' }, ['Time', 'Decisions'].map((words, i) =>
        h('button', { type: 'button', class: 'little', 'aria-pressed': String(i === 0), onclick: () => turn(i === 0) }, words)));

    function turn(now) {
        byTime = now;
        [...choice.children].forEach((button, i) => mark(button, 'aria-pressed', String((i === 0) === byTime)));
        leave();
        draw();
    }

    new ResizeObserver(() => draw()).observe(stage);

    return {
        node,
        choice,
        // Draws the server's evaluation; false if it has no points yet.
        update(evaluation) {
            times = evaluation.series?.time ?? [];
            events = evaluation.series?.events ?? [];
            const found = evaluation.series?.policies ?? {};
            series = styled(evaluation.policies ?? []).filter((policy) => found[policy.name]).map((policy) => ({ ...found[policy.name], name: policy.name, kind: policy.kind, policy: policy.policy, style: policy.style }));
            bounds = evaluation.rewards ?? bounds;
            promotions = (evaluation.promotions ?? []).map((one) => typeof one.time === 'string' ? Date.parse(one.time) / 1000 : one.time);
            const any = times.length > 1 && series.length > 0;
            show(node, any);
            show(choice, any);
            if (!any) return false;
            showLegend();
            draw();
            fillTable();
            return true;
        },
    };
}
