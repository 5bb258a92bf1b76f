#!/usr/bin/env python3
"""claims.py run [NAME...] | write | check | list: the numbers that README.md and docs/ state.

    run     runs the command of each claim, or of those named, and stores its numbers in docs/claims.json with the build, the
            machine and the date; then write. make claims runs all: hours. Those that cannot run here are named.
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


def table(rows):
    """A Markdown table of rows of words, the first of them the head."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n" + "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]) + "\n"


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
    """Sums over the runs of make torture-fleet in the output, and the longest takeover."""
    find = lambda pattern: [int(found.replace(",", "")) for found in re.findall(pattern, text)]
    seconds = lambda pattern: [float(found) for found in re.findall(pattern, text)]
    return {
        "faults": f"{sum(find(r'([0-9,]+) faults')):,}",
        "acknowledged": f"{sum(find(r'acknowledged[^0-9]+([0-9,]+) decisions')) + sum(find(r'decisions, ([0-9,]+) rewards')):,}",
        "lost": f"{sum(find(r'([0-9,]+) lost')):,}",
        "replayed": f"{sum(find(r'replayed? ([0-9,]+) decisions')):,}",
        "takeover": f"{max(seconds(r'longest ([0-9.]+) s'), default=0):.1f} s",
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


def learning(text):
    """The table that make learning prints."""
    return {"table": "\n" + "\n".join(line for line in text.splitlines() if line.startswith("|")) + "\n"}


def study(text):
    return {"table": "\n" + "\n".join(line for line in text.split("\n\n")[0].splitlines() if line.startswith("|")) + "\n"}


def lines(text):
    return {"output": "\n" + "\n".join(line for line in text.splitlines() if line.startswith("|")) + "\n"}


# Name, command, how its output becomes numbers.
CLAIMS = {
    "calls": (f"{EENET} bench calls", calls),
    "load": (f"bench/serve/load.sh {EENET} 10 60", load),
    "learning": ("make learning", learning),
    "torture": ("make torture", torture),
    "fleet": ("make torture-fleet FAULTS=50", fleet),
    "promotions": ("make promotions", promotions),
    "study": ("bench/study.sh $EENET_DATA build/study && build/eenet report build/study && bench/study_tables.py build/study", study),
}


def machine():
    names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text()) or [platform.machine()]
    return f"{os.cpu_count()} cores, {names[0]}"


def run(names):
    stored = json.loads(FILE.read_text()) if FILE.exists() else {}
    build = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    failed = []
    for name in names:
        command, read = CLAIMS[name]
        print(f"{name}: {command}", flush=True)
        done = subprocess.run(command, shell=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        print(done.stdout, end="")
        try:
            values = read(done.stdout)
            if done.returncode or not values:
                raise ValueError(f"exit status {done.returncode}")
        except (ValueError, AttributeError) as error:
            failed.append(f"{name}: {error}")
            continue
        stored[name] = {"command": command, "build": build, "machine": machine(), "date": time.strftime("%Y-%m-%d"),
                        "values": values}
        FILE.write_text(json.dumps(stored, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
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
    unknown = [word for word in words[1:] if word not in CLAIMS]
    if words[0] not in ("run", "write", "check", "list") or unknown:
        sys.exit(f"claims.py: unknown claim {unknown[0]}; known: {', '.join(CLAIMS)}" if unknown else __doc__)
    failed = run(words[1:] or CLAIMS) if words[0] == "run" else []
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
