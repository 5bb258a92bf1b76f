"""HTTP/1.1 as bytes: formats requests and parses responses. It uses no sockets, so that the blocking and the asyncio
client share it."""

from __future__ import annotations

from typing import Dict, NamedTuple, Optional
from urllib.parse import urlsplit

MOST_HEAD = 1 << 16  # bytes of a response before its body; ours sends about 200


class Request(NamedTuple):
    """A request. The path begins with a slash and is encoded."""

    method: str
    path: str
    body: bytes = b""
    content_type: str = "application/json"
    # Whether it may be sent again if its outcome is unknown.
    repeatable: bool = True


class Answer(NamedTuple):
    """A response. Names of headers are lower case."""

    status: int
    headers: Dict[str, str]
    body: bytes


class BadAnswer(Exception):
    """Incomplete response."""


class NotHTTP(BadAnswer):
    """The response is not HTTP."""

    def __init__(self) -> None:
        super().__init__("expected an HTTP/1.1 server, got another protocol")


class Target:
    """The server's address, and the headers that all requests share."""

    def __init__(self, url: str, key: Optional[str]) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url: expected http://HOST:PORT or https://HOST/BASE, got {url!r}")
        if parts.query or parts.fragment or parts.username is not None:
            raise ValueError("url: expected only scheme, host, port and base path; pass a key as key=")
        self.secure = parts.scheme == "https"
        self.host = parts.hostname
        self.port = parts.port or (443 if self.secure else 80)
        self.base = parts.path.rstrip("/")
        named = f"[{self.host}]" if ":" in self.host else self.host.encode("idna").decode()
        lines = [f"Host: {named}" + (f":{parts.port}" if parts.port else ""), "User-Agent: eenet-python"]
        if key is not None:
            lines.append(f"Authorization: Bearer {key}")
        self._common = "".join(line + "\r\n" for line in lines)
        if not (self.base + (key or "")).isprintable() or not (self._common + self.base).isascii() or " " in self.base:
            raise ValueError("url and key: expected printable ASCII without line breaks")

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def bytes_of(self, request: Request) -> bytes:
        """The bytes to send: the same for each attempt."""
        body = ""
        if request.body or request.method not in ("GET", "DELETE"):
            body = f"Content-Type: {request.content_type}\r\nContent-Length: {len(request.body)}\r\n"
        head = f"{request.method} {self.base}{request.path} HTTP/1.1\r\n{self._common}{body}\r\n"
        return head.encode("ascii") + request.body


class AnswerReader:
    """Parses one response as its bytes arrive."""

    def __init__(self) -> None:
        self.begun = False  # whether a byte arrived
        self.keeps = False  # whether the connection can be used again afterwards
        self._bytes = bytearray()
        self._status = 0
        self._headers: Optional[Dict[str, str]] = None
        self._size: Optional[int] = None  # of the body; None: chunked, or until the connection closes
        self._chunked = False
        self._pieces = bytearray()  # of chunks

    def feed(self, data: bytes) -> Optional[Answer]:
        """The response, once it is complete."""
        self.begun = True
        self._bytes += data
        while self._headers is None:
            if not self._read_head():
                return None
        if self._chunked:
            return self._read_chunks()
        if self._size is not None and len(self._bytes) >= self._size:
            self.keeps = self.keeps and len(self._bytes) == self._size
            return self._answer(bytes(self._bytes[: self._size]))
        return None

    def end(self) -> Answer:
        """The response, if the connection closed after the last bytes."""
        if self._headers is None or self._chunked or self._size is not None:
            when = "during the response" if self.begun else "without a response"
            raise BadAnswer(f"the connection was closed {when}")
        return self._answer(bytes(self._bytes))

    def _answer(self, body: bytes) -> Answer:
        assert self._headers is not None
        return Answer(self._status, self._headers, body)

    def _read_head(self) -> bool:
        end = self._bytes.find(b"\r\n\r\n")
        if end < 0:
            if len(self._bytes) > MOST_HEAD or not b"HTTP/1.".startswith(bytes(self._bytes[:7])):
                raise NotHTTP
            return False
        lines = self._bytes[:end].decode("latin-1").split("\r\n")
        del self._bytes[: end + 4]
        version, _, rest = lines[0].partition(" ")
        if not version.startswith("HTTP/1.") or not rest[:3].isdecimal():
            raise NotHTTP
        self._status = int(rest[:3])
        if self._status < 200:  # 100 Continue and similar: the response follows
            return True
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        self._headers = headers
        self._take_framing(version, headers)
        return True

    def _take_framing(self, version: str, headers: Dict[str, str]) -> None:
        length = headers.get("content-length")
        wish = headers.get("connection", "").lower()
        self._chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        if self._status in (204, 304):
            self._size = 0
        elif not self._chunked and length is not None:
            if not length.isdecimal() or len(length) > 18:
                raise BadAnswer(f"invalid Content-Length in the response: {length!r}")
            self._size = int(length)
        framed = self._chunked or self._size is not None
        self.keeps = framed and wish != "close" and (version != "HTTP/1.0" or wish == "keep-alive")

    def _read_chunks(self) -> Optional[Answer]:
        while True:
            line = self._bytes.find(b"\r\n")
            if line < 0:
                return None
            size = self._chunk_size(bytes(self._bytes[:line]))
            if size == 0:
                return self._end_chunks(line)
            start = line + 2
            if len(self._bytes) < start + size + 2:
                return None
            self._pieces += self._bytes[start : start + size]
            del self._bytes[: start + size + 2]

    @staticmethod
    def _chunk_size(line: bytes) -> int:
        size = line.split(b";", 1)[0].strip()
        if not size or size.strip(b"0123456789abcdefABCDEF"):
            raise BadAnswer("invalid chunk size in the response")
        return int(size, 16)

    def _end_chunks(self, line: int) -> Optional[Answer]:
        """After the last chunk come trailers, which are ignored, and an empty line."""
        rest = bytes(self._bytes[line:])
        end = rest.find(b"\r\n\r\n")
        if end < 0:
            return None
        self.keeps = self.keeps and len(rest) == end + 4
        return self._answer(bytes(self._pieces))
