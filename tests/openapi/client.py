"""A client that compares every response with the description."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import Server, wait_for  # noqa: E402, F401

PLAIN_HEADERS = {"date", "content-length", "content-type", "connection", "transfer-encoding"}  # HTTP's own


class Report:
    """What disagrees. Each line is printed once."""

    def __init__(self):
        self.lines = []

    def add(self, line):
        if line not in self.lines:
            self.lines.append(line)


class Client:
    """answered: the (operation id, status) pairs of all responses, and the headers that came with them."""

    def __init__(self, document, schemas, report):
        self.document, self.schemas, self.report = document, schemas, report
        self.answered, self.headers_seen = set(), set()
        self.server, self.key = None, None

    def use(self, server, key=None):
        self.server, self.key = server, key

    def call(self, method, path, body=None, expect=None, key=None, headers=()):
        """body: JSON, or bytes. expect: the status or statuses that the test relies on."""
        sent = {"Content-Type": "application/octet-stream", **dict(headers)} if isinstance(body, bytes) else dict(headers)
        response = self.server.ask(method, path, body, key=self.key if key is None else key, headers=sent)
        self.check(method, path, response)
        wanted = (expect,) if isinstance(expect, int) else expect
        if wanted and response.status not in wanted:
            self.report.add(f"{method} {path}: expected {expect}, the server answered {response} to {str(body)[:300]}")
        return response

    def wait_for(self, path, done):
        """Asks until the response is as wanted: its JSON."""
        found = wait_for(lambda: [now.json for now in [self.call("GET", path)] if now.status == 200 and done(now.json)],
                         f"GET {path}: what the test waits for does not come")
        return found[0]

    def check(self, method, path, response):
        operation = self.document.find(method, path)
        if not operation:
            return
        about = operation.responses.get(response.status)
        self.answered.add((operation.id, response.status))
        if not about:
            self.report.add(f"{operation.name}: the server answered {response.status} ({response}); "
                            f"openapi.json does not document this status")
            return
        where = f"{operation.name} {response.status}"
        self.check_headers(where, about, response)
        content = about.get("content")
        if "application/x-ndjson" in (content or {}):  # may have no lines; other tests read them
            return
        if not response.bytes or not content:
            if bool(response.bytes) != bool(content):
                self.report.add(f"{where}: {'a body' if response.bytes else 'no body'} came, openapi.json documents "
                                f"{'one' if content else 'none'}")
            return
        if response.type not in content:
            self.report.add(f"{where}: Content-Type {response.type}, openapi.json has {sorted(content)}")
            return
        own = f"{operation.pointer}/{response.status}"
        pointer = operation.about["responses"][str(response.status)].get("$ref", own)
        value = response.json if response.type == "application/json" else response.bytes.decode("latin-1")
        for wrong in self.schemas.check(value, content[response.type]["schema"], pointer, "", self.schemas.seen):
            self.report.add(f"{where}: {wrong}")

    def check_headers(self, where, about, response):
        documented = {name.lower(): self.document.resolve(one) for name, one in about.get("headers", {}).items()}
        for name, one in self.document.root["components"]["headers"].items():
            if one.get("x-every-response"):
                documented[name.lower()] = one
        for name, value in response.headers.items():
            name = name.lower()
            if name in PLAIN_HEADERS:
                continue
            if name not in documented:
                self.report.add(f"{where}: the header {name} came, openapi.json does not document it")
                continue
            self.headers_seen.add((where, name))
            kind = documented[name]["schema"].get("type")
            if kind == "integer" and not re.fullmatch(r"\d+", value):
                self.report.add(f"{where}: the header {name} is {value!r}, documented as an integer")
        for name, one in documented.items():
            if one.get("required") and name not in response.headers:
                self.report.add(f"{where}: the header {name} is missing, openapi.json says it is always there")
