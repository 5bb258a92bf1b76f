"""The learner for Coba, in Coba's own experiments beside Coba's own learners."""

import copy
import pickle

import numpy
import pytest
from conftest import refuses

cb = pytest.importorskip("coba", reason="Coba is not there")
pytest.importorskip("coba.register")  # what an installed Coba finds by its entry point

import eenet  # noqa: E402
from eenet.coba import EENetLearner  # noqa: E402


def mean_rewards(environments, learners, last=None, evaluator=None):
    """The mean reward of each learner, by family."""
    run = cb.Experiment(environments, learners, *([evaluator] if evaluator else [])).run(quiet=True)
    found = {}
    for learner_id, family in zip(*run.learners[["learner_id", "family"]]):
        rewards = [reward for each, reward in zip(*run.interactions[["learner_id", "reward"]]) if each == learner_id]
        found[family] = float(numpy.mean(rewards[-last:] if last else rewards))
    return found


def lambda_environment(context, actions, reward, rounds=900):
    return cb.Environments.from_lambda(rounds, context, actions, reward, seed=3)


def features(_, random):
    return random.randoms(3)


ENVIRONMENTS = {
    # classes of a data set: one-hot actions
    "classes": (
        features,
        lambda i, x, r: [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
        lambda i, x, a, r: x.index(max(x)) == a.index(1),
    ),
    # actions by name
    "texts": (features, lambda i, x, r: ["p", "q", "s"], lambda i, x, a, r: "pqs"[x.index(max(x))] == a),
    # whole numbers are names too
    "numbers": (features, lambda i, x, r: [0, 1, 2], lambda i, x, a, r: x.index(max(x)) == a),
    # actions with features
    "vectors": (
        features,
        lambda i, x, r: [tuple(r.randoms(3)) for _ in range(4)],
        lambda i, x, a, r: sum(u * (v - 0.5) for u, v in zip(a, x)),
    ),
    # a number between, as a price
    "prices": (lambda i, r: None, lambda i, x, r: [0.5, 1.5, 2.5], lambda i, x, a, r: 1 - abs(a - 1.5)),
    # a context that is one text, one that mixes numbers and texts, dicts, no context
    "plans": (
        lambda i, r: r.choice(["free", "paid"]),
        lambda i, x, r: ["ad", "offer", "none"],
        lambda i, x, a, r: {"free": "offer", "paid": "none"}[x] == a,
    ),
    "mixed": (
        lambda i, r: (r.random(), r.choice(["free", "paid"])),
        lambda i, x, r: ["ad", "offer", "none"],
        lambda i, x, a, r: {"free": "offer", "paid": "none"}[x[1]] == a,
    ),
    "dicts": (
        lambda i, r: {"age": r.randint(18, 80), "plan": r.choice(["free", "paid"])},
        lambda i, x, r: [{"item": "ad", "price": 1}, {"item": "offer", "price": 2.5}, {"item": "none"}],
        lambda i, x, a, r: {"free": "offer", "paid": "none"}[x["plan"]] == a["item"],
    ),
    "sparse classes": (
        lambda i, r: {str(r.randint(0, 2)): 1, "9": 0.5},
        lambda i, x, r: [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
        lambda i, x, a, r: str(a.index(1)) in x,
    ),
    "nothing": (
        lambda i, r: None,
        lambda i, x, r: ["a", "b", "c"],
        lambda i, x, a, r: r.random() < {"a": 0.1, "b": 0.8, "c": 0.3}[a],
    ),
}


PLAIN = ["classes", "vectors", "prices"]  # these need no names
CASES = [
    (policy, name, named)
    for policy in ("eenet:fast", "linucb")
    for name, named in [*((name, True) for name in ENVIRONMENTS), *((name, False) for name in PLAIN)]
    if (policy, name) != ("linucb", "prices")  # the price in the middle is the best: that is not linear
]


@pytest.mark.parametrize("policy, name, named", CASES)
def test_learns_whatever_contexts_and_actions_are(policy, name, named):
    environment = lambda_environment(*ENVIRONMENTS[name])
    options = {"alpha": 1} if policy == "linucb" else {}
    if named:
        options["features"] = "names=500, hashes=100"
    learner = EENetLearner(policy, **options)
    means = mean_rewards(environment, [learner, cb.RandomLearner()], last=300)
    rounds = list(environment[0].read())[-300:]
    best = numpy.mean([max(map(round_["rewards"], round_["actions"])) for round_ in rounds])
    assert means[policy] - means["Random"] > 0.7 * (best - means["Random"]) > 0.05


@pytest.mark.parametrize("name", ["from_linear_synthetic", "from_mlp_synthetic"])
def test_beside_cobas_learners(name):
    environments = getattr(cb.Environments, name)(400, n_actions=5, seed=2)
    means = mean_rewards(environments, [EENetLearner("eenet"), cb.LinUCBLearner(), cb.RandomLearner()], last=200)
    assert means["eenet"] > means["Random"]
    assert means["eenet"] > means["LinUCB"] - 0.05


def test_probabilities_are_exact():
    learner = EENetLearner("eenet:fast", propensity="floor", propensity_epsilon=0.3)
    actions = ["a", "b", "c"]
    for _ in range(50):
        action, probability, info = learner.predict((0.5, 1.0), actions)
        scores = [learner.score((0.5, 1.0), actions, each) for each in actions]
        assert sum(scores) == pytest.approx(1)
        assert sorted(scores)[:2] == pytest.approx([0.1, 0.1]) or scores == pytest.approx([1 / 3] * 3)
        learner.learn((0.5, 1.0), action, float(action == "b"), probability, **info)
    action, probability, info = learner.predict((0.5, 1.0), actions)
    assert probability == pytest.approx(learner.score((0.5, 1.0), actions, action))
    assert learner.score((0.5, 1.0), actions, "b") == pytest.approx(0.8)


def test_learns_from_what_another_policy_logged():
    logged = lambda_environment(*ENVIRONMENTS["texts"]).logged(cb.RandomLearner())
    learner = EENetLearner("linucb", features="names=100, hashes=10")
    evaluator = cb.SequentialCB(learn="off", eval="ips")
    means = mean_rewards(logged, [learner], last=300, evaluator=evaluator)
    assert means["linucb"] > 0.6  # chance is 1/3


def test_batches():
    environments = lambda_environment(*ENVIRONMENTS["texts"]).batch(8)
    learner = EENetLearner("linucb", features="names=100, hashes=10")
    assert mean_rewards(environments, [learner], last=300)["linucb"] > 0.75


@pytest.mark.parametrize("again", [copy.deepcopy, lambda learner: pickle.loads(pickle.dumps(learner))])
@pytest.mark.parametrize("actions", [["a", "b"], [(1, 0), (0, 1)], [(0.5, 0.1), (0.3, 0.2)]])
def test_copies_go_on_alike(again, actions):
    def play(learner):
        chosen = []
        for step in range(100):
            action, probability, info = learner.predict((step % 7, 1.0), actions)
            learner.learn((step % 7, 1.0), action, float(action == actions[step % 2]), probability, **info)
            chosen.append((action, probability))
        return chosen

    learner = EENetLearner("eenet:fast")
    play(learner)
    other = again(learner)
    assert play(learner) == play(other)


def test_one_hot_actions_in_any_order_and_some_of_them():
    learner = EENetLearner("linucb")
    for action in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
        for _ in range(5):
            learner.learn((1.0, 2.0), action, float(action == (0, 0, 1)), None)
    for actions in ([(0, 0, 1), (0, 1, 0)], [(0, 1, 0), (1, 0, 0), (0, 0, 1)], [(1, 0, 0), (0, 0, 1)]):
        assert learner.predict((1.0, 2.0), actions)[0] == (0, 0, 1)
        assert learner.score((1.0, 2.0), actions, (0, 0, 1)) == 1


def test_names_of_features():
    learner = EENetLearner("linucb", features="names=100, hashes=10, products=none")
    user = {"plan": "free", "age": 31, "new": True, "left": None}
    context = cb.Namespaces({"user": user, "tags": ["p", "q"], "v": (1, 2)})
    for action in ("red", 7, {"color": "blue", "price": 2.5}, ("x", 0.5), (0, 1, 0)):
        learner.learn(context, action, 1.0, None)
    names = {learner.bandit.feature(place).name for place in range(100)} - {""}
    shared = {"x.user.plan=free", "x.user.age", "x.user.new", "x.tags=p", "x.tags=q", "x.v[0]", "x.v[1]"}
    actions = {"a=red", "a=7", "a.color=blue", "a.price", "a.0=x", "a.1", "a=1"}
    assert names == {"constant"} | shared | actions


def test_nothing_waits_that_has_no_reward():
    learner = EENetLearner("linucb")
    for step in range(20):
        learner.predict((1.0, step), [(1, 0), (0, 1)])
        learner.learn((1.0, step), (1, 0), 1.0, 0.5)  # another's decision
    assert learner.bandit.info.pending == 0
    assert learner.bandit.info.rewards == 20


def test_bad_input_is_a_sentence():
    refuses(eenet.BadOption, "linucb", EENetLearner, "lincub")
    refuses(eenet.BadOption, "did you mean 'alpha'", EENetLearner, "linucb", alhpa=1)
    refuses(eenet.BadOption, "0 to 1000000", EENetLearner, "linucb", alpha=-1)
    learner = EENetLearner("linucb")
    refuses(cb.CobaException, "expects a list of actions", learner.predict, (1.0, 2.0), [])
    learner.predict((1.0, 2.0), [(1, 0), (0, 1)])
    refuses(cb.CobaException, "context: expected 2 features, .* got 1", learner.predict, (1.0,), [(1, 0), (0, 1)])
    refuses(cb.CobaException, "actions: expected 2, .* got 3", learner.predict, (1.0, 2.0), [(1, 0, 0), (0, 1, 0)])
