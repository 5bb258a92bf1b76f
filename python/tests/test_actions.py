"""Decision.action: what was chosen, as it was given, by a bandit and by the server alike."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import eenet

ITEMS = {"a7": {"price": 9.5}, "b2": {"price": 3}, 5: {"price": 4}}


def named(policy: str = "uniform") -> eenet.Bandit:
    return eenet.Bandit(policy, features={"names": 50})


@pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType])
def test_the_key_of_a_mapping(kind: Any) -> None:
    bandit = named()
    for _ in range(20):
        decision = bandit.decide(kind(ITEMS), context={"plan": "free"})
        assert decision.action == list(ITEMS)[decision.arm]
        bandit.learn(decision, 1.0)


def test_a_mapping_has_the_features_of_a_list() -> None:
    by_id, in_order = named("linucb"), named("linucb")
    tagged = ['{"_tag": "a7", "price": 9.5}', '{"_tag": "b2", "price": 3}', '{"_tag": "5", "price": 4}']
    for _ in range(20):
        one, other = by_id.decide(ITEMS, context={"x": 1}), in_order.decide(tagged, context={"x": 1})
        assert one == other and one.scores.tolist() == other.scores.tolist()
        by_id.learn(one, one.arm)
        in_order.learn(other, other.arm)
    assert by_id.explain(ITEMS, 1) == in_order.explain(tagged, 1)
    assert by_id.score({"a": {}, "b": OrderedDict(y=2)}) == in_order.score(['{"_tag": "a"}', '{"_tag": "b", "y": 2}'])
    assert by_id.to_bytes() == in_order.to_bytes()


def test_the_element_of_a_list() -> None:
    items = [dict(price=price) for price in range(5)]
    decision = named().decide(items)
    assert decision.action is items[decision.arm]
    assert named().decide(tuple(items)).action in items
    vectors = [[1.0, 0.0], [0.0, 1.0]]
    decision = eenet.Bandit("uniform", 2).decide(vectors)
    assert decision.action is vectors[decision.arm]


def test_the_label_of_a_row() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"price": [9.5, 3]}, index=["a7", "b2"])
    for bandit in (named(), eenet.Bandit("uniform", 1)):
        decision = bandit.decide(frame)
        assert decision.action == ["a7", "b2"][decision.arm]


def test_the_number_of_a_row() -> None:
    scipy = pytest.importorskip("scipy.sparse")
    bandit = eenet.Bandit("uniform", 3)
    for arms in (np.eye(3, dtype=np.float32), np.eye(3, dtype=int), scipy.csr_matrix(np.eye(3))):
        decision = bandit.decide(arms)
        assert decision.action == decision.arm and type(decision.action) is int
    for decision in bandit.decide_many(np.ones((4, 2, 3))):
        assert decision.action == decision.arm
    decision = named().decide('{"_multi": [{"a": 1}, {"a": 2}]}')
    assert decision.action == decision.arm


@pytest.mark.parametrize("vector", [list, tuple, np.array])
def test_a_mapping_of_vectors(vector: Any) -> None:
    arms = {"red": vector([1.0, 0.0]), "blue": vector([0.0, 2.0])}
    for bandit in (eenet.Bandit("linucb:paper", 2), eenet.Bandit("linucb:paper", 2)):
        decision = bandit.decide(arms)
        assert decision.action == "blue" and decision.arm == 1
    assert eenet.Bandit("linucb:paper", 2).snapshot().decide(arms).action == "blue"
    assert eenet.Bandit("linucb:paper", 2).score(arms) == eenet.Bandit("linucb:paper", 2).score([[1, 0], [0, 2]])


def test_an_id_that_is_no_text_for_the_library() -> None:
    with pytest.raises(ValueError):
        eenet.Bandit("uniform", 1).decide({"\ud800": [1.0]})


def test_several_rounds_and_slots_and_snapshots() -> None:
    bandit = named()
    rounds = [ITEMS, list(ITEMS.values()), {"x": {}, "y": {"a": 1}}]
    first, second, third = bandit.decide_many(rounds)
    assert first.action == list(ITEMS)[first.arm]
    assert second.action is rounds[1][second.arm]
    assert third.action == "xy"[third.arm]
    page = bandit.decide_slots(ITEMS, 2)
    assert [each.action for each in page] == [list(ITEMS)[each.arm] for each in page]
    page = bandit.decide_slots(ITEMS, 2, contexts=[{"place": "top"}, {"place": "side"}])
    assert [each.action for each in page] == [list(ITEMS)[each.arm] for each in page]
    decision = bandit.snapshot().decide(ITEMS)
    assert decision.action == list(ITEMS)[decision.arm]


@pytest.mark.parametrize("arms, sentence", [
    ({"topic": "music"}, "got str for 'topic'"),
    ({"a": {}, "b": 3}, "got int for 'b'"),
    ({"a": {}, "b": None}, "got NoneType for 'b'"),
    ({"a": {"x": 1}, "b": {"x": {1}}}, "x: expected .* got set"),
])
def test_a_mapping_that_is_none_of_actions(arms: Any, sentence: str) -> None:
    bandit = named()
    with pytest.raises(TypeError, match=sentence):
        bandit.decide(arms)
    assert bandit.info.decisions == 0


def test_a_decision_keeps_its_action() -> None:
    items = [{"price": 1}, {"price": 2}]
    decision = named().decide(items)
    chosen = items[decision.arm]
    items.clear()
    assert decision.action is chosen
    for copied in (pickle.loads(pickle.dumps(decision)), copy.deepcopy(decision)):
        assert copied == decision and copied.action == chosen
    assert copy.copy(decision).action is chosen


def test_an_action_that_holds_its_decision_is_collected() -> None:
    class Item(dict):  # type: ignore[type-arg]
        pass

    items = [Item(price=1), Item(price=2)]
    decision = named().decide(items)
    items[decision.arm]["decision"] = decision
    alive = weakref.ref(items[decision.arm])
    del decision, items
    gc.collect()
    assert alive() is None
