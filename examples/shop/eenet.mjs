// The decision server: starts it, and sends its requests over HTTP.
import { spawn } from 'node:child_process';

// Resolves when the server listens: {url, ended, stop()}. ended resolves with a message when the server stops.
export async function startEenet(folder, port) {
    const child = spawn(process.env.EENET ?? 'eenet', ['serve', '--folder', folder, '--port', String(port)], {
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true, // Ctrl-C goes to the shop, which stops the server last
    });
    let printed = '';
    const ended = new Promise((resolve) => {
        child.once('error', (error) => resolve(`cannot start eenet: ${error.message}`));
        child.once('exit', (code, signal) => resolve(`eenet serve stopped (${code ?? signal}):\n${printed}`));
    });
    const url = await new Promise((resolve, reject) => {
        const look = (bytes) => {
            printed = (printed + bytes).slice(-8000);
            const found = printed.match(/listening on (https?:\/\/\S+)/);
            if (found) resolve(found[1]);
        };
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        ended.then((why) => reject(new Error(why)));
    });
    const stop = async () => {
        child.kill('SIGTERM');
        await ended;
    };
    return { url, ended, stop };
}

export class Bandit {
    constructor(url, name = 'shop') {
        this.url = url;
        this.name = name;
        this.path = `/v1/bandits/${name}`;
        this.metrics = []; // names of what is measured besides clicks
    }

    async ask(path, body, method = body === undefined ? 'GET' : 'POST') {
        const answer = await fetch(this.url + path, {
            method,
            headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
            body: body === undefined ? undefined : JSON.stringify(body),
        });
        const text = await answer.text();
        const told = text ? JSON.parse(text) : null;
        if (!answer.ok) throw Object.assign(new Error(told?.error?.message ?? text), { status: answer.status });
        return told;
    }

    create = (settings) => this.ask('/v1/bandits', { name: this.name, ...settings });

    // Creates the bandit and its challenger, unless the folder already has them.
    async prepare(settings, challenger) {
        try {
            await this.describe();
        } catch (error) {
            if (error.status !== 404) throw error;
            await this.create(settings);
            await this.ask(`${this.path}/challengers`, challenger);
        }
        const { settings: used } = await this.describe();
        this.metrics = (used.metrics ?? []).map(({ name }) => name);
    }

    // The body of a reward, with those metrics that the bandit has.
    rewardOf(id, value, measured) {
        if (!this.metrics.length) return { id, value };
        return { id, value, metrics: Object.fromEntries(this.metrics.map((name) => [name, measured[name]])) };
    }

    // Each reward of a batch has its own outcome: the response is 200 even if all were refused.
    async rewardMany(rewards) {
        const outcomes = (await this.ask(`${this.path}/reward/batch`, { rewards })).rewards;
        const refused = outcomes.find(({ error }) => error);
        if (refused) throw new Error(refused.error.message);
        return outcomes;
    }

    describe = () => this.ask(this.path);
    change = (settings) => this.ask(this.path, settings, 'PATCH');
    evaluation = () => this.ask(`${this.path}/evaluation`);
    decide = (round) => this.ask(`${this.path}/decide`, round);
    decideMany = async (decisions) => (await this.ask(`${this.path}/decide/batch`, { decisions })).decisions;
    reward = (reward) => this.ask(`${this.path}/reward`, reward);
    explain = (id) => this.ask(`${this.path}/decisions/${encodeURIComponent(id)}/explain?features=4`);
}
