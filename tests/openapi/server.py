"""The real server, and a client that compares every response with the description."""

import ctypes
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time

PLAIN_HEADERS = {"date", "content-length", "content-type", "connection", "transfer-encoding"}  # HTTP's own


class Report:
    """What disagrees. Each line is printed once."""

    def __init__(self):
        self.lines = []

    def add(self, line):
        if line not in self.lines:
            self.lines.append(line)


class Server:
    def __init__(self, program, folder, *words):
        self.log = open(f"{folder}.log", "w+")
        parent = os.getpid()

        def end_with_test():
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)

        self.process = subprocess.Popen([program, "serve", "--port", "0", "--folder", folder, *words], stdout=self.log,
                                        stderr=self.log, preexec_fn=end_with_test)
        self.port = self.wait_for_port()

    def wait_for_port(self):
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None:
            found = re.search(r"listening on http://127\.0\.0\.1:(\d+)", open(self.log.name).read())
            if found:
                return int(found[1])
            time.sleep(0.005)
        sys.exit(f"the server did not start:\n{open(self.log.name).read()}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(60):
            sys.exit(f"the server ended with {self.process.returncode}:\n{open(self.log.name).read()[-2000:]}")


class Response:
    def __init__(self, answer):
        self.status, self.bytes = answer.status, answer.read()
        self.headers = {name.lower(): value for name, value in answer.getheaders()}
        self.type = self.headers.get("content-type", "").partition(";")[0]
        self.json = json.loads(self.bytes) if self.type == "application/json" and self.bytes else None

    @property
    def message(self):
        return (self.json or {}).get("error", {}).get("message", "") if isinstance(self.json, dict) else ""


class Client:
    """answered: the (operation id, status) pairs of all responses, and the headers that came with them."""

    def __init__(self, document, schemas, report):
        self.document, self.schemas, self.report = document, schemas, report
        self.answered, self.headers_seen = set(), set()
        self.server, self.key, self.connection = None, None, None

    def use(self, server, key=None):
        self.server, self.key = server, key
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        return self

    def send(self, method, path, body, headers):
        for attempt in (0, 1):
            try:
                self.connection.request(method, path, body, headers)
                return Response(self.connection.getresponse())
            except (ConnectionError, http.client.RemoteDisconnected):
                self.connection.close()
                if attempt:
                    raise

    def call(self, method, path, body=None, expect=None, key=None, headers=()):
        """body: JSON, or bytes. expect: the status or statuses that the test relies on."""
        sent = dict(headers)
        if isinstance(body, bytes):
            sent.setdefault("Content-Type", "application/octet-stream")
        elif body is not None:
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        key = self.key if key is None else key
        if key:
            sent["Authorization"] = f"Bearer {key}"
        response = self.send(method, path, body, sent)
        self.check(method, path, response)
        wanted = (expect,) if isinstance(expect, int) else expect
        if wanted and response.status not in wanted:
            self.report.add(f"{method} {path}: expected {expect}, the server answered {response.status} "
                            f"{response.message} to {(body or b'')[:300]!r}")
        return response

    def check(self, method, path, response):
        operation = self.document.find(method, path)
        if not operation:
            return
        about = operation.responses.get(response.status)
        self.answered.add((operation.id, response.status))
        if not about:
            self.report.add(f"{operation.name}: the server answered {response.status} ({response.message}); "
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
        for wrong in self.check_content(response, content[response.type]["schema"], pointer):
            self.report.add(f"{where}: {wrong}")

    def check_content(self, response, schema, pointer):
        value = response.json if response.type == "application/json" else response.bytes.decode("latin-1")
        return self.schemas.check(value, schema, pointer, "", self.schemas.seen)

    def check_headers(self, where, about, response):
        documented = {name.lower(): self.document.resolve(one) for name, one in about.get("headers", {}).items()}
        for name, one in self.document.root["components"]["headers"].items():
            if one.get("x-every-response"):
                documented[name.lower()] = one
        for name, value in response.headers.items():
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
