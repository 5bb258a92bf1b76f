// Starts the decision server.
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
