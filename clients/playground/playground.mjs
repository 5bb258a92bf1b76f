// The page: painting, maps, curves. The rounds are played in worker.mjs.
import { ARMS, example, SIDE } from './problem.mjs';
import { MAP, POLICIES } from './policies.mjs';

const POINTS = 600; // of a curve; then every second one is dropped
const BRUSH = 2; // cells around the pointer

const one = (selector) => document.querySelector(selector);
let problem = example('rings');
let arm = 0;
let run = 0; // how often it started over: reports of earlier runs may still arrive
let paused = false;
let latest = null, latestMaps = null; // reports of the worker
let curves = [], every = 1; // {round, regrets}
let colours; // of arms and series, as [red, green, blue] and CSS
let stale = { problem: true, maps: true, regret: true }; // what the next frame draws

// ---- colours, which follow the scheme of the system ----

function readColours() {
    const style = getComputedStyle(document.documentElement);
    const css = (name) => style.getPropertyValue(name).trim();
    const rgb = (name) => css(name).match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
    colours = {
        arms: Array.from({ length: ARMS }, (_, i) => rgb(`--arm-${i}`)),
        empty: rgb('--surface'),
        series: POLICIES.map(({ series }) => css(`--series-${series}`)),
        quiet: css('--quiet'),
        line: css('--line'),
    };
    for (const [i, key] of document.querySelectorAll('.key line').entries()) key.setAttribute('stroke', colours.series[i]);
    stale = { problem: true, maps: true, regret: true };
}

// Fills a canvas whose pixels are cells.
function paintCells(canvas, count, colourOf) {
    const context = canvas.getContext('2d');
    const image = context.createImageData(canvas.width, canvas.height);
    for (let i = 0; i < count; i++) {
        const [red, green, blue] = colourOf(i);
        image.data.set([red, green, blue, 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
}

const mix = (from, to, share) => from.map((part, i) => part + (to[i] - part) * share);

// ---- drawing ----

function drawProblem() {
    paintCells(one('#problem'), SIDE * SIDE, (i) => colours.arms[problem[i]]);
}

function drawMaps() {
    if (!latestMaps) return;
    for (const name of ['f1', 'f2']) {
        const values = Float32Array.from({ length: MAP * MAP }, (_, i) => latestMaps[name][i * ARMS + arm]);
        const low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
        const from = name === 'f1' ? 0 : Math.min(0, low), to = name === 'f1' ? 1 : Math.max(high, from + 0.01);
        paintCells(one(`#${name}`), MAP * MAP, (i) =>
            mix(colours.empty, colours.arms[arm], Math.min(1, Math.max(0, (values[i] - from) / (to - from)))));
        const range = `${low.toFixed(2)} to ${high.toFixed(2)}`;
        one(`#${name}-range`).textContent = range;
        one(`#${name}`).setAttribute('aria-label', `Map of ${name} of arm ${'ABC'[arm]}: ${range}`);
    }
    let right = 0;
    const chosen = Array.from({ length: MAP * MAP }, (_, i) => {
        const scores = latestMaps.f3.subarray(i * ARMS, (i + 1) * ARMS);
        return scores.indexOf(scores.reduce((a, b) => Math.max(a, b)));
    });
    chosen.forEach((choice, i) => {
        const x = Math.floor((((i % MAP) + 0.5) / MAP) * SIDE), y = Math.floor(((Math.floor(i / MAP) + 0.5) / MAP) * SIDE);
        right += problem[y * SIDE + x] === choice;
    });
    paintCells(one('#f3'), MAP * MAP, (i) => colours.arms[chosen[i]]);
    const share = `right at ${Math.round((100 * right) / chosen.length)}% of the points`;
    one('#f3-right').textContent = share;
    one('#f3').setAttribute('aria-label', `Map of the arm that EE-Net chooses: ${share}`);
}

// A round number of steps for an axis.
function steps(most) {
    const size = 10 ** Math.floor(Math.log10(most / 2));
    const step = [1, 2, 5, 10].map((factor) => factor * size).find((candidate) => most / candidate <= 5);
    return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

function drawRegret() {
    const canvas = one('#regret');
    const { clientWidth: width, clientHeight: height } = canvas;
    const ratio = devicePixelRatio;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const rounds = Math.max(100, latest?.round ?? 0), most = Math.max(10, ...(latest?.regrets ?? []));
    const left = 44, bottom = height - 26, right = width - 12, top = 10;
    const x = (round) => left + ((right - left) * round) / rounds, y = (regret) => bottom - ((bottom - top) * regret) / most;
    context.font = '12px system-ui, sans-serif';
    context.fillStyle = colours.quiet;
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.setLineDash([]);
    context.textAlign = 'right';
    for (const regret of steps(most)) {
        context.beginPath();
        context.moveTo(left, y(regret));
        context.lineTo(right, y(regret));
        context.stroke();
        context.fillText(regret.toLocaleString('en'), left - 8, y(regret) + 4);
    }
    context.textAlign = 'center';
    for (const round of steps(rounds).slice(1))
        context.fillText(round.toLocaleString('en'), Math.min(x(round), right - 14), height - 6);
    POLICIES.forEach(({ dash }, i) => {
        context.strokeStyle = colours.series[i];
        context.lineWidth = i ? 1.8 : 2.6;
        context.setLineDash(dash);
        context.beginPath();
        context.moveTo(x(0), y(0));
        for (const point of curves) context.lineTo(x(point.round), y(point.regrets[i]));
        if (latest) context.lineTo(x(latest.round), y(latest.regrets[i]));
        context.stroke();
    });
    document.querySelectorAll('#policies tr').forEach((row, i) => {
        row.children[1].textContent = (latest?.regrets[i] ?? 0).toFixed(1);
        row.children[2].textContent = latest?.round ? `${Math.round(100 * latest.best[i])}%` : '–';
    });
}

// A frame draws only what has changed.
function frame() {
    if (stale.problem) drawProblem();
    if (stale.maps) drawMaps();
    if (stale.regret) drawRegret();
    stale = {};
    requestAnimationFrame(frame);
}

// ---- the worker ----

const worker = new Worker(new URL('worker.mjs', import.meta.url), { type: 'module' });

function startOver() {
    latest = latestMaps = null;
    curves = [];
    every = 1;
    run++;
    worker.postMessage({ problem, run });
    stale.maps = stale.regret = true;
}

worker.onmessage = ({ data }) => {
    if (data.ready) {
        startOver();
        return;
    }
    if (data.run !== run) return;
    latest = data;
    if (data.f1) latestMaps = data;
    if (data.round >= (curves.at(-1)?.round ?? 0) + every) curves.push({ round: data.round, regrets: data.regrets });
    if (curves.length > POINTS) {
        curves = curves.filter((_, i) => i % 2);
        every = Math.ceil((2 * data.round) / POINTS);
    }
    one('#status').textContent = paused ? `Paused after ${data.round.toLocaleString('en')} rounds` : '';
    document.body.dataset.round = data.round;
    stale.maps ||= Boolean(data.f1);
    stale.regret = true;
};
worker.onerror = (event) => {
    one('#status').textContent = `The playground could not start: ${event.message ?? 'this browser cannot run WebAssembly in a worker'}`;
};

// ---- controls ----

// What changes the problem does not start over: the bandits have to notice.
function paintAt(event) {
    const box = one('#problem').getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * SIDE), row = Math.floor(((event.clientY - box.top) / box.height) * SIDE);
    for (let y = Math.max(0, row - BRUSH); y <= Math.min(SIDE - 1, row + BRUSH); y++)
        for (let x = Math.max(0, column - BRUSH); x <= Math.min(SIDE - 1, column + BRUSH); x++)
            if (Math.hypot(x - column, y - row) <= BRUSH) problem[y * SIDE + x] = arm;
    stale.problem = stale.maps = true;
    worker.postMessage({ problem });
}

const canvas = one('#problem');
canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    paintAt(event);
});
canvas.addEventListener('pointermove', (event) => canvas.hasPointerCapture(event.pointerId) && paintAt(event));

for (const input of document.querySelectorAll('input[name=arm]'))
    input.addEventListener('change', () => {
        arm = Number(input.value);
        for (const name of document.querySelectorAll('.selected')) name.textContent = 'ABC'[arm];
        stale.maps = true;
    });

one('#examples').addEventListener('click', ({ target }) => {
    if (!target.value) return;
    problem = example(target.value);
    stale.problem = true;
    startOver();
});

one('#pause').addEventListener('click', ({ target }) => {
    paused = !paused;
    target.textContent = paused ? 'Resume' : 'Pause';
    worker.postMessage({ paused });
    if (!paused) one('#status').textContent = '';
});
one('#reset').addEventListener('click', startOver);
one('#speed').addEventListener('change', ({ target }) => worker.postMessage({ speed: Number(target.value) }));

for (const { label, dash } of POLICIES) {
    const row = one('#policies').insertRow();
    row.innerHTML = '<th scope="row"><svg class="key" viewBox="0 0 26 4" height="4" aria-hidden="true"><line x1="0" y1="2" x2="26" y2="2" stroke-width="3"/></svg></th><td class="right"></td><td class="right"></td>';
    row.querySelector('line').setAttribute('stroke-dasharray', dash.join(' '));
    row.cells[0].append(label);
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', readColours);
addEventListener('resize', () => (stale.regret = true));
readColours();
requestAnimationFrame(frame);
