#!/usr/bin/env python3
"""server.py record|check EENET FOLDER: what a release's server stored and answered, in FOLDER: answers.json (requests with
their responses), log.jsonl (the exported log) and store/ (the server's folder).

check: a server of this build answers the same requests with the same statuses and with every member of then, of the same
type. It opens a copy of store/, exports the same log, repeats a decision with the same bytes and learns from new rewards.
'eenet check' finds nothing in it, and 'eenet evaluate' reads the log."""

import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import Server, run, scratch_folder, wait_for  # noqa: E402

DECISIONS = 12
# Values that programs compare with. Other values depend on time, on the machine or on the model.
FIXED = {"id", "outcome", "code", "archived", "live", "ready", "eventId", "policy", "wait", "default_reward"}


def requests():
    """A few requests of each kind, in order."""
    actions = [{"id": "red", "features": {"price": 3}}, {"id": "blue", "features": {"price": 5}}]
    yield "POST", "/v1/bandits", {"name": "shop", "features": "", "policy": "linucb", "wait": 20, "seed": 7}
    yield "POST", "/v1/bandits", {"name": "vectors", "dim": 2, "policy": "eenet:fast", "wait": 600, "seed": 7}
    for number in range(DECISIONS):
        context = {"plan": "free" if number % 2 else "paid"}
        yield "POST", "/v1/bandits/shop/decide", {"id": f"visit-{number}", "context": context, "actions": actions}
        yield "POST", "/v1/bandits/shop/reward", {"id": f"visit-{number}", "value": number % 3, "reward_id": f"reward-{number}"}
    yield "POST", "/v1/bandits/shop/decide", {"id": "places", "actions": actions, "slots": [{"id": "top"}, {"id": "side"}]}
    yield "POST", "/v1/bandits/shop/decide/batch", {"decisions": [{"id": "several", "actions": actions}]}
    yield "POST", "/v1/bandits/shop/reward/batch", {"rewards": [{"id": "several", "value": 1}, {"id": "unknown", "value": 1}]}
    yield "POST", "/v1/bandits/shop/decide", {"id": "later", "actions": actions, "defer": True}
    yield "POST", "/v1/bandits/shop/activate", {"id": "later"}
    yield "POST", "/v1/bandits/vectors/decide", {"id": "first", "actions": [[0.5, 1], [1, 0.25]]}
    yield "POST", "/v1/bandits/vectors/reward", {"id": "first", "value": 0.5}
    yield "POST", "/v1/bandits/shop/decide", {"id": "visit-0", "actions": [{"id": "green"}]}
    yield "POST", "/v1/bandits/shop/decide", {"actions": [], "colour": 1}
    yield "GET", "/v1/bandits/nothing", None
    yield "PATCH", "/v1/bandits/vectors", {"default_reward": 0.25}
    yield "GET", "/v1/bandits/shop", None
    yield "GET", "/v1/bandits", None
    yield "GET", "/v1/bandits/shop/model/versions", None
    yield "POST", "/v1/bandits/shop/personalizer/v1.0/rank", {
        "eventId": "event", "contextFeatures": [{"plan": "free"}], "actions": [{"id": "a", "features": [{"x": 1}]}]}
    yield "POST", "/v1/bandits/shop/personalizer/v1.0/events/event/reward", {"value": 1}
    yield "GET", "/readyz", None


def ask(server, method, path, body=None):
    response = server.ask(method, path, body)
    return response.status, response.bytes


def log_lines(server, bandit, count):
    """The exported log, once it has COUNT lines: decisions enter it when their wait is over."""
    found = wait_for(lambda: [lines for lines in [server.call("GET", f"/v1/bandits/{bandit}/log").splitlines()]
                              if len(lines) >= count], f"the log of {bandit} has fewer than {count} lines")
    return [line.decode() for line in found[0]]


def record(program, folder):
    shutil.rmtree(folder / "store", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    with scratch_folder() as place:
        store = place / "store"
        with Server(program, store) as server:
            answers = [{"method": method, "path": path, "request": body, "status": status, "response": json.loads(answer or b"null")}
                       for method, path, body in requests() for status, answer in [ask(server, method, path, body)]]
            log = log_lines(server, "shop", DECISIONS + 1)
            server.stop()
        shutil.copytree(store, folder / "store", ignore=shutil.ignore_patterns("lock"))
    (folder / "answers.json").write_text("[\n" + ",\n".join(json.dumps(one) for one in answers) + "\n]\n", encoding="utf-8")
    (folder / "log.jsonl").write_text("\n".join(log) + "\n", encoding="utf-8")


def kind(value):
    if isinstance(value, bool) or value is None:
        return "boolean" if value is not None else "null"
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def differences(then, now, place):
    """What a client of then misses now."""
    if kind(then) != kind(now):
        yield f"{place} is {kind(now)}; it was {kind(then)}"
    elif isinstance(then, dict):
        for name, value in then.items():
            if name not in now:
                yield f"{place}.{name} is missing"
            elif name in FIXED and value != now[name]:
                yield f"{place}.{name} is {now[name]!r}; it was {value!r}"
            else:
                yield from differences(value, now[name], f"{place}.{name}")
    elif isinstance(then, list):
        if then and not now:
            yield f"{place} is empty; it had {len(then)} entries"
        for number, (one, other) in enumerate(zip(then, now)):
            yield from differences(one, other, f"{place}[{number}]")


def check_answers(program, folder, place):
    text = (folder / "answers.json").read_text(encoding="utf-8")
    answers = json.loads(text.replace('"wait": 20', '"wait": 600'))  # no reward is late, however busy the machine is
    with Server(program, place / "new") as server:
        for one in answers:
            status, answer = ask(server, one["method"], one["path"], one["request"])
            name = f"{one['method']} {one['path']}"
            if status != one["status"]:
                yield f"{name}: {status}; it was {one['status']}: {answer.decode()}"
            else:
                yield from differences(one["response"], json.loads(answer or b"null"), name)
        server.stop()


def check_store(program, folder, place):
    store = place / "store"
    shutil.copytree(folder / "store", store)
    then = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    with Server(program, store) as server:
        now = log_lines(server, "shop", len(then))
        yield from differences([json.loads(line) for line in then], [json.loads(line) for line in now], "log")
        repeated = next(one for one in answers if one["path"].endswith("/shop/decide"))
        status, answer = ask(server, "POST", repeated["path"], repeated["request"])
        if (status, json.loads(answer)) != (200, repeated["response"]):
            yield f"the stored decision is now {status} {answer.decode()}"
        for request in ("decide", "reward"):
            body = {"id": "now", "value": 1} if request == "reward" else {**repeated["request"], "id": "now"}
            status, answer = ask(server, "POST", f"/v1/bandits/shop/{request}", body)
            if status != 200:
                yield f"{request} on the stored bandit: {status} {answer.decode()}"
        server.stop()
    run(program, "check", store)
    run(program, "evaluate", folder / "log.jsonl", "-p", "uniform", "-e", "ips")


if __name__ == "__main__":
    what, eenet, stored = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    if what == "record":
        record(eenet, stored)
    else:
        with scratch_folder() as scratch:
            problems = [*check_answers(eenet, stored, scratch), *check_store(eenet, stored, scratch)]
        print("\n".join(problems) or "the server keeps what it promised")
        sys.exit(1 if problems else 0)
