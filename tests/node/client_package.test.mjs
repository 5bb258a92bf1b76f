// The package of clients/javascript: what is in it, its types, and the code of its pages, as installed in an empty folder.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { startServer } from './server.mjs';

const SOURCE = process.env.SOURCE_FOLDER;
const PACKAGE = join(SOURCE, 'clients/javascript');
const require = createRequire(import.meta.url);

const npm = (...words) => execFileSync('npm', [...words, '--loglevel=error'], { cwd: folder, encoding: 'utf8', env: { ...process.env, npm_config_offline: 'true' } });
const pack = (name) => {
    mkdirSync(join(folder, name));
    const [{ filename, files }] = JSON.parse(npm('pack', PACKAGE, '--json', '--pack-destination', join(folder, name)));
    return { file: join(folder, name, filename), names: files.map(({ path }) => path).sort() };
};

let folder, packed;
before(() => {
    folder = mkdtempSync(join(tmpdir(), 'eenet-package-'));
    packed = pack('first');
    writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
    npm('install', '--no-audit', '--no-fund', packed.file);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('the package has what it needs and nothing else', () => {
    assert.deepEqual(packed.names, [
        'LICENSE', 'README.md', 'index.d.ts', 'index.js', 'package.json', 'src/batches.js', 'src/client.js', 'src/errors.js',
        'src/queue.js', 'src/transport.js', 'src/values.js',
    ]);
    const described = JSON.parse(readFileSync(join(PACKAGE, 'package.json')));
    const [, version] = readFileSync(join(SOURCE, 'include/eenet.h'), 'utf8').match(/#define EE_VERSION "(.+)"/);
    assert.equal(described.version, version);
    assert.deepEqual([described.dependencies, described.scripts], [undefined, undefined]);
    assert.equal(readFileSync(join(PACKAGE, 'LICENSE'), 'utf8'), readFileSync(join(SOURCE, 'LICENSE'), 'utf8'));
});

test('packed again, it has the same bytes', () => {
    assert.ok(readFileSync(packed.file).equals(readFileSync(pack('second').file)));
});

// Blocks of js run one after the other, as one program; its output is that of the blocks of text.
async function checkPage(name) {
    const page = readFileSync(join(SOURCE, name), 'utf8');
    const blocks = (kind) => [...page.matchAll(new RegExp(`^\`\`\`${kind}\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => text).join('');
    const server = await startServer();
    try {
        writeFileSync(join(folder, 'page.js'), blocks('js').replaceAll('http://127.0.0.1:8080', server.url));
        const printed = execFileSync(process.execPath, ['page.js'], { cwd: folder, encoding: 'utf8' });
        assert.equal(printed, blocks('text'));
        assert.ok(printed.includes('joined'));
    } finally {
        await server.stop();
    }
}
test('the code of its README runs', () => checkPage('clients/javascript/README.md'));
test('the code of docs/javascript-client.md runs', () => checkPage('docs/javascript-client.md'));

test('the types accept and refuse what the client does', () => {
    copyFileSync(join(SOURCE, 'tests/node/client_types.ts'), join(folder, 'client_types.ts'));
    for (const mode of ['nodenext', 'bundler']) {
        const module = mode === 'bundler' ? 'esnext' : mode;
        const words = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUnusedLocals', '--lib', 'es2022,dom',
            '--target', 'es2022', '--module', module, '--moduleResolution', mode, 'client_types.ts'];
        try {
            execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), ...words], { cwd: folder, encoding: 'utf8' });
        } catch (error) {
            assert.fail(`${mode}: ${error.stdout}`);
        }
    }
});

test('the types name every class, call and error, and no other', async () => {
    const typescript = require('typescript');
    const text = readFileSync(join(PACKAGE, 'index.d.ts'), 'utf8');
    const declared = {};
    typescript.createSourceFile('index.d.ts', text, typescript.ScriptTarget.Latest).forEachChild((node) => {
        if (!typescript.isClassDeclaration(node)) return;
        const names = node.members.filter((each) => each.name && !typescript.isConstructorDeclaration(each)).map((each) => each.name.text);
        declared[node.name.text] = { names: new Set(names), above: node.heritageClauses?.[0].types[0].expression.text };
    });
    const client = await import(pathToFileURL(join(PACKAGE, 'index.js')));
    assert.deepEqual(Object.keys(client).sort(), Object.keys(declared).sort());
    const own = new client.Client('http://127.0.0.1:1');
    const objects = { Client: own, BanditClient: own.bandit('a'), RewardQueue: new client.RewardQueue(own.bandit('a')) };
    for (const [name, { names, above }] of Object.entries(declared)) {
        assert.equal(Object.getPrototypeOf(client[name]).name, above ?? '', name);
        const object = objects[name] ?? new client[name]('message', []);
        const found = new Set([...Object.getOwnPropertyNames(client[name].prototype), ...(objects[name] ? Object.keys(object) : [])]);
        if (!objects[name]) for (const field of Object.keys(object)) if (!(field in new (Object.getPrototypeOf(client[name]))('message'))) found.add(field);
        for (const hidden of ['constructor', 'name', 'cause']) if (!names.has(hidden)) found.delete(hidden);
        assert.deepEqual([...found].sort(), [...names].sort(), name);
    }
});

test('its calls are those of the Python client', async () => {
    const python = readFileSync(join(SOURCE, 'python/eenet/client/awaiting.py'), 'utf8');
    const { BanditClient, Client } = await import(pathToFileURL(join(PACKAGE, 'index.js')));
    const calls = [...python.matchAll(/^ {4}(\w+) = _(?:awaited|iterated)\(/gm)].map(([, name]) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()));
    assert.ok(calls.length > 30);
    const missing = calls.filter((name) => !(name in BanditClient.prototype) && !(name in Client.prototype));
    assert.deepEqual(missing, ['saveLog', 'model'], 'files and local models are only in Python');
});
