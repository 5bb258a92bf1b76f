// Simulated visitors: their attributes, what they like, and when they click. The bandit knows none of this.
import { CATEGORIES } from './catalog.mjs';

const isMorning = (hour) => hour >= 5 && hour < 14;

// What visitors want depends on device and time of day together: neither is informative alone.
const AFTER = { phone: ['running', 'coffee'], desktop: ['books', 'light'] };
const wanted = ({ device, hour }) => {
    const [late, early] = AFTER[device];
    return isMorning(hour) ? early : late;
};

export function clickProbability(visitor, product) {
    let chance = product.category === wanted(visitor) ? 0.45 : 0.05;
    if (product.category === visitor.past) chance += 0.12;
    if (visitor.past === null && product.price > 40) chance *= 0.7; // new visitors start small
    return chance;
}

const pick = (list) => list[Math.floor(Math.random() * list.length)];

export const someVisitor = () => ({
    device: pick(['phone', 'desktop']),
    hour: Math.floor(Math.random() * 24),
    past: Math.random() < 0.4 ? null : pick(CATEGORIES),
});

// Seconds until the click; null: no click, or a click that is never reported.
export function clickAfter(visitor, product) {
    if (Math.random() >= clickProbability(visitor, product)) return null;
    if (Math.random() < 0.05) return null;
    return Math.min(4.5, 0.3 - 1.2 * Math.log(1 - Math.random()));
}
