"""Provokes every documented status of every operation: without a key, with the wrong key, from another origin, on a
bandit that is unknown or archived, with a body too large, too fast, and on a full disk."""

import resource

import stories
import traffic
from client import Server

ALLOWED = {"client": ("client", "app", "admin"), "reader": ("reader", "app", "admin"), "admin": ("admin",)}
PARTS = {"challenger": "rival", "id": "kept", "eventId": "nobody", "evaluationId": "nobody", "file": "page.js"}


def path_of(operation, bandit):
    path = operation.path.replace("{name}", bandit)
    for name, value in PARTS.items():
        path = path.replace("{%s}" % name, value)
    return f"/v1/bandits/{bandit}{path}" if operation.is_personalizer else path


def names_bandit(operation):
    return operation.is_personalizer or "{name}" in operation.path


def body_of(operation):
    if operation.id in traffic.BODIES:
        path, renewed, bodies = traffic.BODIES[operation.id]
        return {**bodies[0], renewed: traffic.fresh("o")} if renewed else bodies[0]
    return b"bytes" if operation.body and operation.body.get("required") else None


def ask(client, operation, bandit, expect, **more):
    body = more.pop("body", body_of(operation))
    return client.call(operation.method, path_of(operation, bandit), body, expect, **more)


def try_keys(document, client, keys):
    for operation in document.operations:
        ask(client, operation, "here", 403, headers={"Origin": "http://elsewhere.example"})
        if not operation.role:
            continue
        for key in ("", "wrong"):
            ask(client, operation, "here", 401, key=key)
        for role in ("client", "reader", "app", "admin"):
            try_role(client, operation, role, keys[role])
        if names_bandit(operation):
            ask(client, operation, "here", 403, key=keys["elsewhere"])


def try_role(client, operation, role, key):
    status = ask(client, operation, "unknown", None, key=key).status
    if (status == 403) != (role not in ALLOWED[operation.role]) and operation.id not in FORBIDDEN:
        client.report.add(f"{operation.name}: x-role {operation.role}, but a key with the role {role} gets {status}")


# They refuse every request, whatever its key.
FORBIDDEN = {"personalizerPostLogsInteractions", "personalizerPostLogsObservations"}


def try_bandits(document, client):
    for operation in document.operations:
        if names_bandit(operation):
            ask(client, operation, "unknown", 404)
            response = ask(client, operation, "archived", None)
            is_reading = operation.method == "GET" or operation.id in ("archiveBandit", "restoreBandit")
            if not is_reading and response.status != 410:
                client.report.add(f"{operation.name}: expected 410 for an archived bandit, got {response.status}")
            if operation.id == "restoreBandit":
                client.call("DELETE", "/v1/bandits/archived", expect=200)


def try_sizes(document, client):
    """x-limit names the setting that limits the body."""
    sizes = {None: 1, "body-bytes": 1025, "model-bytes": 2049}
    for operation in document.operations:
        ask(client, operation, "here", 413, body=b" " * sizes[(operation.body or {}).get("x-limit")])


def full_disk(document, client, server):
    model = client.call("GET", "/v1/bandits/here/model", expect=200).bytes
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    client.call("POST", "/v1/bandits/here/decide", stories.PLAIN, 503)
    for operation in document.operations:
        ask(client, operation, "here", None, body=model if operation.path.endswith("/model") and operation.body else
            body_of(operation))
    client.call("POST", "/v1/bandits/archived/restore", expect=503)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)


def start(program, client, folder, keys, *words):
    server = Server(program, folder, "--keys", "keys", *words).start()
    client.use(server, keys["admin"])
    return server


def set_up(client):
    rival = {"name": "rival", "policy": "linucb"}
    stories.create(client, "here", policy="linucb", features="", challengers=[rival])
    client.call("GET", "/v1/bandits/here/activity", expect=200)
    stories.create(client, "archived", policy="linucb", features="")
    client.call("POST", "/v1/bandits/archived/decide", {"id": "kept", **stories.PLAIN}, 200)
    client.call("DELETE", "/v1/bandits/archived", expect=200)


def provoke_statuses(program, document, client, keys):
    server = start(program, client, "statuses", keys)
    set_up(client)
    try_keys(document, client, keys)
    try_bandits(document, client)
    full_disk(document, client, server)
    server.stop()
    server = start(program, client, "sizes", keys, "--body-bytes", "1024", "--model-bytes", "2048")
    stories.create(client, "here", policy="linucb", features="")
    try_sizes(document, client)
    server.stop()
    server = start(program, client, "rates", keys, "--rate", "0.001", "--page", "off")
    client.call("GET", "/v1/bandits", expect=200)
    for operation in document.operations:
        if operation.role:
            ask(client, operation, "here", 429)
    for path in ("/", "/page/visitor", "/page/choices", "/page/page.js"):
        client.call("GET", path, expect=404)
    server.stop()
