"""restore.py EENET: a server is copied while it decides, killed, and started again on the copy, whose log gives what it has by
`eenet replay`. What was answered before the copy began is answered again, to the byte; what the copy does not have is decided
anew; rewards are not joined twice. With EENET_TEST_POSTGRES the store is a database there."""
import contextlib
import http.client
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import Meanwhile, Server, new_database, run, same, scratch_folder, wait_for  # noqa: E402

BEFORE, COPIES = 100, 3  # decisions before each copy


def decide(server, number):
    actions = [[1, number % 7], [0, 1], [number % 5, 0]]
    return server.expect("POST", "/v1/bandits/shop/decide", {"id": f"visit-{number}", "actions": actions}).bytes


def reward(server, number):
    return server.call("POST", "/v1/bandits/shop/reward", {"id": f"visit-{number}", "value": number % 2})["outcome"]


def main():
    with scratch_folder() as folder:
        program = sys.argv[1]
        server = Server(program, folder / "store", "--checkpoint-events", 100, "--checkpoints", 1,  # models come and go
                        store=new_database("restore")).start()
        server.call("POST", "/v1/bandits", {"name": "shop", "dim": 2}, 201)
        answers, numbers, copies = {}, itertools.count(), []

        def visit():
            number = next(numbers)
            with contextlib.suppress(OSError, http.client.HTTPException):  # it is killed in the end
                answer = decide(server, number)
                reward(server, number)
                answers[number] = answer

        with Meanwhile(visit):
            for index in range(COPIES):
                wait_for(lambda: len(answers) >= BEFORE * (index + 1), "too few decisions")
                copies.append((folder / f"copy-{index}", len(answers)))
                run(program, "backup", server.place, copies[-1][0])
            server.kill()
        for copy, sure in copies:
            run(program, "replay", copy)
            server = Server(program, copy).start()
            for number in range(sure):
                same(decide(server, number), answers[number], f"{copy}: decision {number}")
                same(reward(server, number), "repeated", f"{copy}: reward {number}")
            decide(server, 1000000)
            same(reward(server, 1000000), "joined", "outcome of a new reward")
            server.stop()


if __name__ == "__main__":
    main()
