"""attacks.py PROGRAM: damages a good log in every way that docs/misleading-logs.md lists, and expects `eenet log` and
`eenet evaluate` to name the mistake, or to say nothing where nothing can be known. --table prints what was said."""

import datetime
import json
import math
import random
import re
import subprocess
import sys

PROGRAM = sys.argv[1]
TABLE = "--table" in sys.argv
ITEMS = ["chair", "desk", "lamp", "shelf", "sofa"]
ROUNDS = 4000
TAGS = json.dumps([{"_tag": item, "i": {item: 1}} for item in ITEMS])
START = 1_750_000_000


def run(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


# ---- the good log ----

def simulate(seed=1):
    """LinUCB that plays at random in 30% of the rounds, as rows."""
    code, _, errors = run("run", "-d", "synthetic:clicks,arms=5,dim=4,blocks=on,rate=0.2", "-p", "linucb", "-T", str(ROUNDS),
                          "-s", str(seed), "--log", "simulated.dsjson", "--set", "linucb.propensity=floor", "--set",
                          "linucb.propensity_epsilon=0.3")
    if code:
        sys.exit(f"attacks.py: {errors}")
    chance = random.Random(seed)
    rows, now = [], START
    with open("simulated.dsjson", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            event = json.loads(line)
            p = [0.0] * len(ITEMS)
            for action, probability in zip(event["a"], event["p"]):
                p[action - 1] = probability
            x = [value for key, value in sorted(event["c"]["_multi"][0]["x"].items()) if key != "0"]
            now += chance.expovariate(1 / 60)
            rows.append({"id": f"e{number}", "time": now, "x": x, "action": event["_labelIndex"], "p": p,
                         "probability": p[event["_labelIndex"]], "reward": -event["_label_cost"] + 0.0})
    return rows


# ---- formats ----

def text_of(time):
    day = datetime.datetime.fromtimestamp(time // 86400 * 86400, datetime.timezone.utc).date()
    seconds = time % 86400
    return f"{day}T{int(seconds // 3600):02}:{int(seconds // 60 % 60):02}:{int(seconds % 60):02}.{int(seconds % 1 * 1e6):06}Z"


def write_csv(rows, name="log", context=True, times=True, ids=False):
    """Only the probability of the chosen action. Returns the name of the log."""
    path = f"{name}.csv"
    head = (["id"] if ids else []) + (["time"] if times else []) + ["item", "p", "click"] + (["x0", "x1", "x2"] if context else [])
    with open(path, "w", encoding="utf-8") as out:
        print(",".join(head), file=out)
        for row in rows:
            cells = [row["id"]] if ids else []
            cells += [text_of(row["time"])] if times else []
            cells += [ITEMS[row["action"]], f"{row['probability']:.10g}", f"{row['reward']:.10g}"]
            cells += [f"{value:.6g}" for value in row["x"]] if context else []
            print(",".join(cells), file=out)
    roles = ["action=item", "probability=p", "reward=click"]
    roles += ["time=time"] if times else []
    roles += ["id=id"] if ids else []
    roles += ["context=x0+x1+x2"] if context else []
    return f"csv:{path}," + ",".join(roles)


def write_dsjson(rows, name="log", ids=True, times=True):
    """The probabilities of all actions."""
    path = f"{name}.dsjson"
    with open(path, "w", encoding="utf-8") as out:
        for row in rows:
            x, p = row["x"], row["p"]
            order = [row["action"]] + [i for i in range(len(ITEMS)) if i != row["action"]]
            extra = f'"EventId":"{row["id"]}",' if ids else ""
            extra += f'"Timestamp":"{text_of(row["time"])}",' if times else ""
            print(f'{{"_label_cost":{-row["reward"]},"_label_probability":{row["probability"]},"_label_Action":{order[0] + 1},'
                  f'"_labelIndex":{order[0]},{extra}"a":{[i + 1 for i in order]},"p":{[p[i] for i in order]},'
                  f'"c":{{"User":{{"x0":{x[0]},"x1":{x[1]},"x2":{x[2]}}},"_multi":{TAGS}}}}}', file=out)
    return path


def write_compact(rows, name="log", **options):
    code, _, errors = run("log", write_dsjson(rows, name, **options), "-o", f"{name}.eelog")
    if code:
        sys.exit(f"attacks.py: {errors}")
    return f"{name}.eelog"


def csv_of(**options):
    return lambda rows, name="log": write_csv(rows, name, **options)


def dsjson_of(**options):
    return lambda rows, name="log": write_dsjson(rows, name, **options)


FORMATS = {"csv": write_csv, "dsjson": write_dsjson, "compact": write_compact,
           "csv, no time": csv_of(times=False), "dsjson, no id": dsjson_of(ids=False),
           "csv, bare": csv_of(times=False, context=False), "csv, ids": csv_of(ids=True)}
ALL = ["csv", "dsjson"]  # and one in five in the compact format
CSV, VECTORS = ["csv"], ["dsjson"]

# ---- damage: each takes the rows and returns others ----

CHANCE = random.Random(7)


def copies_of(rows):
    return [dict(row, p=list(row["p"])) for row in rows]


def each(change, first=0.0, last=1.0):
    """Applies change to a part of the rows."""
    def damage(rows):
        rows = copies_of(rows)
        for row in rows[int(first * len(rows)):int(last * len(rows))]:
            change(row)
        return rows
    return damage


def scale(factor):
    return lambda row: row.update(reward=row["reward"] * factor)


def invert(row):
    row["reward"] = 1.0 - row["reward"]


def propensity(change):
    """Changes the propensity of the chosen action, and only that."""
    def damage(row):
        row["probability"] = change(row)
        row["p"][row["action"]] = row["probability"]
    return damage


def top_ranked(row):
    """The chosen action gets the highest probability, and the top-ranked one that of the chosen one."""
    best = max(range(len(ITEMS)), key=lambda i: row["p"][i])
    row["p"][best], row["p"][row["action"]] = row["p"][row["action"]], row["p"][best]
    row["probability"] = row["p"][row["action"]]


def recomputed(row):
    """By a policy that explores less: the same ranking, other probabilities."""
    row["p"] = [0.92 if p == max(row["p"]) else 0.02 for p in row["p"]]
    total = sum(row["p"])
    row["p"] = [p / total for p in row["p"]]
    row["probability"] = row["p"][row["action"]]


def greedy_action(row):
    """The action column has the recommended action, the other columns those of the shown one."""
    best = max(range(len(ITEMS)), key=lambda i: row["p"][i])
    row["action"] = best


def greedy_action_whole(row):
    greedy_action(row)
    row["probability"] = row["p"][row["action"]]


def position(row):
    row["action"] = 0


def random_action(row):
    row["action"] = CHANCE.randrange(len(ITEMS))
    row["probability"] = row["p"][row["action"]]


def renamed(row):
    row["id"] = row["id"] + "-again"


def doubled(rows):
    return rows + each(renamed)(rows)


def next_to_each_other(rows):
    return [row for pair in zip(rows, each(renamed)(rows)) for row in pair]


def some_again(rows):
    copies = each(renamed)(CHANCE.sample(rows, len(rows) // 10))
    mixed = rows + copies
    mixed.sort(key=lambda row: row["time"])
    return mixed


def shared_ids(rows):
    rows = copies_of(rows)
    for number, row in enumerate(rows):
        row["id"] = f"user{number % 500}"
    return rows


def by(key):
    return lambda rows: sorted(rows, key=key)


def shuffled(rows):
    rows = list(rows)
    CHANCE.shuffle(rows)
    return rows


def halves_swapped(rows):
    return rows[len(rows) // 2:] + rows[:len(rows) // 2]


def clock(first, seconds):
    return each(lambda row: row.update(time=row["time"] + seconds), first)


def successes(rows):
    return [row for row in rows if row["reward"] > 0]


def most_failures_missing(rows):
    return [row for row in rows if row["reward"] > 0 or CHANCE.random() < 0.2]


def rare(rows):
    """One success in ten."""
    return each(lambda row: row.update(reward=row["reward"] * (CHANCE.random() < 0.25)))(rows)


def late(rows):
    return each(lambda row: row.update(reward=0.0), 0.9)(rows)


def outage(rows):
    return each(lambda row: row.update(reward=0.0), 0.4, 0.5)(rows)


# name, damage, formats, words of the sentence, whether it is grave (None: either)
WRONG = "The log's propensities look wrong"
FEW = r"of an event's actions were possible"
ATTACKS = [
    ("rewards in cents in the second half", each(scale(100), 0.5), ALL, "Rewards have another size", True),
    ("rewards in cents in a tenth", each(scale(100), 0.3, 0.4), ALL, "Rewards have another size", True),
    ("rewards divided by 1000 at the end", each(scale(0.001), 0.8), ALL, "Rewards have another size", True),
    ("sign flipped in a part", each(scale(-1), 0.6), ALL, "as if costs were read as rewards", True),
    ("sign flipped everywhere", each(scale(-1)), ALL, "No reward is above 0", False),
    ("sign flipped everywhere, by the policy", each(scale(-1)), ALL, "Random choices would have earned more", False),
    ("failures as 1, successes as 0", each(invert), ALL, "Random choices would have earned more", False),
    ("failures and successes swapped in a half, few successes", lambda rows: each(invert, 0.5)(rare(rows)), ALL,
     "The place in the log explains", True),
    ("percentages as probabilities", each(propensity(lambda row: 100 * row["probability"])), CSV, "a percentage", True),
    ("percentages in a part", each(propensity(lambda row: 100 * row["probability"]), 0.5), ["csv", "dsjson"], "a percentage", True),
    ("weights 1 / p as probabilities", each(propensity(lambda row: 1 / row["probability"])), CSV, "1 / p", True),
    ("log-probabilities", each(propensity(lambda row: math.log(row["probability"]))), CSV, "log-probability", True),
    ("propensity of the top-ranked action", each(top_ranked), ALL, WRONG, True),
    ("propensity of the top-ranked action in a part", each(top_ranked, 0.7), ALL, WRONG, True),
    ("propensities recomputed", each(recomputed), ALL, WRONG, True),
    ("constant propensity 0.76", each(propensity(lambda row: 0.76)), CSV, WRONG, True),
    ("constant propensity 0.4", each(propensity(lambda row: 0.4)), CSV, "Every propensity is 0.4", True),
    ("constant propensity 1 / 5", each(propensity(lambda row: 0.2)), CSV, "propensities (look wrong|do not fit)", True),
    ("propensity 1 everywhere", each(propensity(lambda row: 1.0)), CSV, "Every propensity is 1", True),
    ("propensity 1 in a part", each(propensity(lambda row: 1.0), 0.7), CSV, "of the propensities are 1", False),
    ("propensities halved", each(propensity(lambda row: row["probability"] / 2)), ALL, WRONG, True),
    ("propensities halved in a fifth", each(propensity(lambda row: row["probability"] / 2), 0.5, 0.7), CSV, WRONG, True),
    ("propensities rounded to one decimal", each(propensity(lambda row: round(row["probability"] + 0.04, 1))), CSV, FEW,
     False),
    ("recommended instead of shown action", each(greedy_action), CSV, "do not fit its actions", True),
    ("recommended instead of shown action, all probabilities", each(greedy_action_whole), VECTORS,
     WRONG, True),
    ("position instead of action", each(position), CSV, "propensities (look wrong|do not fit)", True),
    ("random action", each(random_action), VECTORS, WRONG, True),
    ("the log twice, other ids", doubled, ALL, "look like copies", False),
    ("the log twice, no time, no id", doubled, ["csv, no time", "dsjson, no id"], "look like copies", False),
    ("the log twice, nothing but action, p, reward", doubled, ["csv, bare"], "repeat earlier ones", False),
    ("each event twice in a row", next_to_each_other, ["csv", "dsjson"], "look like copies", False),
    ("each event twice in a row, bare", next_to_each_other, ["csv, bare"], "An action follows itself", False),
    ("a tenth of the events again", some_again, ["csv", "dsjson", "csv, no time"], "look like copies", False),
    ("ids of users instead of events", shared_ids, ["dsjson", "csv, ids"], "id of an earlier event", False),
    ("sorted by reward", by(lambda row: row["reward"]), ALL + ["csv, bare"], "The log is sorted by reward", False),
    ("sorted by action", by(lambda row: row["action"]), ALL + ["csv, bare"], "An action follows itself", False),
    ("shuffled", shuffled, ALL, "not in the order of time", False),
    ("newest first", lambda rows: rows[::-1], ALL, "not in the order of time", False),
    ("second half before the first", halves_swapped, ALL, "not in the order of time", False),
    ("clock set back by an hour", clock(0.5, -3600), ALL, "not in the order of time", False),
    ("only successes", successes, ALL, "Every reward is 1", False),
    ("most failures missing", most_failures_missing, ALL, "propensities (look wrong|do not fit)", True),
    ("rewards that have not arrived yet", late, ALL, "may not have arrived yet", False),
    ("an outage of the reward collection", outage, ALL, "rewards may be missing", False),
    ("no rewards joined", each(lambda row: row.update(reward=0.0)), ALL, "Every reward is 0", False),
]

# Nothing in the log can show these: the sentences must not pretend to know.
UNKNOWABLE = [
    ("rewards multiplied by 100 everywhere", each(scale(100)), ALL),
    ("times in another time zone", clock(0.0, 7200), ALL),
    ("a constant added to every reward", each(lambda row: row.update(reward=row["reward"] + 5)), ALL),
    ("the log cut off", lambda rows: rows[:len(rows) // 3], ALL),
    ("a tenth of the events lost at random", lambda rows: [row for row in rows if CHANCE.random() < 0.9], ALL),
]


# ---- what is said ----

def sentences_of(log, *words, candidates="uniform"):
    """All sentences of both commands, as (command, grave, text); of a log without events, the error."""
    said = []
    code, out, errors = run("log", log, "--json")
    if code:
        said.append(("log", True, errors))
    else:
        summary = json.loads(out)
        said += [("log", one["grave"], one["text"]) for one in summary.get("sentences", [])]
        said += [("log", None, one["reason"]) for one in summary["passed_over"]]
    code, out, errors = run("evaluate", log, "-p", candidates, "-e", "ips", "--json", *words)
    if code:
        said.append(("evaluate", True, errors))
    for line in out.splitlines():
        said += [("evaluate", one["grave"], one["text"]) for one in json.loads(line)["sentences"]]
    return said


HARMLESS = ("No problems found.", "Rewards are assumed to lie between", "The log has only the probability")


def is_said(said, command, words, grave):
    return any(who == command and re.search(words, text) and (grave is None or is_grave in (None, grave))
               for who, is_grave, text in said)


def problems_of(said):
    return [text for _, _, text in said if not text.startswith(HARMLESS)]


FAILED = []


def judge(name, form, said, words, grave, commands=("log", "evaluate")):
    missing = [command for command in commands if not is_said(said, command, words, grave)]
    if TABLE:
        print(f"{'MISSED' if missing else 'found '}  {name} [{form}] {' '.join(missing)}")
    elif missing:
        FAILED.append(f"{name} [{form}]: {', '.join(missing)} did not say '{words}', but {problems_of(said)}")


def attack_log(rows):
    for number, (name, damage, forms, words, grave) in enumerate(ATTACKS):
        damaged = damage(rows)
        for form in forms + (["compact"] if number % 5 == 0 and "dsjson" in forms else []):
            candidates = "linucb" if form == "csv, no time" else "uniform"  # reads the context, which shows copies
            judge(name, form, sentences_of(FORMATS[form](damaged), candidates=candidates), words, grave)
    for name, damage, forms in [("nothing", lambda rows: rows, list(FORMATS))] + UNKNOWABLE:
        for form in forms:
            found = problems_of(sentences_of(FORMATS[form](damage(rows))))
            if TABLE and name != "nothing":
                print(f"unknown {name} [{form}] {found}")
            elif found:
                FAILED.append(f"{name} [{form}]: {found}")


# ---- candidates that saw the future ----

def write_probabilities(rows, choose, name):
    with open(name, "w", encoding="utf-8") as out:
        print(",".join(ITEMS), file=out)
        for row in rows:
            wanted = choose(row)
            print(",".join("1" if i == wanted else "0" for i in range(len(ITEMS))), file=out)
    return f"file:{name}"


def knows_rewards(row):
    """The logged action if it was rewarded, else the next one."""
    return row["action"] if row["reward"] > 0 else (row["action"] + 1) % len(ITEMS)


def knows_nothing(row):
    return max(range(len(ITEMS)), key=lambda i: row["x"][i % 3] * (i + 1))


def nearest_neighbour(rows):
    """Fitted to the same events without a test set: the action of the nearest rewarded event, which is the event itself
    if it was rewarded."""
    rewarded = [row for row in rows if row["reward"] > 0]

    def choose(row):
        nearest = min(rewarded[:100] + ([row] if row["reward"] > 0 else []),
                      key=lambda other: sum((a - b) ** 2 for a, b in zip(row["x"], other["x"])))
        return nearest["action"]
    return choose


def attack_candidates(rows):
    few, fitted = rows[:3000], nearest_neighbour(rows)
    for form, name, choose in (("dsjson", "file: computed from the rewards", knows_rewards),
                               ("dsjson", "file: fitted to the same events", fitted),
                               ("csv", "file: fitted to the same events", fitted)):
        log = FORMATS[form](rows)
        said = sentences_of(log, candidates=write_probabilities(rows, choose, "future.csv"))
        judge(name, form, said, "(as if it had been computed from these events|covers only part)", True, ["evaluate"])
        found = problems_of(sentences_of(log, candidates=write_probabilities(rows, knows_nothing, "fair.csv")))
        if found and not TABLE:
            FAILED.append(f"an honest file: [{form}]: {found}")
    log, later = write_dsjson(few), write_dsjson(rows[3000:], "later")
    code, _, errors = run("evaluate", log, "-p", "linucb", "-e", "ips", "--warm", "trained.model")
    if code:
        sys.exit(f"attacks.py: {errors}")
    for kind in ("model", "learning"):
        words = "has learned as many rewards as this log has events"
        judge(f"{kind}: trained on the same log", "dsjson", sentences_of(log, candidates=f"{kind}:trained.model"), words,
              False, ["evaluate"])
        if any(words in text for text in problems_of(sentences_of(later, candidates=f"{kind}:trained.model"))):
            FAILED.append(f"{kind}: a model was said to know events that it has not seen")


def main():
    rows = simulate()
    attack_log(rows)
    attack_candidates(rows)
    if FAILED:
        sys.exit("\n".join(FAILED))


main()
