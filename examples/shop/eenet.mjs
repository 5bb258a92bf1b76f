// The decision server: starts it, and sends its requests over HTTP.
import { spawn } from 'node:child_process';

const BANDIT = '/v1/bandits/shop';

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
    constructor(url) {
        this.url = url;
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

    // Creates the bandit and its challenger, unless the folder already has them.
    async prepare(settings, challenger) {
        try {
            return await this.ask(BANDIT);
        } catch (error) {
            if (error.status !== 404) throw error;
        }
        const made = await this.ask('/v1/bandits', { name: 'shop', ...settings });
        await this.ask(`${BANDIT}/challengers`, challenger);
        return made;
    }

    describe = () => this.ask(BANDIT);
    evaluation = () => this.ask(`${BANDIT}/evaluation`);
    decide = (round) => this.ask(`${BANDIT}/decide`, round);
    decideMany = async (decisions) => (await this.ask(`${BANDIT}/decide/batch`, { decisions })).decisions;
    reward = (id, value) => this.ask(`${BANDIT}/reward`, { id, value });
    rewardMany = (rewards) => this.ask(`${BANDIT}/reward/batch`, { rewards });
    explain = (id) => this.ask(`${BANDIT}/decisions/${encodeURIComponent(id)}/explain?features=4`);
}
