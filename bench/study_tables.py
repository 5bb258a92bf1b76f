#!/usr/bin/env python3
"""study_tables.py RESULTS: prints the tables of docs/experiments.md from the results.jsonl and summary.csv of a folder
(study.sh, then eenet report RESULTS). All compare with the policy eenet.

Mean, deviation, seconds and Holm's p-value are in summary.csv: regret_mean, regret_sd, seconds, p_holm. The ratios, ranks
and worst seeds are computed here, from the regret in each line of results.jsonl."""

import csv
import json
import math
import random
import re
import sys
from pathlib import Path

REFERENCE = "eenet"
LEVEL = 0.05
RESAMPLES = 10000
COLUMNS = 9  # data sets in a table


def data_set_name(run: dict) -> str:
    """The kind, or for tables and files in Yelp's format, of which there are several, the last part of their place."""
    kind, _, place = re.sub(r",\w+=.*", "", run.get("source", run["dataset"])).partition(":")
    return Path(place).name.split(".")[0] if kind in ("table", "yelp") else run["dataset"] if kind == "synthetic" else kind


def read(folder: Path):
    """regrets[data set][policy][seed] and rows[data set][policy] of summary.csv, only final runs with default options."""
    regrets, names = {}, {}
    for line in (folder / "results.jsonl").read_text().splitlines():
        run = json.loads(line)
        if run["tuning"]:
            continue
        name = names.setdefault((run["dataset"], run["fingerprint"]), data_set_name(run))
        of_seed = regrets.setdefault(name, {}).setdefault(run["policy"], {})
        if run["seed"] in of_seed:
            sys.exit(f"study_tables.py: {name}, {run['policy']}, seed {run['seed']} occurs twice; expected one setting of each policy")
        of_seed[run["seed"]] = run["regret"]
    rows = {}
    with open(folder / "summary.csv", newline="") as file:
        for row in csv.DictReader(file):
            name = names.get((row["dataset"], row["fingerprint"]))
            if name and row["part"] == "main":
                rows.setdefault(name, {})[row["policy"]] = row
    for name, of in rows.items():
        if of.get(REFERENCE, {}).get("reference") != "1":
            sys.exit(f"study_tables.py: {name}: the policies were not compared with {REFERENCE}")
    return regrets, rows


def mean(values) -> float:
    values = list(values)
    return sum(values) / len(values)


def log_ratio(of: dict, to: dict, seeds) -> float:
    return math.log(sum(of[seed] for seed in seeds) / sum(to[seed] for seed in seeds))


def ratio(regrets: dict, policy: str):
    """The geometric mean over the data sets, and the 2.5% and 97.5% percentiles of a bootstrap that draws the seeds of
    each data set, the same for both policies."""
    pairs = [(of[policy], of[REFERENCE], sorted(of[policy].keys() & of[REFERENCE].keys()))
             for of in regrets.values() if policy in of and REFERENCE in of]
    pairs = [pair for pair in pairs if pair[2]]
    draw = random.Random(0)
    drawn = sorted(mean(log_ratio(of, to, draw.choices(seeds, k=len(seeds))) for of, to, seeds in pairs)
                   for _ in range(RESAMPLES))
    return [math.exp(value) for value in (mean(log_ratio(*pair) for pair in pairs),
                                          drawn[RESAMPLES * 25 // 1000], drawn[RESAMPLES * 975 // 1000])]


def mean_rank(rows: dict, policy: str) -> float:
    """The lowest mean regret on a data set has rank 1; equal ones share a rank."""
    return mean(1 + sum(float(other["regret_mean"]) < float(of[policy]["regret_mean"]) for other in of.values())
                for of in rows.values() if policy in of)


def worst_seed(of: dict) -> float:
    return max(of.values()) / mean(of.values())


def is_significant(row: dict) -> bool:
    return row["p_holm"] != "" and float(row["p_holm"]) < LEVEL


def print_table(head, lines):
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print()


def summary_line(regrets: dict, rows: dict, policy: str):
    worst = max((worst_seed(of[policy]), name) for name, of in regrets.items() if policy in of)
    found = [(name, of[policy]) for name, of in rows.items() if policy in of]
    differs = [(name, float(row["difference"])) for name, row in found if is_significant(row)]
    text = "1" if policy == REFERENCE else "{:.3f} ({:.3f} to {:.3f})".format(*ratio(regrets, policy))
    return [policy, text, f"{mean_rank(rows, policy):.1f}", f"{worst[0]:.2f} ({worst[1]})",
            f"{mean(float(row['seconds']) for _, row in found):.1f}",
            ", ".join(name for name, difference in differs if difference < 0),
            str(sum(difference > 0 for _, difference in differs))]


def cell(rows: dict, name: str, policy: str) -> str:
    row = rows[name].get(policy)
    if not row:
        return "–"
    least = min(float(other["regret_mean"]) for other in rows[name].values())
    regret = f"{float(row['regret_mean']):.0f}"
    regret = f"**{regret}**" if float(row["regret_mean"]) == least else regret
    deviation = f" ± {float(row['regret_sd']):.0f}" if row["regret_sd"] else ""
    return regret + deviation + ("" if policy == REFERENCE or is_significant(row) else " ≈")


def main(folder: Path):
    regrets, rows = read(folder)
    names = list(rows)
    policies = sorted({policy for of in rows.values() for policy in of}, key=lambda policy: mean_rank(rows, policy))
    print_table(["policy", "ratio to eenet", "mean rank", "worst seed", "seconds", "significantly better than `eenet` on",
                 "worse on (data sets)"], [summary_line(regrets, rows, policy) for policy in policies])
    for start in range(0, len(names), COLUMNS):
        part = names[start:start + COLUMNS]
        print_table(["policy", *part], [[policy, *(cell(rows, name, policy) for name in part)] for policy in policies])
    print("The worst seed's regret divided by the mean:\n")
    print_table(["data set", *policies], [[name, *(f"{worst_seed(of[policy]):.2f}" if policy in of else "–" for policy in policies)]
                                         for name, of in regrets.items()])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: study_tables.py RESULTS")
    main(Path(sys.argv[1]))
