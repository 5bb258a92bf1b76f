"""DELETE ...?purge=true removes a bandit for good: nothing of it is left in the folder, its name can be used again, and
whatever interrupts the removal, the next start finishes it. Usage: purge.py EENET, in an empty folder."""
import random
import sqlite3
import sys
import threading

from people import KILLS, SECRETS, create, may_be_killed, nothing_left, play, serve

from harness import Meanwhile, check, pause, run


def purge(server, name):
    return server.call("DELETE", f"/v1/bandits/{name}?purge=true&confirm={name}", status=204)


def fill(server, name, user, count=40):
    play(server, name, user, count)
    play(server, name, user, 5, rewarded=False)
    server.call("POST", f"/v1/bandits/{name}/reward", {"id": f"{user}-early", "value": 1})  # never decided
    server.learned(name)


def everything_goes(program):
    server = serve(program, "purged", "--checkpoint-events", "50")
    gone = "/v1/bandits/gone-mallory"
    create(server, "kept")
    create(server, "gone-mallory")
    fill(server, "kept", "alice")
    fill(server, "gone-mallory", "mallory")
    server.call("GET", f"{gone}/evaluation")
    job = server.call("POST", f"{gone}/evaluations", {"name": "mallory's"}, 201)
    server.wait_for(f"{gone}/evaluations/{job['id']}", lambda answer: answer["state"] == "done")
    before = server.call("GET", "/v1/bandits/kept")
    for query in ("purge=yes", "purge=true", "purge=true&confirm=kept"):
        server.call("DELETE", f"{gone}?{query}", status=400)
    check(server.call("GET", gone)["archived"] is False, "a refused request changes nothing")
    purge(server, "gone-mallory")
    nothing_left("purged", SECRETS)
    for method, path in (("GET", ""), ("GET", "/log"), ("POST", "/restore"), ("DELETE", "")):
        server.call(method, gone + path, status=404)
    check([one["name"] for one in server.call("GET", "/v1/bandits")["bandits"]] == ["kept"], "the list")
    check(b"gone-mallory" not in server.call("GET", "/metrics"), "metrics")
    create(server, "gone-mallory")  # the name is free, and it is another bandit
    check(server.call("GET", gone)["decisions"] == 0, "a new bandit has no past")
    play(server, "gone-mallory", "bob", 10)
    server.learned("gone-mallory")
    server.stop()
    for words in (["check", "purged"], ["replay", "purged"], ["backup", "purged", "copy"]):
        run(program, *words)
    server.start()
    after = server.call("GET", "/v1/bandits/kept")
    check(after["version"] == before["version"], "the other bandit is as it was")
    check(server.call("GET", gone)["events"] > 10, "the new bandit is there after a restart")
    server.stop()
    numbers = sqlite3.connect("purged/eenet.db").execute("SELECT number, purged FROM bandits ORDER BY number").fetchall()
    check(numbers == [(1, 0), (2, 2), (3, 0)], f"numbers are never given again: {numbers}")


def others_are_served(program):
    """Decisions and rewards for another bandit meanwhile: none may fail."""
    server = serve(program, "loaded")
    create(server, "busy")
    create(server, "gone")
    fill(server, "gone", "mallory", 100)
    with Meanwhile(lambda: play(server, "busy", "carol", 5)):
        purge(server, "gone")
    nothing_left("loaded", SECRETS)
    server.stop()


def any_kill_is_survived(program):
    """Kills the server at any moment of a removal. The bandit is there as a whole, or the next start removes it."""
    server = serve(program, "killed")
    create(server, "kept")
    fill(server, "kept", "alice", 10)
    create(server, "gone")
    fill(server, "gone", "mallory", 100)
    done = 0

    def try_purge():
        with may_be_killed():
            purge(server, "gone")

    def is_finished(_):
        rows = sqlite3.connect("file:killed/eenet.db?mode=ro", uri=True).execute("SELECT 1 FROM bandits WHERE purged = 1")
        return not rows.fetchall()

    for _ in range(KILLS):
        thread = threading.Thread(target=try_purge)
        thread.start()
        pause(random.random() * 0.03)
        server.kill()
        thread.join()
        server.start()
        run(program, "check", "killed")
        if "gone" in [one["name"] for one in server.call("GET", "/v1/bandits")["bandits"]]:
            continue
        server.wait_for("/v1/bandits", is_finished)
        nothing_left("killed", SECRETS)
        create(server, "gone")
        fill(server, "gone", "mallory", 60)
        done += 1
    check(server.call("GET", "/v1/bandits/kept")["events"] > 20, "the other bandit is there")
    server.stop()
    run(program, "replay", "killed")
    print(f"{done} of {KILLS} killed removals had begun and were finished")


if __name__ == "__main__":
    everything_goes(sys.argv[1])
    others_are_served(sys.argv[1])
    any_kill_is_survived(sys.argv[1])
