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

const PEOPLE = 20000;
const upTo = (count, random) => Math.floor(random() * count);
const pick = (list, random) => list[upTo(list.length, random)];

// One visit of one of 20,000 people.
export const someVisitor = (random = Math.random) => ({
    key: `v${upTo(PEOPLE, random)}`,
    device: pick(['phone', 'desktop'], random),
    hour: upTo(24, random),
    past: random() < 0.4 ? null : pick(CATEGORIES, random),
});

// Seconds until the click; null: no click, or a click that is never reported.
export function clickAfter(visitor, product) {
    if (Math.random() >= clickProbability(visitor, product)) return null;
    if (Math.random() < 0.05) return null;
    return Math.min(4.5, 0.3 - 1.2 * Math.log(1 - Math.random()));
}

// What a click leads to: shoes are often returned, and books earn little.
export function sale(product) {
    const refund = Math.random() < (product.id === 'shoes' ? 0.3 : 0.05) ? 1 : 0;
    const margin = product.price * (product.category === 'books' ? 0.1 : 0.3);
    return { refund, margin: refund ? 0 : margin };
}
