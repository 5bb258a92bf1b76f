// From numbers to pixels, and round numbers to write beside them.

export function scale(from, to, start, end) {
    const size = to - from || 1;
    return (value) => start + ((value - from) / size) * (end - start);
}

// About `wanted` round numbers between the two.
export function ticks(from, to, wanted) {
    const raw = (to - from) / Math.max(wanted, 1);
    if (!(raw > 0)) return [from];
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((size) => size >= raw);
    const list = [];
    for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i++) list.push(i * step);
    return list;
}

// Digits after the point that distinguish the ticks.
export function digits(list) {
    const step = list.length > 1 ? list[1] - list[0] : 1;
    return Math.max(0, Math.min(6, Math.ceil(-Math.log10(step) + (/^[25]/.test(step.toExponential()) && step.toExponential().startsWith('2.5') ? 1 : 0) - 1e-9)));
}

const spans = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000];

// Times on an axis, at whole minutes, hours and days of the local time zone.
export function timeTicks(from, to, wanted) {
    const step = spans.find((size) => (to - from) / size <= wanted) ?? Math.ceil((to - from) / wanted / 2592000) * 2592000;
    const shift = new Date(from * 1000).getTimezoneOffset() * 60;
    const list = [];
    for (let at = Math.ceil((from - shift) / step) * step + shift; at <= to; at += step) list.push(at);
    return list;
}

// Rounds up to 1, 2, 5, 10, 20, ...: keeps the axis steady.
export function roundUp(value) {
    const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
    return [1, 2, 5, 10].map((m) => m * power).find((size) => size >= value * (1 - 1e-9)) ?? value;
}
