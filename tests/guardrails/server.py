"""A server of guardrail tests: started on any port, killed, started again, and asked over HTTP.

    server = Server(program, folder)          # or store="postgresql://..."
    server.start()
    server.call("POST", "/v1/bandits", {"name": "offers"})
    server.kill()                             # kill -9
    server.stop()
"""
import http.client
import json
import os
import re
import signal
import subprocess
import threading
import time


class Refused(Exception):
    """The server answered with an error."""

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


class Server:
    def __init__(self, program, folder, store=None):
        self.program = program
        self.folder = folder
        self.store = store
        self.process = None
        self.port = None
        self.local = threading.local()

    def start(self, *flags):
        place = ["--store", self.store, "--replication", "any"] if self.store else ["--folder", str(self.folder / "data")]
        log = self.folder / "server.log"
        with open(log, "ab") as out:
            begin = out.tell()
            self.process = subprocess.Popen([self.program, "serve", "--port", "0", *place, *flags], stdout=out, stderr=out,
                                            env={**os.environ, "EENET_CHECKPOINT_SECONDS": "1"})
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            found = re.search(rb"http://127\.0\.0\.1:(\d+)", log.read_bytes()[begin:])
            if found and self.is_ready(int(found[1])):
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError("the server does not start: " + log.read_text()[-2000:])

    def is_ready(self, port):
        self.port = port
        self.local = threading.local()
        try:
            self.call("GET", "/readyz")
            return True
        except (OSError, Refused, http.client.HTTPException):
            return False

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait(timeout=120)

    def kill(self):
        self.end(signal.SIGKILL)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.end(signal.SIGTERM)

    def call(self, method, path, body=None):
        connection = getattr(self.local, "connection", None)
        if connection is None:
            connection = self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, path, None if body is None else json.dumps(body))
        response = connection.getresponse()
        content = response.read()
        if response.status >= 300:
            raise Refused(response.status, content.decode())
        return content.decode() if path.endswith("/log") or "/log?" in path else json.loads(content or b"{}")
