"""DELETE ...?purge=true removes a bandit for good: nothing of it is left in the folder, its name can be used again, and
whatever interrupts the removal, the next start finishes it. Usage: purge.py EENET, in an empty folder."""

import random
import sqlite3
import sys
import threading
import time

from rights_server import Failed, Server, check, files_with, play, run, wait_for_model

SECRETS = ["mallory", "top-secret-note"]


def create(server, name):
    server.call("POST", "/v1/bandits", {"name": name, "policy": "linucb", "features": "", "wait": 60}, 201)


def purge(server, name, expect=204):
    return server.call("DELETE", f"/v1/bandits/{name}?purge=true&confirm={name}", expect=expect)


def fill(server, name, user, count=40):
    play(server, name, user, count, "top-secret-note" if user == "mallory" else "plain")
    play(server, name, user, 5, "top-secret-note" if user == "mallory" else "plain", rewarded=False)
    server.call("POST", f"/v1/bandits/{name}/reward", {"id": f"{user}-early", "value": 1})  # never decided
    wait_for_model(server, name)


def everything_goes(program):
    server = Server(program, "purged", "--checkpoint-events", "50")
    create(server, "kept")
    create(server, "gone-mallory")
    fill(server, "kept", "alice")
    fill(server, "gone-mallory", "mallory")
    server.call("GET", "/v1/bandits/gone-mallory/evaluation")
    job = server.call("POST", "/v1/bandits/gone-mallory/evaluations", {"name": "mallory's"}, 201)
    server.wait_for(f"/v1/bandits/gone-mallory/evaluations/{job['id']}", lambda answer: answer["state"] == "done")
    before = server.call("GET", "/v1/bandits/kept")
    server.call("DELETE", "/v1/bandits/gone-mallory?purge=yes", expect=400)
    server.call("DELETE", "/v1/bandits/gone-mallory?purge=true", expect=400)
    server.call("DELETE", "/v1/bandits/gone-mallory?purge=true&confirm=kept", expect=400)
    check(server.call("GET", "/v1/bandits/gone-mallory")["archived"] is False, "a refused request changes nothing")
    purge(server, "gone-mallory")
    found = files_with("purged", SECRETS)
    check(not found, f"left behind: {found}")
    for method, path in (("GET", ""), ("GET", "/log"), ("POST", "/restore"), ("DELETE", "")):
        server.call(method, f"/v1/bandits/gone-mallory{path}", expect=404)
    check([one["name"] for one in server.call("GET", "/v1/bandits")["bandits"]] == ["kept"], "the list")
    check("gone-mallory" not in server.call("GET", "/metrics").decode(), "metrics")
    create(server, "gone-mallory")  # the name is free, and it is another bandit
    check(server.call("GET", "/v1/bandits/gone-mallory")["decisions"] == 0, "a new bandit has no past")
    play(server, "gone-mallory", "bob", 10)
    wait_for_model(server, "gone-mallory")
    server.stop()
    run(program, "check", "purged")
    run(program, "replay", "purged")
    run(program, "backup", "purged", "copy")
    server = Server(program, "purged")
    after = server.call("GET", "/v1/bandits/kept")
    check(after["version"] == before["version"], "the other bandit is as it was")
    check(server.call("GET", "/v1/bandits/gone-mallory")["events"] > 10, "the new bandit is there after a restart")
    server.stop()
    numbers = sqlite3.connect("purged/eenet.db").execute("SELECT number, purged FROM bandits ORDER BY number").fetchall()
    check(numbers == [(1, 0), (2, 2), (3, 0)], f"numbers are never given again: {numbers}")


def load(server, name, stop, failures):
    """Decisions and rewards for another bandit meanwhile: none may fail."""
    while not stop.is_set():
        try:
            play(server, name, "carol", 5)
        except Exception as failure:  # of any kind: it is reported
            failures.append(failure)
            return


def others_are_served(program):
    server = Server(program, "loaded")
    create(server, "busy")
    create(server, "gone")
    fill(server, "gone", "mallory", 300)
    stop, failures = threading.Event(), []
    thread = threading.Thread(target=load, args=(server, "busy", stop, failures))
    thread.start()
    purge(server, "gone")
    stop.set()
    thread.join()
    check(not failures, f"a request for another bandit failed: {failures}")
    check(not files_with("loaded", SECRETS), "left behind")
    server.stop()


def any_kill_is_survived(program, rounds):
    """Kills the server at any moment of a removal. The bandit is there as a whole, or the next start removes it."""
    server = Server(program, "killed")
    create(server, "kept")
    fill(server, "kept", "alice", 10)
    create(server, "gone")
    fill(server, "gone", "mallory", 200)
    done = 0
    for _ in range(rounds):
        thread = threading.Thread(target=lambda: try_purge(server))
        thread.start()
        time.sleep(random.random() * 0.03)
        server.kill()
        thread.join()
        server = Server(program, "killed")
        run(program, "check", "killed")
        names = [one["name"] for one in server.call("GET", "/v1/bandits")["bandits"]]
        if "gone" in names:
            continue
        server.wait_for("/v1/bandits", lambda _: not sqlite3.connect("file:killed/eenet.db?mode=ro", uri=True).execute(
            "SELECT 1 FROM bandits WHERE purged = 1").fetchall())
        found = files_with("killed", SECRETS)
        check(not found, f"left behind after a kill: {found}")
        create(server, "gone")
        fill(server, "gone", "mallory", 60)
        done += 1
    check(server.call("GET", "/v1/bandits/kept")["events"] > 20, "the other bandit is there")
    server.stop()
    run(program, "replay", "killed")
    return done


def try_purge(server):
    try:
        purge(server, "gone", expect=None)
    except OSError:
        pass  # it was killed
    except Exception as failure:
        if type(failure).__module__ != "http.client":
            raise


if __name__ == "__main__":
    try:
        everything_goes(sys.argv[1])
        others_are_served(sys.argv[1])
        print(any_kill_is_survived(sys.argv[1], 25), "of 25 killed removals had begun and were finished")
    except Failed as failure:
        sys.exit(f"failed: {failure}")
