"""What can go wrong between a client and the server, each as an exception of its own."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Type

from .._errors import Error


class ServerError(Error):
    """The server refused, or could not be asked. ``str(error)`` is the sentence.

    ``http_status`` is the status of the answer, None where there was none; ``code`` the server's name of the error;
    ``request_id`` is that of the answer, by which the server's log is searched; ``maybe_done`` says whether what was
    asked may have been done nevertheless: no answer came, or one that does not tell.
    """

    def __init__(self, sentence: str, *, http_status: Optional[int] = None, code: str = "", request_id: str = "",
                 maybe_done: bool = False) -> None:
        super().__init__(sentence)
        self.http_status = http_status
        self.code = code
        self.request_id = request_id
        self.maybe_done = maybe_done

    def __reduce__(self) -> Any:
        return _again, (type(self), str(self), dict(self.__dict__))


def _again(kind: Type[ServerError], sentence: str, members: Dict[str, Any]) -> ServerError:
    error: ServerError = kind.__new__(kind)  # whatever its own __init__ takes
    ServerError.__init__(error, sentence)
    error.__dict__.update(members)
    return error


class BadRequest(ServerError, ValueError):
    """What was asked cannot be: the sentence says what and where. Values that JSON does not have are told before
    anything is sent."""


class TooLarge(BadRequest):
    """More bytes, actions, features or items than the server takes at a time."""


class Refused(ServerError):
    """There is no key, it is not known, or it does not allow this (401, 403)."""


class NotFound(ServerError, LookupError):
    """There is no such bandit, version, challenger or decision."""


class Gone(NotFound):
    """The bandit is archived; ``restore()`` brings it back."""


class Conflict(ServerError):
    """The id or the name is taken by something else; or it cannot be done in the state that it is in."""


class Unavailable(ServerError, ConnectionError):
    """The server was not reached, broke off, or said that it cannot now, until no time was left to try again."""


class Timeout(Unavailable, TimeoutError):
    """No answer came in time."""


class SomeRefused(ServerError):
    """Some items of a batch were refused; the others were done.

    ``answers`` has for each item, in their order, what it was answered, or its exception.
    """

    def __init__(self, sentence: str, answers: List[Any]) -> None:
        super().__init__(sentence, maybe_done=True)
        self.answers = answers


KINDS = {400: BadRequest, 401: Refused, 403: Refused, 404: NotFound, 408: Unavailable, 409: Conflict, 410: Gone,
         413: TooLarge, 429: Unavailable}

# Of an item of a batch only the code is known.
STATUSES = {"BadRequest": 400, "Unauthorized": 401, "Forbidden": 403, "NotFound": 404, "Conflict": 409, "Gone": 410,
            "TooLarge": 413, "TooManyRequests": 429, "Unavailable": 503}


def kind_of(status: int) -> Type[ServerError]:
    """The exception of a status that is no success."""
    if status in KINDS:
        return KINDS[status]
    return Unavailable if status >= 500 else BadRequest


def error_of_item(error: Dict[str, Any]) -> ServerError:
    """What ``{"code", "message"}`` in the place of an item says."""
    code = str(error.get("code", ""))
    status = STATUSES.get(code, 500)
    return kind_of(status)(str(error.get("message", "")), http_status=status, code=code)


def error_of_answer(status: int, headers: Dict[str, str], body: bytes) -> ServerError:
    """The exception of an answer that is no success."""
    code, sentence = "", ""
    try:
        told = json.loads(body)["error"]
        code, sentence = str(told["code"]), str(told["message"])
    except (ValueError, KeyError, TypeError):
        pass
    # Whoever else stands between may have passed the request on before it gave up; our server's 503 says that it
    # stored nothing.
    unclear = status >= 500 and code != "Unavailable"
    return kind_of(status)(sentence or _plain_sentence(status, headers, body), http_status=status, code=code,
                           request_id=headers.get("x-request-id", ""), maybe_done=unclear)


def _plain_sentence(status: int, headers: Dict[str, str], body: bytes) -> str:
    if 300 <= status < 400:
        return f"the answer is {status}, to ask at {headers.get('location', 'another address')}: give that as the url"
    text = body.decode("utf-8", "replace").strip() if "html" not in headers.get("content-type", "") else ""
    first = text.split("\n", 1)[0][:200]
    return f"the answer is {status}" + (f": {first}" if first else "")
