#!/usr/bin/env python3
"""compare.py EENET ROOT: proves that openapi.json and the server agree, field by field.

1. Layout: the file is laid out as `compare.py --format ROOT` writes it, without duplicate members, and each $ref leads somewhere.
2. Routes: the table of routes has the same operations, roles, path parameters and limits of bodies.
3. Readers: every table of member names in src/serve has a schema with the same names, and every schema of a request a
   reader. A new reader must be added to READERS.
4. Requests: for every operation with a JSON body, bodies on both sides of every type, bound, word and member of the
   schema are accepted or refused by the real server as the schema says. A new operation must be added to BODIES.
5. Responses: every response of the whole test has a documented status, headers and content, without a member that the
   schema does not name. Every documented status, header, member, null and word has really been seen, except those in
   NEVER_SEEN."""

import re
import sys
from pathlib import Path

import readers
import traffic
from document import Document, laid_out
from schema import Schemas, types_of
from client import Client, Report
from statuses import provoke_statuses

# Which schema has the names of a table in the source. (): names of query parameters.
READERS = {
    ("api_clock.c", "read_acceptance"): ["AcceptClock"],
    ("api_bandits.c", "api_delete"): (),
    ("api_erase.c", "read_wanted"): ["Erase"],
    ("api_erase.c", "read_key"): ["EraseKey"],
    ("api_evaluations.c", "take_candidate"): ["EvaluationCandidate"],
    ("api_evaluations.c", "take_request"): ["EvaluationRequest"],
    ("api_explain.c", "read_most"): (),
    ("api_feature_importances.c", "read_wanted"): ["ImportanceContract"],
    ("api_log.c", "api_log"): (),
    ("api_audit.c", "api_audit"): (),
    ("api_model.c", "api_get_model"): (),
    ("api_personalizer_evaluations.c", "read_reference"): ["PolicyReference"],
    ("api_reward.c", "read_activation"): ["Activate"],
    ("personalizer_configuration.c", "members"): ["ServiceConfiguration"],
    ("personalizer_evaluations.c", "read_policy"): ["EvaluationPolicy"],
    ("personalizer_evaluations.c", "read_members"): ["EvaluationContract"],
    ("personalizer_policy.c", "read_contract"): ["PolicyContract"],
    ("personalizer_rank.c", "read_action"): ["RankAction"],
    ("personalizer_rank.c", "read_slot"): ["RankSlot"],
    ("personalizer_rank.c", "rank_request_read"): ["RankRequest", "MultiSlotRankRequest"],
    ("personalizer_rank.c", "rank_reward_read"): ["RankReward"],
    ("personalizer_rank.c", "read_slot_reward"): ["SlotReward"],
    ("personalizer_rank.c", "rank_slot_rewards_read"): ["MultiSlotReward"],
    ("decide_request.c", "read_named_action"): ["NamedAction", "VectorAction"],
    ("decide_request.c", "read_slot_member"): ["Slot"],
    ("decide_request.c", "read_slot"): ["Slot"],
    ("decide_request.c", "decide_request_read"): ["Decide"],
    ("reward_request.c", "reward_request_read"): ["Reward"],
    ("bandit_settings.c", "members"): ["NewBandit"],
    ("challenger_settings.c", "members"): ["Challenger"],
    ("metric_settings.c", "members"): ["Metric"],
    ("batches", "members"): ["DecideBatch", "RewardBatch"],
}
# Keys that readers compare outside of a table, and why.
LONE_KEYS = {
    ("api_bandits.c", "name"): "read before the other settings, whose table has it too",
    ("decision_arms.c", "_multi"): "a stored context, not a request",
    ("guard_facts.c", "_multi"): "the same",
    ("guard_settings.c", "rollout"): "one of the members that CHECK_MEMBERS lists",
    ("personalizer_kept.c", "modelRetrainDays"): "the stored settings of Personalizer's API, not a request",
    ("reward_request.c", "reward"): "refused, with a better hint",
}
# Readers without a table.
LONE_READERS = {("call_items.c", "read_array"): "batches have one member, which the handler names"}
# What is documented and was not seen, and why.
NEVER_SEEN = {
    "POST /v1/clock 200": "the system's clock must jump: see tests/serve/clock.py",
    "#/paths//readyz/get/200/properties/warning": "the same",
    "#/components/schemas/LiveEvaluation/properties/policies/items/properties/state = 'failed'":
        "a challenger that stops with an error; none is known that does",
    "#/components/schemas/ChangeableSettings/properties/held = 'no'": "settings say only what holds a bandit",
    "#/components/schemas/Alarm/properties/kind = 'drift'":
        "it takes weeks of decisions: see tests/unit/serve/live/test_live_drift.c",
    **{f"#/components/schemas/NotReady/properties/loading{member}":
       "a model that takes long to load; tests/serve/operations.py has one"
       for member in ("", "/properties/total", "/properties/loaded", "/properties/failed")},
    **{f"#/components/schemas/Fleet/properties/{member}": "only of a fleet: see tests/fleet/behaviour.py" for member in (
        "bandits", "bandits/items/properties/name", "bandits/items/properties/owner",
        "bandits/items/properties/token", "leader", "server", "servers", "servers/items/properties/address",
        "servers/items/properties/alive", "servers/items/properties/bandits", "servers/items/properties/draining",
        "servers/items/properties/lag_seconds", "servers/items/properties/load", "servers/items/properties/server",
        "servers/items/properties/silent_seconds", "servers/items/properties/version",)},
    **{member: "only of a fleet: see tests/fleet/behaviour.py" for member in (
        "#/paths//page/visitor/get/200/properties/fleet", "#/paths//v1/bandits/get/200/properties/servers_missing",
        "GET /v1/fleet 200",)},
    **{member: "only without a database: see tests/fleet/outage.py" for member in (
        "#/components/schemas/Outcome/properties/outcome = 'spooled'", "#/paths//readyz/get/200/properties/mode",
        "#/paths//readyz/get/200/properties/mode = 'normal'", "#/paths//readyz/get/200/properties/mode = 'spooling'",
        "#/paths//readyz/get/200/properties/spool", "#/paths//readyz/get/200/properties/spool/properties/entries",
        "#/paths//readyz/get/200/properties/spool/properties/seconds_left",
        "#/paths//v1/bandits/{name}/activate/post/200/properties/outcome = 'spooled'",)},
}
# 503 also says that a queue is full: 1000 requests wait for the worker, or too many logs or models are being read. Only
# those that a full disk provokes are seen here.
QUEUES = 503
# What a fast or slow machine may skip: jobs and challengers that have not started or not ended yet.
UNSTEADY = {
    "POST /v1/bandits/{name}/challengers/{challenger}/promote 409",
    "#/components/schemas/Evaluation/properties/ended null",
    "#/components/schemas/Evaluation/properties/progress not null",
    "#/components/schemas/Evaluation/properties/state = 'waiting'",
    "#/components/schemas/Evaluation/properties/state = 'running'",
    "#/components/schemas/EvaluationResource/properties/status = 'pending'",
    "#/components/schemas/EvaluationResource/properties/status = 'Running'",
    "#/components/schemas/LiveEvaluation/properties/policies/items/properties/state = 'learning'",
    "#/components/schemas/LiveEvaluation/properties/waiting null",
}


def check_layout(document, report):
    if document.text != laid_out(document.root) + "\n":
        report.add("openapi.json: layout differs; run tests/openapi/compare.py --format .")
    for target in re.findall(r'"\$ref": "([^"]*)"', document.text):
        document.at(target)


def check_routes(document, root, report):
    described = {(one.method, one.path): one for one in document.operations}
    routes = {(method, path): about for method, path, *about in readers.routes(root)}
    for method, path in set(described) ^ set(routes):
        report.add(f"{method} {path}: only in {'routes.c' if (method, path) in routes else 'openapi.json'}")
    for at in set(described) & set(routes):
        one, (role, handler, traits) = described[at], routes[at]
        model = "model-bytes" if "ROUTE_MODEL" in traits else "body-bytes"
        wanted = {"x-role": role, "x-limit": None if one.method in ("GET", "DELETE") else model,
                  "path parameters": re.findall(r"{(\w+)}", one.path)}
        found = {"x-role": one.role, "x-limit": (one.body or {}).get("x-limit"),
                 "path parameters": [each["name"] for each in one.parameters if each["in"] == "path" and each["required"]]}
        if wanted != found:
            report.add(f"{one.name}: routes.c has {wanted}, openapi.json {found}")
        if not one.about.get("summary") or bool(one.about.get("security", True)) == (role is None):
            report.add(f"{one.name}: it has no summary, or a security that does not fit its role")
        if "ROUTE_WAITS" in traits and 503 not in one.responses:
            report.add(f"{one.name}: 503 is not described; the worker's queue may be full")
        if bool({200, 201, 204} & set(one.responses)) != (handler != "api_no_flatbuffers"):  # which refuses whatever comes
            report.add(f"{one.name}: whether it succeeds")


def names_of(schemas, name, read_only):
    """Its members; read_only: only those that the server sets."""
    members = schemas.merged({"$ref": f"#/components/schemas/{name}"})["properties"]
    return {one for one, about in members.items() if not read_only or schemas.merged(about).get("readOnly")}


def check_readers(document, schemas, root, report):
    tables = readers.tables(root)
    for key, names in tables.items():
        if key not in READERS:
            report.add(f"{key[0]} {key[1]}: a table of member names {names} without a schema; add it to READERS")
            continue
        if READERS[key] == ():
            continue
        documented = set().union(*(names_of(schemas, one, False) for one in READERS[key]))
        read_only = set().union(*(names_of(schemas, one, True) for one in READERS[key]))
        for name in set(names) - documented:
            report.add(f"{key[0]} {key[1]}: the server reads \"{name}\"; {READERS[key]} in openapi.json lacks it")
        for name in documented - set(names) - read_only:
            report.add(f"{key[0]} {key[1]}: {READERS[key]} in openapi.json has \"{name}\"; the server does not read it")
    for key in set(READERS) - set(tables):
        report.add(f"{key[0]} {key[1]}: READERS names this table; the source does not have it")
    for key in set(readers.keys_without_table(root)) - set(LONE_KEYS):
        report.add(f"{key[0]}: the key \"{key[1]}\" is read without a table of names; use request_member()")
    for key in set(readers.readers_without_table(root, tables)) - set(LONE_READERS):
        report.add(f"{key[0]} {key[1]}: reads members by a table that this test does not find; call it names")
    check_queries(document, root, report)


def check_queries(document, root, report):
    asked = {name for _, name in readers.query_names(root)}
    documented = {name for one in document.operations for name in one.query() if name != "api-version"}
    for name in asked ^ documented:
        side = "the server reads it, openapi.json lacks it" if name in asked else "openapi.json has it, no reader does"
        report.add(f"query parameter {name}: {side}")


def check_bounds_are_documented(document, schemas, report):
    """Numbers and texts of requests have limits; a schema without any says too little."""
    found = set()
    for operation in document.operations:
        if operation.request_schema():
            schemas.promised(operation.request_schema(), operation.pointer, found)
    members = (one for one in found if "/properties/" in one and " " not in one and one.startswith("#/components/"))
    for pointer in sorted(members):
        whole = schemas.merged(document.at(pointer), pointer)
        kinds = types_of(whole)
        if {"number", "integer"} & set(kinds) and "minimum" not in whole:
            report.add(f"{pointer}: a number without minimum")
        if {"number", "integer"} & set(kinds) and not {"maximum", "exclusiveMaximum"} & set(whole):
            report.add(f"{pointer}: a number without maximum")
        if "string" in kinds and not {"maxLength", "enum", "pattern", "format"} & set(whole):
            report.add(f"{pointer}: a string without maxLength, enum, pattern or format")


def check_standard(document, report):
    """With a validator of OpenAPI, if one is installed (python3-openapi-spec-validator)."""
    try:
        from openapi_spec_validator import validate
    except ImportError:
        print("openapi_spec_validator is not installed: the document is not compared with OpenAPI's own schema")
        return
    try:
        validate(document.root)
    except Exception as error:
        report.add(f"openapi.json is not valid OpenAPI 3.1: {str(error)[:500]}")


def check_coverage(document, schemas, client, report):
    promised = set()
    for operation in document.operations:
        for status, about in operation.responses.items():
            if (operation.id, status) not in client.answered and status != QUEUES:
                promised.add(f"{operation.name} {status}")
            for kind, content in about.get("content", {}).items():
                if kind == "application/json":
                    ref = operation.about["responses"][str(status)].get("$ref", f"{operation.pointer}/{status}")
                    schemas.promised(content["schema"], ref, promised)
            for name in about.get("headers", {}):
                if (operation.id, status) in client.answered and \
                        (f"{operation.name} {status}", name.lower()) not in client.headers_seen:
                    promised.add(f"{operation.name} {status} header {name}")
    asked = set()
    for operation in document.operations:
        if operation.request_schema():
            schemas.promised(operation.request_schema(), operation.pointer, asked)
    promised -= {one for one in asked if one.endswith((" null", " = None"))}  # what a request may leave out
    for one in sorted(promised - schemas.seen - set(NEVER_SEEN) - UNSTEADY):
        report.add(f"documented, but the server never sent it in this test: {one}")
    for one in sorted(set(NEVER_SEEN) - promised):
        report.add(f"NEVER_SEEN has {one}, which openapi.json does not document")
    for one in sorted(set(NEVER_SEEN) & schemas.seen):
        report.add(f"NEVER_SEEN has {one}, which was seen")


def main(words):
    if words[0] == "--format":
        path = Path(words[1]) / "src/serve/api/openapi.json"
        document = Document(path)
        path.write_text(laid_out(document.root) + "\n")
        return 0
    program, root = words[0], Path(words[1])
    document, report = Document(root / "src/serve/api/openapi.json"), Report()
    schemas = Schemas(document)
    client = Client(document, schemas, report)
    check_layout(document, report)
    check_standard(document, report)
    check_routes(document, root, report)
    check_readers(document, schemas, root, report)
    check_bounds_are_documented(document, schemas, report)
    keys = traffic.keys(program, ".")
    traffic.run(program, document, schemas, client, report, keys)
    provoke_statuses(program, document, client, keys)
    check_coverage(document, schemas, client, report)
    for line in report.lines:
        print(line)
    print(f"{len(document.operations)} operations, {len(client.answered)} statuses, {len(schemas.seen)} members and "
          f"words seen: {len(report.lines)} disagreements")
    return 1 if report.lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
