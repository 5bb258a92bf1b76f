// Looks at a report from within a browser's page. look(width) returns what is wrong with it, as a list of sentences.
'use strict';
function look(width) {
    const wrong = [];
    const expect = (right, what) => { if (!right) wrong.push(what); };
    const all = (selector, within = document) => [...within.querySelectorAll(selector)];
    const words = (element) => element.textContent.trim().slice(0, 40);
    const seen = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility === 'visible';

    // Whether two boxes share more than a hair.
    const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
    const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;

    // ---- colours ----

    function channels(colour) {
        const canvas = document.createElement('canvas').getContext('2d');
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    }
    function luminance(colour) {
        const [r, g, b] = channels(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    }
    function contrast(one, other) {
        const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    }

    // ---- charts ----

    function lookAtChart(chart, index) {
        const box = chart.getBoundingClientRect();
        const name = `chart ${index + 1}`;
        const paper = getComputedStyle(document.body).backgroundColor;
        const frames = all('.frame', chart).filter(seen);
        expect(frames.length > 0, `${name} has no frame`);
        for (const svg of all('.plot > svg', chart)) expect(svg.getAttribute('aria-label').length > 20, `${name} does not say what it shows`);
        for (const frame of frames) {
            const plot = frame.querySelector('svg').getBoundingClientRect();
            expect(plot.width > Math.min(0.5 * width, 500) && plot.height > 100, `${name} is ${plot.width} by ${plot.height}`);
            const drawn = all('.line, .bar', frame);
            expect(drawn.length > 0, `${name} has no lines`);
            for (const path of drawn) {
                expect(path.getAttribute('d').length > 8 && !/[nN]/.test(path.getAttribute('d')), `${name} has a line without points`);
                const { stroke, fill } = getComputedStyle(path);
                // The palest of the colours of Okabe and Ito has 2.2 on white.
                expect(contrast(stroke === 'none' ? fill : stroke, paper) > 2, `${name}: a line of ${stroke} on ${paper}`);
            }
            expect(all('.tick.x', frame).filter(seen).length > 2 && all('.tick.y', frame).length > 2, `${name} has too few ticks`);
        }
        const texts = all('.tick, .axis, .keys li, .switch', chart).filter(seen);
        const boxes = texts.map((text) => text.getBoundingClientRect());
        boxes.forEach((one, i) => {
            expect(inside(one, box), `${name}: '${words(texts[i])}' stands out of the chart`);
            for (let k = 0; k < i; k++)
                expect(!overlap(one, boxes[k]), `${name}: '${words(texts[i])}' lies on '${words(texts[k])}'`);
        });
        for (const text of texts) expect(contrast(getComputedStyle(text).color, paper) >= 4.5, `${name}: '${words(text)}' is pale`);
        const keys = all('.keys [data-line]', chart).map((key) => key.dataset.line);
        const lines = new Set(all('.plot [data-line]', chart).map((line) => line.dataset.line));
        expect(keys.length === lines.size && keys.every((key) => lines.has(key)), `${name}: the legend is not that of the lines`);
    }

    // ---- the page ----

    function lookAtTables() {
        expect(all('table').length >= 8, `${all('table').length} tables`);
        for (const table of all('table')) {
            expect(table.tBodies[0].rows.length > 0, 'a table is empty');
            const columns = new Set([...table.rows].map((row) => row.cells.length));
            expect(columns.size === 1, `rows of ${[...columns]} cells in one table`);
        }
        for (const row of all('section tr[data-line]'))
            expect(row.closest('section').querySelector(`.plot [data-line="${row.dataset.line}"]`), `no line of '${words(row)}'`);
        expect(all('td b').length === 4, `${all('td b').length} best, not 4`); // of two data sets, in two tables each
        expect(all('.tag').some((tag) => words(tag) === 'chosen'), 'no setting is chosen');
        expect(all('.tag').some((tag) => words(tag) === 'not reliable'), 'no candidate is doubted');
    }

    function lookAtLinks() {
        const ids = all('[id]').map((element) => element.id);
        expect(new Set(ids).size === ids.length, 'two elements have the same id');
        for (const link of all('a[href^="#"]'))
            expect(document.getElementById(link.getAttribute('href').slice(1)), `${link.href} leads nowhere`);
        const files = all('a:not([href^="#"])').map((link) => link.getAttribute('href'));
        expect(files.length === 10 && files.every((file) => /^figures\/[a-z0-9-]+\.svg$/.test(file)), `links to ${files}`);
        expect(all('[src], link').length === 0, 'the page needs other files');
        expect(all('script').length === 1, `${all('script').length} scripts`);
    }

    expect(document.documentElement.scrollWidth <= width, `the page is ${document.documentElement.scrollWidth} wide`);
    for (const element of all('main *'))
        if (!element.closest('.scroll, pre, details:not([open]), svg') && seen(element))
            expect(element.getBoundingClientRect().right <= width + 1, `<${element.tagName}> '${words(element)}' is cut`);
    const headings = all('h2, h3').map(words);
    for (const heading of ['Evaluation of log.dsjson', 'Can you trust these numbers?', 'Overview', 'What was run', 'synthetic:cosine',
        'synthetic:quadratic', 'Ablation: the label of f2', 'Ablation: the kind of f3', 'Exploration direction',
        'Time and memory', 'Tuning grid', 'All settings', 'How to reproduce', 'What the columns mean'])
        expect(headings.includes(heading), `no heading '${heading}'`);
    expect(all('figure').length === 10, `${all('figure').length} figures, not 10`);
    expect(all('.chart').length === 8, `${all('.chart').length} charts, not 8`);
    all('.chart').forEach(lookAtChart);
    lookAtTables();
    lookAtLinks();
    expect(all('.note').length > 0, 'no word about too few seeds');
    expect(all('.headline').some((line) => /would have earned|difference/.test(line.textContent)), 'no headline of the log');
    expect(/^[a-z-]+ leads on .* data sets.*\. The .*\.$/.test(all('.headline')[0].textContent), 'no headline of the runs');
    expect(all('.headlines li').length === 2, `${all('.headlines li').length} sentences on two data sets`);
    expect(!/NaN|nan|\(null\)/.test(document.body.innerText), 'a number is missing');
    return wrong;
}
