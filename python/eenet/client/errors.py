"""The exceptions of the clients."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Type

from .._errors import Error


class ServerError(Error):
    """The server refused the request, or could not be reached. ``str(error)`` says why.

    ``http_status``: the status of the response; None if there was none. ``code``: the server's name of the error.
    ``request_id``: the id to look up in the server's log. ``maybe_done``: True if the server may have carried out the
    request anyway, because no response arrived or it does not say.
    """

    def __init__(self, sentence: str, *, http_status: Optional[int] = None, code: str = "", request_id: str = "",
                 maybe_done: bool = False) -> None:
        super().__init__(sentence)
        self.http_status = http_status
        self.code = code
        self.request_id = request_id
        self.maybe_done = maybe_done

    def __reduce__(self) -> Any:
        return _restore, (type(self), str(self), dict(self.__dict__))


def _restore(kind: Type[ServerError], sentence: str, members: Dict[str, Any]) -> ServerError:
    error: ServerError = kind.__new__(kind)  # whatever its own __init__ takes
    ServerError.__init__(error, sentence)
    error.__dict__.update(members)
    return error


class BadRequest(ServerError, ValueError):
    """The request is invalid; the message says what and where. Values that JSON cannot hold are detected before
    anything is sent."""


class TooLarge(BadRequest):
    """More bytes, actions, features or items than the server accepts in one request."""


class Refused(ServerError):
    """The key is missing or unknown, or does not allow this call (401, 403)."""


class NotFound(ServerError, LookupError):
    """No such bandit, version, challenger or decision."""


class Gone(NotFound):
    """The bandit is archived; ``restore()`` brings it back."""


class Conflict(ServerError):
    """The id or name is already in use, or the call does not fit the present state."""


class Unavailable(ServerError, ConnectionError):
    """The server could not be reached, closed the connection, or was overloaded until ``retry_for`` ran out."""


class Timeout(Unavailable, TimeoutError):
    """No response arrived in time."""


class SomeRefused(ServerError):
    """Some items of a batch were refused; the others were carried out.

    ``answers`` holds the result or the exception of each item, in order.
    """

    def __init__(self, sentence: str, answers: List[Any]) -> None:
        super().__init__(sentence, maybe_done=True)
        self.answers = answers


KINDS = {400: BadRequest, 401: Refused, 403: Refused, 404: NotFound, 408: Unavailable, 409: Conflict, 410: Gone,
         413: TooLarge, 429: Unavailable}

# For an item of a batch only the code is known.
STATUSES = {"BadRequest": 400, "Unauthorized": 401, "Forbidden": 403, "NotFound": 404, "Conflict": 409, "Gone": 410,
            "TooLarge": 413, "TooManyRequests": 429, "Unavailable": 503}


def kind_of(status: int) -> Type[ServerError]:
    """The exception for a status of failure."""
    if status in KINDS:
        return KINDS[status]
    return Unavailable if status >= 500 else BadRequest


def error_of_item(error: Dict[str, Any]) -> ServerError:
    """The exception for the ``{"code", "message"}`` of an item."""
    code = str(error.get("code", ""))
    status = STATUSES.get(code, 500)
    return kind_of(status)(str(error.get("message", "")), http_status=status, code=code)


def error_of_answer(status: int, headers: Dict[str, str], body: bytes) -> ServerError:
    """The exception for a response with a status of failure."""
    code, sentence = "", ""
    try:
        described = json.loads(body)["error"]
        code, sentence = str(described["code"]), str(described["message"])
    except (ValueError, KeyError, TypeError):
        pass
    # A proxy may have forwarded the request before it gave up; our server's 503 guarantees that nothing was stored.
    unclear = status >= 500 and code != "Unavailable"
    return kind_of(status)(sentence or _plain_sentence(status, headers, body), http_status=status, code=code,
                           request_id=headers.get("x-request-id", ""), maybe_done=unclear)


def _plain_sentence(status: int, headers: Dict[str, str], body: bytes) -> str:
    if 300 <= status < 400:
        return f"the server redirects ({status}) to {headers.get('location', 'another address')}: use that as the url"
    text = body.decode("utf-8", "replace").strip() if "html" not in headers.get("content-type", "") else ""
    first = text.split("\n", 1)[0][:200]
    return f"the server responded with {status}" + (f": {first}" if first else "")
