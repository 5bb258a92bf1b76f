"""Policies and options as Python objects, and how options are given."""

from __future__ import annotations

import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import refuses

import eenet


def test_they_are_those_of_the_program(program: Path) -> None:
    listed = subprocess.run([program, "policies"], check=True, capture_output=True, text=True).stdout
    for policy in eenet.policies():
        assert policy.name in listed.split() and policy.name
        described = subprocess.run([program, "describe", policy.name], check=True, capture_output=True, text=True).stdout
        words = described.split()
        for option in policy.options.values():
            assert option.name in words and option.default.split()[0] in described, (policy.name, option)


@pytest.mark.parametrize("policy", eenet.policies(), ids=lambda policy: policy.name)
def test_each_makes_a_bandit_with_its_defaults(policy: eenet.Policy) -> None:
    bandit = eenet.Bandit(policy, dim=4)
    assert bandit.policy == policy.name
    assert bandit.options == {name: policy.options[name].default for name in bandit.options}
    assert set(bandit.options) <= set(policy.options)
    assert {name for name, option in policy.options.items() if option.acts} == set(bandit.options)
    assert eenet.policy(policy.name) is policy and eenet.policy(policy) is policy
    assert policy.summary and policy.name in str(policy)
    assert pickle.loads(pickle.dumps(policy)) == policy


def test_an_unknown_name_is_reported_with_the_nearest() -> None:
    refuses(eenet.BadOption, r"did you mean 'linucb'\?", eenet.policy, "lincub")
    refuses(eenet.BadOption, r"did you mean 'linucb'\?", eenet.policy, "LinUCB")
    refuses(eenet.BadOption, "unknown policy ''", eenet.policy, "")
    refuses(eenet.BadOption, "unknown policy 'features'", eenet.policy, "features")
    with pytest.raises(TypeError, match="expected a name or a Policy"):
        eenet.policy(3)  # type: ignore[arg-type]


def test_objects_cannot_be_changed() -> None:
    policy = eenet.policy("linucb")
    with pytest.raises(AttributeError):
        policy.name = "other"  # type: ignore[misc]
    policy.options.clear()
    assert policy.options
    alpha = policy.options["alpha"]
    assert str(alpha).startswith("alpha=1: ") and alpha.first
    with pytest.raises(AttributeError):
        alpha.default = "2"  # type: ignore[misc]


def options(**given: Any) -> dict[str, str]:
    return eenet.Bandit("eenet", 4, **given).options


@pytest.mark.parametrize("given", [
    {"f1_width": 50, "w2": 0.25, "standardize": False},
    {"options": "f1.width=50, w2=0.25 standardize=off"},
    {"options": {"f1.width": 50, "w2": 0.25, "standardize": "off"}},
    {"options": {"f1_width": "50", "w2": "0.25"}, "standardize": np.bool_(False)},
    {"options": "f1.width=50", "w2": np.float64(0.25), "standardize": False},
    {"f1_width": np.int16(50), "w2": np.float32(0.25), "standardize": "off"},
    {"f1_width": np.array(50), "w2": np.array(0.25), "standardize": np.array(False)},
])
def test_options_are_given_in_many_ways(given: dict[str, Any]) -> None:
    own = options(**given)
    assert (own["f1.width"], own["w2"], own["standardize"]) == ("50", "0.25", "off")
    changed = {name for name, value in own.items() if value != options()[name]}
    assert changed == {"f1.width", "w2", "standardize"}


def test_none_and_words_that_python_keeps() -> None:
    assert options(default_reward=None)["default_reward"] == "none"
    assert eenet.Bandit("linucb", 4, lambda_=2).options["lambda"] == "2"
    assert eenet.Bandit("linucb", 4, **{"lambda": 2}).options["lambda"] == "2"
    assert eenet.Bandit("linucb", 4, alpha=0.1 + 0.2).options["alpha"] == repr(0.1 + 0.2)


@pytest.mark.parametrize("given, sentence", [
    ({"f1_width": 0}, "f1.width must be"),
    ({"f1_width": "fifty"}, "f1.width"),
    ({"f1_width": "50 w2=1"}, "without spaces"),
    ({"f1_width": "50,w2=1"}, "without spaces"),
    ({"f1_width": ""}, "expected a value without"),
    ({"options": {"f1.width w2": 1}}, "expected a value without"),
    ({"options": "f1.width"}, "expected name=value"),
    ({"w2": float("nan")}, "w2"),
    ({"f1_width": 2**100}, "f1.width"),
    ({"prior_gain": 1, "exploration": "network"}, "prior_gain"),  # has no effect then
    ({"wdith": 3}, "no option 'wdith'"),
    ({"propensity": "floor:0.05"}, "use propensity='floor', propensity_epsilon=0.05$"),
    ({"propensity": "flor:0.05"}, "propensity must be own"),
    ({"wait": "30m"}, "in seconds, use wait=1800$"),
    ({"wait": "soon"}, "wait must be"),
])
def test_options_that_cannot_be(given: dict[str, Any], sentence: str) -> None:
    refuses(eenet.BadOption, sentence, options, **given)


def test_features_are_given_in_many_ways() -> None:
    defaults = eenet.Bandit("linucb", features=True)
    assert eenet.Bandit("linucb", features="").to_bytes() == defaults.to_bytes()
    assert eenet.Bandit("linucb", features={}).to_bytes() == defaults.to_bytes()
    own = [eenet.Bandit("linucb", features=given).features for given in ("names=60 hashes=0", {"names": 60, "hashes": 0})]
    assert own[0] == own[1] and own[0] is not None and own[0]["names"] == "60"
    assert eenet.Bandit("linucb", 4, features=False).features is None
    refuses(eenet.BadOption, "did you mean 'names'", eenet.Bandit, "linucb", features={"nmaes": 3})
    refuses(eenet.BadInput, "give dim or features, not both", eenet.Bandit, "linucb", 4, features=True)
