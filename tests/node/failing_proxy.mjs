// A proxy between a client and a server, with faults that networks and proxies have.
import { createServer, request as send } from 'node:http';

const collect = async (stream) => {
    const pieces = [];
    for await (const piece of stream) pieces.push(piece);
    return Buffer.concat(pieces);
};

// The server's whole response: {status, headers, bytes}.
const forward = (url, { method, url: path, headers }, body) =>
    new Promise((resolve, reject) => {
        const made = send(url + path, { method, headers: { ...headers, host: new URL(url).host } }, async (response) => {
            try {
                resolve({ status: response.statusCode, headers: response.headers, bytes: await collect(response) });
            } catch (error) {
                reject(error);
            }
        });
        made.on('error', reject);
        made.end(body);
    });

const pass = (response, { status, headers, bytes }) => {
    response.writeHead(status, headers);
    response.end(bytes);
};

const sendHalf = (response, { status, headers, bytes }) => {
    response.writeHead(status, { ...headers, 'content-length': bytes.length });
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
};

const page = (response, status) => {
    response.writeHead(status, { 'Content-Type': 'text/html' });
    response.end('<html>the proxy is not well</html>');
};

// What becomes of a request: [whether the server gets it, what the client gets].
const FAULTS = {
    none: [true, pass],
    drop: [false, (response) => response.destroy()],
    lose: [true, (response) => response.destroy()],
    half: [true, sendHalf],
    stall: [true, () => {}],
    late: [true, (response, answer) => setTimeout(pass, 100, response, answer)],
    busy: [false, (response) => page(response, 503)],
    gateway: [true, (response) => page(response, 502)],
};
export const FAULT_NAMES = Object.keys(FAULTS);

// fault(request): the name of a fault. Resolves to {url, seen, target, close()}; seen: {fault, path, body, answer} of each
// request, target: the server's address, which may change.
export async function startProxy(target, fault) {
    const proxy = { target, seen: [] };
    const server = createServer(async (request, response) => {
        const body = await collect(request).catch(() => null);
        if (!body) return; // the client has left
        const seen = { fault: fault(request), method: request.method, path: request.url, headers: request.headers, body: body.toString(), answer: null };
        proxy.seen.push(seen);
        const [forwards, respond] = FAULTS[seen.fault];
        try {
            if (forwards) seen.answer = await forward(proxy.target, request, body);
            respond(response, seen.answer);
        } catch {
            response.destroy(); // the server is away
        }
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    proxy.url = `http://127.0.0.1:${server.address().port}`;
    proxy.close = () => {
        server.closeAllConnections();
        server.close();
    };
    return proxy;
}
