// A problem: a square of SIDE by SIDE cells, each with the number of the arm that pays there.

export const ARMS = 3;
export const SIDE = 24;
export const PAYS = 0.9;
export const OTHERWISE = 0.1;

const EXAMPLES = {
    linear: (x, y) => (x + y < 0.75 ? 0 : x + y < 1.25 ? 1 : 2),
    rings: (x, y) => {
        const radius = Math.hypot(x - 0.5, y - 0.5);
        return radius < 0.2 ? 0 : radius < 0.42 ? 1 : 2;
    },
    stripes: (x) => Math.floor(4 * x) % ARMS,
    checkerboard: (x, y) => (Math.floor(3 * x) + Math.floor(3 * y)) % 2,
};

export function example(name) {
    return Uint8Array.from({ length: SIDE * SIDE }, (_, i) =>
        EXAMPLES[name](((i % SIDE) + 0.5) / SIDE, (Math.floor(i / SIDE) + 0.5) / SIDE));
}

// The cell of a point whose coordinates are 0 to 1.
export function cellAt(x, y) {
    return Math.min(SIDE - 1, Math.floor(y * SIDE)) * SIDE + Math.min(SIDE - 1, Math.floor(x * SIDE));
}

// Numbers from 0 to 1, the same for the same seed (mulberry32).
export function randomNumbers(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let bits = Math.imul(state ^ (state >>> 15), state | 1);
        bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
        return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
    };
}
