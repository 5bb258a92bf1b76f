// Runs at the end of a report, in a frame; says to the page around it what is wrong, or that all is good.
'use strict';
const wrong = [];
const expect = (right, what) => { if (!right) wrong.push(what); };
const all = selector => [...document.querySelectorAll(selector)];
const words = element => element.textContent.trim().slice(0, 40);

// Whether two boxes share more than a hair.
const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;

function look_at_figure(svg, index) {
    const box = svg.getBoundingClientRect();
    const name = `figure ${index + 1} (${words(svg)})`;
    expect(box.width > 300 && box.height > 100, `${name} is ${box.width} by ${box.height}`);
    expect(svg.querySelectorAll('path').length > 5, `${name} has no lines`);
    const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim());
    expect(texts.length > 5, `${name} has no words`);
    const boxes = texts.map(text => text.getBoundingClientRect());
    boxes.forEach((one, i) => {
        expect(inside(one, box), `${name}: '${words(texts[i])}' stands out of the figure`);
        for (let k = 0; k < i; k++)
            expect(!overlap(one, boxes[k]), `${name}: '${words(texts[i])}' lies on '${words(texts[k])}'`);
    });
}

function look() {
    const width = document.documentElement.clientWidth; // without the scroll bar
    expect(document.documentElement.scrollWidth <= width, `the page is ${document.documentElement.scrollWidth} wide`);
    for (const element of all('main *'))
        if (!element.closest('.scroll, pre, details:not([open])'))
            expect(element.getBoundingClientRect().right <= width + 1, `<${element.tagName}> '${words(element)}' is cut`);

    const figures = all('figure svg');
    expect(figures.length === 10, `${figures.length} figures, not 10`);
    figures.forEach(look_at_figure);

    const headings = all('h2, h3').map(words);
    for (const heading of ['Evaluation of log.dsjson', 'Can this be trusted?', 'Overview', 'What was run', 'synthetic:cosine', 'synthetic:quadratic,dim=5,arms=3',
        'Ablation: the label of f2', 'Ablation: the kind of f3', 'Exploration direction', 'Time and memory', 'Grid',
        'Every setting', 'How to reproduce', 'What the columns mean'])
        expect(headings.includes(heading), `no heading '${heading}'`);
    expect(all('table').length >= 8, `${all('table').length} tables`);
    for (const table of all('table')) {
        expect(table.tBodies[0].rows.length > 0, 'a table is empty');
        const columns = new Set([...table.rows].map(row => row.cells.length));
        expect(columns.size === 1, `rows of ${[...columns]} cells in one table`);
    }
    expect(all('td b').length === 4, `${all('td b').length} best, not 4`); // of two data sets, in two tables each
    expect(all('.tag').some(tag => words(tag) === 'chosen'), 'no setting is chosen');
    expect(all('.note').length > 0, 'no word about too few seeds');
    expect(all('.headline').length === 1 && /would have earned|difference/.test(words(all('.headline')[0])), 'no headline');
    expect(all('.tag').some(tag => words(tag) === 'not to be trusted'), 'no candidate is doubted');

    // One file, without scripts of its own, whose links lead somewhere within it.
    const ids = all('[id]').map(element => element.id);
    expect(new Set(ids).size === ids.length, 'two elements have the same id');
    for (const link of all('a')) expect(document.getElementById(link.getAttribute('href').slice(1)), `${link.href} leads nowhere`);
    for (const use of all('use')) expect(document.getElementById(use.getAttribute('xlink:href').slice(1)), 'a mark is missing');
    expect(all('[src], link, script:not(:last-of-type)').length === 0, 'the page needs other files');
    expect(!/NaN|nan|\(null\)/.test(document.body.innerText), 'a number is missing');
    return wrong.length ? wrong.join('; ') : `good, ${innerWidth} wide`;
}

let verdict;
try { verdict = look(); } catch (error) { verdict = `${error}`; }
parent.postMessage(verdict, '*');
