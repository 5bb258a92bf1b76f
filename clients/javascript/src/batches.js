// Sends many items in as few requests as the server allows.
import { ServerError, SomeRefused, TooLarge, errorOfItem } from './errors.js';
import { Backoff, pause } from './transport.js';

// The default limits of the server; if it accepts less, a batch is split in halves.
export const MOST_ITEMS = 1000;
const MOST_BYTES = 4000000;

const sizeOf = (text) => new TextEncoder().encode(text).length;

// Groups items {text} into batches that exceed neither a number of items nor a number of bytes.
export function* batchesOf(items, mostBytes = MOST_BYTES) {
    let batch = [];
    let size = 0;
    for (const item of items) {
        const more = sizeOf(item.text) + 1;
        if (batch.length && (batch.length === MOST_ITEMS || size + more > mostBytes)) {
            yield batch;
            batch = [];
            size = 0;
        }
        batch.push(item);
        size += more;
    }
    if (batch.length) yield batch;
}

export const batchBody = (member, items) => `{"${member}":[${items.map(({ text }) => text).join(',')}]}`;

// The result of each item {text, read}, in order; an error for each item the server refused.
export async function inBatches(transport, path, member, items, returnErrors) {
    const answers = [];
    for (const batch of batchesOf(items)) {
        try {
            answers.push(...(await sendBatch(transport, path, member, batch)));
        } catch (error) {
            if (!(error instanceof ServerError)) throw error;
            // Of the whole batch: later ones would fail the same way.
            while (answers.length < items.length) answers.push(error);
            break;
        }
    }
    if (!returnErrors) throwFirst(answers, member);
    return answers;
}

// The same for one batch. Throws if the server refused it as a whole.
export async function sendBatch(transport, path, member, items) {
    try {
        return await sendItems(transport, path, member, items);
    } catch (error) {
        if (!(error instanceof TooLarge)) throw error;
        if (items.length === 1) return [error];
        const half = Math.floor(items.length / 2);
        const first = await sendBatch(transport, path, member, items.slice(0, half));
        return [...first, ...(await sendBatch(transport, path, member, items.slice(half)))];
    }
}

// Sends a batch, and retries the items that the server could not store.
async function sendItems(transport, path, member, items) {
    const backoff = new Backoff(transport.retryFor);
    const answers = new Array(items.length);
    let left = items.map((_, place) => place);
    for (let retried = 0; ; retried++) {
        const { [member]: results } = await transport.askJson('POST', path, batchBody(member, left.map((place) => items[place])));
        if (results?.length !== left.length) throw new ServerError('expected a result for each item, got a response of another server', { maybeDone: true });
        left.forEach((place, i) => {
            const { error } = results[i];
            answers[place] = error ? Object.assign(errorOfItem(error), { retried }) : items[place].read(results[i]);
        });
        left = left.filter((place) => answers[place] instanceof ServerError && answers[place].status === 503);
        const wait = left.length ? backoff.next() : undefined;
        if (wait === undefined) return answers;
        await pause(wait);
    }
}

function throwFirst(answers, member) {
    const errors = answers.filter((each) => each instanceof ServerError);
    if (!errors.length) return;
    if (errors.length === answers.length && errors.every((each) => each === errors[0])) throw errors[0];
    const place = answers.indexOf(errors[0]);
    throw new SomeRefused(`the server refused ${errors.length} of ${answers.length} ${member}; the first is ${member}[${place}]: ${errors[0].message}`, answers);
}
