#!/usr/bin/env python3
"""behaviour.py EENET: three servers on one database, each asked directly. Whichever server a request reaches, the fleet
behaves as one server does. Runs in an empty folder; exits with 77 if PostgreSQL is not installed."""
import contextlib
import gzip
import http.server
import itertools
import json
import subprocess
import sys
import threading
from pathlib import Path

from fleet import Fleet, Server, one_database

import harness
from harness import Failure, Response, at_once, make_certificate, run_cases, same, wait_for

TWO = [{"id": "a", "features": {"x": 1}}, {"id": "b", "features": {"x": 0}}]


def create(server, name, **settings):
    body = {"name": name, "features": "", "seed": 3, "wait": "1h", **settings}
    server.expect("POST", "/v1/bandits", body, 201)


def decide(server, name, identity, **more):
    return server.expect("POST", f"/v1/bandits/{name}/decide", {"id": identity, "actions": TWO, **more})


def reward(server, name, identity, value=1, **more):
    body = {"id": identity, "value": value, **more}
    return server.expect("POST", f"/v1/bandits/{name}/reward", body).json["outcome"]


def log_of(server, name):
    """The decisions that are settled, by id."""
    lines = server.expect("GET", f"/v1/bandits/{name}/log").bytes.splitlines()
    return {json.loads(line)["EventId"]: json.loads(line) for line in lines}


def roles(fleet, name):
    """The owner of a bandit and the two other servers."""
    owner = wait_for(lambda: fleet.owner(name), f"{name} has no owner")
    return [owner, *(server for server in fleet.servers if server is not owner)]


@contextlib.contextmanager
def killed(fleet, name):
    """The owner is killed, and started again at the end. Gives the other servers, when one of them has the bandit."""
    owner, *others = roles(fleet, name)
    owner.kill()
    try:
        wait_for(lambda: others[0].ask("GET", f"/v1/bandits/{name}").status == 200, f"no other server takes {name}")
        yield others
    finally:
        owner.start()


# ---- bandits ----

def created_once(fleet):
    body = {"name": "once", "features": "", "seed": 5, "wait": "1h"}
    got = at_once(*(lambda at=server: at.ask("POST", "/v1/bandits", body) for server in fleet.servers))
    same(sorted(response.status for response in got), [200, 200, 201], "statuses of three creations")
    same(len({json.dumps(response.json["settings"], sort_keys=True) for response in got}), 1, "different settings")
    body["seed"] = 6
    for server in fleet.servers:
        server.expect("POST", "/v1/bandits", body, 409)


def used_at_once_elsewhere(fleet):
    turn = itertools.cycle(fleet.servers)
    for number in range(10):
        server, other = next(turn), next(turn)
        create(server, f"fresh-{number}")
        decide(other, f"fresh-{number}", "first")
    for server in fleet.servers:
        server.expect("POST", "/v1/bandits/unknown/decide", {"actions": TWO}, 404)


def listed_everywhere(fleet):
    create(fleet.servers[0], "listed")
    wanted = {name for name in fleet.owners() if name}
    for server in fleet.servers:
        names = [bandit["name"] for bandit in server.expect("GET", "/v1/bandits").json["bandits"]]
        same(sorted(names), sorted(wanted), f"bandits of {server.name}")


def described_everywhere(fleet):
    def view(server):
        of = server.expect("GET", "/v1/fleet").json
        return of["leader"], [one["server"] for one in of["servers"] if one["alive"]], of["bandits"]

    wait_for(lambda: view(fleet.servers[0]) == view(fleet.servers[1]) == view(fleet.servers[2]), "servers describe different fleets")
    for server in fleet.servers:
        described = server.expect("GET", "/v1/fleet").json["servers"]
        same(len(described), 3, "servers")
        if not all(0 <= one["lag_seconds"] < 600 and one["load"] >= 0 for one in described):
            raise Failure(f"lags and loads: {described}")


def settings_apply_everywhere(fleet):
    create(fleet.servers[0], "patched")
    owner, other, third = roles(fleet, "patched")
    decide(owner, "patched", "before")
    answer = other.expect("PATCH", "/v1/bandits/patched", {"mode": "logging", "default_reward": -1}).json
    same(answer["settings"]["mode"], "logging", "mode")
    for server in (owner, other, third):
        for number in range(3):
            got = decide(server, "patched", f"{server.name}-{number}").json
            same((got["action"], got["probability"]), ("a", 1), "a decision in mode logging")
        same(server.expect("GET", "/v1/bandits/patched").json["settings"]["default_reward"], -1, "default_reward")


def archived_restored_deleted(fleet):
    create(fleet.servers[0], "brief")
    owner, other, third = roles(fleet, "brief")
    decide(other, "brief", "d")
    same(other.expect("DELETE", "/v1/bandits/brief").json["archived"], True, "archived")
    for server in (owner, other, third):
        server.expect("POST", "/v1/bandits/brief/decide", {"actions": TWO}, 410)
        same(server.expect("GET", "/v1/bandits/brief").json["archived"], True, "archived")
    third.expect("POST", "/v1/bandits/brief/restore")
    for server in (owner, other, third):
        decide(server, "brief", f"after-{server.name}")
    other.expect("DELETE", "/v1/bandits/brief?purge=true&confirm=brief", status=204)
    for server in (owner, other, third):
        wait_for(lambda at=server: at.ask("GET", "/v1/bandits/brief").status == 404, "a removed bandit is still found")
    create(third, "brief", seed=9)
    for server in (owner, other, third):
        same(server.expect("GET", "/v1/bandits/brief").json["settings"]["seed"], 9, "seed of the new bandit")
        decide(server, "brief", "d")
    same(reward(other, "brief", "d"), "joined", "reward")
    same(list(log_of(owner, "brief")), ["d"], "log of the new bandit")


def removed_while_its_owner_was_stopped(fleet):
    """The owner does not go on with a model that the fleet has removed."""
    create(fleet.servers[0], "fleeting")
    owner, other, _ = roles(fleet, "fleeting")
    decide(owner, "fleeting", "d")

    def metrics():
        return owner.ask("GET", "/metrics").bytes

    same(b'"fleeting"' in metrics(), True, "metrics of the bandit at its owner")
    owner.pause()
    try:
        # A change that reaches it before its silence is noticed would get 503.
        wait_for(lambda: fleet.owner("fleeting") not in (None, owner), "no takeover")
        wait_for(lambda: other.ask("GET", "/v1/bandits/fleeting").status == 200, "the new owner does not answer")
        other.expect("DELETE", "/v1/bandits/fleeting?purge=true&confirm=fleeting", status=204)
        wait_for(lambda: fleet.database.sql("SELECT count(*) FROM eenet.log_ends JOIN eenet.bandits ON number = bandit"
                                              " WHERE name LIKE '#%' AND purged < 2") == [["0"]], "it is not removed")
        create(other, "lasting")
    finally:
        # Requests that wait for it are answered while it gives up its bandits.
        waiting = [owner.send("GET", "/metrics") for _ in range(16)]
        owner.resume()
    for connection in waiting:
        Response(connection.getresponse())
    wait_for(lambda: b'"fleeting"' not in metrics(), "its old owner still serves it")
    for server in fleet.servers:
        server.expect("GET", "/v1/bandits/fleeting", status=404)


def answered_while_its_owner_is_stopped(fleet):
    """Requests that were forwarded to an owner get a response before it resumes. What is repeated is executed once."""
    create(fleet.servers[0], "halted")
    owner, other, third = roles(fleet, "halted")
    base = "/v1/bandits/halted"

    def decided_by(server, identity):
        return server.ask("POST", f"{base}/decide", {"id": identity, "actions": TWO})

    decide(owner, "halted", "rewarded")
    ids = [f"d{number}" for number in range(8)]
    prize = {"id": "rewarded", "value": 1, "reward_id": "r"}
    requests = [("POST", f"{base}/reward", prize), ("GET", base, None), ("GET", f"{base}/model/versions", None),
                ("GET", f"{base}/log", None), ("PATCH", base, {"default_reward": 0.5})]
    # Some are being executed when it is stopped. The others are sent to it before its silence is noticed.
    sent = [other.send("POST", f"{base}/decide", {"id": identity, "actions": TWO}) for identity in ids]
    owner.pause()
    try:
        sent += [other.send(*request) for request in requests]
        got = [Response(connection.getresponse()) for connection in sent]
        first = dict(zip(ids, got))
        for (method, path, _), response in zip(requests, got[len(ids):]):
            if response.status != 200 and (response.status != 503 or not response.headers["Retry-After"]):
                raise Failure(f"{method} {path}: {response}")
        wait_for(lambda: third.ask("GET", base).status == 200, "no takeover")
        answers = {identity: decide(third, "halted", identity).bytes for identity in ids}
        for identity, response in first.items():
            if response.status != 503:
                same((response.status, response.bytes), (200, answers[identity]), f"response to {identity}")
        same(other.expect("POST", f"{base}/reward", prize).json["outcome"], "joined", "outcome of the same reward")
    finally:
        owner.resume()
    wait_for(lambda: decided_by(owner, ids[0]).status == 200, "the old owner does not forward")
    for server in fleet.servers:
        for identity, answer in answers.items():
            same(decide(server, "halted", identity).bytes, answer, "decision after the old owner went on")
    same(other.expect("POST", f"{base}/reward", prize).json["outcome"], "joined", "outcome of the same reward")
    same(reward(third, "halted", "rewarded"), "repeated", "another reward")
    other.learned("halted", 1)
    same(third.expect("GET", base).json["learned"], 1, "rewards that were learned")


# ---- decisions and rewards ----

def same_id_same_bytes(fleet):
    create(fleet.servers[0], "ids")
    for number in range(10):
        got = at_once(*(lambda at=server: decide(at, "ids", f"d{number}").bytes for server in fleet.servers))
        same(len(set(got)), 1, f"different answers: {got}")
    for server in fleet.servers:
        server.expect("POST", "/v1/bandits/ids/decide", {"id": "d0", "actions": TWO[:1]}, 409)
        same(decide(server, "ids", "d9").bytes, got[0], "the answer to a repeat")


def reward_before_decision(fleet):
    create(fleet.servers[0], "early")
    for server, other in itertools.permutations(fleet.servers, 2):
        identity = f"{server.name}-{other.name}"
        same(reward(server, "early", identity, 0.5, reward_id="r"), "unknown", "outcome before the decision")
        decide(other, "early", identity)
        same(reward(other, "early", identity, 0.5), "repeated", "outcome of another reward")
    fleet.servers[0].learned("early", 6)
    same({line["_label_cost"] for line in log_of(fleet.servers[1], "early").values()}, {-0.5}, "costs")


def deferred_and_slots(fleet):
    create(fleet.servers[0], "deferred")
    create(fleet.servers[0], "slots")
    for server, other in itertools.permutations(fleet.servers, 2):
        identity = f"{server.name}-{other.name}"
        decide(server, "deferred", identity, defer=True)
        same(reward(other, "deferred", identity), "joined", "reward of a deferred decision")
        path = "/v1/bandits/deferred/activate"
        same(other.expect("POST", path, {"id": identity}).json["outcome"], "activated", "activation")
        same(server.expect("POST", path, {"id": identity}).json["outcome"], "repeated", "second activation")
        slots = decide(server, "slots", identity, slots=[{"id": "top"}, {"id": "side"}]).json["slots"]
        same({slot["action"] for slot in slots}, {"a", "b"}, "actions of the slots")
        same(reward(other, "slots", identity, slot="side"), "joined", "reward of a slot")
        same(reward(server, "slots", identity, slot="top"), "joined", "reward of a slot")
    fleet.servers[0].learned("deferred", 6)
    fleet.servers[0].learned("slots", 12)


def rewarded_once_and_owner_killed(fleet):
    """The same rewards on two servers at the same time, again after the owner died, and a deadline without it."""
    for number in range(20):  # the leader creates them, and may change in between
        name, deadline = f"killed-{number}", f"deadline-{number}"
        create(fleet.servers[0], name)
        create(fleet.servers[0], deadline, wait=4, default_reward=0.25)
        owner, other, third = roles(fleet, name)
        if roles(fleet, deadline)[0] is owner:
            break
    else:
        raise Failure("the two bandits never have the same owner")
    answers = {}
    for number in range(20):
        answers[number] = decide(owner, name, f"d{number}").bytes
        got = at_once(lambda: reward(other, name, f"d{number}", reward_id="r"),
                      lambda: reward(third, name, f"d{number}", reward_id="r"))
        same(got, ["joined", "joined"], "outcomes of the same reward on two servers")
    decide(other, name, "open")
    decide(third, deadline, "forgotten")
    with killed(fleet, name) as (left, right):
        for number, answer in answers.items():
            same(reward(left, name, f"d{number}", reward_id="r"), "joined", "outcome after the owner died")
            same(decide(right, name, f"d{number}").bytes, answer, "decision after the owner died")
            same(reward(right, name, f"d{number}"), "repeated", "another reward")
        same(reward(right, name, "open"), "joined", "reward of a decision before the owner died")
        left.learned(name, len(answers) + 1)
        same(right.expect("GET", f"/v1/bandits/{name}").json["learned"], len(answers) + 1, "rewards that were learned")
        right.learned(deadline, 1)
        same(log_of(left, deadline)["forgotten"]["_label_cost"], -0.25, "cost by the default reward")
        same(reward(right, deadline, "forgotten"), "late", "reward after the deadline")


def guardrails_outlive_the_owner(fleet):
    """Groups, a cap and sticky actions are the same on every server, and after the owner died."""
    three = [{"id": "coupon"}, *TWO]  # the baseline gives coupons, until the cap is reached
    people = [f"u{number}" for number in range(50)]
    rails = {"control": {"share": 0.3}, "rollout": {"schedule": [{"share": 0.5, "for": "1h"}, {"share": 1}]},
             "caps": [{"name": "coupons", "action": {"_id": "coupon"}, "most": 5, "per": "1d"}], "sticky": {"for": "1h"}}
    create(fleet.servers[0], "limited", policy="linucb", propensity="floor:1", guardrails=rails)

    def visits(servers, word):
        turn = itertools.cycle(servers)
        return {key: decide(next(turn), "limited", f"{word}-{key}", key=key, actions=three).json for key in people}

    def is_as_before(servers, word):
        later = visits(servers, word)
        same([later[key]["group"] for key in people], [first[key]["group"] for key in people], f"groups {word}")
        same([key for key in people if later[key]["action"] == "coupon"], [], f"coupons {word}")
        same({key: (later[key]["action"], later[key].get("repeats")) for key in drawn}, drawn, f"sticky actions {word}")
        same(servers[0].expect("GET", "/v1/bandits/limited").json["limits"]["caps"][0]["count"], 5, f"coupons {word}")

    strangers = [decide(fleet.servers[number % 3], "limited", f"s{number}", actions=three).json for number in range(30)]
    same(sum(one["action"] == "coupon" for one in strangers), 5, "coupons")
    first = visits(fleet.servers, "first")
    drawn = {key: (one["action"], one["id"]) for key, one in first.items() if one["group"] == "treated"}
    same({one["group"] for one in first.values()}, {"control", "waiting", "treated"}, "groups")
    same({action for action, _ in drawn.values()}, {"a", "b"}, "actions that were drawn")
    with killed(fleet, "limited") as others:
        is_as_before(others, "after the owner died")
    is_as_before(fleet.servers, "on every server")


# ---- the rest of the API on a server that is not the owner ----

def rich_bandit(fleet, name, policy="linucb"):
    create(fleet.servers[0], name, policy=policy)
    owner, other, third = roles(fleet, name)
    decisions = [{"id": f"d{number}", "context": {"u": number % 3}, "actions": TWO} for number in range(120)]
    got = other.expect("POST", f"/v1/bandits/{name}/decide/batch", {"decisions": decisions}).json["decisions"]
    rewards = [{"id": one["id"], "value": 1 if one["action"] == "a" else 0} for one in got]
    third.expect("POST", f"/v1/bandits/{name}/reward/batch", {"rewards": rewards})
    other.learned(name, len(rewards))
    return owner, other, third


def evaluated_and_explained(fleet):
    owner, other, third = rich_bandit(fleet, "rich")
    base = "/v1/bandits/rich"
    body = {"name": "weekly", "candidates": [{"policy": "uniform"}, {"policy": "linucb"}]}
    identity = other.expect("POST", f"{base}/evaluations", body, 201).json["id"]
    path = f"{base}/evaluations/{identity}"
    wait_for(lambda: third.expect("GET", path).json["state"] == "done", "the evaluation does not end")
    same(owner.expect("GET", path).bytes, third.expect("GET", path).bytes, "results on two servers")
    same([one["id"] for one in third.expect("GET", f"{base}/evaluations").json["evaluations"]], [identity], "evaluations")
    third.expect("DELETE", path)
    other.expect("GET", path, status=404)
    explained = [server.expect("POST", f"{base}/explain", {"actions": TWO}).bytes for server in (owner, other)]
    same(explained[1], explained[0], "explanation")
    explained = [server.expect("GET", f"{base}/decisions/d7/explain").bytes for server in (owner, other)]
    same(explained[1], explained[0], "explanation of a decision")
    important = [server.expect("GET", f"{base}/importance").json["features"] for server in (third, owner)]
    same(important[0], important[1], "importance")
    other.expect("GET", f"{base}/activity")


def models_and_logs(fleet):
    owner, other, third = rich_bandit(fleet, "models")
    base = "/v1/bandits/models"
    model = owner.expect("GET", f"{base}/model").bytes
    same(other.expect("GET", f"{base}/model").bytes, model, "model on two servers")
    third.expect("DELETE", f"{base}/model")
    wait_for(lambda: other.expect("GET", f"{base}/model").bytes != model, "the model was not reset")
    other.expect("PUT", f"{base}/model", model, headers={"Content-Type": "application/octet-stream"})
    for server in (owner, other, third):
        wait_for(lambda at=server: at.expect("GET", f"{base}/model").bytes == model, "the upload is not served")
    same(third.expect("GET", f"{base}/model/versions").bytes, owner.expect("GET", f"{base}/model/versions").bytes, "versions")
    logs = [server.expect("GET", f"{base}/log").bytes for server in (owner, other, third)]
    same(len(set(logs)), 1, "different logs")
    same(len(logs[0].splitlines()), 120, "lines of the log")
    same(other.expect("GET", f"{base}/log?limit=3").bytes, b"".join(logs[0].splitlines(True)[:3]), "part of the log")


def promoted(fleet):
    owner, other, third = rich_bandit(fleet, "contest", policy="uniform")
    base = "/v1/bandits/contest"
    other.expect("POST", f"{base}/challengers", {"name": "linear", "policy": "linucb"}, 201)
    same([one["name"] for one in third.expect("GET", f"{base}/challengers").json["challengers"]], ["linear"], "challengers")
    for number in range(30):
        got = decide(third, "contest", f"more-{number}").json
        reward(other, "contest", got["id"], 1 if got["action"] == "a" else 0)
    third.learned("contest", 150)
    wait_for(lambda: other.ask("POST", f"{base}/challengers/linear/promote").status == 200, "it cannot be promoted")
    for server in (owner, other, third):
        same(server.expect("GET", base).json["settings"]["policy"], "linucb", "policy after the promotion")
        decide(server, "contest", f"promoted-{server.name}")


# ---- HTTP ----

def headers_are_the_same(fleet):
    owner, other, _ = rich_bandit(fleet, "headers")
    cases = [("POST", "/decide", {"id": "h", "actions": TWO}), ("POST", "/decide", {"actions": []}), ("GET", "/log", None),
             ("GET", "/model", None), ("GET", "/nothing", None), ("POST", "/reward", {"id": "h", "value": "x"})]
    for method, path, body in cases:
        owner.learned("headers")  # no event changes the model between the two
        direct, through = (server.ask(method, f"/v1/bandits/headers{path}", body, headers={"X-Request-Id": "mine"})
                           for server in (owner, other))
        names = [{name.lower() for name in response.headers} for response in (direct, through)]
        # A stream that is forwarded has a length.
        same(names[1] - {"content-length"}, names[0] - {"transfer-encoding", "content-length"}, f"headers of {path}")
        same((through.status, through.bytes), (direct.status, direct.bytes), f"response of {path}")
        same((through.headers["Content-Type"], through.headers["X-Request-Id"]), (direct.headers["Content-Type"], "mine"),
             f"headers of {path}")
    packed = [server.expect("GET", "/v1/bandits/headers/log", headers={"Accept-Encoding": "gzip"}) for server in (owner, other)]
    same([response.headers["Content-Encoding"] for response in packed], ["gzip", "gzip"], "Content-Encoding")
    same(gzip.decompress(packed[1].bytes), gzip.decompress(packed[0].bytes), "compressed log")


def refusals_say_when_to_retry(fleet):
    fleet.servers[0].expect("POST", "/v1/bandits", {"name": "large", "dim": 8000, "policy": "greedy"}, 201)
    owner, other, _ = roles(fleet, "large")
    owner.expect("GET", "/v1/bandits/large/model")
    path = "/v1/bandits/large/model"
    with owner.unread(path):
        through, direct = other.ask("GET", path), owner.ask("GET", path)
    same((through.status, through.bytes), (503, direct.bytes), "a download that is refused")
    same(through.headers["Retry-After"], direct.headers["Retry-After"], "Retry-After")
    if not through.headers["Retry-After"]:
        raise Failure("no Retry-After")


def strangers_are_no_servers(fleet):
    """Headers of another fleet are refused. Who listens at a dead server's address neither executes a request nor answers it."""
    create(fleet.servers[0], "secret")
    false = {"X-Eenet-Fleet": "0" * 64, "X-Eenet-Grant": "4 root *", "X-Eenet-Bandit": "ids", "X-Eenet-Decision": "f" * 32}
    for server in fleet.servers:
        server.expect("POST", "/v1/bandits/secret/decide", {"actions": TWO}, 421, headers=false)
    for kind in ("server", "web"):
        owner, other, _ = roles(fleet, "secret")
        owner.kill()
        with stranger(owner, kind) as asked:
            same(decide(other, "secret", kind).json["id"], kind, "a decision that a stranger could answer")
            same(reward(other, "secret", kind), "joined", "reward of the decision")
            same(asked(), 0, "decisions of the stranger")
        owner.start()


@contextlib.contextmanager
def stranger(server, kind):
    """Listens at the address of a server that was killed, and gives a function that tells its decisions: a server with a bandit of
    the same name, or a web server that answers anything."""
    if kind == "server":
        with harness.Server(server.program, f"{server.folder}.stranger", port=server.port) as other:
            create(other, "secret")
            yield lambda: other.call("GET", "/v1/bandits/secret")["decisions"]
        return

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_POST(self):  # pylint: disable=invalid-name
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"id": "mine"}')

        def log_message(self, *_):  # pylint: disable=arguments-differ
            pass

    with http.server.HTTPServer(("127.0.0.1", server.port), Answer) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield lambda: 0
        web.shutdown()


def same_address_is_reported(fleet, program, folder):
    twin = Server(program, folder, 0, fleet.database, options=["--replication", "any", "--advertise", fleet.servers[0].url])
    try:
        twin.launch()
        for server in (twin, fleet.servers[0]):
            wait_for(lambda at=server: f"has the same address as this one, {fleet.servers[0].url}," in at.said(),
                       f"nothing is said in {server.log}")
    finally:
        twin.stop()


def new_server_gets_bandits(fleet, program, folder):
    new = Server(program, folder, len(fleet.servers), fleet.database, options=["--replication", "any"])
    fleet.servers.append(new)
    try:
        new.start()
        owned = wait_for(lambda: [name for name, index in fleet.owners().items() if index == new.index and name],
                           "the new server owns nothing")
        new.expect("GET", f"/v1/bandits/{owned[0]}")
        same(new.terminate(), 0, "exit status")
        fleet.servers.remove(new)
        wait_for(lambda: None not in fleet.owners().values(), "bandits of the server that stopped have no owner")
    finally:
        if new in fleet.servers:
            fleet.servers.remove(new)
        new.stop()


def unsafe_replication_is_refused(fleet, program, folder):
    """A server that was not told to accept the risk does not start on a database without a synchronous standby."""
    careful = Server(program, folder / "careful", 0, fleet.database)
    try:
        careful.launch()
        status, said = careful.process.wait(), careful.said()
        if not status or "does not replicate synchronously" not in said or "--replication any" not in said:
            raise Failure(f"status {status}: {said}")
    finally:
        careful.stop()


# ---- keys: the last, because all requests need one from then on ----

WITNESS = """
CREATE TABLE public.key_changes (waits text);
CREATE FUNCTION public.note_keys() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.key_changes VALUES (current_setting('synchronous_commit'));
    RETURN NULL;
END $$;
CREATE TRIGGER note_keys AFTER UPDATE OF keys ON eenet.fleet FOR EACH ROW EXECUTE FUNCTION public.note_keys();
"""


def keys_of_the_database(fleet, program):
    where = fleet.database.url()

    def keys(*words):
        done = subprocess.run([program, "keys", *words, "--file", where], capture_output=True, text=True, check=True)
        return next((word for word in done.stdout.split() if word.startswith("ee_")), None)

    create(fleet.servers[0], "guarded")
    owner, other, _ = roles(fleet, "guarded")
    fleet.database.psql(WITNESS)
    admin = keys("add", "admin", "--role", "admin")
    only = keys("add", "only", "--role", "client", "--bandit", "guarded")
    for server in fleet.servers:
        wait_for(lambda at=server: at.ask("GET", "/v1/bandits", key=only).status == 403, "a new key is not known")
        server.expect("GET", "/v1/bandits", status=401)
        server.expect("GET", "/v1/bandits", key=admin)
        server.expect("POST", "/v1/bandits/guarded/decide", {"actions": TWO}, key=only)
        server.expect("POST", "/v1/bandits/ids/decide", {"actions": TWO}, 403, key=only)
        server.expect("GET", "/v1/bandits/guarded/model", status=403, key=only)
        server.expect("PATCH", "/v1/bandits/guarded", {"wait": 5}, 403, key=only)
    keys("remove", "only")
    for server in fleet.servers:
        path = "/v1/bandits/guarded/decide"
        wait_for(lambda at=server: at.ask("POST", path, {"actions": TWO}, key=only).status == 401, "a removed key works")
        server.expect("GET", "/v1/bandits/guarded", key=admin)
    keys("remove", "admin")
    for server in fleet.servers:  # without a key every request is refused
        wait_for(lambda at=server: at.ask("GET", "/v1/bandits", key=admin).status == 401, "a removed key works")
        server.expect("GET", "/v1/bandits", status=401)
    same(fleet.database.sql("SELECT * FROM public.key_changes"), 4 * [["on"]], "synchronous_commit of each change of the keys")


# ---- the database's roles ----

ROLE = "CREATE ROLE eenet LOGIN; CREATE DATABASE documented OWNER eenet ENCODING 'UTF8' TEMPLATE template0"


def documented_role(program, folder, database):
    """The servers need no more rights than docs/fleet.md gives their role."""
    for statement in ROLE.split("; "):
        database.sql(statement, name="postgres")
    plain = database.url
    database.url = lambda ports=None: plain(ports).replace("//postgres@", "//eenet@").replace("/eenet?", "/documented?")
    servers = [Server(program, folder, index, database, options=["--replication", "any"]) for index in range(2)]
    try:
        for server in servers:
            server.start()
        create(servers[0], "plain")
        for index, server in enumerate(servers):
            decide(server, "plain", f"d{index}")
            same(reward(server, "plain", f"d{index}"), "joined", "reward")
        owners = database.sql("SELECT address FROM eenet.log_ends JOIN eenet.servers ON number = owner WHERE bandit = 1",
                              name="documented")
        owner = next(server for server in servers if owners[0][0].endswith(f":{server.port}"))
        other = next(server for server in servers if server is not owner)
        owner.pause()  # it may hold locks: the other server ends its sessions
        wait_for(lambda: other.ask("POST", "/v1/bandits/plain/decide", {"actions": TWO}).status == 200, "no takeover")
        owner.resume()
        same(reward(other, "plain", "d0"), "repeated", "reward")
        other.expect("POST", "/v1/bandits/plain/erase", {"ids": ["d0"]})
        other.expect("DELETE", "/v1/bandits/plain")
    finally:
        for server in servers:
            server.stop()
        database.url = plain


# ---- TLS ----

class SecureServer(Server):
    """With a certificate of its own."""

    tls = True

    def __init__(self, program, folder, index, database):
        super().__init__(program, folder, index, database)
        self.options = ["--replication", "any", *make_certificate(self.folder)]


FORGE = """
CREATE FUNCTION forge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.address := split_part(NEW.address, '#', 1) || '#' || repeat('0', 64);
    RETURN NEW;
END $$;
CREATE TRIGGER forge BEFORE UPDATE ON eenet.servers FOR EACH ROW EXECUTE FUNCTION forge();
"""


def tls(program, folder, database):
    database.sql("CREATE DATABASE secure", name="postgres")
    plain = database.url
    database.url = lambda ports=None: plain(ports).replace("/eenet?", "/secure?")
    servers = [SecureServer(program, folder / "secure", index, database) for index in range(2)]
    owner, other = servers
    try:
        for server in servers:
            server.start()
        create(owner, "safe")
        decide(other, "safe", "through")
        same(reward(other, "safe", "through"), "joined", "reward")
        same(list(log_of(owner, "safe")), ["through"], "log")
        # A renewed certificate is published again.
        make_certificate(owner.folder)
        owner.process.send_signal(1)
        wait_for(lambda: "certificate reloaded" in owner.said(), "no reload")
        other.terminate()  # its connections have the old certificate
        other.start()
        for number in range(3):
            decide(other, "safe", f"renewed-{number}")
        # A server that presents another certificate than it published is not trusted. By now either may own the bandit.
        database.sql(FORGE, name="secure")
        forged = "SELECT count(*) FROM eenet.servers WHERE address LIKE '%#000000%'"
        wait_for(lambda: database.sql(forged, name="secure") == [["2"]], "the addresses are not other ones")
        wait_for(lambda: sorted(server.ask("GET", "/v1/bandits/safe").status for server in servers) == [200, 503],
                 "a wrong certificate was accepted")
        database.sql("DROP TRIGGER forge ON eenet.servers", name="secure")
        for server in servers:
            decide(server, "safe", "trusted again")
    finally:
        for server in servers:
            server.stop()


def main():
    program = str(Path(sys.argv[1]).resolve())
    with one_database() as (folder, database):
        with Fleet(program, folder / "servers", database, 3, options=["--replication", "any"]) as fleet:
            at_once(*(server.start for server in fleet.servers))
            failed = run_cases([created_once, used_at_once_elsewhere, listed_everywhere, described_everywhere,
                                settings_apply_everywhere, archived_restored_deleted, removed_while_its_owner_was_stopped,
                                answered_while_its_owner_is_stopped, same_id_same_bytes, reward_before_decision, deferred_and_slots,
                                evaluated_and_explained, models_and_logs, promoted, headers_are_the_same,
                                refusals_say_when_to_retry, strangers_are_no_servers, rewarded_once_and_owner_killed,
                                guardrails_outlive_the_owner], fleet)
            failed |= run_cases([same_address_is_reported, new_server_gets_bandits, unsafe_replication_is_refused],
                                fleet, program, folder / "more")
            failed |= run_cases([keys_of_the_database], fleet, program)
        failed |= run_cases([documented_role, tls], program, folder, database)
        same(failed, 0, "failures")


if __name__ == "__main__":
    main()
