// What plays, EE-Net first. Smaller networks than the defaults: the features are three numbers.
export const POLICIES = [
    { label: 'EE-Net', policy: 'eenet', options: 'f1.width=50 f1.batch=32 f1.steps=2 units=50', series: 1, dash: [] },
    { label: 'LinUCB', policy: 'linucb', options: '', series: 2, dash: [7, 4] },
    { label: 'Thompson sampling', policy: 'lints', options: '', series: 4, dash: [2, 3] },
    { label: 'ε-greedy network', policy: 'neural-epsilon', options: 'f1.width=50 f1.batch=32 f1.steps=2', series: 3, dash: [9, 3, 2, 3] },
];

// Points of a map, along each side.
export const MAP = 20;
