#!/usr/bin/env python3
"""interface.py EENET ROOT PACKAGE [RECORDED]: prints what users rely on, a line for each fact: C declarations and layouts,
HTTP routes and members, Python calls and their parameters, commands and their flags. PACKAGE is the folder of the built
Python package. With RECORDED, the lines of a release, prints what would break its users instead, and exits with 1 if
anything would.

A line that disappears breaks users. A new line does not, unless it begins with "must": it demands something.
The lines are the same on every 64-bit Linux."""

import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

METHODS = ("get", "put", "post", "patch", "delete")


def output_of(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, check=True, **options).stdout


# ---- C: from the header, as the compiler sees it ----

def c_lines(root):
    header = root / "include" / "eenet.h"
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    for result, name, parameters in re.findall(r"^EE_API (?:EE_MUST_CHECK )?([\w ]+?[ *]+)(ee_\w+)\(([^)]*)\);", text, re.M):
        yield f"c function {name}: {plain(result)} ({plain(parameters)})"
    for result, name, parameters in re.findall(r"^static inline (\w+ )(ee_\w+)\(([^)]*)\)", text, re.M):
        yield f"c function {name}: {plain(result)} ({plain(parameters)})"
    probes = []
    for body, name in re.findall(r"^typedef struct \w+ \{(.*?)^\} (\w+);", text, re.M | re.S):
        probes.append((f"c struct {name}: %zu bytes", f"sizeof({name})"))
        for kind, member in members(body):
            if member != "reserved":
                probes.append((f"c member {name}.{member}: {kind}, at %zu", f"offsetof({name}, {member})"))
    for name in re.findall(r"^    (EE_\w+) = \d+", text, re.M):
        probes.append((f"c value {name}: %zu", f"(size_t){name}"))
    yield from measured(root, probes)


def members(body):
    """The type and the name of each member, without the names of parameters."""
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        pointer = re.match(r"(.*)\(\*(\w+)\)\((.*)\)$", declaration, re.S)
        if pointer:
            yield f"{plain(pointer[1])} (*)({plain(pointer[3])})", pointer[2]
            continue
        first, *others = declaration.split(",")
        kind, name = re.match(r"(.*?[ *])(\w+(?:\[\w+\])?)$", first.strip(), re.S).groups()
        for one in [name, *others]:
            array = re.search(r"\[\w+\]", one)
            yield plain(kind) + (array[0] if array else ""), re.search(r"\w+", one)[0]


def plain(words):
    return re.sub(r"\* (?=\w)", "*", " ".join(words.split()))


def measured(root, probes):
    prints = "".join(f'    printf("{form}\\n", {value});\n' for form, value in probes)
    source = f"#include <eenet.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{{\n{prints}}}\n"
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "probe")
        output_of(os.environ.get("CC", "cc"), "-std=c11", f"-I{root / 'include'}", "-xc", "-", "-o", program, input=source)
        yield from output_of(program).splitlines()


# ---- HTTP: from the description, which the test 'openapi' compares with the server ----

def http_lines(root):
    document = json.loads((root / "src" / "serve" / "api" / "openapi.json").read_text())
    received, sent = set(), set()
    for path, item in document["paths"].items():
        for method in (one for one in METHODS if one in item):
            name, about = f"{method.upper()} {path}", item[method]
            yield f"http route {name}: role {about.get('x-role', 'none')}"
            yield from body_lines(document, f"{name} request", about.get("requestBody", {}), "must", received)
            for one in (resolved(document, one) for one in item.get("parameters", []) + about.get("parameters", [])):
                if one["in"] == "query":
                    yield f"http query {name}: {one['name']}"
                    if one.get("required"):
                        yield f"must http query {name}: {one['name']}"
            for status, response in about["responses"].items():
                if status[0] in "23":
                    yield f"http status {name}: {status}"
                    yield from body_lines(document, f"{name} {status}", resolved(document, response), "always", sent)
    for names, word in ((received, "must"), (sent, "always")):
        for name in list(names):
            reach(document, document["components"]["schemas"][name], names)
        for name in names:
            yield from member_lines(document["components"]["schemas"][name], name, word)


def body_lines(document, name, holder, word, objects):
    for media, about in holder.get("content", {}).items():
        yield f"http body {name}: {media}"
        reach(document, about.get("schema", {}), objects)
        yield from member_lines(about.get("schema", {}), name, word)


def reach(document, schema, objects):
    """Adds the names of all schemas that a schema needs."""
    for target in re.findall(r'"#/components/schemas/(\w+)', json.dumps(schema)):
        if target not in objects:
            objects.add(target)
            reach(document, document["components"]["schemas"][target], objects)


def resolved(document, value):
    while "$ref" in value:
        place = document
        for part in value["$ref"][2:].split("/"):
            place = place[part]
        value = place
    return value


def member_lines(schema, name, word):
    """word: must, for what a client sends; always, for what it receives."""
    types = schema.get("type", schema.get("$ref", "").rsplit("/", 1)[-1] or "any")
    for one in types if isinstance(types, list) else [types]:
        yield f"http {'takes' if word == 'must' else 'gives'} {name}: {one}"
    if word == "must":
        for value in schema.get("enum", []):
            yield f"http takes {name}: the value {json.dumps(value)}"
    for part in schema.get("allOf", []) + schema.get("anyOf", []):
        yield from member_lines(part, name, word)
    for member in schema.get("required", []):
        yield f"{'must http takes' if word == 'must' else 'http always gives'} {name}.{member}"
    for member, inner in schema.get("properties", {}).items():
        yield from member_lines(inner, f"{name}.{member}", word)
    if isinstance(schema.get("items"), dict):
        yield from member_lines(schema["items"], f"{name}[]", word)


# ---- Python: from the built package ----

def python_lines(package):
    sys.path.insert(0, str(package))
    for name in ("eenet", "eenet.client", "eenet.evaluate", "eenet.lab"):
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            yield f"python {name}.{public}"
            if inspect.isclass(value):
                for base in value.__mro__[1:]:
                    if base.__module__.startswith("eenet") and not base.__name__.startswith("_"):
                        yield f"python {name}.{public} is a {base.__name__}"
                yield from call_lines(f"{name}.{public}", value)
                for own in sorted({own for base in value.__mro__ if base.__module__.startswith("eenet") for own in vars(base)}):
                    if not own.startswith("_"):
                        yield f"python {name}.{public}.{own}"
                        yield from call_lines(f"{name}.{public}.{own}", getattr(value, own))
            elif callable(value):
                yield from call_lines(f"{name}.{public}", value)


def call_lines(name, value):
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return
    for place, one in enumerate(parameters):
        where = f" at {place}" if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) else ""
        yield f"python {name}: {one.kind.description} parameter {one.name}{where}"
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) and one.name != "self":
            yield f"must python {name}: {one.name}"
        elif isinstance(one.default, (type(None), bool, int, float, str)):
            yield f"python {name}: {one.name} defaults to {one.default!r}"


# ---- commands ----

def command_lines(program):
    commands = re.findall(r"^  (?:eenet )?([a-z]+) ", output_of(program, "help"), re.M)
    for command in dict.fromkeys(commands):
        yield f"command {command}"
        shown = subprocess.run([program, "help", command], capture_output=True, text=True, check=False).stdout
        for flag in re.findall(r"(?<![\w-])(--[a-z][a-z-]*|-[A-Za-z])(?![\w-])", shown):
            yield f"command {command} {flag}"


def all_lines(program, root, package):
    lines = [*c_lines(root), *http_lines(root), *python_lines(package), *command_lines(program)]
    return sorted(set(lines))


def broken(then, now):
    """The lines that break users, with - if they disappeared and + if they demand more."""
    return [f"- {line}" for line in then if line not in now and not line.startswith("must ")] + \
           [f"+ {line}" for line in now if line not in then and line.startswith("must ") and not is_part_of_new(line, then)]


def is_part_of_new(line, then):
    """A demand of something that is itself new is allowed: its owner has no line yet."""
    owner = re.match(r"must (.*)[.:]", line)[1].replace("http query", "http route")
    return not any(other.startswith(owner) for other in then)


def main(program, root, package, recorded=None):
    now = all_lines(program, Path(root), Path(package))
    if recorded is None:
        print("\n".join(now))
        return 0
    then = Path(recorded).read_text(encoding="utf-8").splitlines()
    problems = broken(set(then), set(now))
    print("\n".join(sorted(problems)) or f"{len(then)} lines hold, {len(set(now) - set(then))} are new")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
