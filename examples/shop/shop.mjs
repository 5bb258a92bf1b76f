// The shop: starts the decision server, simulates visitors, and serves the page on which you are one of them.
import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { Client, NotFound } from '../../clients/javascript/index.js'; // elsewhere: from 'eenet'
import { CATEGORIES, PRODUCT, PRODUCTS, isVisitor, roundFor } from './catalog.mjs';
import { Crowd, Tally } from './crowd.mjs';
import { startEenet } from './eenet.mjs';

const MOST_RATE = 500;

// linucb is linear in visitor and product: it learns what sells, not to whom. The challenger is a neural network, which
// learns how the two combine. Half of the decisions are spread over all products, so that the log can evaluate any policy.
const SETTINGS = {
    policy: 'linucb',
    features: 'products=none,names=128,hashes=16', // few: linucb keeps a matrix of their number squared
    propensity: 'floor:0.5',
    wait: 5,
    default_reward: 0,
    promote: 'auto',
};
// With --metrics: clicks come with what they lead to. A decision is then learned when its wait ends.
const METRICS = [
    { name: 'refund', aggregation: 'sum', missing: 0 },
    { name: 'margin', aggregation: 'sum', missing: 0 },
];
const CHALLENGER = { name: 'network', policy: 'eenet', options: 'f1.width=50', propensity: 'floor:0.1' };

// ---- the command line ----

function readArguments() {
    const whole = (name, text, most) => {
        const number = Number(text);
        if (Number.isInteger(number) && number >= 0 && number <= most) return number;
        throw new Error(`--${name} must be a whole number from 0 to ${most}, got '${text}'`);
    };
    const { values } = parseArgs({
        options: {
            folder: { type: 'string' },
            rate: { type: 'string', default: '100' },
            port: { type: 'string', default: '0' },
            'server-port': { type: 'string', default: '0' },
            metrics: { type: 'boolean', default: false },
        },
    });
    return {
        folder: values.folder,
        rate: whole('rate', values.rate, MOST_RATE),
        port: whole('port', values.port, 65535),
        serverPort: whole('server-port', values['server-port'], 65535),
        metrics: values.metrics,
    };
}

// ---- requests ----

class Refusal extends Error {
    constructor(status, message) {
        super(message);
        this.status = status;
    }
}

async function readBody(request) {
    let bytes = '';
    for await (const piece of request) {
        bytes += piece;
        if (bytes.length > 10000) throw new Refusal(413, 'request body is longer than 10000 bytes');
    }
    try {
        return JSON.parse(bytes);
    } catch {
        throw new Refusal(400, 'invalid JSON in the request body');
    }
}

const FILES = { '/': 'index.html', '/shop.css': 'shop.css', '/shop.js': 'shop.js', '/icon.svg': 'icon.svg' };
const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };

function sendFile(response, name) {
    const bytes = readFileSync(new URL(`public/${name}`, import.meta.url));
    response.writeHead(200, {
        'Content-Type': `${TYPES[name.split('.').pop()]}; charset=utf-8`,
        'Content-Security-Policy': "default-src 'self'; frame-ancestors 'none'",
    });
    response.end(bytes);
}

// Creates the bandit and its challenger, unless the folder already has them. Returns the names of its metrics.
async function prepare(client, wanted) {
    const bandit = client.bandit('shop');
    try {
        await bandit.describe();
    } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        await client.create('shop', { ...SETTINGS, ...(wanted.metrics && { metrics: METRICS }) });
        const { name, policy, options, propensity } = CHALLENGER;
        await bandit.addChallenger(name, policy, options, { propensity });
    }
    return ((await bandit.describe()).settings.metrics ?? []).map(({ name }) => name);
}

class Shop {
    constructor(bandit, crowd, tally, serverUrl) {
        Object.assign(this, { bandit, crowd, tally, serverUrl });
    }

    // Decides which product to show to this visitor.
    async pick(visitor) {
        if (!isVisitor(visitor)) throw new Refusal(400, 'invalid visitor: expected {"device": "phone" or "desktop", "hour": 0 to 23, "past": a category or null, "key": up to 64 letters, digits and - (optional)}');
        const { actions, context, key } = roundFor(visitor);
        const { id, action, probability } = await this.bandit.decide(actions, context, { key });
        this.tally.shown();
        return { id, product: action, probability };
    }

    async click({ id, product }) {
        if (typeof id !== 'string') throw new Refusal(400, 'missing "id": expected the id of the decision');
        if (!PRODUCT.has(product)) throw new Refusal(400, 'unknown "product": expected the id of the product that was shown');
        const { outcome } = await this.bandit.reward(id, 1, { metrics: this.crowd.metricsOf(PRODUCT.get(product)) });
        this.tally.clicked();
        return { outcome };
    }

    setRate({ rate }) {
        if (!Number.isInteger(rate) || rate < 0 || rate > MOST_RATE) throw new Refusal(400, `rate must be a whole number from 0 to ${MOST_RATE}`);
        this.crowd.rate = rate;
        return { rate };
    }

    async state() {
        const [{ settings, version }, evaluation] = await Promise.all([this.bandit.describe(), this.bandit.evaluation()]);
        return {
            server: this.serverUrl,
            rate: this.crowd.rate,
            trouble: this.crowd.trouble,
            seconds: this.tally.list(),
            policy: settings.policy,
            version,
            events: evaluation.events,
            policies: evaluation.policies,
            promotions: evaluation.promotions,
        };
    }

    async answer(request, path) {
        switch (`${request.method} ${path}`) {
            case 'GET /api/catalog':
                return { products: PRODUCTS, categories: CATEGORIES };
            case 'POST /api/pick':
                return this.pick(await readBody(request));
            case 'POST /api/click':
                return this.click(await readBody(request));
            case 'POST /api/rate':
                return this.setRate(await readBody(request));
            case 'GET /api/state':
                return this.state();
            default:
                if (request.method === 'GET' && path.startsWith('/api/why/'))
                    return this.bandit.explainDecision(decodeURIComponent(path.slice('/api/why/'.length)), { features: 4 });
                throw new Refusal(404, `not found: ${path}`);
        }
    }

    async handle(request, response) {
        const path = new URL(request.url, 'http://shop').pathname;
        try {
            if (request.method === 'GET' && FILES[path]) return sendFile(response, FILES[path]);
            const told = await this.answer(request, path);
            response.writeHead(200, { 'Content-Type': 'application/json' });
            response.end(JSON.stringify(told));
        } catch (error) {
            response.writeHead(error.status ?? 502, { 'Content-Type': 'application/json' });
            response.end(JSON.stringify({ error: error.message }));
        }
    }
}

// ---- start and stop ----

async function main() {
    const wanted = readArguments();
    const folder = wanted.folder ?? mkdtempSync(join(tmpdir(), 'eenet-shop-'));
    const removeFolder = () => wanted.folder || rmSync(folder, { recursive: true, force: true });
    const server = await startEenet(folder, wanted.serverPort).catch((error) => {
        removeFolder();
        throw error;
    });
    const web = createServer();
    const tally = new Tally(180);
    const client = new Client(server.url, { retryFor: 2 });
    const bandit = client.bandit('shop');
    const crowd = new Crowd(bandit, tally, wanted.rate);

    let stopping = false;
    const stop = async (why) => {
        if (stopping) return;
        stopping = true;
        if (why) console.error(why);
        web.close();
        web.closeAllConnections();
        await crowd.stop();
        await server.stop();
        removeFolder();
        process.exit(why ? 1 : 0);
    };
    process.on('SIGINT', () => stop());
    process.on('SIGTERM', () => stop());
    server.ended.then((why) => stop(why));

    try {
        crowd.metrics = await prepare(client, wanted);
    } catch (error) {
        return stop(`shop: cannot create the bandit: ${error.message}`);
    }
    const shop = new Shop(bandit, crowd, tally, server.url);
    web.on('request', (request, response) => shop.handle(request, response));
    web.on('error', (error) => stop(`shop: ${error.message}`));
    web.listen(wanted.port, '127.0.0.1', () => {
        console.log(`Shop:      http://127.0.0.1:${web.address().port}/`);
        console.log(`Dashboard: ${server.url}/`);
        console.log('Press Ctrl-C to stop both');
        crowd.start();
    });
}

main().catch((error) => {
    console.error(`shop: ${error.message}`);
    process.exit(1);
});
