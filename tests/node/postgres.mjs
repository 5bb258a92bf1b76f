// Starts PostgreSQL for one test, with a new database, on a socket instead of a port. See tests/tools/postgres.sh.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SCRIPT = join(process.env.SOURCE_FOLDER, 'tests/tools/postgres.sh');

// {url, sql(), begin(), stop()}; null: PostgreSQL is not installed. sql() returns what psql prints; begin() does not wait
// for the end.
export function startPostgres() {
    const folder = mkdtempSync(join(tmpdir(), 'eenet-pg-'));
    const [where] = execFileSync(SCRIPT, ['start', folder], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).match(/^postgresql:.*/m) ?? [];
    if (!where) return null;
    const urlOf = (name) => where.replace('/postgres?', `/${name}?`);
    const words = (name, text) => ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', urlOf(name), '-c', text];
    const psql = (name, text) => execFileSync('psql', words(name, text), { encoding: 'utf8' }).trim();
    psql('postgres', 'CREATE DATABASE eenet');
    return {
        url: urlOf('eenet'),
        sql: (text) => psql('eenet', text),
        begin: (text) => void spawn('psql', words('eenet', text), { stdio: 'ignore' }),
        stop: () => {
            execFileSync(SCRIPT, ['stop', folder]);
            rmSync(folder, { recursive: true, force: true });
        },
    };
}
