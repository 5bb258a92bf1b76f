// A report in a real browser: light, dark, on a telephone and without scripts. What it must be is in tests/report/look.js;
// what it does is here.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { browserPath, openPage, startBrowser } from './browser.mjs';
import { soon } from './server.mjs';

const TESTS = join(process.env.SOURCE_FOLDER ?? '../../..', 'tests', 'report');
const LOOK = readFileSync(join(TESTS, 'look.js'), 'utf8');
if (!browserPath) process.exit(77);

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const SECTION = 'section:has(h2#synthetic-cosine)';
let folder, browser;

before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'eenet-report-'));
    const made = spawnSync('sh', [join(TESTS, 'folder.sh'), process.env.EENET], { cwd: folder, encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    browser = await startBrowser();
});
after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
});

// The report, opened; closed with the test, which fails where the page asked for other files or said an error.
async function open(t, options = {}) {
    const page = await openPage(browser, `file://${folder}`, options, t);
    await page.goto(`file://${folder}/runs/report.html`);
    return page;
}
// Tests that run at once.
const TOGETHER = { concurrency: 3 };
const lookAt = (page, width) => page.evaluate(`${LOOK};look(${width})`);

describe('what is seen', TOGETHER, () => {
    const ways = { light: {}, 'dark phone': { ...PHONE, colorScheme: 'dark' }, 'no scripts': { javaScriptEnabled: false } };
    for (const [name, options] of Object.entries(ways))
        test(name, async (t) => {
            const page = await open(t, options);
            assert.deepEqual(await lookAt(page, options.viewport?.width ?? 1280), []);
        });
});

// ---- numbers of the folder, read from the files for papers ----

// The lines of a figure by their names: Map of rounds to [mean].
function readFigure(name) {
    const lines = new Map();
    for (const block of readFileSync(join(folder, 'runs', 'figures', `${name}.dat`), 'utf8').split('\n\n\n')) {
        const [head, ...rows] = block.trim().split('\n');
        const numbers = rows.map((row) => row.split(' ').map(Number));
        lines.set(head.slice(2, head.indexOf(':')), new Map(numbers.map(([round, mean]) => [round, [mean]])));
    }
    return lines;
}
// As a table has it: 1486, 23.5, 1.20, 0.123.
function shown(value, plus = '') {
    const size = Math.abs(value);
    const digits = size.toFixed(size >= 1000 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
    return Number(digits) === 0 ? digits : (value < 0 ? '−' : plus) + digits;
}
// The page and the figure have their numbers with so many digits: one between two roundings is shown as either.
function assertTells(text, before, value, after = '') {
    const either = [value, value * (1 - 1e-4), value * (1 + 1e-4)].map((near) => before + shown(near) + after);
    assert.ok(either.includes(text), `${text}, but ${either[0]} is expected`);
}
// Where a value lies on an axis, from 0 to 1.
function along([low, high], isLog, value) {
    return isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}
const axes = (frame) => frame.evaluate((element) => [element.dataset.x, element.dataset.y].map((words) => words.split(' ').map(Number)));
const tip = (frame) => frame.locator('.tip');

// The place on the screen of a round and a value in a frame; null where it is not in the frame.
async function placeOf(frame, round, value, isLog = false) {
    const [x, y] = await axes(frame);
    const [right, up] = [along(x, isLog, round), along(y, isLog, value)];
    if (up < 0 || up > 1) return null;
    const box = await frame.locator('.plot > svg').boundingBox();
    return { x: box.x + right * box.width, y: box.y + (1 - up) * box.height };
}
async function pointAt(page, frame, ...where) {
    await frame.scrollIntoViewIfNeeded();
    const place = await placeOf(frame, ...where);
    if (place) await page.mouse.move(place.x, place.y);
    return place !== null;
}
const frameOf = (page, kind) => page.locator(`${SECTION} .chart`).first().locator(`.frame${kind}`);

describe('the pointer over a chart', TOGETHER, () => {
    test('names each line and its regret at that round', async (t) => {
        const page = await open(t);
        const frame = frameOf(page, '.linear:not(.low)');
        let told = 0;
        for (const [name, rounds] of readFigure('regret-synthetic-cosine'))
            for (const round of [100, 240]) {
                const [mean] = rounds.get(round);
                told += await soon(async () => {
                    if (!await pointAt(page, frame, round, mean)) return 0;
                    assertTells(await tip(frame).innerText(), `${name}\nregret `, mean, `\nround ${round}`);
                    return 1;
                });
            }
        assert.ok(told >= 12, `${told} points told`);
        await page.mouse.move(0, 0);
        await tip(frame).waitFor({ state: 'hidden' });
    });

    test('tells the difference to the reference', async (t) => {
        const page = await open(t);
        const frame = frameOf(page, '.linear.low');
        const lines = readFigure('regret-synthetic-cosine');
        const [mean] = lines.get('neural-ts').get(240), difference = mean - lines.get('eenet').get(240)[0];
        await soon(async () => {
            assert.ok(await pointAt(page, frame, 240, difference));
            assert.equal(await tip(frame).innerText(), `neural-ts\ndifference ${shown(difference, '+')}, regret ${shown(mean)}\nround 240`);
        });
    });

    test('is not needed: the arrow keys do the same', async (t) => {
        const page = await open(t);
        const frame = frameOf(page, '.linear:not(.low)');
        const lines = readFigure('regret-synthetic-cosine');
        const told = async () => (await tip(frame).innerText()).split('\n');
        await frame.locator('.plot').focus();
        await page.keyboard.press('End');
        assert.deepEqual(await told(), ['eenet', `regret ${shown(lines.get('eenet').get(300)[0])}`, 'round 300']);
        await page.keyboard.press('ArrowLeft');
        assert.equal((await told())[2], 'round 298');
        await page.keyboard.press('ArrowUp');
        assert.notEqual((await told())[0], 'eenet');
        assert.equal((await told())[2], 'round 298');
        await page.keyboard.press('Escape');
        assert.ok(await tip(frame).isHidden());
    });

    test('or a finger, on a telephone', async (t) => {
        const page = await open(t, PHONE);
        const chart = page.locator(`${SECTION} .chart`).first();
        const frame = frameOf(page, '.linear:not(.low)');
        await frame.scrollIntoViewIfNeeded();
        const [mean] = readFigure('regret-synthetic-cosine').get('kernelucb').get(260);
        const place = await placeOf(frame, 260, mean);
        await page.touchscreen.tap(place.x, place.y);
        await soon(async () => assert.match(await tip(frame).innerText(), /^kernelucb\nregret/));
        const box = await tip(frame).boundingBox();
        assert.ok(box.x >= 0 && box.x + box.width <= 390, 'the words are on the screen');
        // The legend and the lines that it names are on the screen together.
        const keys = await chart.locator('.keys').boundingBox(), plot = await frame.locator('.plot').boundingBox();
        assert.ok(keys.x >= 0 && keys.x + keys.width <= 390);
        assert.ok(Math.max(keys.y + keys.height, plot.y + plot.height) - Math.min(keys.y, plot.y) < 844);
        await page.touchscreen.tap(195, (await page.locator('h1').boundingBox()).y < 0 ? 5 : 400);
        await tip(frame).waitFor({ state: 'hidden' });
    });
});

// The lines that stand out, and whether all others have stepped back.
const lit = (page) => page.evaluate(() => {
    const charts = [...document.querySelectorAll('.chart.pointed')];
    const names = new Set(charts.flatMap((chart) => [...chart.querySelectorAll('.plot .line.lit')].map((line) => line.dataset.line)));
    const others = charts.flatMap((chart) => [...chart.querySelectorAll('.plot .line:not(.lit)')]);
    return { names: [...names], charts: charts.length, faint: others.every((line) => line.getAnimations().length > 0 || Number(getComputedStyle(line).opacity) < 0.5) };
});
const NOTHING = { names: [], charts: 0, faint: true };

describe('pointing at', TOGETHER, () => {
    test('a row shows its line, in all charts of its data set', async (t) => {
        const page = await open(t);
        const row = page.locator(`${SECTION} tr[data-line]`).filter({ hasText: 'linucb' }).first();
        await row.hover();
        await soon(async () => {
            const { names, charts, faint } = await lit(page);
            assert.deepEqual(names, [await row.getAttribute('data-line')]);
            assert.ok(charts === 2 && faint, `${charts} charts`); // regret and exploration
        });
        await page.mouse.move(0, 0);
        await soon(async () => assert.deepEqual(await lit(page), NOTHING));
    });

    test('an entry of the legend shows its line, and a click keeps it', async (t) => {
        const page = await open(t);
        const key = page.locator(`${SECTION} .keys button`).filter({ hasText: 'neural-ts' }).first();
        await key.hover();
        const names = await soon(async () => {
            const now = await lit(page);
            assert.equal(now.names.length, 1);
            return now.names;
        });
        await key.click();
        await page.mouse.move(0, 0);
        await page.locator('h1').click();
        assert.deepEqual((await lit(page)).names, names);
        assert.equal(await key.getAttribute('aria-pressed'), 'true');
        await key.press('Enter');
        await key.blur();
        assert.equal(await key.getAttribute('aria-pressed'), 'false');
        await soon(async () => assert.deepEqual(await lit(page), NOTHING));
    });
});

describe('tables', TOGETHER, () => {
    const column = (table, place) => table.evaluate((element, i) => [...element.tBodies[0].rows].map((row) => row.cells[i].innerText.trim()), place);
    const value = (words) => Number(words.replace('−', '-').match(/[-+]?[0-9.]+/)?.[0] ?? NaN);
    const isSorted = (values, direction) => values.every((one, i) => !i || direction * (one - values[i - 1]) >= 0);

    test('sort by a click: numbers as numbers, what is empty last', async (t) => {
        const page = await open(t);
        const table = page.locator(`${SECTION} table`).first();
        const names = await column(table, 0);
        const heads = await table.locator('thead th').allInnerTexts();
        for (const head of ['regret', 'difference', 'best arm', 'MB']) {
            const place = heads.findIndex((words) => words.startsWith(head));
            const th = table.locator('thead th').nth(place);
            for (const [direction, name] of [[1, 'ascending'], [-1, 'descending']]) {
                await th.getByRole('button').click();
                assert.equal(await th.getAttribute('aria-sort'), name);
                assert.equal(await table.locator('[aria-sort]').count(), 1);
                const values = (await column(table, place)).map(value);
                const empty = head === 'difference' ? 1 : 0; // the reference's own
                assert.equal(values.filter(Number.isNaN).length, empty);
                assert.ok(isSorted(values.slice(0, values.length - empty), direction), `${head}: ${values}`);
            }
            await th.getByRole('button').click();
            assert.equal(await th.getAttribute('aria-sort'), null);
            assert.deepEqual(await column(table, 0), names);
        }
    });

    test('a row that is part of another goes with it', async (t) => {
        const whole = readFileSync(join(folder, 'runs', 'report.html'), 'utf8');
        const page = await open(t);
        await page.setContent(whole.replace('<tr data-line="candidate-1"', '<tr class="part" data-line="candidate-1"'));
        const table = page.locator('table').first();
        const before = await column(table, 0);
        for (let click = 0; click < 2; click++) {
            await table.locator('thead button').first().click();
            const names = await column(table, 0);
            assert.equal(names.indexOf(before[1]), names.indexOf(before[0]) + 1, names);
        }
    });
});

describe('logarithmic axes', TOGETHER, () => {
    const frames = (page) => page.locator(`${SECTION} .chart`).first().locator('.frame:visible').evaluateAll((all) => all.map((frame) => frame.classList.contains('log')));

    for (const javaScriptEnabled of [true, false])
        test(`by a switch, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async (t) => {
            const page = await open(t, { javaScriptEnabled });
            assert.deepEqual(await frames(page), [false, false]);
            await page.locator(`${SECTION} .switch`).first().click();
            assert.deepEqual(await frames(page), [true]);
            assert.deepEqual(await lookAt(page, 1280), []);
            await page.locator(`${SECTION} .chart > input`).first().press('Space');
            assert.deepEqual(await frames(page), [false, false]);
        });

    test('have all lines and ticks where they belong', async (t) => {
        const page = await open(t);
        const lines = readFigure('regret-synthetic-cosine');
        for (const kind of ['.linear:not(.low)', '.log']) {
            const frame = frameOf(page, kind), isLog = kind === '.log';
            const [x, y] = await axes(frame);
            const keys = await page.locator(`${SECTION} .chart`).first().locator('.keys li').evaluateAll((all) => all.map((key) => [key.dataset.line, key.querySelector('span').innerText]));
            for (const [key, name] of keys) {
                const d = await frame.locator(`.line[data-line="${key}"]`).getAttribute('d');
                const steps = d.match(/-?[0-9]+/g).map(Number);
                let [right, down, drawn] = [0, 0, 0];
                for (let i = 0; i < steps.length; i += 2) {
                    right += steps[i];
                    down += steps[i + 1];
                    const near = [...lines.get(name)].filter(([round, [mean]]) => Math.abs(3000 * along(x, isLog, round) - right) <= 0.51 && Math.abs(1500 * (1 - along(y, isLog, mean)) - down) <= 0.6);
                    drawn += near.length > 0 || down > 1500; // what is zero lies below the logarithms
                }
                assert.equal(drawn, steps.length / 2, `${name} in ${kind}`);
                assert.ok(drawn > 60, `${name} has ${drawn} points`);
            }
            for (const [side, range] of [['left', x], ['bottom', y]])
                for (const [label, place] of await frame.locator(`.tick.${side === 'left' ? 'x' : 'y'}`).evaluateAll((all, at) => all.map((tick) => [Number(tick.textContent), parseFloat(tick.style[at])]), side))
                    assert.ok(Math.abs(100 * along(range, isLog, label) - place) < 0.01, `${label} at ${place}`);
        }
    });

    test('tell the same under the pointer', async (t) => {
        const page = await open(t);
        await page.locator(`${SECTION} .switch`).first().click();
        for (const name of ['uniform', 'linucb', 'eenet']) { // uniform leaves the frame of the others
            const [mean] = readFigure('regret-synthetic-cosine').get(name).get(300);
            await soon(async () => {
                assert.ok(await pointAt(page, frameOf(page, '.log'), 300, mean, true));
                assertTells(await tip(frameOf(page, '.log')).innerText(), `${name}\nregret `, mean, '\nround 300');
            });
        }
    });
});

test('long names are broken, not cut', async (t) => {
    const long = 'a_very_long_name_'.repeat(6);
    const whole = readFileSync(join(folder, 'runs', 'report.html'), 'utf8');
    for (const options of [{}, PHONE]) {
        const page = await open(t, options);
        await page.setContent(whole.replaceAll('synthetic:cosine', long).replaceAll('<p class="headline">', `<p class="headline">On ${long}, `));
        const width = options.viewport?.width ?? 1280;
        const cut = (await lookAt(page, width)).filter((sentence) => / is cut$| wide$/.test(sentence));
        assert.deepEqual(cut, []);
    }
});

test('links to files lead to files', async (t) => {
    const page = await open(t);
    const links = await page.locator('a:not([href^="#"])').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    for (const link of links) assert.ok(existsSync(join(folder, 'runs', decodeURIComponent(link))), link);
});
