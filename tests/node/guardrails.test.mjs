// The tour of guardrails of examples/shop, started as its page says: every check in it holds, for each feature.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const SCRIPT = join(process.env.SOURCE_FOLDER, 'examples/shop/run.sh');
const FEATURES = ['Control group', 'Rollout', 'Rules', 'Shares', 'Caps', 'Budget', 'Stickiness', 'Objective', 'Bound', 'Held'];

const run = (words) =>
    new Promise((resolve) => {
        execFile(SCRIPT, words, (error, printed, said) => resolve({ code: error?.code ?? 0, printed, said }));
    });

test('visitors whose behaviour is known see what guardrails promise', async () => {
    const { code, printed, said } = await run(['guardrails', '--visits', '2000']);
    console.log(printed);
    assert.equal(code, 0, said);
    for (const feature of FEATURES) {
        const chapter = printed.split('\n\n').find((words) => words.trimStart().startsWith(`${feature}:`));
        assert.ok(chapter, `${feature} is missing`);
        assert.match(chapter, /^ {2}ok: /m, `${feature} checks nothing`);
    }
    assert.doesNotMatch(printed, /WRONG/);
});

test('too few visits are refused', async () => {
    const { code, said } = await run(['guardrails', '--visits', '10']);
    assert.equal(code, 1);
    assert.match(said, /--visits must be a whole number from 1000/);
});
