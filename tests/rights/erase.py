"""POST .../erase removes a person's data from the log, and replay proves the rest. Usage: erase.py EENET, in an empty
folder. With EENET_TEST_POSTGRES only what depends on the store is tested, in a database on that server."""

import json
import random
import sys
import threading

from people import KILLS, SECRETS, create, may_be_killed, nothing_left, play, serve

from harness import Meanwhile, check, new_database, pause, run

FREQUENT = ("--checkpoint-events", "40", "--publish-interval", "0.01")
MALLORY = {"key": {"path": "user.id", "value": "mallory"}}


def play_all(server, name, rounds):
    """Alice and Bob, and Mallory at times: the ids of her decisions."""
    ids = []
    for n in range(rounds):
        play(server, name, "alice", 5)
        play(server, name, "bob", 5)
        if n % 4 == 1:
            ids += play(server, name, "mallory", 2)
    ids += play(server, name, "mallory", 1, rewarded=False)  # pending
    play(server, name, "alice", 10)
    return ids


def erase(server, name, body, status=200):
    return server.call("POST", f"/v1/bandits/{name}/erase", body, status)


def replay(program, folder, *words):
    return json.loads(run(program, "replay", folder, "--json", *words))


def decide_again(server, name):
    """Decisions of a fixed request: the same model gives the same answers."""
    request = {"context": {"user": {"id": "judge"}}, "actions": [{"id": "x", "features": {"price": 9.5}}, {"id": "y"}]}
    told = server.call("POST", f"/v1/bandits/{name}/explain", request)
    return told["version"], [one["probability"] for one in told["actions"]]


def by_key(program):
    """All of a person's decisions, found by the context."""
    server = serve(program, "keyed", *FREQUENT)
    create(server, "shop")
    ids = play_all(server, "shop", 16)
    server.call("POST", "/v1/bandits/shop/reward", {"id": ids[0], "value": 0.5, "reward_id": "late"})
    server.learned("shop")
    before = server.call("GET", "/v1/bandits/shop")
    for body in ({}, {"ids": []}, {"ids": [1]}, {"key": {"path": "a"}}):
        erase(server, "shop", body, 400)
    none = erase(server, "shop", {"key": {"path": "user.id", "value": "nobody"}})
    check(none == {"decisions": 0, "events": 0, "proven": True}, f"nobody is found: {none}")
    done = erase(server, "shop", MALLORY)
    check(done["decisions"] == len(ids) and done["events"] > 2 * len(ids) and done["proven"], f"the answer: {done}")
    nothing_left("keyed", SECRETS, but_models=True)
    again = erase(server, "shop", MALLORY)
    check(again["decisions"] == 0, f"repeating is harmless: {again}")
    log = server.call("GET", "/v1/bandits/shop/log").decode()
    check("alice" in log and "mallory" not in log, "the export")
    check(server.call("GET", f"/v1/bandits/shop/decisions/{ids[0]}/explain", status=404), "an erased decision")
    play(server, "shop", "alice", 20)
    server.learned("shop")
    after = server.call("GET", "/v1/bandits/shop")
    check(after["learned"] >= before["learned"] + 20, "it learns on")
    model = decide_again(server, "shop")
    server.stop()
    run(program, "check", "keyed")
    told = replay(program, "keyed", "--from-beginning")
    check(told["erased"] == len(ids) and told["first"] is None, f"replay: {told}")
    check(told["decisions"] > 100 and told["unproven"] < told["decisions"], f"most are proven: {told}")
    server.start()
    check(decide_again(server, "shop") == model, "a restart gives the same model")
    server.stop()
    run(program, "backup", "keyed", "keyed-copy")
    check(replay(program, "keyed-copy", "--from-beginning") == told, "replay of a backup")


def by_ids(program):
    """Single decisions, pending ones and rounds with slots among them, twice; and rewards without a decision."""
    server = serve(program, "named", *FREQUENT)
    create(server, "shop", aggregation="sum")
    ids = play_all(server, "shop", 8)
    server.call("POST", "/v1/bandits/shop/reward", {"id": "mallory-early", "value": 1, "reward_id": "mallory-r"})
    round_of = {"id": "mallory-round", "context": {"user": {"id": "mallory"}},
                "slots": [{"id": "top"}, {"id": "side"}],
                "actions": [{"id": "x", "features": {"price": 9.5}}, {"id": "y"}, {"id": "z"}]}
    server.call("POST", "/v1/bandits/shop/decide", round_of)
    for part in (ids[:3], ids[3:] + ["mallory-early", "mallory-round"]):
        done = erase(server, "shop", {"ids": part + play_all(server, "shop", 1)})
        check(done["proven"], f"the answer: {done}")
    check(done["decisions"] == len(ids) - 3 + 1 + 2, f"slots are decisions: {done}")
    nothing_left("named", ["top-secret-note", "mallory-round", "mallory-early", "mallory-r"], but_models=True)
    server.call("POST", "/v1/bandits/shop/reward", {"id": ids[0], "value": 1})
    server.learned("shop")
    server.stop()
    run(program, "check", "named")
    told = replay(program, "named", "--from-beginning")
    check(told["first"] is None and told["erased"] == len(ids) + 4, f"replay: {told}")


def guarded(server, name, keys, **more):
    """A bandit with guardrails, and a rewarded decision for each key."""
    settings = {"name": name, "policy": "linucb", "wait": 600, "guardrails": {"control": {"share": 0.3}}, **more}
    server.call("POST", "/v1/bandits", settings, 201)
    actions = [[1, 0], [0, 1]] if "dim" in more else [{"id": "x", "features": {"price": 9.5}}, {"id": "y"}]
    for key in keys:
        made = server.call("POST", f"/v1/bandits/{name}/decide", {"key": key, "actions": actions})
        server.call("POST", f"/v1/bandits/{name}/reward", {"id": made["id"], "value": 1})
    rounds = {"key": keys[0], "slots": [{"id": "top"}, {"id": "side"}], "actions": actions}
    if "dim" not in more:
        server.call("POST", f"/v1/bandits/{name}/decide", rounds)


def by_person(program, place):
    """The decisions that were requested with a key: of named features and of vectors, in the control group too."""
    server = serve(program, place, *FREQUENT)
    guarded(server, "shop", ["mallory-key" if n % 5 == 0 else f"other-key-{n}" for n in range(100)], features="")
    guarded(server, "vectors", ["mallory-key", "mallory-key-2"] * 10, dim=2)
    for body in ({"person": ""}, {"person": 5}, {"person": 257 * "x"}, {"person": {"path": "a", "value": "b"}}):
        erase(server, "shop", body, 400)
    erase(server, "vectors", MALLORY, 400)
    check(erase(server, "shop", {"person": "nobody"})["decisions"] == 0, "nobody is found")
    done = erase(server, "shop", {"person": "mallory-key", "key": {"path": "user.id", "value": "nobody"}})
    check(done["decisions"] == 20 + 2 and done["proven"], f"20 decisions and a round with two slots: {done}")
    done = erase(server, "vectors", {"person": "mallory-key"})
    check(done["decisions"] == 10, f"the person, and not one whose key begins alike: {done}")
    check(erase(server, "shop", {"person": "mallory-key"})["decisions"] == 0, "repeating is harmless")
    for name, left in (("shop", "other-key-1"), ("vectors", "mallory-key-2")):
        server.learned(name)
        log = server.call("GET", f"/v1/bandits/{name}/log").decode()
        check(f'"{left}"' in log and '"mallory-key"' not in log, f"the export of {name}")
    erase(server, "vectors", {"person": "mallory-key-2"})
    server.stop()
    nothing_left(place, ["mallory-key"])
    run(program, "check", place)
    told = replay(program, place, "--from-beginning", "--bandit", "shop")
    check(told["first"] is None and told["erased"] == 22, f"replay: {told}")


def repeats_of(made):
    return [each.get("repeats") for each in made.get("slots", [made])]


def with_repeats(program, place):
    """What a person keeps is forgotten with the decision, and the decisions that repeat it name it no longer."""
    server = serve(program, place, *FREQUENT)
    server.call("POST", "/v1/bandits", {"name": "shop", "policy": "linucb", "features": "", "wait": 600, "propensity": "floor:1",
                                        "guardrails": {"sticky": {"for": "1h"}}}, 201)
    actions = [{"id": "x", "features": {"price": 9.5}}, {"id": "y"}, {"id": "z"}]
    several = {"slots": [{"id": "top"}, {"id": "side"}]}

    def decide(key, **more):
        return server.call("POST", "/v1/bandits/shop/decide", {"key": key, "actions": actions, **more})

    def keep(key, secret, **more):
        made = [decide(key, id=secret, **more)] + [decide(key, **more, context={"visit": f"number {i}"}) for i in range(3)]
        check(all(one and one.startswith(secret) for each in made[1:] for one in repeats_of(each)), f"no repeats: {made}")

    def expect_none(key, **more):
        check(not any(repeats_of(decide(key, **more))), f"an erased decision of {key} is repeated")

    keep("by-person", "secret-1")
    keep("by-ids", "secret-2")
    keep("by-round", "secret-3", **several)
    keep("by-path", "secret-4")
    decide("by-context", id="secret-5", context={"user": {"id": "mallory"}})
    check(decide("by-context")["repeats"] == "secret-5", "no repeat")
    keep("other", "other-1")
    done = erase(server, "shop", {"person": "by-person"})
    check(done["decisions"] == 4, f"the person's decisions: {done}")
    expect_none("by-person")
    for erased, count in ((["secret-2"], 4), (["secret-3"], 8), (["secret-4", "secret-2"], 4), (["secret-4"], 0)):
        done = erase(server, "shop", {"ids": erased})
        check(done["decisions"] == count, f"{erased} and what repeats it: {done}")
    expect_none("by-ids")
    expect_none("by-round", **several)
    expect_none("by-path")
    done = erase(server, "shop", MALLORY)
    check(done["decisions"] == 2, f"a decision, and a repeat with another context: {done}")
    expect_none("by-context")
    check(decide("other")["repeats"] == "other-1", "the decision of another person was forgotten")
    server.learned("shop")
    server.stop()
    nothing_left(place, ["secret-"])
    run(program, "check", place)
    told = replay(program, place, "--from-beginning")
    check(told["first"] is None and told["erased"] == 22, f"replay: {told}")


def under_load(program):
    server = serve(program, "busy", *FREQUENT)
    create(server, "shop")
    play_all(server, "shop", 12)
    with Meanwhile(lambda: play(server, "shop", "carol", 3), 2):
        done = erase(server, "shop", MALLORY)
    check(done["decisions"] == 7, f"{done}")
    nothing_left("busy", SECRETS, but_models=True)
    server.learned("shop")
    server.stop()
    run(program, "check", "busy")
    told = replay(program, "busy", "--from-beginning")
    check(told["first"] is None, f"replay: {told}")


def any_kill_is_survived(program):
    server = serve(program, "struck", *FREQUENT)
    create(server, "shop")
    seen = {"before": 0, "between": 0, "answered": 0}
    for _ in range(KILLS):
        ids, answered = play_all(server, "shop", 2), []

        def try_erase(answered=answered):
            with may_be_killed():
                answered.append(erase(server, "shop", MALLORY))

        thread = threading.Thread(target=try_erase)
        thread.start()
        pause(random.random() * 0.15)
        server.kill()
        thread.join()
        run(program, "check", "struck")
        server.start()
        done = erase(server, "shop", MALLORY)
        check(done["decisions"] in (0, len(ids)), f"the old or the new state: {done}")
        seen["answered" if answered else "before" if done["decisions"] else "between"] += 1
        nothing_left("struck", SECRETS, but_models=True)
    play_all(server, "shop", 2)
    server.learned("shop")
    server.stop()
    told = replay(program, "struck", "--from-beginning")
    check(told["first"] is None, f"replay: {told}")
    print("killed", seen)


if __name__ == "__main__":
    eenet = sys.argv[1]
    database = new_database("rights_guarded")
    by_person(eenet, database or "guarded")
    with_repeats(eenet, new_database("rights_kept") or "kept")
    if not database:
        by_key(eenet)
        by_ids(eenet)
        under_load(eenet)
        any_kill_is_survived(eenet)
