// Numbers, times and durations, formatted in the browser's language.

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const few = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 });
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

export const DASH = '–';

function known(number) {
    return typeof number === 'number' && Number.isFinite(number);
}

export function count(number) {
    if (!known(number)) return DASH;
    return Math.abs(number) < 1e7 ? whole.format(number) : short.format(number);
}

// With a fixed number of digits after the point.
export function real(number, digits = 3) {
    if (!known(number)) return DASH;
    const shown = Math.abs(number) < 0.5 * 10 ** -digits ? 0 : number; // not "-0.0"
    return new Intl.NumberFormat(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(shown);
}

// With as few digits as it needs: "0", "0.25".
export function plain(number) {
    return known(number) ? few.format(number) : DASH;
}

export function rate(number) {
    if (!known(number)) return DASH;
    const digits = number === 0 || number >= 100 ? 0 : number >= 10 ? 1 : 2;
    return real(number, digits);
}

export function percent(share, digits = 1) {
    if (!known(share)) return DASH;
    return new Intl.NumberFormat(undefined, { style: 'percent', minimumFractionDigits: digits, maximumFractionDigits: digits }).format(share);
}

// With as few digits as it needs: "5%", "23.75%".
export function plainPercent(share) {
    return known(share) ? new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 2 }).format(share) : DASH;
}

export function signed(number, digits = 3) {
    if (!known(number)) return DASH;
    return (number > 0 ? '+' : number < 0 ? '−' : '') + real(Math.abs(number), digits);
}

// "0.41 to 0.47"
export function interval(low, high, form = real) {
    if (!known(low) && !known(high)) return DASH;
    return `${form(low)} to ${form(high)}`;
}

export function milliseconds(seconds) {
    if (!known(seconds)) return DASH;
    const value = seconds * 1000;
    return `${real(value, value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;
}

const steps = [['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]];

// "3 minutes", "1.5 hours"
export function duration(seconds) {
    if (!known(seconds)) return DASH;
    if (seconds > 0 && seconds < 0.95) return milliseconds(seconds);
    const [unit, size] = steps.find(([, size]) => seconds >= size) ?? steps[3];
    const value = seconds / size;
    return new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: value < 10 && unit !== 'second' ? 1 : 0 }).format(value);
}

// Seconds since 1970, or a time as text; 'short' leaves out the seconds.
export function moment(time, timeStyle = 'medium') {
    const seconds = typeof time === 'string' ? Date.parse(time) / 1000 : time;
    if (!known(seconds)) return DASH;
    return new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: 'medium', timeStyle });
}

// The time of day, with the date unless it is today.
export function clock(time) {
    const date = new Date(time);
    return date.toDateString() === new Date().toDateString() ? date.toLocaleTimeString() : moment(time);
}

// A time on an axis that spans this many seconds.
export function tick(seconds, span) {
    const date = new Date(seconds * 1000);
    if (span < 600) return date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
    if (span < 86400) return date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
    if (span < 4 * 86400) return date.toLocaleString(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' });
    return date.toLocaleDateString(undefined, { month: 'short', day: 'numeric' });
}

export function plural(number, one, many) {
    return `${count(number)} ${number === 1 ? one : many}`;
}

// How scores become probabilities: "floor:0.1" as "10% of decisions at random".
export function exploration(propensity) {
    const [rule, amount] = (propensity ?? '').split(':');
    if (rule === 'own') return 'by the policy itself';
    if (rule === 'argmax') return 'none: always the best score';
    if (rule === 'softmax') return `softmax, temperature ${amount ?? 'by default'}`;
    if (rule === 'igw') return `inverse-gap weighting, gamma ${amount ?? 'by default'}`;
    const share = Number(amount);
    if (rule !== 'floor' || !known(share)) return propensity;
    return `${percent(share, Number.isInteger(Math.round(share * 1e6) / 1e4) ? 0 : 1)} of decisions at random`;
}

// The name of a feature on screen: the server calls the id of an action "_id", and joins products by "*".
export function featureName(name) {
    if (name === 'constant') return 'constant (the same for every action)';
    return name.replace(/(^|[*\s])_id(?=$|[=*])/g, '$1action id').replaceAll('*', ' and ');
}

export { known };
