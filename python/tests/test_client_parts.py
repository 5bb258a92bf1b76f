"""What the clients share, without a network: answers as bytes, and when to try again."""

import json
import random

import numpy as np
import pytest

from eenet._core import _vectors_json
from eenet.client.batches import Item, in_batches
from eenet.client.errors import BadRequest, NotFound, SomeRefused, Timeout, Unavailable
from eenet.client.retrying import Failure, Pause, answered
from eenet.client.server_calls import Endpoint
from eenet.client.wire import Answer, AnswerReader, BadAnswer, NotHTTP, Request, Target

ANSWERS = {
    "length": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Request-Id: r1\r\n\r\nhello", True),
    "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=1\r\nllo\r\n0\r\n\r\n", True),
    "trailers": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n00\r\nA: b\r\n\r\n", True),
    "continue": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", True),
    "close": (b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 5\r\n\r\nhello", False),
    "old": (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", False),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_answers_in_pieces(name, piece):
    data, keeps = ANSWERS[name]
    reader, answer = AnswerReader(), None
    assert not reader.begun
    for at in range(0, len(data), piece):
        assert answer is None
        answer = reader.feed(data[at : at + piece])
    assert answer.status == 200 and answer.body == b"hello" and reader.keeps == keeps and reader.begun


def test_answers_up_to_the_end():
    reader = AnswerReader()
    assert reader.feed(b"HTTP/1.1 200 OK\r\n\r\nhel") is None and reader.feed(b"lo") is None
    assert reader.end().body == b"hello" and not reader.keeps
    reader = AnswerReader()
    assert reader.feed(b"HTTP/1.1 204 No Content\r\n\r\n").body == b"" and reader.keeps


def test_more_than_was_asked_for_ends_the_connection():
    reader = AnswerReader()
    assert reader.feed(ANSWERS["length"][0] + b"HTTP").body == b"hello" and not reader.keeps


@pytest.mark.parametrize("name", ["length", "chunks", "trailers", "continue"])
def test_answers_that_are_cut(name):
    data, _ = ANSWERS[name]
    for length in range(len(data)):
        reader = AnswerReader()
        assert length == 0 or reader.feed(data[:length]) is None
        with pytest.raises(BadAnswer, match="closed during the response" if length else "closed without a response"):
            reader.end()


@pytest.mark.parametrize("data", [
    b"SSH-2.0-OpenSSH\r\n", b"\x15\x03\x01\x00\x02", b"HTTP/2.0 200\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20000])
def test_what_is_not_http(data):
    with pytest.raises(NotHTTP):
        AnswerReader().feed(data)


@pytest.mark.parametrize("rest", [b"Content-Length: -5", b"Content-Length: five", b"Content-Length: \xb2",
                                  b"Content-Length: " + b"9" * 5000,
                                  b"Transfer-Encoding: chunked\r\n\r\n-1\r\n", b"Transfer-Encoding: chunked\r\n\r\n\r\n"])
def test_lengths_that_are_none(rest):
    with pytest.raises(BadAnswer):
        AnswerReader().feed(b"HTTP/1.1 200 OK\r\n" + rest + b"\r\n\r\n")


def test_any_bytes_are_an_answer_or_none():
    draw = random.Random(1)
    for _ in range(3000):
        data = bytearray(draw.choice(list(ANSWERS.values()))[0])
        for _ in range(draw.randrange(1, 6)):
            data[draw.randrange(len(data))] = draw.choice(b"\r\n\0 :;0129afHT\xff-")
        reader = AnswerReader()
        try:
            half = draw.randrange(len(data))
            came = reader.feed(bytes(data[:half])) or reader.feed(bytes(data[half:])) or reader.end()
            assert isinstance(came, Answer) and came.status >= 200
        except BadAnswer:
            pass


def test_requests_as_bytes():
    target = Target("https://example.org:8443/base/", "ee_1")
    assert target.bytes_of(Request("POST", "/v1", b"{}")) == (
        b"POST /base/v1 HTTP/1.1\r\nHost: example.org:8443\r\nUser-Agent: eenet-python\r\nAuthorization: Bearer ee_1\r\n"
        b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
    assert b"Host: [::1]\r\n" in Target("http://[::1]", None).bytes_of(Request("GET", "/"))
    assert Target("https://example.org", None).port == 443


def ends(steps, *came):
    """Sends what came into the steps, and returns those that they took between, and how they ended."""
    took, step = [], next(steps)
    for each in came:
        took.append(step)
        try:
            step = steps.send(each)
            while isinstance(step, Pause):
                took.append(step)
                step = steps.send(None)
        except StopIteration as end:
            return took, end.value
        except Exception as error:
            return took, error
    return took + [step], None


def answer(status, body=b"", **headers):
    return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


OURS = b'{"error":{"code":"Unavailable","message":"the disk is full"}}'
once, again = Request("POST", "/once", repeatable=False), Request("POST", "/again")


def test_pauses_grow_and_retry_after_is_obeyed():
    took, end = ends(answered(again, 60), *[Failure("cut", True)] * 6, answer(503, OURS, retry_after="7"), answer(200))
    pauses = [step.seconds for step in took if isinstance(step, Pause)]
    assert end.status == 200 and {step for step in took if isinstance(step, Request)} == {again}
    for place, pause in enumerate(pauses[:6]):
        assert 0.025 * 2**place <= pause <= 0.05 * 2**place
    assert 7 < pauses[6] < 12


@pytest.mark.parametrize("came", [answer(408), answer(429), answer(503, OURS), Failure("refused", False)])
def test_what_was_not_done_is_sent_again_whatever_it_is(came):
    assert ends(answered(once, 60), came, answer(200))[1].status == 200


@pytest.mark.parametrize("came", [answer(500), answer(502), answer(504), answer(503), Failure("cut", True)])
def test_what_may_have_been_done_is_sent_again_where_that_does_no_harm(came):
    assert ends(answered(again, 60), came, answer(200))[1].status == 200
    took, error = ends(answered(once, 60), came, answer(200))
    assert isinstance(error, Unavailable) and error.maybe_done and took == [once]


def test_whether_it_may_have_been_done_is_not_forgotten():
    took, error = ends(answered(again, 60), Failure("cut", True), answer(404))
    assert isinstance(error, NotFound) and error.maybe_done
    assert not ends(answered(again, 60), answer(404))[1].maybe_done


def test_a_connection_that_was_closed_while_idle_is_replaced_at_once():
    took, end = ends(answered(again, 0), Failure("closed", True, was_kept=True), answer(200))
    assert took == [again, again] and end.status == 200
    _, error = ends(answered(again, 0), *[Failure("closed", True, was_kept=True)] * 2)
    assert isinstance(error, Unavailable)


def test_timeouts_are_told_apart():
    assert isinstance(ends(answered(again, 0), Failure("late", True, timed_out=True))[1], Timeout)
    assert ends(answered(again, 60), Failure("unknown host", False, is_final=True))[1] is not None


def test_answers_of_strangers_are_reported():
    _, error = ends(answered(again, 0), answer(302, location="https://elsewhere"))
    assert "https://elsewhere" in str(error)
    _, error = ends(answered(again, 0), answer(418, b"I am a teapot\nreally"))
    assert str(error) == "the server responded with 418: I am a teapot"
    _, error = ends(answered(again, 0), answer(502, b"<html>", content_type="text/html"))
    assert str(error) == "the server responded with 502"


def batch(*, return_errors):
    endpoint = Endpoint()
    endpoint._path, endpoint._retry_for = "", 60
    items = [Item(body, lambda answer: answer["value"]) for body in (b"1", b"2", b"3")]
    return in_batches(endpoint, "/batch", "items", items, return_errors)


def test_items_that_could_not_be_written_are_sent_again():
    first = b'{"items":[{"value":1},%b,{"error":{"code":"BadRequest","message":"wrong"}}]}' % OURS
    took, end = ends(batch(return_errors=True), answer(200, first), answer(200, b'{"items":[{"value":2}]}'))
    assert [step.body for step in took if isinstance(step, Request)] == [b'{"items":[1,2,3]}', b'{"items":[2]}']
    assert end[:2] == [1, 2] and type(end[2]) is BadRequest
    _, error = ends(batch(return_errors=False), answer(200, first), answer(200, b'{"items":[{"value":2}]}'))
    assert str(error) == "the server refused 1 of 3 items; the first is items[2]: wrong"
    assert isinstance(error, SomeRefused) and error.answers[:2] == [1, 2]


def test_a_batch_that_fails_as_a_whole():
    _, error = ends(batch(return_errors=False), answer(404))
    assert isinstance(error, NotFound)
    _, answers = ends(batch(return_errors=True), answer(404))
    assert [type(each) for each in answers] == [NotFound] * 3


def test_vectors_are_the_same_when_they_are_read():
    draw = np.random.default_rng(1)
    bits = draw.integers(0, 2**32, 30_000, dtype="uint32").view("float32")  # of any size
    numbers = np.concatenate([bits[np.isfinite(bits)][:25_000], draw.normal(size=10_000).astype("float32"),
                              [0, -0.0, 1, 1e-9, 9.9999994e-10, 1e8, 99999992, 1e9, 1e10, 3.4028235e38, 1e-45]])
    numbers = numbers.astype("float32")[: len(numbers) // 5 * 5].reshape(-1, 5)
    text = _vectors_json(numbers)
    read = np.array(json.loads(text, parse_int=float), "float64").astype("float32")  # an int has no -0
    assert (read.view("uint32") == numbers.view("uint32")).all()
    assert len(text) < 17 * numbers.size


def test_vectors_of_any_array():
    numbers = np.arange(12).reshape(3, 4)
    for array in (numbers, numbers[::-1, ::2], numbers.T, numbers.astype(">f8"), numbers.astype("float16"), np.zeros((0, 3)),
                  np.zeros((3, 0)), numbers.tolist(), numbers > 3):
        assert json.loads(_vectors_json(array)) == np.asarray(array).astype("float64").tolist()
    for wrong in (np.ones(3), np.ones((2, 2, 2)), [[1], [2, 3]], [["a"]], [[float("nan")]], [[1e39]], None, 7):
        with pytest.raises((ValueError, TypeError)):
            _vectors_json(wrong)
