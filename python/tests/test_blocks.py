"""Arms as blocks of a context."""

import contextlib
import doctest
import pickle

import numpy
import pytest
from conftest import refuses

import eenet
import eenet._blocks
from eenet._adapting import products
from eenet._blocks import BlockLayout


def test_examples():
    assert doctest.testmod(eenet._blocks).failed == 0


@pytest.mark.parametrize("features, arms", [(1, 1), (1, 5), (3, 1), (4, 7)])
def test_blocks_are_a_kronecker_product(features, arms):
    context = numpy.random.default_rng(0).normal(size=features).astype("f")
    made = eenet.blocks(context, arms)
    assert made.shape == (arms, arms * features)
    numpy.testing.assert_array_equal(made.toarray(), numpy.kron(numpy.eye(arms, dtype="f"), context))


def test_blocks_takes_what_is_a_vector():
    expected = numpy.kron(numpy.eye(2), [1, 0, 2])
    for context in ([1, 0, 2], (1, 0, 2), numpy.array([1, 0, 2]), numpy.array([1, 9, 0, 9, 2, 9.0])[::2]):
        numpy.testing.assert_array_equal(eenet.blocks(context, 2).toarray(), expected)


def sparse_rows(sparse):
    """Rows by what they are, with their numbers."""
    row = sparse.csr_matrix(numpy.array([[0, 3, 0, 0, 5.0]]))
    yield from ((row.asformat(form), [0, 3, 0, 0, 5]) for form in ("csr", "csc", "coo"))
    yield sparse.csr_matrix(([5.0, 3.0], [4, 1], [0, 2]), shape=(1, 5)), [0, 3, 0, 0, 5]  # in disorder
    yield sparse.csr_matrix(([5.0, 3.0, 0.5], [4, 1, 4], [0, 3]), shape=(1, 5)), [0, 3, 0, 0, 5.5]  # an index twice
    yield sparse.csr_matrix((1, 5)), [0] * 5
    rows = sparse.csr_array(numpy.array([[0, 3, 0], [1, 0, 2.0]]))
    yield rows[[1]], [1, 0, 2]
    with contextlib.suppress(NotImplementedError):  # of one dimension in scipy 1.13 and later, of two or none before
        yield rows[1], [1, 0, 2]


def test_blocks_of_a_sparse_row():
    sparse = pytest.importorskip("scipy.sparse")
    for row, numbers in sparse_rows(sparse):
        made = eenet.blocks(row, 3)
        assert len(made.data) == 3 * numpy.count_nonzero(numbers)
        assert made.indices.tolist() == sorted(made.indices)
        numpy.testing.assert_array_equal(made.toarray(), numpy.kron(numpy.eye(3), numbers))
    refuses(ValueError, "one sparse row", eenet.blocks, sparse.csr_matrix(numpy.eye(3)), 2)


@pytest.mark.parametrize("sparse_row", [False, True])
def test_layout_with_a_constant_and_some_of_the_blocks(sparse_row):
    context = numpy.array([2.0, 0.0], "f")
    if sparse_row:
        context = pytest.importorskip("scipy.sparse").csr_matrix(context)
    layout = BlockLayout(4, [3, 1], constant=True)
    expected = numpy.zeros((2, 12))
    expected[0, 9:11] = expected[1, 3:5] = 1, 2
    numpy.testing.assert_array_equal(layout.arms(context).toarray(), expected)
    numpy.testing.assert_array_equal(pickle.loads(pickle.dumps(layout)).arms(context).toarray(), expected)


def test_layout_follows_contexts_of_another_size():
    layout = BlockLayout(2)
    for context in ([1], [1, 2], [3]):
        numpy.testing.assert_array_equal(layout.arms(context).toarray(), numpy.kron(numpy.eye(2), context))


def test_frames_are_shared_and_read_only():
    first, second = eenet.blocks([1, 2], 3), eenet.blocks([3, 4], 3)
    assert first.indices is second.indices and first.indptr is second.indptr
    with pytest.raises(ValueError):
        first.indices[0] = 9


@pytest.mark.parametrize(
    "context, arms, error", [([[1, 2]], 2, ValueError), ([1], 0, ValueError), ([1], 1.5, TypeError)]
)
def test_bad_input_is_a_sentence(context, arms, error):
    refuses(error, "context:|arms:", eenet.blocks, context, arms)


def test_a_bandit_decides_on_blocks_as_on_the_same_dense_arms():
    context = [0.5, 2.0, 1.0]
    sparse, dense = (eenet.Bandit("linucb", dim=12, seed=3) for _ in range(2))
    for step in range(50):
        arms = eenet.blocks([value * (step % 5) for value in context], 4)
        one, other = sparse.decide(arms), dense.decide(arms.toarray())
        assert one.arm == other.arm
        sparse.learn(one, one.arm == step % 4)
        dense.learn(other, one.arm == step % 4)
    numpy.testing.assert_allclose(sparse.score(arms).scores, dense.score(arms.toarray()).scores, rtol=1e-5)


def test_products():
    context, actions = numpy.array([2.0, 3.0], "f"), numpy.array([[1, 10, 100], [4, 5, 6]], "f")
    made = products(context, actions)
    for action, row in zip(actions, made):
        crossed = numpy.outer(action, context).ravel()
        numpy.testing.assert_array_equal(row, numpy.concatenate([[1], context, action, crossed]))
