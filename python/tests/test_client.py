"""eenet.Client against a real server."""

import asyncio
import contextlib
import datetime
import doctest
import importlib
import inspect
import itertools
import os
import pickle
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest
from conftest import refuses

np = pytest.importorskip("numpy")

from eenet import client as clients
from eenet.client import (AsyncBanditClient, AsyncClient, BadRequest, BanditClient, Client, Conflict, Decision, Gone,
                          NotFound, Refused, ServerError, SomeRefused, TooLarge, Unavailable)
from server_process import ServerProcess, wait_for

ACTIONS = {"red": {"color": "red"}, "blue": {"color": "blue"}}
numbers = itertools.count()


@pytest.fixture
def client(server):
    with Client(server.url) as made:
        yield made


@pytest.fixture
def bandit(client):
    """A bandit of named features that no other test knows."""
    return client.create(f"named-{next(numbers)}-{os.getpid()}", features={"names": 100})


@pytest.fixture
def vectors(client):
    return client.create(f"vectors-{next(numbers)}-{os.getpid()}", dim=3, policy="linucb", options={"alpha": 0.5})


# ---- decisions and rewards ----


def test_a_decision_and_its_reward(server, bandit):
    decision = bandit.decide(ACTIONS, {"plan": "free", "visits": np.int64(3)}, id="visit-1")
    assert isinstance(decision, Decision)
    assert decision.id == "visit-1" and decision.action == list(ACTIONS)[decision.arm]
    assert decision.probability == decision.probabilities[decision.arm] == 0.5 and decision.slot is None
    assert bandit.reward(decision, np.float32(0.25)) == ("joined", False)
    (event,) = bandit.log()
    assert event["EventId"] == "visit-1" and event["_label_cost"] == -0.25
    assert event["c"]["visits"] == 3 and event["c"]["_multi"][0] == {"_tag": "red", "color": "red"}


def test_the_same_id_is_the_same_decision(bandit):
    first = bandit.decide(ACTIONS, id="twice")
    assert bandit.decide(ACTIONS, id="twice") == first
    with pytest.raises(Conflict) as caught:
        bandit.decide(ACTIONS, {"other": 1}, id="twice")
    assert caught.value.http_status == 409 and caught.value.code == "Conflict" and not caught.value.maybe_done
    assert caught.value.request_id


@pytest.mark.parametrize("kind", ["mapping", "list", "api", "frame"])
def test_forms_of_named_actions(bandit, kind):
    pandas = pytest.importorskip("pandas") if kind == "frame" else None
    actions = {
        "mapping": {"0": {"price": 1.5, "tags": ["a", "b"]}, "1": {"price": 2}},
        "list": [{"price": np.float64(1.5), "tags": ("a", "b")}, {"price": np.int32(2)}],
        "api": [{"id": "0", "features": {"price": 1.5, "tags": ["a", "b"]}}, {"id": "1", "features": {"price": 2}}],
        "frame": pandas and pandas.DataFrame({"price": [1.5, 2], "tags": [["a", "b"], None]}),
    }[kind]
    bandit.reward(bandit.decide(actions, exclude="0", id="a"), 0)
    (event,) = bandit.log()
    assert event["c"]["_multi"] == [{"_tag": "0", "price": 1.5, "tags": ["a", "b"]}, {"_tag": "1", "price": 2}]
    assert event["_labelIndex"] == 1 and event["_label_probability"] == 1


def test_a_decision_has_the_action_as_it_was_given(bandit, vectors):
    pandas = pytest.importorskip("pandas")
    items = [{"price": 1}, {"price": 2}]
    assert bandit.decide({5: {}, "b": {}}, exclude="b").action == 5
    assert bandit.decide(items, exclude="0").action is items[1]
    assert bandit.decide([{"id": "x", "features": {}}, {"id": "y", "features": {}}], exclude="x").action == "y"
    assert bandit.decide(pandas.DataFrame({"price": [1, 2]}, index=["a", "b"]), exclude="a").action == "b"
    assert vectors.decide(np.eye(3)[:2], exclude="0").action == 1
    assert vectors.decide({"a": [1, 2, 3], "b": [3, 2, 1]}, exclude="a").action == "b"
    top, side = bandit.decide_slots(items, 2)
    assert top.action is items[top.arm] and side.action is items[side.arm]
    rounds = [items, {"actions": ACTIONS}, {"actions": items, "slots": 2}]
    first, second, slots = bandit.decide_many(rounds)
    assert first.action is items[first.arm] and second.action == list(ACTIONS)[second.arm]
    assert [each.action for each in slots] == [items[each.arm] for each in slots]


def test_what_is_missing_is_no_feature(bandit):
    pandas = pytest.importorskip("pandas")
    gone = [None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT, np.datetime64("NaT", "ns")]
    for value in gone:
        decision = bandit.decide([{"x": value, "y": 1}], {"n": {"x": value}, "v": [1, value]})
        bandit.reward(decision, 1)
    for event in bandit.log():
        assert event["c"] == {"n": {"x": None}, "v": [1, None], "_multi": [{"_tag": "0", "x": None, "y": 1}]}
    model = bandit.model()
    names = {model.feature(place).name for place in range(model.dim)}
    assert "x" not in names and "n.x" not in names and "y" in names


@pytest.mark.parametrize("kind", ["float32", "float64", "int8", "fortran", "lists", "mapping", "sparse"])
def test_vectors_arrive_as_they_are(vectors, kind):
    numbers = np.array([[0.1, -2.5e-7, 3], [1e9, 0, 1 / 3]], "float32")
    arms = {"float32": numbers, "float64": numbers.astype("float64"), "int8": np.array([[1, 2, 3], [4, 5, 6]], "int8"),
            "fortran": np.asfortranarray(numbers), "lists": numbers.tolist(),
            "mapping": {"0": numbers[0], "1": numbers[1].tolist()}, "sparse": numbers}[kind]
    if kind == "sparse":
        arms = pytest.importorskip("scipy.sparse").csr_matrix(arms)
    vectors.reward(vectors.decide(arms), 1)
    (event,) = vectors.log()
    came = np.array([action["x"] for action in event["c"]["_multi"]], "float32")
    assert (came == (arms if kind == "int8" else numbers)).all()


def test_slots(bandit):
    page = bandit.decide_slots({**ACTIONS, "green": {}}, [{"id": "top", "features": {"size": "L"}}, "side"], id="page")
    assert [decision.slot for decision in page] == ["top", "side"] and {decision.id for decision in page} == {"page"}
    assert page[0].arm != page[1].arm and page[1].probabilities[page[0].arm] == 0
    assert bandit.reward(page[1], 0.5).outcome == "joined"
    assert bandit.reward("page", 1, slot="top").outcome == "joined"
    (event,) = bandit.log()
    assert [outcome["_label_cost"] for outcome in event["_outcomes"]] == [-1, -0.5]
    assert bandit.explain_decision(page[1])["slot"] == "side"
    assert [decision.slot for decision in bandit.decide_slots(ACTIONS, 2)] == ["0", "1"]
    refuses(BadRequest, "slots: expected a number", bandit.decide_slots, ACTIONS, True)


def test_deferred_decisions(bandit):
    decision = bandit.decide(ACTIONS, defer=True)
    assert bandit.activate(decision) == "activated"
    assert bandit.activate(decision.id) == "repeated"
    assert bandit.activate("nobody") == "unknown"


def test_batches(server, bandit):
    count = 2300  # three batches
    rounds = [{"actions": ACTIONS, "id": f"r{i}"} for i in range(count)]
    decisions = bandit.decide_many(rounds)
    assert [decision.id for decision in decisions] == [f"r{i}" for i in range(count)]
    outcomes = bandit.reward_many((decision, i % 2) for i, decision in enumerate(decisions))
    assert outcomes == [("joined", False)] * count
    assert sum(-event["_label_cost"] for event in bandit.log()) == count // 2
    assert bandit.decide_many([]) == [] and bandit.reward_many([]) == []


def test_batches_of_arrays_and_contexts(vectors, bandit):
    assert len(vectors.decide_many(np.zeros((4, 2, 3), "float32"), ids=list("abcd"))) == 4
    bandit.reward_many([{"id": decision, "value": 0} for decision in
                        bandit.decide_many([ACTIONS] * 2, contexts=[{"plan": "free"}, None])])
    assert [event["c"].get("plan") for event in bandit.log()] == ["free", None]
    mixed = bandit.decide_many([{"actions": ACTIONS, "slots": 2}, ACTIONS])
    assert len(mixed[0]) == 2 and isinstance(mixed[1], Decision)


def test_a_refused_item_does_not_hold_up_the_others(bandit):
    bandit.decide(ACTIONS, id="taken")
    rounds = [{"actions": ACTIONS, "id": id} for id in ("a", "taken", "b")]
    rounds[1]["context"] = {"other": 1}
    with pytest.raises(SomeRefused, match=r"refused 1 of 3 decisions; the first is decisions\[1\]") as caught:
        bandit.decide_many(rounds)
    answers = caught.value.answers
    assert answers[0].id == "a" and answers[2].id == "b" and isinstance(answers[1], Conflict)
    again = bandit.decide_many(rounds, return_errors=True)
    assert again[0] == answers[0] and isinstance(again[1], Conflict)
    assert [type(each) for each in bandit.reward_many([("a", 1), ("b", 2e9)], return_errors=True)][1] is BadRequest


def test_a_batch_is_cut_to_what_the_server_takes(program, tmp_path):
    with ServerProcess(program, tmp_path, "--batch", "3", "--body-bytes", "2000", "--actions", "3", "--model-bytes",
                       "2000") as small:
        with Client(small.url, retry_for=2) as client:
            bandit = client.create("small", dim=2, policy="linucb")
            arms = np.ones((2, 2), "float32")
            assert len(bandit.decide_many([arms] * 50)) == 50
            assert len(small.events("small", "decision")) == 50
            answers = bandit.decide_many([arms, np.ones((4, 2)), arms, {"actions": arms, "id": "x" * 200}] * 3,
                                         return_errors=True)
            assert [type(each) for each in answers] == [Decision, TooLarge, Decision, Decision] * 3
            assert answers[3] == answers[7]
            refuses(TooLarge, None, bandit.upload, b"x" * 30_000_000)
            refuses(TooLarge, None, lambda: asyncio.run(AsyncClient(small.url).bandit("small").upload(b"x" * 30_000_000)))


# ---- the rest of the API ----


def test_explaining(bandit):
    decision = bandit.decide(ACTIONS, {"plan": "free"})
    explained = bandit.explain(ACTIONS, {"plan": "free"}, features=1)
    assert [action["action"] for action in explained["actions"]] == ["red", "blue"]
    assert all(len(action["features"]) <= 1 for action in explained["actions"])
    again = bandit.explain_decision(decision)
    assert again["id"] == decision.id and again["action"] == decision.action
    assert "features" in bandit.importance() and bandit.activity()


def test_challengers(bandit):
    bandit.decide_many([ACTIONS] * 20)
    assert bandit.add_challenger("linear", "linucb", {"alpha": 0.5})["options"] == "alpha=0.5"
    assert bandit.add_challenger("other", "greedy", propensity="floor:0.2")["propensity"] == "floor:0.2"
    assert [each["name"] for each in bandit.remove_challenger("other")] == ["linear"]
    refuses(NotFound, "no challenger 'other'", bandit.remove_challenger, "other")
    assert "challenger" in [policy["kind"] for policy in bandit.evaluation()["policies"]]
    event = wait_for(lambda: promoted(bandit, "linear"), "the challenger has not learned what the log has")
    assert isinstance(event, int) and bandit.describe()["settings"]["policy"] == "linucb"
    assert [each["policy"] for each in bandit.challengers()] == ["eenet"]


def promoted(bandit, challenger):
    with contextlib.suppress(Conflict):
        return bandit.promote(challenger)


def await_learned(bandit):
    wait_for(lambda: not bandit.describe()["behind"], "the model stays behind")


def test_evaluations(bandit):
    decisions = bandit.decide_many([ACTIONS] * 50)
    bandit.reward_many((decision, decision.arm) for decision in decisions)
    done = bandit.evaluate(["logged", {"name": "red", "policy": "arm:red"}], name="autumn", estimators=["ips", "snips"],
                           wait=600)
    assert done["state"] == "done" and done["name"] == "autumn"
    assert [result["name"] for result in done["results"]] == ["logged", "red"]
    assert [each["id"] for each in bandit.evaluations()] == [done["id"]]
    mean = sum(decision.arm for decision in decisions) / 50
    assert done["results"][0]["estimates"][1]["value"] == pytest.approx(mean)
    bandit.delete_evaluation(done["id"])
    refuses(NotFound, None, bandit.evaluation_results, done["id"])


def test_the_log_in_parts(bandit, tmp_path, monkeypatch, program):
    monkeypatch.setattr(clients.bandit_calls, "PAGE", 7)
    for i in range(30):
        bandit.reward(bandit.decide(ACTIONS, id=str(i)), i % 2)
    events = list(bandit.log())
    assert [event["EventId"] for event in events] == [str(i) for i in range(30)]
    assert [event["EventId"] for event in bandit.log(limit=9)] == [str(i) for i in range(9)]
    assert [event["EventId"] for event in bandit.log(after=events[20]["_cursor"])] == [str(i) for i in range(21, 30)]
    middle = datetime.datetime.fromisoformat(events[15]["Timestamp"][:26]).replace(tzinfo=datetime.timezone.utc)
    assert len(list(bandit.log(since=middle))) == 15 and len(list(bandit.log(until=events[15]["Timestamp"]))) == 15
    assert bandit.save_log(tmp_path / "shop.dsjson") == 30
    assert os.listdir(tmp_path) == ["shop.dsjson"]
    output = subprocess.run([program, "log", tmp_path / "shop.dsjson"], capture_output=True, text=True, check=True)
    assert "30 events" in output.stdout


def test_the_model_comes_and_goes(client, vectors, tmp_path):
    arms = np.eye(3, dtype="float32")
    for _ in range(30):
        decision = vectors.decide(arms)
        vectors.reward(decision, decision.arm == 1)
    await_learned(vectors)
    model = vectors.model()
    assert model.policy == "linucb" and model.dim == 3
    assert np.argmax(model.score(arms).exploitation) == 1
    event = vectors.upload(model)
    assert vectors.upload(model.to_bytes()) > event
    (tmp_path / "model").write_bytes(vectors.model_bytes())
    assert vectors.upload(tmp_path / "model") > event
    assert vectors.reset() > event
    found = vectors.versions()
    assert found["current"] >= 0 and found["versions"] == []  # kept are those of checkpoints
    refuses(NotFound, None, vectors.model, version=10**6)
    refuses(BadRequest, None, vectors.upload, b"no model")


def test_settings(client, bandit):
    assert bandit.change(wait="2h", default_reward=None)["settings"]["wait"] == 7200
    assert bandit.describe()["settings"]["default_reward"] is None
    refuses(Conflict, None, client.create, bandit.name, dim=3)
    bandit.archive()
    refuses(Gone, "is archived", bandit.decide, ACTIONS)
    bandit.restore()
    assert bandit.decide(ACTIONS)
    assert bandit.name in [each["name"] for each in client.bandits()]


def test_data_rights(client):
    made = client.create(f"rights-{os.getpid()}", features={})
    one = made.decide([{"id": "x"}, {"id": "y"}], context={"user": {"id": "u1"}})
    made.decide([{"id": "x"}, {"id": "y"}], context={"user": {"id": "u2"}})
    assert made.erase(path="user.id", value="u2")["decisions"] == 1
    assert made.erase([one.id])["decisions"] == 1
    assert made.erase([one.id]) == {"decisions": 0, "events": 0, "proven": True}
    made.change(guardrails={})
    made.decide([{"id": "x"}, {"id": "y"}], key="u3")
    assert made.erase(person="u3")["decisions"] == 1
    refuses(BadRequest, "key.value must be a text", made.erase, path="user.id")
    made.purge()
    refuses(NotFound, None, made.describe)
    assert client.create(made.name, dim=2).describe()["decisions"] == 0


def test_settings_as_objects(client):
    made = client.create(f"options-{os.getpid()}", features={"names": 500, "products": None}, policy="eenet",
                         options={"f1.width": np.int64(20), "f1_bias": False},
                         challengers=[{"name": "c", "policy": "linucb", "options": {"alpha": 0.25}}])
    settings = made.describe()["settings"]
    assert settings["features"] == "names=500 products=none" and settings["options"] == "f1.width=20 f1.bias=off"
    assert settings["challengers"][0]["options"] == "alpha=0.25"


def test_the_server_itself(client):
    assert client.ready()
    assert "eenet_decisions_total" in client.metrics()
    assert not Client("http://127.0.0.1:1", retry_for=0).ready()


# ---- what is wrong ----


def test_people_and_metrics(client):
    made = client.create("guarded", policy="linucb", metrics=[{"name": "refund"}], wait=3600,
                         guardrails={"control": {"share": 0.5}, "sticky": {"for": "1h"}})
    drawn = {key: made.decide(ACTIONS, key=key) for key in map(str, range(40))}
    assert {each.group for each in drawn.values()} == {"treated", "control"}
    for key, first in drawn.items():
        again = made.decide(ACTIONS, key=key)
        assert (again.group, again.action) == (first.group, first.action)
        assert again.repeats == (first.id if first.group == "treated" else None)
    assert made.reward(drawn["0"], metrics={"refund": 1}).outcome == "joined"
    assert made.reward_many([{"id": drawn["1"].id, "value": 1, "metrics": {"refund": 0}}])[0].outcome == "joined"
    refuses(BadRequest, "metrics: expected a mapping of names to numbers, got int", made.reward, drawn["2"], metrics=1)
    refuses(BadRequest, "a reward: expected a value or metrics", made.reward, drawn["2"])


def test_wrong_requests(client, bandit, vectors):
    with pytest.raises(NotFound, match="there is no bandit 'nobody'") as caught:
        client.bandit("nobody").decide(ACTIONS)
    assert isinstance(caught.value, LookupError) and isinstance(caught.value, ServerError)
    refuses(NotFound, None, client.bandit("no/body?x=1 #").describe)
    refuses(BadRequest, "18|has 2 numbers|takes 3", vectors.decide, np.ones((2, 2)))
    refuses(BadRequest, "id: expected a string or a Decision of the server, got float", bandit.reward, 1.5, 1)
    refuses(BadRequest, "got 2 rounds, 1 contexts and 2 ids", bandit.decide_many, [ACTIONS] * 2, contexts=[None])
    sentence = r"a round: expected actions, context, .* got \['actions', 'contxt'\]"
    refuses(BadRequest, sentence, bandit.decide_many, [{"actions": ACTIONS, "contxt": {}}])
    refuses(BadRequest, "a reward: expected a pair", bandit.reward_many, [("a", 1, 2, 3, 4)])
    refuses(BadRequest, "name: expected valid Unicode", bandit.explain_decision, "\ud800")
    refuses(BadRequest, "name: expected a string, got int", client.bandit, 7)
    with pytest.raises(BadRequest, match="since: expected a datetime with a time zone"):
        list(bandit.log(since=datetime.datetime(2026, 1, 1)))


def test_values_that_json_does_not_have(bandit):
    circle = {}
    circle["again"] = {"more": [circle]}
    deep = []
    for _ in range(100_000):
        deep = [deep]
    wrong = [
        ((ACTIONS, {"user": {"age": float("-inf")}}), "context.user.age: expected a finite number, got -inf"),
        ((ACTIONS, {"at": datetime.date(2020, 1, 1)}), "context.at: expected .* got date; for a time, send"),
        (([{"at": np.datetime64("2020-01-01", "ns")}],), r"actions\[0\].features.at: expected .* got datetime; for a time"),
        (({"a": [1, {1}]},), r"actions\[0\].vector\[1\]: expected .* got set"),
        ((ACTIONS, {"user": [1, np.float32("inf")]}), r"context.user\[1\]: expected a finite number, got inf"),
        ((ACTIONS, {"seen": {1, 2}}), "context.seen: expected a number, .* got set"),
        ((ACTIONS, {("a", 1): 2}), "context: expected strings as names, got tuple"),
        ((ACTIONS, circle), r"context.again.more\[0\] contains itself"),
        ((ACTIONS, {"deep": deep}), "nested too deep"),
        (([{"x": b"bytes"}],), r"actions\[0\].features.x: expected .* got bytes"),
        ((np.array([[1, float("nan")]]),), "actions: expected finite float32 numbers"),
        ((np.ones(3),), "actions: expected an array of 2 dimensions, got 1"),
        (("red",), "actions: expected a mapping of ids to features, .* got str"),
        ((7,), "got int"),
    ]
    for arguments, sentence in wrong:
        refuses(BadRequest, sentence, bandit.decide, *arguments)
    refuses(BadRequest, "value: expected a finite number, got nan", bandit.reward, "a", float("nan"))
    refuses(BadRequest, "value", bandit.reward, "a", "much")
    assert bandit.decide(ACTIONS)


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://host", "http://", "http://h/?a=1", "http://me@h",
                                 "http://h/a b"])
def test_wrong_urls(url):
    refuses(ValueError, "url", Client, url)


def test_wrong_settings_of_a_client():
    refuses(ValueError, "without line breaks", Client, "http://127.0.0.1:1", "key\r\nX-Other: 1")
    refuses(ValueError, "expected timeout above 0", Client, "http://127.0.0.1:1", timeout=-1)
    refuses(ValueError, "ca_file works only with an https url", Client, "http://127.0.0.1:1", ca_file="a")
    refuses(ValueError, "connections: expected at least 1", AsyncClient, "http://127.0.0.1:1", connections=0)


def test_errors_survive_pickling():
    error = Conflict("taken", http_status=409, code="Conflict", request_id="r", maybe_done=True)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is Conflict and str(again) == "taken" and again.__dict__ == error.__dict__
    some = pickle.loads(pickle.dumps(SomeRefused("two", [1, error])))
    assert some.answers[0] == 1 and str(some) == "two" and str(some.answers[1]) == "taken"


# ---- keys and TLS ----


@pytest.fixture(scope="module")
def guarded(program, tmp_path_factory):
    """A server with keys that speaks TLS: itself, its certificate, and the keys by role."""
    folder = tmp_path_factory.mktemp("guarded")
    try:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-days", "2", "-subj", "/CN=test",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no openssl to make a certificate")
    keys = {}
    for role in ("admin", "app"):
        output = subprocess.run([program, "keys", "add", role, "--role", role, "--file", folder / "keys"], check=True,
                              capture_output=True, text=True)
        keys[role] = next(word for word in output.stdout.split() if word.startswith("ee_"))
    with ServerProcess(program, folder, "--keys", folder / "keys", "--certificate", folder / "cert.pem",
                       "--certificate-key", folder / "key.pem") as started:
        yield started, folder / "cert.pem", keys


def test_keys_and_tls(guarded):
    server, certificate, keys = guarded
    assert server.url.startswith("https:")
    with Client(server.url, keys["admin"], ca_file=certificate) as admin:
        admin.create("shop", features=True)
    with Client(server.url, keys["app"], ca_file=certificate) as app:
        shop = app.bandit("shop")
        for _ in range(3):
            assert shop.reward(shop.decide(ACTIONS), 1).outcome == "joined"
        with pytest.raises(Refused, match="needs a key with the role admin") as caught:
            shop.reset()
        assert caught.value.http_status == 403
    for key, sentence in ((None, "missing API key"), ("ee_wrong", "invalid API key")):
        refuses(Refused, sentence, Client(server.url, key, ca_file=certificate).bandit("shop").decide, ACTIONS)

    async def decide():
        async with AsyncClient(server.url, keys["app"], ca_file=certificate) as app:
            return await asyncio.gather(*(app.bandit("shop").decide(ACTIONS) for _ in range(10)))

    assert len(asyncio.run(decide())) == 10


def test_what_is_not_trusted_is_reported_at_once(guarded, server):
    guarded_server, _, keys = guarded
    with pytest.raises(Unavailable, match="self.signed certificate") as caught:
        Client(guarded_server.url, keys["app"]).bandit("shop").decide(ACTIONS)
    assert not caught.value.maybe_done
    with pytest.raises(Unavailable):  # TLS to one that does not speak it
        Client(server.url.replace("http:", "https:")).bandits()
    with pytest.raises(ServerError):  # and the other way round
        Client(guarded_server.url.replace("https:", "http:"), retry_for=0).bandits()


# ---- threads, processes, asyncio ----


FORK = """
import os, sys, eenet
bandit = eenet.Client(sys.argv[1]).bandit(sys.argv[2])
bandit.decide({"a": {}}, id="before")
pool = bandit._transport._pool
(kept,) = pool._idle
child = os.fork()
bandit.decide({"a": {}}, id="parent" if child else "child")
assert len(pool._idle) == 1 and (kept in pool._idle) == (child != 0)
assert not child or os.wait()[1] == 0
"""


def test_a_child_process_uses_connections_of_its_own(server, bandit):
    subprocess.run([sys.executable, "-c", FORK, server.url, bandit.name], check=True)
    assert {event["id"] for event in server.events(bandit.name, "decision")} == {"before", "child", "parent"}


def test_asyncio_with_many_calls_at_once(server, bandit):
    async def visit(shop, i):
        decision = await shop.decide(ACTIONS, id=str(i))
        return await shop.reward(decision, i % 2)

    async def all_visits():
        async with AsyncClient(server.url, connections=16) as client:
            shop = client.bandit(bandit.name)
            outcomes = await asyncio.gather(*(visit(shop, i) for i in range(200)))
            many = await shop.decide_many([ACTIONS] * 5)
            await shop.reward_many((decision, 1) for decision in many)
            return outcomes, [event async for event in shop.log()]

    outcomes, events = asyncio.run(all_visits())
    assert outcomes == [("joined", False)] * 200
    assert len({event["EventId"] for event in events}) == len(events) == 205


@types.coroutine
def turn():
    """The other tasks go on meanwhile."""
    yield


def test_a_cancelled_call_leaves_the_client_good(server, bandit):
    async def run():
        async with AsyncClient(server.url, connections=4) as client:
            shop = client.bandit(bandit.name)
            for round in range(10):
                tasks = [asyncio.create_task(shop.decide(ACTIONS, id=f"{round}-{i}")) for i in range(12)]
                for _ in range(round):  # further each time: waiting for room, connecting, waiting for the answer
                    await turn()
                for task in tasks[::2]:
                    task.cancel()
                came = await asyncio.gather(*tasks, return_exceptions=True)
                assert all(isinstance(each, (Decision, asyncio.CancelledError)) for each in came)
                assert [each.id for each in came[1::2]] == [f"{round}-{i}" for i in range(1, 12, 2)]
            again = await asyncio.gather(*(shop.decide(ACTIONS, id=f"0-{i}") for i in range(12)))
            assert [each.id for each in again] == [f"0-{i}" for i in range(12)]

    asyncio.run(run())


def test_an_async_client_in_several_loops(server, bandit):
    client = AsyncClient(server.url)
    for _ in range(3):
        assert asyncio.run(client.bandit(bandit.name).decide(ACTIONS)).id
    asyncio.run(close(client))


async def close(client):
    client.close()


# ---- how it looks ----


def test_both_clients_have_all_calls():
    plans = {name for name, value in vars(clients.bandit_calls).items()
             if inspect.isfunction(value) and value.__module__ == "eenet.client.bandit_calls" and name[0] != "_"}
    for kind in (BanditClient, AsyncBanditClient):
        assert {name for name, value in vars(kind).items() if inspect.isfunction(value) and name[0] != "_"} == plans
        for name in plans:
            call = getattr(kind, name)
            assert call.__doc__ and "Steps" not in str(inspect.signature(call))
            assert list(inspect.signature(call).parameters)[0] == "self"
    assert inspect.iscoroutinefunction(AsyncBanditClient.decide)
    assert not inspect.iscoroutinefunction(BanditClient.decide)
    assert str(inspect.signature(BanditClient.decide_slots)).endswith("-> 'List[Decision]'")
    assert str(inspect.signature(AsyncBanditClient.log)).endswith("-> 'AsyncIterator[Dict[str, Any]]'")


def test_every_route_of_the_server_has_a_call(client):
    """Those that clients have no use for are named here."""
    import json
    import urllib.request

    text = "".join(inspect.getsource(module) for module in (clients.bandit_calls, clients.server_calls))
    with urllib.request.urlopen(client.url + "/openapi.json") as answer:
        paths = json.load(answer)["paths"]
    others = ("/personalizer", "/page", "/livez", "/ready", "/status", "/openapi.json", "/", "/v1/audit", "/v1/clock")
    for path in paths:
        if "personalizer" in path or path in others or path.startswith("/page"):
            continue
        ending = path.replace("/v1/bandits/{name}", "").split("{")[0]
        assert ending in text, path
        last = path.rsplit("}", 1)[-1]
        assert last in text, path


@pytest.mark.parametrize("module", ["answers", "awaiting", "bandit_calls", "blocking", "server_calls"])
def test_the_examples_of_the_docstrings(client, module):
    client.create("shop", features=True, wait="30m")
    names = {"url": client.url, "client": client, "asyncio": asyncio}
    found = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(f"eenet.client.{module}"),
                                                           extraglobs=names)
    results = []
    for test in filter(lambda each: each.examples, found):
        test.globs["bandit"] = client.create(f"example-{next(numbers)}-{os.getpid()}", features={"names": 100})
        results.append(doctest.DocTestRunner(verbose=False).run(test))
    assert sum(result.failed for result in results) == 0 and sum(result.attempted for result in results) > 0


def test_the_example(server):
    """How much it learns depends on how soon the server learns: here, that the server learns from every visit."""
    example = Path(__file__).resolve().parents[2] / "examples" / "python_client.py"
    output = subprocess.run([sys.executable, example, server.url], capture_output=True, text=True, check=True).stdout
    clicks = re.search(r"clicks in the first 100 visits: (\d+), in the last 100: (\d+)\n", output)
    bandit = Client(server.url).bandit("banners")
    await_learned(bandit)
    values = [-event["_label_cost"] for event in bandit.log()]
    assert [sum(values[:100]), sum(values[-100:])] == [int(count) for count in clicks.groups()]
    assert bandit.describe()["learned"] == len(values) == 300
    assert re.search(r"logged: 0\.\d\d clicks per visit\nuniform: 0\.\d\d", output)
