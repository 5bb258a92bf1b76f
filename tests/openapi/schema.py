"""JSON Schema, as far as the description uses it.

Responses are checked strictly: a member that the schema does not name is an error unless the schema has
additionalProperties. `seen` collects what responses really had: members, nulls and the words of enumerations."""

import copy
import itertools
import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"type", "properties", "required", "additionalProperties", "unevaluatedProperties", "items", "enum", "minimum",
         "maximum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format", "allOf",
         "anyOf", "$ref", "description", "default", "examples", "readOnly"}

EXAMPLES = {"string": "?", "integer": 7, "boolean": True, "array": [[]], "object": {}, "null": None}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
OTHER_WORD = "enum of another word"


def is_a(value, kind):
    if kind in ("number", "integer"):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and (kind == "number" or value == int(value))
    return isinstance(value, TYPES[kind])


def types_of(schema):
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else kind


class Schemas:
    def __init__(self, document):
        self.document = document
        self.seen = set()
        self.letters = itertools.cycle("abcdefghijklmnopqrstuvw")  # so that ids of the same length differ

    def parts(self, schema, pointer):
        """The schema and what it includes by $ref and allOf, as (pointer, schema)."""
        unknown = set(schema) - KNOWN
        if unknown:
            raise ValueError(f"{pointer}: the test does not know {sorted(unknown)}")
        found = [(pointer, schema)]
        if "$ref" in schema:
            found += self.parts(self.document.at(schema["$ref"]), schema["$ref"])
        for place, one in enumerate(schema.get("allOf", [])):
            found += self.parts(one, f"{pointer}/allOf/{place}")
        return found

    def merged(self, schema, pointer="#"):
        """One schema of all parts. Members that several parts describe are merged too."""
        whole = {}
        for _, part in self.parts(schema, pointer):
            for key, value in part.items():
                if key == "properties":
                    for name, one in value.items():
                        there = whole.setdefault("properties", {}).get(name)
                        whole["properties"][name] = {"allOf": [there, one]} if there else one
                elif key == "required":
                    whole["required"] = whole.get("required", []) + value
                elif key not in ("$ref", "allOf"):
                    whole.setdefault(key, value)
        return whole

    # ---- checking ----

    def check(self, value, schema, pointer, where="", seen=None):
        """What is wrong, as texts. seen: None to record nothing."""
        errors = []
        parts = self.parts(schema, pointer)
        for at, part in parts:
            errors += self.check_part(value, part, at, where, seen)
        if isinstance(value, dict):
            errors += self.check_members(value, parts, where, seen)
        return errors

    def check_part(self, value, part, at, where, seen):
        wrong = []
        kinds = types_of(part)
        if kinds and not any(is_a(value, kind) for kind in kinds):
            return [f"{where or 'the body'} is {value!r:.80}, documented as {kinds} ({at})"]
        if "enum" in part and value not in part["enum"]:
            wrong.append(f"{where} is {value!r:.80}, documented as one of {part['enum']} ({at})")
        if "pattern" in part and isinstance(value, str) and not re.search(part["pattern"], value):
            wrong.append(f"{where} is {value!r:.80}, documented to match {part['pattern']} ({at})")
        if part.get("format") == "date-time" and isinstance(value, str) and not TIME.fullmatch(value):
            wrong.append(f"{where} is {value!r:.80}, documented as a date-time ({at})")
        size = len(value) if isinstance(value, (str, list)) else None
        limits = {"minLength": str, "minItems": list, "maxLength": str, "maxItems": list}
        for key, kind in limits.items():
            if key in part and isinstance(value, kind) and (size < part[key] if key[:3] == "min" else size > part[key]):
                wrong.append(f"{where} has {size}, documented with {key} {part[key]} ({at})")
        if is_a(value, "number") and not part.get("minimum", value) <= value <= part.get("maximum", value):
            wrong.append(f"{where} is {value}, documented as {part.get('minimum')} to {part.get('maximum')} ({at})")
        if seen is not None and "enum" in part:
            seen.add(f"{at} = {value!r}")
        if seen is not None and "null" in kinds:
            seen.add(f"{at} {'null' if value is None else 'not null'}")
        if isinstance(value, list) and "items" in part:
            for place, one in enumerate(value):
                wrong += self.check(one, part["items"], f"{at}/items", f"{where}[{place}]", seen)
        if "anyOf" in part:
            wrong += self.check_any(value, part["anyOf"], f"{at}/anyOf", where, seen)
        return wrong

    def check_any(self, value, alternatives, at, where, seen):
        tried = []
        for place, one in enumerate(alternatives):
            tried.append(self.check(value, one, f"{at}/{place}", where))
            if not tried[-1]:
                return self.check(value, one, f"{at}/{place}", where, seen)
        return min(tried, key=len)

    def check_members(self, value, parts, where, seen):
        wrong, known, open_to = [], {}, None
        for at, part in parts:
            for name, one in part.get("properties", {}).items():
                known.setdefault(name, []).append((f"{at}/properties/{name}", one))
            wrong += [f"{where}.{name} is missing, documented as required ({at})" for name in part.get("required", [])
                      if name not in value]
            more = part.get("additionalProperties")
            if more not in (None, False):
                open_to = (f"{at}/additionalProperties", {} if more is True else more)
            if "anyOf" in part:
                open_to = open_to or (at, {})
        for name, one in value.items():
            for at, schema in known.get(name, []):
                if seen is not None:
                    seen.add(at)
                wrong += self.check(one, schema, at, f"{where}.{name}", seen)
            if name not in known and open_to is None:
                wrong.append(f"{where}.{name} is not documented ({parts[-1][0]})")
            elif name not in known and open_to[1]:
                wrong += self.check(one, open_to[1], open_to[0], f"{where}.{name}", seen)
        return wrong

    # ---- what can be seen ----

    def promised(self, schema, pointer, found, visited=None):
        """Adds all members, nulls and words that a schema documents to the set `found`."""
        visited = set() if visited is None else visited
        for at, part in self.parts(schema, pointer):
            if at in visited:
                continue
            visited.add(at)
            kinds = types_of(part)
            if "null" in kinds:
                found |= {f"{at} null", f"{at} not null"}
            found |= {f"{at} = {word!r}" for word in part.get("enum", [])}
            for name, one in part.get("properties", {}).items():
                found.add(f"{at}/properties/{name}")
                self.promised(one, f"{at}/properties/{name}", found, visited)
            if isinstance(part.get("additionalProperties"), dict):
                self.promised(part["additionalProperties"], f"{at}/additionalProperties", found, visited)
            if "items" in part:
                self.promised(part["items"], f"{at}/items", found, visited)
            for place, one in enumerate(part.get("anyOf", [])):
                self.promised(one, f"{at}/anyOf/{place}", found, visited)
        return found

    # ---- bodies that are right and wrong ----

    def variants(self, schema, value, where=""):
        """Changed copies of a valid value, as (where, what, copy, whether it is valid): each type, bound, word and
        member of the schema on both sides."""
        whole = self.merged(schema)
        kinds = types_of(whole)
        if "anyOf" in whole:
            fits = [one for one in whole["anyOf"] if not self.check(value, one, "#")]
            yield from self.variants(fits[0], value, where)
            return
        for kind, example in EXAMPLES.items():
            if kinds and kind not in kinds and not (kind == "integer" and "number" in kinds):
                yield where, f"type {kind}", example, False
            elif kind == "null" and kind in kinds:
                yield where, "type null", None, True
        yield from self.bound_variants(whole, kinds, value, where)
        if isinstance(value, list) and value and "items" in whole:
            for at, what, one, good in self.variants(whole["items"], value[0], f"{where}[0]"):
                yield at, what, [one] + value[1:], good
        if isinstance(value, dict):
            yield from self.member_variants(whole, value, where)

    @staticmethod
    def step(bound, kinds):
        """The least that a double and a reader can tell apart."""
        if "integer" in kinds:
            return 1 if abs(bound) < 2**53 else 2
        return abs(bound) / 2 if 0 < abs(bound) < 1e-3 else 1e-9 * max(1, abs(bound))

    def words(self, length):
        return (next(self.letters) + " ").join([""] * (length // 2 + 2))[:length]

    def bound_variants(self, whole, kinds, value, where):
        for word in whole.get("enum", []):
            yield where, f"enum {word}", word, True
        if "enum" in whole:
            yield where, OTHER_WORD, "another", False
        if "minimum" in whole:
            yield where, "minimum", whole["minimum"], True
            yield where, "below minimum", whole["minimum"] - self.step(whole["minimum"], kinds), False
        if "maximum" in whole:
            yield where, "maximum", whole["maximum"], True
            yield where, "above maximum", whole["maximum"] + self.step(whole["maximum"], kinds), False
        if "exclusiveMaximum" in whole:
            yield where, "exclusiveMaximum", whole["exclusiveMaximum"], False
        if "integer" in kinds and "number" not in kinds:
            yield where, "a fraction", 1.5, False
        if "minLength" in whole:
            yield where, "minLength", self.words(whole["minLength"]), True
            if whole["minLength"]:
                yield where, "below minLength", "", False
        if "maxLength" in whole:
            yield where, "maxLength", self.words(whole["maxLength"]), True
            yield where, "above maxLength", "m" * (whole["maxLength"] + 1), False
        if whole.get("format") == "date-time":
            yield where, "format", "yesterday", False
        if "pattern" in whole:
            yield where, "pattern", "!", False
        if "maxItems" in whole and value:
            yield where, "above maxItems", [value[0]] * (whole["maxItems"] + 1), False
        if whole.get("minItems"):
            yield where, "below minItems", [], False

    def member_variants(self, whole, value, where):
        for name in whole.get("required", []):
            yield f"{where}.{name}", "missing", {key: one for key, one in value.items() if key != name}, False
        for name in [one for one in value if one not in whole.get("required", []) and "properties" in whole]:
            yield f"{where}.{name}", "left out", {key: one for key, one in value.items() if key != name}, True
        if "properties" in whole:
            closed = False in (whole.get("additionalProperties"), whole.get("unevaluatedProperties"))
            yield f"{where}.unknown_member", "unknown", {**value, "unknown_member": 1}, not closed
        for name, schema in whole.get("properties", {}).items():
            at = f"{where}.{name}"
            if name not in value or self.merged(schema).get("readOnly"):
                continue
            for deeper, what, one, good in self.variants(schema, value[name], at):
                yield deeper, what, {**copy.deepcopy(value), name: one}, good
