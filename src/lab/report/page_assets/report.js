// Makes tables sortable, and shows the values of a chart under the pointer. The page is complete without it. chart_page.c
// writes the attributes: data-line identifies a line in frames, legends and rows; a frame has its axes in data-x and
// data-y, a legend entry the numbers of its line.
'use strict';
(() => {
    const MINUS = '\u2212';
    const all = (selector, within = document) => [...within.querySelectorAll(selector)];

    function make(tag, looks, ...inside) {
        const element = document.createElement(tag);
        if (looks) element.className = looks;
        element.append(...inside);
        return element;
    }

    // A number as in the tables; a dash for NaN.
    function format(value, signed = false) {
        if (Number.isNaN(value)) return '\u2013';
        const size = Math.abs(value);
        const digits = size.toFixed(size >= 1000 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
        const sign = !/[1-9]/.test(digits) ? '' : value < 0 ? MINUS : signed ? '+' : '';
        return sign + digits;
    }

    // ---- tables that sort ----

    // The text of a cell, without tags and notes.
    function textOf(cell) {
        const copy = cell.cloneNode(true);
        for (const extra of all('.tag, sup', copy)) extra.remove();
        return copy.textContent.trim();
    }

    // The first number in a cell; undefined if it has none. "<0.001" is a little less than 0.001.
    function numberOf(text) {
        const found = text.replace(MINUS, '-').match(/^[^0-9A-Za-z]*?(<?)\s*([+-]?[0-9.]+)/);
        return found ? Number(found[2]) * (found[1] ? 0.999 : 1) : undefined;
    }

    // Dashes and empty cells come last, whatever the direction.
    function compare(left, right, direction) {
        const blank = (text) => !/[0-9A-Za-z]/.test(text);
        if (blank(left) || blank(right)) return blank(left) - blank(right);
        const a = numberOf(left), b = numberOf(right);
        if (a !== undefined && b !== undefined) return direction * (a - b);
        return direction * left.localeCompare(right, 'en', { numeric: true });
    }

    // Rows of the class `part` belong to the row above them and move with it.
    function blocksOf(body) {
        const blocks = [];
        for (const row of body.rows) {
            if (row.classList.contains('part') && blocks.length) blocks[blocks.length - 1].push(row);
            else blocks.push([row]);
        }
        return blocks;
    }

    function sortTable(table, blocks, column, direction) {
        const texts = new Map(blocks.map((block) => [block, textOf(block[0].cells[column])]));
        const sorted = direction ? [...blocks].sort((a, b) => compare(texts.get(a), texts.get(b), direction)) : blocks;
        table.tBodies[0].append(...sorted.flat());
        [...table.tHead.rows[0].cells].forEach((head, i) => {
            if (i === column && direction) head.setAttribute('aria-sort', direction > 0 ? 'ascending' : 'descending');
            else head.removeAttribute('aria-sort');
        });
    }

    // The first click sorts ascending, the second descending, the third restores the order of the report.
    function makeSortable(table) {
        if (!table.tHead || table.tBodies[0].rows.length < 2) return;
        const blocks = blocksOf(table.tBodies[0]);
        [...table.tHead.rows[0].cells].forEach((head, column) => {
            const button = make('button', '', ...[...head.childNodes].filter((node) => node.nodeName !== 'SUP'));
            button.type = 'button';
            button.title = 'Sort by this column';
            head.prepend(button);
            button.addEventListener('click', () => {
                const now = head.getAttribute('aria-sort');
                sortTable(table, blocks, column, now === 'ascending' ? -1 : now === 'descending' ? 0 : 1);
            });
        });
    }

    // ---- highlighted lines ----

    let kept = null; // the line whose key is pressed: {key, within}

    // A line belongs to the section of its data set; the overview covers all of them.
    const sectionOf = (element) => element.closest('section') ?? document;

    function light(line) {
        for (const old of all('.lit, .pointed')) old.classList.remove('lit', 'pointed');
        const shown = line ?? kept;
        if (!shown) return;
        for (const element of all(`[data-line="${shown.key}"]`, shown.within)) {
            element.classList.add('lit');
            element.closest('.chart')?.classList.add('pointed');
        }
    }

    const lineOf = (element) => ({ key: element.dataset.line, within: sectionOf(element) });

    // Rows and legend entries; a frame highlights its nearest line.
    function lightWhatIsPointedAt() {
        const row = (target) => target instanceof Element && target.closest('tr[data-line], .keys [data-line]');
        for (const kind of ['pointerover', 'focusin'])
            document.addEventListener(kind, (event) => row(event.target) && light(lineOf(row(event.target))));
        for (const kind of ['pointerout', 'focusout'])
            document.addEventListener(kind, (event) => row(event.target) && light(null));
    }

    function makePressable(key) {
        const button = make('button', '', ...key.childNodes);
        button.type = 'button';
        button.setAttribute('aria-pressed', 'false');
        key.append(button);
        button.addEventListener('click', () => {
            const press = button.getAttribute('aria-pressed') === 'false';
            for (const other of all('.keys button')) other.setAttribute('aria-pressed', 'false');
            button.setAttribute('aria-pressed', `${press}`);
            kept = press ? lineOf(key) : null;
            light(kept);
        });
    }

    // ---- charts ----

    const numbers = (list) => list.split(' ').map(Number);

    // The index of the entry nearest to the value; sorted is not empty.
    function nearest(sorted, value) {
        let low = 0, high = sorted.length - 1;
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (sorted[middle] > value) high = middle; else low = middle;
        }
        return value - sorted[low] <= sorted[high] - value ? low : high;
    }

    // From 0 to 1 along an axis, and back.
    function axis([low, high], isLog) {
        if (!isLog) return { at: (value) => (value - low) / (high - low), value: (at) => low + at * (high - low) };
        const span = Math.log(high / low);
        return { at: (value) => Math.log(value / low) / span, value: (at) => low * Math.exp(at * span) };
    }

    function readLines(chart) {
        return all('.keys [data-x]', chart).map((key) => ({
            element: key,
            key: key.dataset.line,
            name: key.textContent.trim(),
            colour: key.querySelector('path').style.getPropertyValue('--c'),
            x: numbers(key.dataset.x),
            y: numbers(key.dataset.y),
            output: make('output', ''),
        }));
    }

    // The pointer over one frame, and the arrow keys, which do the same.
    class Frame {
        constructor(element, lines) {
            const isLog = element.classList.contains('logarithmic');
            this.plot = element.querySelector('.plot');
            this.lines = lines;
            this.less = lines.find((line) => line.key === element.dataset.less);
            this.x = axis(numbers(element.dataset.x), isLog);
            this.y = axis(numbers(element.dataset.y), isLog);
            // The first word of the title: a tip has no room for "difference from the reference".
            this.what = element.querySelector('.axis').textContent.trim().split(' ')[0];
            this.when = element.querySelector('.axis.x').textContent.trim().split(' ')[0];
            this.cursor = make('div', 'cursor');
            this.dot = make('div', 'dot');
            this.tip = make('div', 'tip');
            this.tip.setAttribute('role', 'status');
            this.plot.append(this.cursor, this.dot, this.tip);
            this.hide();
            this.listen();
        }

        valueOf(line, place) {
            return line.y[place] - (this.less ? this.less.y[nearest(this.less.x, line.x[place])] : 0);
        }

        // All lines with a value there, inside of the frame, the highest first.
        linesAt(x) {
            const there = this.lines.map((line) => {
                const place = nearest(line.x, x);
                return { line, place, at: this.y.at(this.valueOf(line, place)) };
            });
            return there.filter(({ at }) => at >= -0.001 && at <= 1.001).sort((a, b) => b.at - a.at);
        }

        // The line that is nearest to a point, both from 0 to 1.
        nearestTo(across, up) {
            const there = this.linesAt(this.x.value(across));
            return there.sort((a, b) => Math.abs(a.at - up) - Math.abs(b.at - up))[0];
        }

        show({ line, place, at }) {
            const x = line.x[place], across = this.x.at(x), value = this.valueOf(line, place);
            this.shown = { line, place };
            const parts = [`${this.what} ${format(value, Boolean(this.less))}`];
            if (this.less) parts.push(`regret ${format(line.y[place])}`);
            this.tip.replaceChildren(make('b', '', line.name), parts.join(', '), make('br'), make('span', '', `${this.when} ${x}`));
            this.cursor.style.left = this.dot.style.left = `${100 * across}%`;
            this.dot.style.bottom = `${100 * at}%`;
            for (const part of [this.dot, this.tip]) part.style.setProperty('--c', line.colour);
            this.placeTip(across, at);
            for (const part of [this.cursor, this.dot, this.tip]) part.hidden = false;
            for (const other of this.lines) other.output.value = format(other.y[nearest(other.x, x)]);
            light({ key: line.key, within: sectionOf(this.plot) });
        }

        // Beside the point, on the side that has more room, and not under the finger.
        placeTip(across, at) {
            const { style } = this.tip;
            style.left = across < 0.5 ? `calc(${100 * across}% + 14px)` : 'auto';
            style.right = across < 0.5 ? 'auto' : `calc(${100 * (1 - across)}% + 14px)`;
            style.bottom = at < 0.6 ? `calc(${100 * at}% + 12px)` : 'auto';
            style.top = at < 0.6 ? 'auto' : `calc(${100 * (1 - at)}% + 12px)`;
        }

        hide() {
            this.shown = null;
            for (const part of [this.cursor, this.dot, this.tip]) part.hidden = true;
            for (const line of this.lines) line.output.value = '';
            light(null);
        }

        follow(event) {
            const box = this.plot.getBoundingClientRect();
            const across = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
            const found = this.nearestTo(across, 1 - (event.clientY - box.top) / box.height);
            if (found) this.show(found);
        }

        // Left and right move along a line, up and down change the line.
        step(key) {
            const { line, place } = this.shown ?? { line: this.lines[0], place: this.lines[0].x.length - 1 };
            const along = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: line.x.length - 1 }[key] ?? place;
            const x = line.x[Math.min(Math.max(along, 0), line.x.length - 1)];
            const there = this.linesAt(x);
            const now = there.findIndex((other) => other.line === line);
            const turn = this.shown ? { ArrowUp: -1, ArrowDown: 1 }[key] ?? 0 : 0;
            const next = there[Math.min(Math.max(now + turn, 0), there.length - 1)];
            if (next) this.show(next);
        }

        listen() {
            const { plot } = this;
            plot.tabIndex = 0;
            plot.setAttribute('role', 'group');
            plot.setAttribute('aria-label', `Lines of the chart; use the arrow keys to read the ${this.what} of each line at each ${this.when}`);
            plot.addEventListener('pointermove', (event) => this.follow(event));
            plot.addEventListener('pointerdown', (event) => this.follow(event));
            plot.addEventListener('pointerleave', (event) => event.pointerType === 'touch' || this.hide());
            document.addEventListener('pointerdown', (event) => plot.contains(event.target) || (this.shown && this.hide()));
            plot.addEventListener('blur', () => this.hide());
            plot.addEventListener('keydown', (event) => {
                if (event.key === 'Escape') this.hide();
                if (!/^(Arrow|Home$|End$)/.test(event.key)) return;
                event.preventDefault();
                this.step(event.key);
            });
        }
    }

    for (const table of all('main table')) makeSortable(table);
    for (const chart of all('.chart')) {
        const lines = readLines(chart);
        for (const key of all('.keys [data-line]', chart)) makePressable(key);
        for (const line of lines) line.element.firstChild.append(line.output);
        if (lines.length) for (const frame of all('.frame', chart)) new Frame(frame, lines);
    }
    lightWhatIsPointedAt();
})();
