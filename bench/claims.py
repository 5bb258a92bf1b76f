#!/usr/bin/env python3
"""claims.py run [NAME...] | read NAME FILE BUILD MACHINE | write | check | list: the numbers that README.md and docs/ state.

    run     runs the command of each claim, or of those named, and stores its numbers in docs/claims.json with the build, the
            machine and the date; then write. make claims runs all: hours. Those that cannot run here are named.
    read    the same from the output of a command that ran on another machine
    write   puts the numbers of docs/claims.json into the documents
    check   fails if a document differs from docs/claims.json, or names what it lacks
    list    prints each claim, its command, and the build and date of its numbers

A document has a number between <!--NAME.KEY--> and <!---->. NAME.terms is the build, the machine and the date in one phrase.
To claim a new number, add a row to CLAIMS: a number that no command writes has no place in the documents.
"""

import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs/claims.json"
EENET = "build/release/eenet"
PLACE = re.compile(r"<!--([a-z0-9_-]+)\.([a-z0-9_-]+)-->(.*?)<!---->", re.S)


def whole(text):
    return f"{int(text.replace(',', '')):,}"


def torture(text):
    """Both parts of make torture: the plain disk, and the one that loses what was not synced."""
    part = re.compile(r"(\S+), (\d+) kills: (\d+) decisions and (\d+) rewards acknowledged, (\d+) repeated with the same "
                      r"answer; (\d+) events in the log, \d+ decisions settled; (\d+) faults\n(.*?)(?=\n\S+, \d+ kills|\Z)", re.S)
    sums = {}
    for _, *counts, rest in part.findall(text):
        for key, count in zip(("kills", "decisions", "rewards", "repeated", "events", "faults"), counts):
            sums[key] = sums.get(key, 0) + int(count)
        replay = re.search(r"(\d+) decisions\D+(\d+) models", rest.replace(",", ""))
        for key, count in zip(("replayed", "models"), replay.groups()):
            sums[key] = sums.get(key, 0) + int(count)
    return {key: f"{count:,}" for key, count in sums.items()}


def fleet(text):
    """Sums over the runs of make torture-fleet in the output; of the takeovers the longest and the largest median."""
    def total(*patterns):
        return f"{sum(int(found) for pattern in patterns for found in re.findall(pattern, text, re.M)):,}"

    def longest(word):
        return f"{max(float(found) for found in re.findall(rf'next decision of its bandit: .*?{word} ([0-9.]+) s', text)):.1f} s"

    decisions, rewards = r"^acknowledged: (\d+) decisions", r"^acknowledged: .*?(\d+) rewards"
    return {
        "faults": total(r"^faults: (\d+)"), "decisions": total(decisions), "rewards": total(rewards),
        "acknowledged": total(decisions, rewards), "replayed": total(r"^replayed .*: (\d+) decisions"),
        "models": total(r"^replayed .* (\d+) models"),
        "violations": total(r"^lost: (\d+)", r"^joined or decided twice: (\d+)", r"^writes of two owners: (\d+)"),
        "takeover": longest("median"), "takeover_longest": longest("longest"),
    }


def load(text):
    rows = re.findall(r"^(decisions|rewards|both) +(\d+) /s +p50 (\S+) +p99 (\S+)", text, re.M)
    found = {f"{what}_{key}": value for what, *values in rows for key, value in zip(("rate", "p50", "p99"), values)}
    return {key: whole(value) if key.endswith("rate") else value for key, value in found.items()}


def calls(text):
    """Processor time of decide and learn of each policy in the first part: ten dense arms."""
    found = {}
    for policy, call, cpu in re.findall(r"^ +(\S+): (decide|learn) +(?:\S+ \S+|-) +(?:\S+ \S+|-) +(?:\S+ \S+|-) +(\S+ \S+) ",
                                        text.split("\n\n")[0 if text.startswith(" ") else 1], re.M):
        found[f"{policy.replace(':', '-')}_{call}"] = cpu.replace("us", "µs")
    return found


def promotions(text):
    found = re.search(r"(\d+) bandits without a better challenger, (\d+) decisions each.*: (\d+) promote one\n.*: (\d+)", text)
    return dict(zip(("bandits", "decisions", "promoted", "plain"), map(whole, found.groups())))


def output(text):
    """Without what make says about its build."""
    lines = [line for line in text.strip().splitlines() if not re.match(r"(\[ *\d+%\] )?Built target ", line)]
    return {"output": "\n```\n" + "\n".join(lines) + "\n```\n"}


# Name, command, how its output becomes numbers besides the output itself.
CLAIMS = {
    "calls": (f"{EENET} bench calls", calls),
    "estimators": (f"{EENET} bench estimators", output),
    "python": ("PYTHONPATH=build/release/python /usr/bin/python3 bench/python/calls.py", output),
    "client": (f"PYTHONPATH=build/release/python /usr/bin/python3 bench/python/client.py {EENET}", output),
    "evaluations": ("make -s evaluations", output),
    "exports": ("make -s exports", output),
    "load": (f"bench/serve/load.sh {EENET} 10 60", load),
    "torture": ("make -s torture", torture),
    "fleet": ("make -s torture-fleet FAULTS=50", fleet),
    "learning": ("make -s learning", output),
    "promotions": ("make -s promotions", promotions),
    "coverage": ('make -s coverage DATASETS="mnist:$EENET_DATA/mnist yelp:$EENET_DATA/yelp synthetic:clicks"', output),
    "late": (f"{EENET} run -q -d synthetic:clicks,blocks=on,arms=12,rate=0.4 -p eenet,greedy,linucb,lints -T 6000 -s 0-2 "
             "--delay clicks:100,300", output),
    "noise": (f"{EENET} run -q -d synthetic:clicks,rate=0.2 -d synthetic:clicks,rate=0.02 -p eenet,neural-ts,neural-ucb "
              "-T 10000 -s 0-3", output),
    "drift": (f"{EENET} run -q -d synthetic:cosine,drift=0.5 -d synthetic:quadratic,drift=0.5 "
              "-p eenet,eenet:fast,greedy,neural-ucb -T 10000 -s 0-4", output),
}


def machine():
    names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text()) or [platform.machine()]
    return f"{os.cpu_count()} cores, {names[0]}"


def store(name, text, build, where):
    stored = json.loads(FILE.read_text()) if FILE.exists() else {}
    command, read = CLAIMS[name]
    values = {**output(text), **read(text)}
    stored[name] = {"command": command, "build": build, "machine": where, "date": time.strftime("%Y-%m-%d"), "values": values}
    FILE.write_text(json.dumps(stored, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def run(names):
    build = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    failed = []
    for name in names:
        print(f"{name}: {CLAIMS[name][0]}", flush=True)
        done = subprocess.run(CLAIMS[name][0], shell=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        print(done.stdout, end="")
        try:
            if done.returncode:
                raise ValueError(f"exit status {done.returncode}")
            store(name, done.stdout, build, machine())
        except (ValueError, AttributeError, KeyError) as error:
            failed.append(f"{name}: {error}")
    if failed:
        print("not measured:", *failed, sep="\n  ")
    return failed


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def put(text, stored, problems, name):
    def value(found):
        claim, key, old = found.groups()
        of = stored.get(claim)
        new = None if of is None else f"build {of['build']}, {of['machine']}, {of['date']}" if key == "terms" else of["values"].get(key)
        if new is None:
            problems.append(f"{name}: docs/claims.json lacks {claim}.{key}")
        return f"<!--{claim}.{key}-->{old if new is None else new}<!---->"

    return PLACE.sub(value, text)


def main():
    words = sys.argv[1:] or [""]
    unknown = [word for word in (words[1:2] if words[0] == "read" else words[1:]) if word not in CLAIMS]
    if words[0] not in ("run", "read", "write", "check", "list") or len(words) != 5 and words[0] == "read" or unknown:
        sys.exit(f"claims.py: unknown claim {unknown[0]}; known: {', '.join(CLAIMS)}" if unknown else __doc__)
    failed = run(words[1:] or CLAIMS) if words[0] == "run" else []
    if words[0] == "read":
        store(words[1], Path(words[2]).read_text(), *words[3:])
    stored = json.loads(FILE.read_text()) if FILE.exists() else {}
    if words[0] == "list":
        for name, (command, _) in CLAIMS.items():
            of = stored.get(name)
            print(f"{name:12} {command}\n{'':12} {f'''build {of['build']}, {of['date']}''' if of else 'not measured yet'}")
        return
    problems, used = [], set()
    for path in documents():
        old = path.read_text()
        new = put(old, stored, problems, path.name)
        used.update(claim for claim, _, _ in PLACE.findall(old))
        if new != old and words[0] == "check":
            problems.append(f"{path.name} differs from docs/claims.json: run bench/claims.py write")
        elif new != old:
            path.write_text(new)
    problems += [f"docs/claims.json: no document uses {name}" for name in stored if name not in used]
    print("\n".join(problems) or f"{len(stored)} claims are as docs/claims.json has them")
    sys.exit(bool(problems or failed))


if __name__ == "__main__":
    main()
