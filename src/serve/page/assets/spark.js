// A small line chart.
import { mark, svg } from './elements.js';
import { roundUp } from './scale.js';

const WIDTH = 300, HEIGHT = 44;

// least: smallest value at the top, so that a single event does not look like a peak.
export function spark(label, least = 1) {
    const area = svg('path', { class: 'area' }), edge = svg('path', { class: 'edge' });
    const node = svg('svg', { class: 'spark', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
        area, svg('line', { class: 'base', x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5 }), edge);
    return {
        node,
        update(values) {
            if (!values.length) {
                for (const one of [edge, area]) mark(one, 'd', null);
                return;
            }
            const most = roundUp(Math.max(least, ...values)), low = Math.min(0, ...values);
            const step = WIDTH / Math.max(values.length - 1, 1);
            const line = values.map((value, i) => `${(i * step).toFixed(1)} ${(HEIGHT - 1 - ((value - low) / (most - low)) * (HEIGHT - 5)).toFixed(1)}`).join('L');
            mark(edge, 'd', `M${line}`);
            mark(area, 'd', `M0 ${HEIGHT}L${line}L${WIDTH} ${HEIGHT}Z`);
        },
    };
}
