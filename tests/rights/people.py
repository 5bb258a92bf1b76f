"""What the tests of data rights share: people who visit a server, and what is left of them in its files."""
import contextlib
import http.client
import itertools
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import LONG, Refused, Server, check  # noqa: E402

SECRETS = ["mallory", "top-secret-note"]
KILLS = 25 if LONG else 6
numbers = itertools.count()


def serve(program, place, *words):
    """place: a folder, or the URL of a database."""
    is_database = "://" in place
    return Server(program, "database" if is_database else place, *words, store=place if is_database else None).start()


def create(server, name, **more):
    server.call("POST", "/v1/bandits", {"name": name, "policy": "linucb", "features": "", "wait": 600, **more}, 201)


def play(server, bandit, user, count, rewarded=True):
    """Decisions of a user, with rewards; their ids begin with the user's name."""
    ids = []
    for n in range(count):
        context = {"user": {"id": user, "note": "top-secret-note" if user == "mallory" else "plain"}, "hour": f"h{n % 3}"}
        made = server.call("POST", f"/v1/bandits/{bandit}/decide", {
            "id": f"{user}-{bandit}-{next(numbers)}", "context": context,
            "actions": [{"id": "x", "features": {"price": 9.5}}, {"id": "y", "features": {"price": 3.0}}]})
        ids.append(made["id"])
        if rewarded:
            reward = {"id": made["id"], "value": int(made["action"] == "x"), "reward_id": f"r-{user}-{n}"}
            server.call("POST", f"/v1/bandits/{bandit}/reward", reward)
    return ids


def nothing_left(folder, words, but_models=False):
    """No file of a folder has any of these words in it. Models keep what they learned, the names of features too:
    docs/data-rights.md."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if name == "audit.jsonl" or (but_models and "/models" in place):  # the first has the names of bandits
                continue
            content = Path(path).read_bytes()
            found += [f"{path}: {word}" for word in words if word.encode() in content]
    check(not found, f"left behind: {found}")


@contextlib.contextmanager
def may_be_killed():
    """Around a request to a server that is killed meanwhile."""
    with contextlib.suppress(OSError, http.client.HTTPException, Refused):
        yield
