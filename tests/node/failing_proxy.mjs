// A proxy between a client and a server, with faults that networks and proxies have.
import { request as send } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './server.mjs';

// The server's whole response: {status, headers, bytes}.
const forward = (url, { method, url: path, headers }, body) =>
    new Promise((resolve, reject) => {
        const made = send(url + path, { method, headers }, (response) =>
            buffer(response).then((bytes) => resolve({ status: response.statusCode, headers: response.headers, bytes }), reject));
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
    busy: [false, (response) => page(response, 503)],
    gateway: [true, (response) => page(response, 502)],
};
export const FAULT_NAMES = Object.keys(FAULTS);

// fault(request): the name of a fault. Resolves to {url, seen, target, close()}; seen: {fault, path, body, answer} of each
// request, target: the server's address, which may change, so that clients find a server that comes back.
export async function startProxy(target, fault = () => 'none') {
    const seen = [];
    const proxy = await listen(async (request, response) => {
        const body = await buffer(request).catch(() => null);
        if (!body) return; // the client has left
        const one = { fault: fault(request), method: request.method, path: request.url, headers: request.headers, body: body.toString(), answer: null };
        seen.push(one);
        const [forwards, respond] = FAULTS[one.fault];
        try {
            if (forwards) one.answer = await forward(proxy.target, request, body);
            respond(response, one.answer);
        } catch {
            response.destroy(); // the server is away
        }
    });
    return Object.assign(proxy, { target, seen });
}
