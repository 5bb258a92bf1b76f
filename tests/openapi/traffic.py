"""Traffic for the comparison: bodies on both sides of every schema, and requests that bring out every member of every
response."""

import copy
import itertools
import json
import re
import subprocess

import stories
from client import Server
from schema import OTHER_WORD

counter = itertools.count(1)


def fresh(word):
    return f"{word}{next(counter)}"


def keys(program, folder):
    """A keys file with one key per role, and a reader and an admin of one other bandit."""
    made = {}
    for name, words in {**{role: ["-r", role] for role in ("client", "reader", "app", "admin")},
                        "elsewhere": ["-r", "admin", "-b", "elsewhere"]}.items():
        done = subprocess.run([program, "keys", "add", name, "-f", f"{folder}/keys", *words], check=True, text=True,
                              capture_output=True)
        made[name] = done.stdout.strip().splitlines()[-1].split()[-1]
    return made


# ---- bodies ----

CHALLENGER = {"name": "c", "policy": "linucb", "options": "", "propensity": "floor:0.1", "number": 1}
GUARDRAILS = {"control": {"share": 0.1}, "rollout": {"share": 1}, "segment": "user.land", "error": 0.05,
              "bounds": [],
              "rules": [{"name": "r", "boost": 0.1}], "sticky": {"for": 60},
              "shares": [{"name": "s", "action": {"_id": "x"}, "low": 0.1}],
              "caps": [{"name": "c", "action": {"_id": "x"}, "most": 3}],
              "budgets": [{"name": "b", "cost": "cost", "default_cost": 0, "limit": 5}]}
SETTINGS = {"policy": "linucb", "options": "", "seed": 1, "propensity": "floor:0.1", "wait": 600, "default_reward": 0,
            "aggregation": "first", "mode": "online", "rewards": [0, 1], "outside": "accept", "confidence": 0.9,
            "promote": "offer", "challengers": [CHALLENGER], "tests": 0, "retention_days": 30, "personalizer": {},
            "metrics": [{"name": "refund", "aggregation": "sum", "missing": 0, "weight": 0}], "guardrails": GUARDRAILS,
            "held": "no", "held_because": ""}
FIXED = ("policy", "options", "seed", "propensity", "tests")
NAMED = {"id": "a", "key": "u1", "context": {"user": {"age": 31}}, "exclude": ["y"], "defer": False, "dry_run": False,
         "actions": [{"id": "x", "features": {"price": 9.5}}, {"id": "y", "features": {}}, {"id": "z"}]}
SLOTS = {"id": "a", "actions": [{"id": "w"}, {"id": "x"}, {"id": "y"}, {"id": "z"}],
         "slots": [{"id": "top", "features": {"width": 2}, "exclude": ["z"], "baseline": "x"}]}
VECTORS = {"id": "a", "actions": [{"id": "x", "vector": [1, 0.5]}]}
ARRAYS = {"id": "a", "actions": [[1, 0.5], [0, 1]]}
REWARD = {"id": "nobody", "value": 1, "reward_id": "r", "slot": "top", "metrics": {"refund": 1}}
TIMES = {"startTime": "2020-01-01T00:00:00Z", "endTime": "2040-01-01T00:00:00Z"}
POLICY = {"name": "mine", "arguments": "eenet:linucb propensity=floor:0.1"}
RANK = {"eventId": "e", "contextFeatures": [{"day": "mon"}], "deferActivation": False, "excludedActions": ["y"],
        "actions": [{"id": "x", "features": [{"price": 1}]}, {"id": "y"}]}
RANK_SLOTS = {"eventId": "e", "contextFeatures": [{"day": "mon"}], "deferActivation": False,
              "actions": [{"id": "w", "features": [{"price": 1}]}, {"id": "x"}, {"id": "y"}, {"id": "z"}],
              "slots": [{"id": "top", "baselineAction": "x", "features": [{"w": 1}], "positionFeatures": [{"p": 1}],
                         "excludedActions": ["z"]}]}
CONFIGURATION = {"rewardWaitTime": "PT10M", "defaultReward": 0, "rewardAggregation": "earliest",
                 "explorationPercentage": 0.1, "modelExportFrequency": "PT5M", "logRetentionDays": -1,
                 "logMirrorEnabled": False, "learningMode": "Online", "isAutoOptimizationEnabled": False,
                 "autoOptimizationFrequency": "P7D", "autoOptimizationStartDate": "2030-01-01T00:00:00Z",
                 "modelRetrainDays": 2, "lastConfigurationEditDate": "2030-01-01T00:00:00Z"}
EVALUATION = {"name": "e", "from": "2020-01-01T00:00:00Z", "until": None, "confidence": 0.9, "estimators": ["ips"],
              "candidates": [{"name": "c", "policy": "linucb", "options": "", "propensity": "floor:0.1"}]}
CONTRACT = {"name": "e", **TIMES, "policies": [POLICY], "enableOfflineExperimentation": False,
            "enablePolicyOptimization": False}

# Per operation: the path, the member that must be new each time, and bodies that have every documented member.
BODIES = {
    "acceptClock": ("/v1/clock", None, [{"accept": "corrected"}]),
    "createBandit": ("/v1/bandits", "name", [{"name": "n", "features": "", **SETTINGS}, {"name": "n", "dim": 2}]),
    "changeBandit": ("/v1/bandits/changing", None, [{key: one for key, one in SETTINGS.items() if key not in FIXED}]),
    "decide": ("/v1/bandits/named/decide", "id", [NAMED, SLOTS]),
    "decideBatch": ("/v1/bandits/named/decide/batch", None, [{"decisions": [{"actions": [{"id": "x"}]}]}]),
    "reward": ("/v1/bandits/named/reward", "reward_id", [REWARD]),
    "rewardBatch": ("/v1/bandits/named/reward/batch", None, [{"rewards": [{"id": "nobody", "value": 1, "metrics": {"refund": 1}}]}]),
    "eraseDecisions": ("/v1/bandits/named/erase", None,
                       [{"ids": ["nobody"], "key": {"path": "user.id", "value": "nobody"}, "person": "nobody"}]),
    "activate": ("/v1/bandits/named/activate", None, [{"id": "nobody"}]),
    "explain": ("/v1/bandits/named/explain", None, [{**NAMED, "slots": None}]),
    "askEvaluation": ("/v1/bandits/named/evaluations", None, [EVALUATION]),
    "addChallenger": ("/v1/bandits/changing/challengers", "name", [CHALLENGER]),
    "personalizerPostRank": ("/personalizer/rank", "eventId", [RANK]),
    "personalizerPostEventsEventIdReward": ("/personalizer/events/nobody/reward", None, [{"value": 1}]),
    "personalizerPostMultislotRank": ("/personalizer/multislot/rank", "eventId", [RANK_SLOTS]),
    "personalizerPostMultislotEventsEventIdReward": ("/personalizer/multislot/events/nobody/reward", None,
                                                     [{"reward": [{"slotId": "top", "value": 1}]}]),
    "personalizerPutConfigurationsService": ("/personalizer/configurations/service", None, [CONFIGURATION]),
    "personalizerPutConfigurationsPolicy": ("/personalizer/configurations/policy", None, [POLICY]),
    "personalizerPostConfigurationsApplyFromEvaluation": ("/personalizer/configurations/applyFromEvaluation", None,
                                                          [{"evaluationId": "nobody", "policyName": "Online"}]),
    "personalizerPostEvaluations": ("/personalizer/evaluations", None, [CONTRACT]),
    "personalizerPutEvaluationsEvaluationId": ("/personalizer/evaluations/FRESH", None, [CONTRACT]),
    "personalizerPutFeatureImportancesId": ("/personalizer/featureImportances/i1", None, [{"name": "i", **TIMES}]),
}
# More bodies on bandits that take vectors: (operation, path, body).
MORE_BODIES = [("decide", "/v1/bandits/vectors/decide", VECTORS), ("decide", "/v1/bandits/vectors/decide", ARRAYS)]

# Statuses of a valid body that names something that does not exist.
ALSO_VALID = {"acceptClock": {409}, "personalizerPostConfigurationsApplyFromEvaluation": {404}}
# Texts that must also mean something: those of a documented length may be refused, but not for their length.
MEANINGFUL = ("policy", "options", "features", "propensity", "arguments", "estimators[0]", "baseline", "baselineAction")
# Operations whose schema is that of another one, which has bodies with every member.
SAME_SCHEMA = ("decideBatch", "rewardBatch", "explain")
# Variants that a schema cannot express, and why.
SPECIAL = {
    (".rewards[0]", "maximum"): "the second number must be larger",
    (".dim", "maximum"): "such a model does not fit into memory",
}


def undo(client, operation, response):
    """Removes what a valid body created where the server allows only a few."""
    if operation.id == "addChallenger":
        client.call("DELETE", f"/v1/bandits/changing/challengers/{response.json['name']}", expect=200)
    if operation.id == "askEvaluation":
        client.call("DELETE", f"/v1/bandits/named/evaluations/{response.json['id']}", expect=200)
    if operation.id.endswith("PostEvaluations") or operation.id.endswith("PutEvaluationsEvaluationId"):
        client.call("DELETE", f"/personalizer/evaluations/{response.json['id']}", expect=204)


def check_words(schemas, schema, where, said, message, report):
    """The message lists the words that the server knows: those of the schema, and no others."""
    for name in where.strip(".").split("."):
        member, _, element = name.partition("[")
        schema = schemas.merged(schemas.merged(schema)["properties"][member])
        if element:
            schema = schemas.merged(schema["items"])
    known = re.search(r"must be (?:one of )?([\w, ]+)$", message)
    words = set(re.split(r", | or ", known[1])) if known else set()
    documented = {one for one in schema["enum"] if isinstance(one, str)}
    for word in words ^ documented if documented else ():
        side = "the message of the server" if word in words else "openapi.json"
        report.add(f"{said}: \"{word}\" is only in {side}")


def is_accepted(operation, response):
    if operation.id.endswith("Batch") and response.status == 200:
        return not any("error" in one for one in next(iter(response.json.values())))
    return response.status in {200, 201, 204} | ALSO_VALID.get(operation.id, set())


def disagreement(operation, where, what, good, response):
    """What is wrong about the answer to a variant; None: nothing."""
    accepted, message = is_accepted(operation, response), response.message
    has_length = what in ("minLength", "maxLength", "above maxLength")
    if has_length and not accepted and where.split(".")[-1] in MEANINGFUL:
        verb = "allows" if good else "forbids"
        return f"openapi.json {verb} this length, the server: {message}" if good == ("bytes" in message) else None
    if good and not accepted:
        return f"openapi.json allows it, the server refuses it: {response.status} {message or response.bytes[:200]}"
    if not good and accepted:
        return "openapi.json forbids it, the server accepts it"
    if not good and response.status not in (400, 200):  # 200: a batch with an error of an item
        return f"expected 400, the server answered {response.status} {message}"
    if what == "unknown" and not good and "unknown_member" not in str(response.json):
        return f"the message does not name the unknown member: {message}"
    return None


def try_variants(client, schemas, operation, path, renewed, base, report):
    """Returns the members that the body has."""
    schema = operation.request_schema()
    seen = set()
    for wrong in schemas.check(base, schema, operation.pointer, "", seen):
        report.add(f"{operation.name}: the test's own body does not fit the schema: {wrong}")
    for where, what, body, good in [("", "as documented", base, True), *schemas.variants(schema, base)]:
        if (where, what) in SPECIAL:
            continue
        if isinstance(body, dict) and renewed and renewed in body and where != f".{renewed}":
            body = {**body, renewed: fresh(renewed)}
        response = client.call(operation.method, path.replace("FRESH", fresh("f")), body)
        said = f"{operation.name} {where or 'body'}, {what}: {json.dumps(body)[:200]}"
        wrong = disagreement(operation, where, what, good, response)
        if wrong:
            report.add(f"{said}: {wrong}")
        if what == OTHER_WORD and response.status == 400:
            check_words(schemas, schema, where, said, response.message, report)
        if is_accepted(operation, response):
            undo(client, operation, response)
    return seen


def try_bodies(document, schemas, client, report):
    for operation in document.operations:
        if not operation.request_schema():
            continue
        if operation.id not in BODIES:
            report.add(f"{operation.name}: takes a JSON body; add one with every documented member to BODIES")
            continue
        path, renewed, bodies = BODIES[operation.id]
        tries = [(path, one) for one in bodies] + [(at, one) for id, at, one in MORE_BODIES if id == operation.id]
        seen = set()
        for at, body in tries:
            seen |= try_variants(client, schemas, operation, at, renewed, copy.deepcopy(body), report)
        if operation.id in SAME_SCHEMA:
            continue
        promised = schemas.promised(operation.request_schema(), operation.pointer, set())
        for one in sorted(promised - seen):
            if "/properties/" in one and " " not in one:
                report.add(f"{operation.name}: no body in BODIES has {one}")


# ---- query parameters ----

def query_values(schema):
    """(value, whether it is valid)"""
    if schema.get("type") == "integer" and "enum" not in schema:
        yield schema["minimum"], True
        yield schema["minimum"] - 1, False
        yield "x", False
    if "maximum" in schema:
        yield schema["maximum"], True
        yield schema["maximum"] + 1, False
    if schema.get("format") == "date-time":
        yield "2026-11-16T10:00:00Z", True
        yield "yesterday", False
    for word in schema.get("enum", []):
        yield word, True
    if "enum" in schema:
        yield "another", False


def try_queries(document, client, report):
    client.call("POST", "/v1/bandits/named/decide", {"id": "known", **stories.PLAIN}, 200)
    for operation in document.operations:
        if operation.id == "archiveBandit":  # it would archive the bandit: see stories.tell_of_bandits
            continue
        path = operation.path.replace("{name}", "named").replace("{id}", "known").replace("{evaluationId}", "nobody")
        body = stories.PLAIN if operation.body else None
        for name, schema in operation.query().items():
            for value, good in query_values(schema):
                status = client.call(operation.method, f"{path}?{name}={value}", body).status
                if good != (status in (200, 404)):
                    verb = "allows" if good else "forbids"
                    report.add(f"{operation.name}?{name}={value}: openapi.json {verb} it, the server answered {status}")
        if operation.query() and not operation.is_personalizer:
            client.call(operation.method, f"{path}?unknown=1", body, 400)


def set_up(client):
    stories.create(client, "named", policy="linucb", features="", metrics=[{"name": "refund"}])
    stories.create(client, "changing", policy="linucb", features="")
    stories.create(client, "vectors", policy="linucb", dim=2)
    stories.create(client, "personalizer", policy="linucb", features="", propensity="floor:0.1")


def run(program, document, schemas, client, report, made):
    server = Server(program, "data", "--keys", "keys", "--checkpoint-events", "20").start()
    client.use(server, made["admin"])
    set_up(client)
    try_bodies(document, schemas, client, report)
    try_queries(document, client, report)
    stories.tell(client, made)
    server.stop()
