"""A shop asks a decision server which of three banners to show each visitor.

Usage: python_client.py URL [VISITS]

    eenet serve &
    python3 examples/python_client.py http://127.0.0.1:8080
"""

import random
import sys

import eenet

BANNERS = {"sale": {"topic": "price"}, "new": {"topic": "season"}, "club": {"topic": "points"}}
LIKED = {"student": "sale", "family": "new", "regular": "club"}  # unknown to the bandit


def main(url, visits=300):
    draw = random.Random(1)
    clicks = []
    with eenet.Client(url) as client:
        shop = client.create("banners", features={"names": 200}, wait="10m")
        for visit in range(visits):
            visitor = draw.choice(list(LIKED))
            decision = shop.decide(BANNERS, {"visitor": visitor})
            clicked = draw.random() < (0.6 if decision.action == LIKED[visitor] else 0.1)
            clicks.append(clicked)
            # The client retries if the network fails; the reward counts once.
            shop.reward(decision, clicked)
        third = visits // 3
        print(f"clicks in the first {third} visits: {sum(clicks[:third])}, in the last {third}: {sum(clicks[-third:])}")
        for policy in shop.evaluate(["logged", "uniform"], estimators=["ips"], wait=600)["results"]:
            print(f"{policy['name']}: {policy['estimates'][0]['value']:.2f} clicks per visit")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
