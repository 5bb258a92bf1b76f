// How the series of a chart look: they differ by colour, and also by dash and marker.
import { svg } from './elements.js';

const styles = {
    online: { colour: 's1', dash: '', shape: 'circle' },
    baseline: { colour: 's2', dash: '8 4', shape: 'square' },
    uniform: { colour: 's3', dash: '2 5', shape: 'triangle' },
};
const challengers = [
    { colour: 's4', dash: '12 4', shape: 'diamond' },
    { colour: 's5', dash: '8 3 2 3', shape: 'cross' },
    { colour: 's6', dash: '5 3', shape: 'circle' },
    { colour: 's7', dash: '14 3 2 3 2 3', shape: 'square' },
    { colour: 's8', dash: '3 3', shape: 'triangle' },
    { colour: 's4', dash: '2 3', shape: 'cross' },
    { colour: 's5', dash: '10 6', shape: 'square' },
    { colour: 's6', dash: '6 2 1 2', shape: 'diamond' },
];

// Each policy with its style; challengers in their order.
export function styled(policies) {
    let next = 0;
    return policies.map((policy) => ({ ...policy, style: styles[policy.kind] ?? challengers[next++ % challengers.length] }));
}

const shapes = {
    circle: 'M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z',
    square: 'M-3.2 -3.2h6.4v6.4h-6.4z',
    triangle: 'M0 -4.2L4 3H-4z',
    diamond: 'M0 -4.6L4.6 0L0 4.6L-4.6 0z',
    cross: 'M-3.6 -2.2L-2.2 -3.6L0 -1.4L2.2 -3.6L3.6 -2.2L1.4 0L3.6 2.2L2.2 3.6L0 1.4L-2.2 3.6L-3.6 2.2L-1.4 0z',
};

export function marker(style, x, y) {
    return svg('path', { d: shapes[style.shape], class: `${style.colour} of-colour`, 'stroke-width': 0, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
}

export function swatch(style) {
    return svg('svg', { class: 'swatch', viewBox: '0 0 30 12', 'aria-hidden': 'true', focusable: 'false' },
        svg('path', { d: 'M1 6H29', class: style.colour, 'stroke-width': 2, 'stroke-dasharray': style.dash || null, fill: 'none' }),
        marker(style, 15, 6));
}

// The name of a policy on screen. A policy that was replaced is called former-N by the server.
export function titleOf(policy) {
    const former = /^former-\d+$/.test(policy.name) && policy.policy ? ` ${policy.policy}` : '';
    return { online: 'This bandit', baseline: 'Baseline', uniform: 'Random' }[policy.kind] ?? policy.name + former;
}
