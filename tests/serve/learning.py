"""learning.py EENET: what rewards do to decisions. The server knows an action by its id: actions without any feature are
learned, and whatever order they come in, which are excluded and which slot they fill, a reward counts for the action that got
it. And a bandit's best action depends on the weight of a metric: after a change the model has learned the log again. With
EENET_TEST_POSTGRES the store is a database there."""
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import LONG, Server, check, new_database, run, same, scratch_folder  # noqa: E402

MEANS = {"red": 0.1, "green": 0.1, "blue": 0.9, "white": 0.4}
DECISIONS, LAST, BATCH = 600, 120, 30
# Settings; what an action has besides its id; red is always rewarded and nothing else; some are excluded; two slots.
TRIALS = {"ids": ({"features": ""}, {}, True, False, False),
          "plans": ({"features": ""}, {"features": {}}, True, True, False),
          "ucb1": ({"features": "", "policy": "ucb1"}, {}, False, True, False),
          "thompson": ({"features": "", "policy": "thompson", "propensity": "own"}, {}, False, True, False),
          "vectors": ({"dim": 1, "policy": "ucb1"}, {"vector": [1]}, False, True, False),
          "slots": ({"features": "", "policy": "ucb1"}, {}, False, False, True),
          "vector-slots": ({"dim": 1, "policy": "ucb1"}, {"vector": [1]}, False, False, True)}


def actions_are_known_by_their_ids(server, name, settings, action, certain, excludes, slots):
    chance = random.Random(name)
    server.call("POST", "/v1/bandits", {"name": name, "seed": 3, "wait": 86400, **settings}, 201)

    def request(number):
        ids = list(MEANS)
        first = chance.randrange(4)  # in another order each time
        made = {"id": str(number), "actions": [{"id": one, **action} for one in ids[first:] + ids[:first]]}
        if name == "plans":
            made["context"] = {"plan": "free"}
        if excludes and number % 2:  # never the best
            made["exclude"] = ["green" if number % 4 == 1 else "white"]
        if slots:
            made["slots"] = [{"id": "top", "exclude": ["green"]}, {"id": "side"}]
        return made

    right = 0
    for begin in range(0, DECISIONS, BATCH):
        requests = [request(number) for number in range(begin, begin + BATCH)]
        rewards = []
        for one in server.call("POST", f"/v1/bandits/{name}/decide/batch", {"decisions": requests})["decisions"]:
            for place, part in enumerate(one.get("slots", [one])):
                value = part["action"] == "red" if certain else chance.random() < MEANS[part["action"]]
                rewards.append({"id": one["id"], "value": int(value), **({"slot": ["top", "side"][place]} if slots else {})})
                best = "red" if certain else ["blue", "white"][place]
                right += begin >= DECISIONS - LAST and part["action"] == best
        answers = server.call("POST", f"/v1/bandits/{name}/reward/batch", {"rewards": rewards})
        check("error" not in str(answers), str(answers))
        server.learned(name)
    asked = LAST * (2 if slots else 1)
    check(right >= 0.7 * asked, f"{name}: {right} of the last {asked} are right")


def weights_choose_the_best_action(server):
    """One action earns 1 and is often returned, the other earns 0.5 and never is. With a weight of -0.1 the first is better
    (0.92 to 0.5), with -2 the second (-0.6 to 0.5)."""
    shop, numbers = "/v1/bandits/shop", iter(range(1000000))
    server.call("POST", "/v1/bandits", {
        "name": "shop", "policy": "linucb", "dim": 2, "seed": 1, "wait": 5, "propensity": "floor:0.2", "default_reward": None,
        "metrics": [{"name": "refund", "missing": 0, "weight": -0.1}]}, 201)

    def decide():
        number = next(numbers)
        made = server.call("POST", f"{shop}/decide", {"id": str(number), "actions": [[1, 0], [0, 1]]})
        return number, made["index"]

    def reward(**more):
        server.call("POST", f"{shop}/reward", more)

    def play(count):
        """The value and the metric come separately; every fifth of the first action is kept."""
        for _ in range(count):
            number, action = decide()
            reward(id=str(number), value=0.5 if action else 1, reward_id="v")
            if action == 0 and number % 5:
                for _ in range(2):
                    reward(id=str(number), metrics={"refund": 1}, reward_id="m")

    def prefers(action):
        server.learned("shop")
        chosen = sum(decide()[1] == action for _ in range(60))
        check(chosen >= 40, f"action {action} was chosen {chosen} times of 60")

    def change_weight(weight, relearns):
        metrics = [{"name": "refund", "aggregation": "sum", "missing": 0, "weight": weight}]
        same("relearned" in server.call("PATCH", shop, {"metrics": metrics}), relearns, f"the weight {weight} is learned")

    play(100)
    server.restart()
    play(100)
    for metrics, reward_id, status in (({"refund": 0}, "n", 200), ({"refund": 7}, "n", 409), ({"refnd": 1}, "x", 400),
                                       ({"refund": 1e10}, "x", 400), ({}, "x", 400)):
        got = server.expect("POST", f"{shop}/reward", {"id": "1", "metrics": metrics, "reward_id": reward_id}, status)
        check("refnd" not in metrics or "there is no metric" in got.message and "the bandit has refund" in got.message, str(got))
    while server.learned("shop", 1)["learned"] < 150:  # on a slow machine some rewards are late
        play(50)
    prefers(0)
    change_weight(-0.1, False)
    change_weight(-2, True)
    prefers(1)
    server.restart()
    prefers(1)
    change_weight(-0.1, True)
    prefers(0)


def main():
    with scratch_folder() as folder:
        server = Server(sys.argv[1], folder / "data", "--publish-interval", 0, store=new_database("learning")).start()
        for name in TRIALS if LONG or not server.store else []:  # which are the same with any store
            actions_are_known_by_their_ids(server, name, *TRIALS[name])
        weights_choose_the_best_action(server)
        server.stop()
        for command in ("check", "replay"):
            run(server.program, command, server.place)


if __name__ == "__main__":
    main()
