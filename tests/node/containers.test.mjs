// The examples for containers: compose.yaml and the manifests for Kubernetes agree with their schemas, in which unknown
// fields are errors, and what they say to the server is what it understands.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import Ajv from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { ask, startServer } from './server.mjs';

const require = createRequire(import.meta.url);
const source = process.env.SOURCE_FOLDER;
const read = (path) => readFileSync(join(source, path), 'utf8');
const version = read('include/eenet.h').match(/EE_VERSION "(.*)"/)[1];
const user = Number(read('cmake/image.sh').match(/^user=(\d+)$/m)[1]);
const newAjv = () => new Ajv({ strict: false, allErrors: true, validateFormats: false, validateSchema: false });

function assertValid(validate, value, where) {
    assert.ok(validate(value), `${where}: ${JSON.stringify(validate.errors)}`);
}

// ---- schemas ----

const compose = newAjv().compile(JSON.parse(readFileSync('node_modules/dclint/schemas/compose.schema.json')));

// In Kubernetes' own schemas, objects may have any other member; its server refuses those.
function forbidUnknown(schema) {
    if (typeof schema !== 'object' || schema === null) return schema;
    Object.values(schema).forEach(forbidUnknown);
    if (typeof schema.properties === 'object' && !('additionalProperties' in schema)) schema.additionalProperties = false;
    return schema;
}

// kubernetes-models gives each of its schemas to a function of another package, in whose place this one comes.
const kubernetes = newAjv();
const register = (name, schema) => kubernetes.getSchema(name) ?? kubernetes.addSchema(forbidUnknown(schema), name);
const models = createRequire(require.resolve('kubernetes-models'));
const collector = models.resolve('@kubernetes-models/validate');
require.cache[collector] = { id: collector, filename: collector, loaded: true, exports: { register } };

const SCHEMAS = {
    'v1 Service': ['IoK8sApiCoreV1Service', 'io.k8s.api.core.v1.Service'],
    'apps/v1 Deployment': ['IoK8sApiAppsV1Deployment', 'io.k8s.api.apps.v1.Deployment'],
    'apps/v1 StatefulSet': ['IoK8sApiAppsV1StatefulSet', 'io.k8s.api.apps.v1.StatefulSet'],
    'policy/v1 PodDisruptionBudget': ['IoK8sApiPolicyV1PodDisruptionBudget', 'io.k8s.api.policy.v1.PodDisruptionBudget'],
};

function schemaOf({ apiVersion, kind }) {
    const [file, name] = SCHEMAS[`${apiVersion} ${kind}`];
    models(`./_schemas/${file}.js`).addSchema();
    return kubernetes.getSchema(name);
}

// ---- what the server understands ----

// Words after `eenet`, and variables: status 1 says that they are right and that nobody listens on port 1.
function assertUnderstood(words, variables = {}) {
    const { status, stderr } = spawnSync(process.env.EENET, [...words, '--health', '--port', '1'], { env: variables, encoding: 'utf8' });
    assert.equal(status, 1, stderr);
    assert.match(stderr, /health: port 1 of /);
}

// What docs/containers.md promises is enough to stop: drain, finish-seconds, and 5 s, or 20 s in a fleet.
const FINISH = Number(read('src/serve/settings/server_settings.c').match(/"finish-seconds", "([\d.]+)"/)[1]);
function secondsToStop(words) {
    assert.ok(!words.includes('--finish-seconds'));
    return Number(words[words.indexOf('--drain') + 1]) + FINISH + (words.includes('--advertise') ? 20 : 5);
}

test('compose.yaml', () => {
    const file = parse(read('examples/compose.yaml'));
    assertValid(compose, file, 'compose.yaml');
    const { image, command, healthcheck, stop_grace_period: grace, read_only: readOnly, volumes } = file.services.eenet;
    assert.equal(image, `localhost/eenet:${version}`);
    assertUnderstood(command);
    assert.deepEqual(healthcheck.test, ['CMD', 'eenet', 'serve', '--health']);
    assert.ok(Number.parseInt(grace, 10) > secondsToStop(command));
    assert.ok(readOnly && volumes.includes('data:/data'));
    assert.equal(compose({ services: { eenet: { ...file.services.eenet, read_onyl: true } } }), false, 'an unknown key');
});

for (const [path, kinds] of [
    ['examples/kubernetes/sqlite.yaml', ['Service', 'StatefulSet']],
    ['examples/kubernetes/postgresql.yaml', ['Service', 'PodDisruptionBudget', 'Deployment']],
])
    test(path, () => {
        // As Kubernetes reads it: YAML 1.1, in which 0440 is octal.
        const objects = parseAllDocuments(read(path), { version: '1.1' }).map((one) => one.toJS());
        assert.deepEqual(objects.map((one) => one.kind), kinds);
        for (const object of objects) assertValid(schemaOf(object), object, `${path}, ${object.kind}`);
        const workload = objects.at(-1);
        const pod = workload.spec.template.spec;
        const [server] = pod.containers;
        assert.deepEqual(workload.spec.selector.matchLabels, workload.spec.template.metadata.labels);
        for (const { spec } of objects.slice(0, -1)) assert.deepEqual(spec.selector.matchLabels ?? spec.selector, { app: 'eenet' });
        assert.equal(server.image, `localhost/eenet:${version}`);
        assert.equal(pod.enableServiceLinks, false);
        assert.deepEqual([pod.securityContext.runAsUser, pod.securityContext.fsGroup], [user, user]);
        assert.ok(pod.securityContext.runAsNonRoot && server.securityContext.readOnlyRootFilesystem);
        assert.ok(pod.terminationGracePeriodSeconds > secondsToStop(server.args));
        assert.equal(server.ports[0].containerPort, 8080);
        const variables = Object.fromEntries((server.env ?? []).map(({ name }) => [name, name === 'EENET_STORE' ? 'postgresql://db1/eenet' : '10.0.0.5']));
        assertUnderstood(server.args.map((word) => word.replace('$(POD_IP)', variables.POD_IP)), variables);
        for (const mount of server.volumeMounts)
            assert.ok([...(pod.volumes ?? []), ...(workload.spec.volumeClaimTemplates ?? []).map((claim) => claim.metadata)].some((volume) => volume.name === mount.name));
        if (workload.kind === 'StatefulSet') {
            assert.equal(workload.spec.replicas, 1);
            assert.equal(pod.volumes[0].secret.defaultMode, 0o440);
        } else assert.ok(workload.spec.replicas > 1);

        const broken = structuredClone(workload);
        broken.spec.template.spec.containers[0].readinesProbe = server.readinessProbe;
        assert.equal(schemaOf(workload)(broken), false, 'an unknown field');
    });

test('the paths of probes', async (t) => {
    const server = await startServer();
    t.after(() => server.stop());
    const paths = ['sqlite', 'postgresql'].flatMap((name) => read(`examples/kubernetes/${name}.yaml`).match(/(?<=path: )\/\w+/g));
    assert.equal(paths.length, 6);
    for (const path of new Set(paths)) assert.equal((await ask(server.url, path)).status, 200);
});
