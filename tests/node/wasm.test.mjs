// clients/wasm in Node: it decides as the native library does, models that both load, errors, named features. WASM is
// the folder of what make wasm builds, PLAY the program of tests/wasm/play.c.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pathToFileURL } from 'node:url';
import { after, before, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const module = join(process.env.WASM, 'eenet.mjs');
const skip = existsSync(module) ? false : 'the WebAssembly compiler is not installed';
const ARMS = 4, DIM = 8;
const POLICIES = ['eenet', 'linucb', 'lints'];
let Bandit, EenetError, load, folder;
before(async () => {
    if (skip) return;
    ({ EenetError, load } = await import(pathToFileURL(module)));
    ({ Bandit } = await load());
    folder = mkdtempSync(join(tmpdir(), 'eenet-wasm-'));
});
after(() => folder && rmSync(folder, { recursive: true }));

// As in play.c.
function play(bandit, rounds) {
    const chosen = [];
    const x = new Float32Array(ARMS * DIM);
    let state = bandit.info.decisions + 1;
    for (let round = 0; round < rounds; round++) {
        for (let i = 0; i < x.length; i++) {
            state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
            x[i] = (state >>> 16) / 65536;
        }
        const decision = bandit.decide(x);
        bandit.learn(decision, Math.fround(x[decision.arm * DIM] * x[decision.arm * DIM + 1]));
        chosen.push({ arm: decision.arm, score: decision.scores[decision.arm] });
    }
    return chosen;
}

function playNatively(policy, rounds, from, to) {
    const lines = execFileSync(process.env.PLAY, [policy, 'reference', String(rounds), from, to], { encoding: 'utf8' }).trim().split('\n');
    return lines.map((line) => line.split(' ').map(Number)).map(([arm, score]) => ({ arm, score }));
}

// The C libraries and the order of sums differ in the last bits. Two close scores can so change places, and from there on
// the models differ: nearly all decisions must agree, and the scores of the first rounds, before any difference.
function compare(here, there, what) {
    assert.equal(here.length, there.length);
    const agree = here.filter(({ arm }, i) => arm === there[i].arm).length;
    console.log(`${what}: ${agree} of ${here.length} decisions agree`);
    assert.ok(agree >= 0.95 * here.length, `${what}: ${agree} of ${here.length}`);
    here.slice(0, 20).forEach(({ arm, score }, i) => {
        assert.equal(arm, there[i].arm, `${what}: round ${i}`);
        assert.ok(Math.abs(score - there[i].score) <= 1e-3 * Math.max(1, Math.abs(score)), `${what}: round ${i}: ${score}, natively ${there[i].score}`);
    });
}

test('300 rounds: the decisions of the native library', { skip }, () => {
    for (const policy of POLICIES)
        compare(play(new Bandit(policy, { dim: DIM, seed: 7 }), 300), playNatively(policy, 300, '-', join(folder, `${policy}.native`)), policy);
});

test('models go both ways and continue', { skip }, () => {
    for (const policy of POLICIES) {
        const [first, second, unused] = ['wasm', 'second', 'unused'].map((name) => join(folder, `${policy}.${name}`));
        const bandit = new Bandit(policy, { dim: DIM, seed: 7 });
        play(bandit, 100);
        writeFileSync(first, bandit.save());
        const there = playNatively(policy, 50, first, second);
        const loaded = Bandit.load(readFileSync(second));
        assert.equal(loaded.info.decisions, 150);
        compare(play(bandit, 50), there, `${policy}, native after WebAssembly`);
        compare(play(loaded, 50), playNatively(policy, 50, second, unused), `${policy}, WebAssembly after native`);
        bandit.free();
        loaded.free();
    }
});

test('a saved model is the same bytes after loading', { skip }, () => {
    const bandit = new Bandit('eenet', { features: true, seed: 1 });
    const menu = { tea: { served: 'hot' }, 'ice cream': { served: 'cold' } };
    let right = 0;
    for (let day = 0; day < 200; day++) {
        const celsius = (day * 97) % 36;
        const decision = bandit.decide(menu, { context: { celsius } });
        const sold = (decision.action === 'ice cream') === celsius > 20;
        bandit.learn(decision, Number(sold));
        right += sold;
    }
    assert.ok(right > 160, `${right} of 200`);
    const bytes = bandit.save();
    assert.deepEqual(Bandit.load(bytes).save(), bytes);
    assert.equal(bandit.info.rewards, 200);
    assert.equal(bandit.info.policy, 'eenet');
});

test('arms, scores and options', { skip }, () => {
    const bandit = new Bandit('linucb', { dim: 2, seed: 3n, options: { alpha: 0.5 } });
    assert.match(bandit.info.options, /alpha=0.5/);
    assert.equal(bandit.info.seed, 3n);
    const decision = bandit.decide({ left: [1, 0], right: [0, 1] });
    assert.ok(['left', 'right'].includes(decision.action));
    assert.equal(decision.probabilities[decision.arm], decision.probability);
    bandit.forget(decision);
    for (let i = 0; i < 20; i++) bandit.learnFrom([[1, 0], [0, 1]], i % 2, i % 2);
    const { exploitation, exploration, scores } = bandit.score([[1, 0], [0, 1]]);
    assert.ok(exploitation[1] > exploitation[0]);
    assert.ok(Math.abs(scores[1] - exploitation[1] - exploration[1]) < 1e-5);
    assert.equal(bandit.decide([[1, 0], [0, 1]]).action, 1);
    bandit.free();
    assert.throws(() => bandit.decide([[1, 0]]), { message: 'the bandit was freed' });
});

test('errors are those of the library', { skip }, () => {
    const fails = (call, name, message) => assert.throws(call, (error) => {
        assert.ok(error instanceof EenetError);
        assert.equal(error.name, name);
        assert.match(error.message, message);
        return true;
    });
    fails(() => new Bandit('nothing', { dim: 3 }), 'EE_BAD_OPTION', /unknown policy/);
    fails(() => Bandit.load(new Uint8Array(10)), 'EE_BAD_MODEL', /not an eenet model/);
    const bandit = new Bandit('linucb', { dim: 3 });
    fails(() => bandit.decide([[1, 2]]), 'EE_BAD_INPUT', /row 0 has 2 features; expected 3/);
    fails(() => bandit.decide([]), 'EE_BAD_INPUT', /arm/);
    fails(() => bandit.learn(99, 1), 'EE_UNKNOWN_DECISION', /99/);
    fails(() => bandit.learn(bandit.decide([[1, 2, 3]]), NaN), 'EE_BAD_INPUT', /reward/);
});

// Only the instance of the module shows its memory.
test('bandits that are not freed leave nothing behind when they are collected', { skip }, async (t) => {
    let memory;
    const { instantiate } = WebAssembly;
    t.mock.method(WebAssembly, 'instantiate', async (...words) => {
        const instance = await instantiate(...words);
        memory = instance.exports.memory;
        return instance;
    });
    const { Bandit: Own } = await load();
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc');
    const rounds = new Float32Array(50000 * 4); // 0.8 MB of vectors and 1 MB of results
    const play = () => void new Own('uniform', { dim: 4 }).decide(rounds);
    const playMany = async () => {
        for (let i = 0; i < 15; i++) {
            play();
            collect();
            await stat('.'); // lets the finalizers run
        }
        return memory.buffer.byteLength;
    };
    const before = await playMany();
    assert.equal(await playMany(), before);
});

test('each load has memory of its own, and bytes can be given', { skip }, async () => {
    const second = await load(readFileSync(join(process.env.WASM, 'eenet.wasm')));
    assert.notEqual(second.Bandit, Bandit);
    assert.equal(second.kernels, 'baseline');
    assert.match(second.version, /^\d+\.\d+\.\d+$/);
});

test('the npm package: its files, no dependencies, its size', { skip }, () => {
    const [packed] = JSON.parse(execFileSync('npm', ['pack', '--dry-run', '--json'], { cwd: process.env.WASM, encoding: 'utf8' }));
    assert.equal(packed.name, 'eenet-wasm');
    assert.deepEqual(packed.files.map(({ path }) => path).sort(), ['LICENSE', 'README.md', 'eenet.d.mts', 'eenet.mjs', 'eenet.wasm', 'package.json']);
    assert.equal(JSON.parse(readFileSync(join(process.env.WASM, 'package.json'))).dependencies, undefined);
    const bytes = readFileSync(join(process.env.WASM, 'eenet.wasm'));
    console.log(`eenet.wasm: ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} compressed`);
    assert.ok(bytes.length < 450e3 && gzipSync(bytes).length < 180e3);
});

test('the code of README.md runs', { skip }, async () => {
    const place = join(folder, 'package');
    cpSync(process.env.WASM, place, { recursive: true });
    const [, code] = readFileSync(join(place, 'README.md'), 'utf8').match(/```js\n(.*?)```/s);
    writeFileSync(join(place, 'readme.mjs'), `${code}\nexport { decision, later };`);
    const { decision, later } = await import(pathToFileURL(join(place, 'readme.mjs')));
    assert.ok(['tea', 'ice cream'].includes(decision.action));
    assert.equal(later.info.rewards, 1);
});
