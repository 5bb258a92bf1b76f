// PostgreSQL for a test: a new database in a new folder, reached by a socket in that folder, so it needs no port. It
// refuses to run as root: then it runs as the user postgres.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const VERSIONS = '/usr/lib/postgresql'; // of Debian, which has no initdb in PATH
const USER = 'postgres';

function succeeds(program, ...words) {
    try {
        return execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
        return '';
    }
}

function findPrograms() {
    const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => b - a) : [];
    const folder = versions.map((version) => join(VERSIONS, version, 'bin')).find((path) => existsSync(join(path, 'initdb')));
    return folder ?? succeeds('pg_config', '--bindir').trim();
}

const isRoot = process.getuid() === 0;
const programs = findPrograms();
const account = isRoot ? succeeds('id', '-u', USER).trim() : '';

// Why no database can be started here; '' if it can.
export const withoutPostgres = !existsSync(join(programs, 'initdb')) || !succeeds('psql', '--version') ? 'there is no PostgreSQL' : isRoot && !account ? `there is no user ${USER}` : '';

function run(program, ...words) {
    const command = [join(programs, program), ...words];
    if (isRoot) command.unshift('runuser', '-u', USER, '--');
    // pg_ctl leaves a server behind, which must not keep a pipe of ours open.
    execFileSync(command[0], command.slice(1), { cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] });
}

// {url, sql(), begin(), stop()}. sql() returns what psql prints; begin() does not wait for the end.
export function startPostgres() {
    const folder = mkdtempSync(join(tmpdir(), 'eenet-pg-')), data = join(folder, 'data');
    chmodSync(folder, 0o755);
    if (isRoot) chownSync(folder, Number(account), -1);
    run('initdb', '-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync');
    run('pg_ctl', 'start', '-D', data, '-l', join(folder, 'log'), '-w', '-o', `-c listen_addresses='' -c unix_socket_directories='${folder}' -c fsync=off`);
    const urlOf = (name) => `postgresql://${USER}@/${name}?host=${encodeURIComponent(folder)}`;
    const words = (name, text) => ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', urlOf(name), '-c', text];
    const psql = (name, text) => execFileSync('psql', words(name, text), { encoding: 'utf8' }).trim();
    psql('postgres', 'CREATE DATABASE eenet');
    return {
        url: urlOf('eenet'),
        sql: (text) => psql('eenet', text),
        begin: (text) => void spawn('psql', words('eenet', text), { stdio: 'ignore' }),
        stop: () => {
            run('pg_ctl', 'stop', '-D', data, '-m', 'immediate', '-w');
            rmSync(folder, { recursive: true, force: true });
        },
    };
}
