// Plays the rounds. It gets {problem}, {run}, {speed} and {paused}, and posts what it learned: {run, regrets, ...}
// some twenty times a second, with maps of f1, f2 and f3 less often. A new run starts over.
import { load } from './eenet.mjs';
import { ARMS, cellAt, OTHERWISE, PAYS, randomNumbers } from './problem.mjs';
import { MAP, POLICIES } from './policies.mjs';

const FEATURES = 3; // of each arm: the place and a constant, in the arm's own block
const DIM = ARMS * FEATURES;
const SLICE = 16; // milliseconds of rounds between two looks at messages
const REPORT_EVERY = 50; // milliseconds
const MAPS_SHARE = 0.2; // of the time
const RECENT = 200; // rounds

const { Bandit } = await load();
let problem, players, random;
let run = 0, round = 0, speed = 0, paused = false;
let mapCost = 10, mappedAt = 0, reportedAt = 0, started = 0, roundsThen = 0, scheduled = false;

function arms(points, values = new Float32Array(points.length * ARMS * DIM)) {
    points.forEach(([x, y], p) => {
        for (let arm = 0; arm < ARMS; arm++) values.set([2 * x - 1, 2 * y - 1, 1], (p * ARMS + arm) * DIM + arm * FEATURES);
    });
    return values;
}

const mapPoints = arms(Array.from({ length: MAP * MAP }, (_, i) => [((i % MAP) + 0.5) / MAP, (Math.floor(i / MAP) + 0.5) / MAP]));
const present = new Float32Array(ARMS * DIM);

function start() {
    players?.forEach((player) => player.bandit.free());
    random = randomNumbers(run);
    players = POLICIES.map(({ policy, options }) => ({
        bandit: new Bandit(policy, { dim: DIM, seed: run, options }),
        regret: 0,
        best: new Uint8Array(RECENT),
    }));
    round = roundsThen = 0;
    started = performance.now();
}

// All policies meet the same visitor, and an arm pays all of them or none.
function play() {
    const x = random(), y = random();
    const paying = problem[cellAt(x, y)];
    const luck = Array.from({ length: ARMS }, random);
    arms([[x, y]], present);
    for (const player of players) {
        const decision = player.bandit.decide(present);
        const isBest = decision.arm === paying;
        player.bandit.learn(decision, luck[decision.arm] < (isBest ? PAYS : OTHERWISE) ? 1 : 0);
        player.regret += isBest ? 0 : PAYS - OTHERWISE;
        player.best[round % RECENT] = isBest ? 1 : 0;
    }
    round++;
}

// What EE-Net, the first player, thinks of each point of the map, arm by arm.
function maps() {
    const began = performance.now();
    const { exploitation, exploration, scores } = players[0].bandit.score(mapPoints);
    mappedAt = performance.now();
    mapCost = mappedAt - began;
    return { f1: exploitation, f2: exploration, f3: scores };
}

function report(now) {
    reportedAt = now;
    const played = Math.min(round, RECENT);
    const message = {
        run,
        round,
        regrets: Float64Array.from(players, (player) => player.regret),
        best: Float64Array.from(players, (player) => player.best.subarray(0, played).reduce((sum, one) => sum + one, 0) / (played || 1)),
    };
    if (now - mappedAt >= mapCost / MAPS_SHARE) Object.assign(message, maps());
    const buffers = Object.values(message).filter(ArrayBuffer.isView).map((view) => view.buffer);
    postMessage(message, buffers);
}

function work() {
    scheduled = false;
    if (paused || !problem) return;
    const end = performance.now() + SLICE;
    let now = performance.now();
    // What could not be played in time is not made up for later.
    if (speed && roundsThen + ((now - started) * speed) / 1000 > round + speed) [started, roundsThen] = [now, round];
    while (now < end && (!speed || round < roundsThen + ((now - started) * speed) / 1000)) {
        play();
        now = performance.now();
    }
    if (now - reportedAt >= REPORT_EVERY) report(now);
    schedule();
}

function schedule() {
    if (!scheduled) setTimeout(work, speed ? 8 : 0);
    scheduled = true;
}

onmessage = ({ data }) => {
    if (data.problem) problem = data.problem;
    if (data.run) {
        run = data.run;
        start();
    }
    if (data.speed !== undefined) speed = data.speed;
    if (data.paused !== undefined) paused = data.paused;
    [started, roundsThen] = [performance.now(), round];
    if (paused && players) report(performance.now());
    schedule();
};
postMessage({ ready: true });
