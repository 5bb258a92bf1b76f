"""The scikit-learn classifier, with scikit-learn itself as the judge."""

import copy
import pickle

import numpy
import pytest
from conftest import refuses

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_breast_cancer, load_digits, load_iris  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import eenet  # noqa: E402
from eenet.sklearn import EENetClassifier  # noqa: E402


@parametrize_with_checks([EENetClassifier("eenet:fast", random_state=0), EENetClassifier("linucb", random_state=0)])
def test_as_scikit_learn_wants_it(estimator, check):
    check(estimator)


def scaled(load):
    X, y = load(return_X_y=True)
    train_X, test_X, train_y, test_y = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    scaler = StandardScaler().fit(train_X)
    return scaler.transform(train_X), scaler.transform(test_X), train_y, test_y


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
def test_learns_labels_about_as_well_as_logistic_regression(load):
    train_X, test_X, train_y, test_y = scaled(load)
    other = LogisticRegression(max_iter=1000).fit(train_X, train_y).score(test_X, test_y)
    ours = EENetClassifier("eenet:fast", random_state=0).fit(train_X, train_y).score(test_X, test_y)
    assert ours > other - 0.03
    assert ours > 0.9


def test_learns_as_a_bandit():
    """Digits seen once, and of each only the reward of the digit that was chosen: chance is 0.1."""
    train_X, test_X, train_y, test_y = scaled(load_digits)
    bandit = EENetClassifier("eenet:fast", options={"exclusive": True}, random_state=0)
    bandit.partial_fit(train_X[:0], train_y[:0], classes=range(10))
    right = 0
    for row in range(len(train_y)):
        action = bandit.decide(train_X[row : row + 1])
        reward = action == train_y[row]
        bandit.partial_fit(train_X[row : row + 1], action, rewards=reward)
        right += int(reward[0])
    assert right / len(train_y) > 0.6
    assert bandit.score(test_X, test_y) > 0.85
    assert bandit.bandit_.info.pending == 0


def test_learns_from_logged_decisions():
    train_X, test_X, train_y, test_y = scaled(load_iris)
    actions = numpy.random.RandomState(0).randint(3, size=len(train_y))
    model = EENetClassifier(random_state=0)
    for _ in range(3):
        model.partial_fit(train_X, actions, classes=[0, 1, 2], rewards=actions == train_y)
    assert model.score(test_X, test_y) > 0.85


def test_expectations_are_rewards():
    X = numpy.ones((40, 2))
    actions = numpy.arange(40) % 2
    model = EENetClassifier("linucb", options={"lambda": 0.001, "alpha": 10}, random_state=0)
    model.partial_fit(X, actions, classes=[0, 1], rewards=numpy.where(actions, 7.0, -3.0))
    numpy.testing.assert_allclose(model.predict_expectations(X[:1]), [[-3, 7]], rtol=0.01)
    assert model.decision_function(X[:1]) == pytest.approx(10, rel=0.01)  # both have been tried equally often


def test_probabilities_are_those_of_decide():
    train_X, _, train_y, _ = scaled(load_iris)
    options = {"propensity": "floor", "propensity_epsilon": 0.3}
    model = EENetClassifier(options=options, random_state=0).fit(train_X, train_y)
    probabilities = model.predict_proba(train_X[:1])[0]
    numpy.testing.assert_allclose(sorted(probabilities), [0.1, 0.1, 0.8])
    drawn = model.decide(numpy.repeat(train_X[:1], 4000, axis=0))
    counts = numpy.bincount(drawn, minlength=3) / 4000
    assert numpy.abs(counts - probabilities).max() < 5 * numpy.sqrt(0.25 / 4000)  # five deviations


def test_labels_of_any_kind():
    X, y = load_iris(return_X_y=True)
    names = numpy.array(["setosa", "versicolor", "virginica"])[y]
    model = make_pipeline(StandardScaler(), EENetClassifier("eenet:fast", random_state=0)).fit(X, names)
    assert set(model.predict(X)) <= set(names)
    assert model.score(X, names) > 0.9


def test_sparse_rows_are_the_same_as_dense_ones():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = load_iris(return_X_y=True)
    X = numpy.where(X < 2, 0, X)
    dense = EENetClassifier("linucb", random_state=0).fit(X, y)
    other = EENetClassifier("linucb", random_state=0).fit(sparse.csr_array(X), y)
    numpy.testing.assert_allclose(
        other.decision_function(sparse.csc_matrix(X)), dense.decision_function(X), rtol=1e-3, atol=1e-4
    )


def test_pipelines_grids_and_cross_validation():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), EENetClassifier(random_state=0))
    grid = {
        "eenetclassifier__policy": ["eenet:fast", "linucb"],
        "eenetclassifier__options": [None, {"propensity": "first"}],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_params_["eenetclassifier__policy"] == "eenet:fast"
    assert cross_val_score(search.best_estimator_, X, y, cv=3).mean() > 0.9


def test_parameters_and_clones():
    model = EENetClassifier(eenet.policy("linucb"), options="alpha=0.5", passes=2, random_state=3)
    again = clone(model)
    assert again.get_params() == model.get_params()
    again.set_params(policy="eenet", options={"w2": 0.1})
    assert again.fit([[0.0], [1.0]], [0, 1]).bandit_.options["w2"] == "0.1"


@pytest.mark.parametrize("again", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_go_on_alike(again):
    train_X, test_X, train_y, _ = scaled(load_iris)
    model = EENetClassifier("eenet:fast", random_state=0).fit(train_X, train_y)
    other = again(model)
    for each in (model, other):
        each.partial_fit(test_X, each.decide(test_X), rewards=numpy.ones(len(test_X)))
        each.partial_fit(train_X, train_y)
    numpy.testing.assert_array_equal(model.decision_function(test_X), other.decision_function(test_X))


def test_bad_input_is_a_sentence():
    X, y = load_iris(return_X_y=True)
    refuses(ValueError, "classes must be passed", EENetClassifier().partial_fit, X, y)
    model = EENetClassifier("linucb").fit(X, y)
    refuses(ValueError, r"expected the classes .* got \[7\]", model.partial_fit, X[:1], [7])
    refuses(ValueError, r"expected the classes \[0, 1, 2\], got \['a', 'b'\]", model.partial_fit, X[:2], ["b", "a"])
    refuses(ValueError, "one per row", model.partial_fit, X[:2], y[:2], rewards=[1])
    refuses(ValueError, "expected finite numbers", model.partial_fit, X[:1], y[:1], rewards=[numpy.nan])
    refuses(ValueError, "as on the last call", model.partial_fit, X, y, classes=[0, 1])
    refuses(ValueError, "passes", EENetClassifier(passes=0).fit, X, y)
    refuses(eenet.BadOption, "linucb", EENetClassifier("lincub").fit, X, y)
