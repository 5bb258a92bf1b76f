"""A real server on a folder, and what a test of data rights needs of it."""

import ctypes
import http.client
import json
import os
import re
import signal
import subprocess
import time


class Failed(Exception):
    pass


def check(condition, words):
    if not condition:
        raise Failed(words)


class Server:
    """place: a folder, or the URL of a database."""

    def __init__(self, program, place, *words):
        is_database = "://" in place
        folder = "database" if is_database else place
        where = ["--store", place, "--replication", "any"] if is_database else ["--folder", place]
        self.program, self.folder = program, folder
        self.log = open(f"{folder}.log", "a+")
        begin = self.log.seek(0, os.SEEK_END)
        parent = os.getpid()

        def end_with_test():
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)

        self.process = subprocess.Popen([program, "serve", "--port", "0", *where, *words], stdout=self.log,
                                        stderr=self.log, preexec_fn=end_with_test)
        until, found = time.monotonic() + 60, None
        while not found and time.monotonic() < until and self.process.poll() is None:
            found = re.search(r"listening on http://127\.0\.0\.1:(\d+)", open(self.log.name).read()[begin:])
            time.sleep(0.005)
        check(found, f"the server did not start:\n{open(self.log.name).read()[begin:]}")
        self.port = int(found[1])

    def call(self, method, path, body=None, expect=200, timeout=120):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        connection.request(method, path, None if body is None else json.dumps(body))
        answer = connection.getresponse()
        words = answer.read()
        connection.close()
        check(not expect or answer.status == expect, f"{method} {path}: {answer.status} {words[:300]!r}")
        is_json = answer.getheader("Content-Type", "").startswith("application/json")
        return json.loads(words) if is_json and words else words

    def wait_for(self, path, done):
        until = time.monotonic() + 60
        while time.monotonic() < until:
            answer = self.call("GET", path)
            if done(answer):
                return answer
            time.sleep(0.01)
        raise Failed(f"GET {path}: what the test waits for did not come: {answer}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        check(self.process.wait(60) == 0, f"the server ended badly:\n{open(self.log.name).read()[-2000:]}")

    def kill(self):
        self.process.kill()
        self.process.wait()


def run(program, *words, expect=0):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    check(done.returncode == expect, f"eenet {' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def files_with(folder, words, but_models=False):
    """The files of a folder that have any of these bytes in them. Models keep what they learned, the names of features
    too: docs/data-rights.md."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if name == "audit.jsonl" or (but_models and "/models" in place):  # the first has the names of bandits
                continue
            content = open(path, "rb").read()
            found += [f"{path}: {word}" for word in words if word.encode() in content]
    return found


def request_of(user, secret, n):
    return {"context": {"user": {"id": user, "note": secret}, "hour": f"h{n % 3}"},
            "actions": [{"id": "x", "features": {"price": 9.5}}, {"id": "y", "features": {"price": 3.0}}]}


def play(server, bandit, user, count, secret="plain", rewarded=True):
    """Decisions of a user, with rewards; their ids begin with the user's name."""
    ids = []
    for n in range(count):
        one = {"id": f"{user}-{bandit}-{time.monotonic_ns()}", **request_of(user, secret, n)}
        made = server.call("POST", f"/v1/bandits/{bandit}/decide", one)
        ids.append(made["id"])
        if rewarded:
            reward = {"id": made["id"], "value": int(made["action"] == "x"), "reward_id": f"r-{user}-{n}"}
            server.call("POST", f"/v1/bandits/{bandit}/reward", reward)
    return ids


def wait_for_model(server, bandit):
    return server.wait_for(f"/v1/bandits/{bandit}", lambda answer: answer["behind"] == 0 and answer["events"] > 1)
