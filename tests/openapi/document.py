"""The API description: its operations, its schemas, and its layout."""

import json
import re
from pathlib import Path

METHODS = ("get", "head", "post", "put", "patch", "delete")
WIDTH = 118  # columns


class Operation:
    def __init__(self, document, path, method):
        item = document.root["paths"][path]
        self.path, self.method, self.pointer = path, method.upper(), f"#/paths/{path}/{method}"
        self.about = item[method]
        self.id = self.about["operationId"]
        self.role = self.about.get("x-role")
        parameters = item.get("parameters", []) + self.about.get("parameters", [])
        self.parameters = [document.resolve(one) for one in parameters]
        self.body = self.about.get("requestBody")
        self.responses = {int(status): document.resolve(one) for status, one in self.about["responses"].items()}
        self.pattern = re.compile(re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path)) + "$")

    @property
    def is_personalizer(self):
        return self.path.startswith("/personalizer/")

    @property
    def name(self):
        return f"{self.method} {self.path}"

    def query(self):
        return {one["name"]: one["schema"] for one in self.parameters if one["in"] == "query"}

    def request_schema(self):
        """The schema of its JSON body; None: it takes none."""
        return (self.body or {}).get("content", {}).get("application/json", {}).get("schema")


class Document:
    def __init__(self, path: Path):
        self.text = path.read_text()
        self.root = json.loads(self.text)
        self.operations = [Operation(self, path, method) for path, item in self.root["paths"].items()
                           for method in item if method in METHODS]

    def resolve(self, value):
        while isinstance(value, dict) and "$ref" in value:
            value = self.at(value["$ref"])
        return value

    def at(self, pointer):
        value = self.root
        for part in pointer[2:].split("/"):
            value = value[part]
        return value

    def find(self, method, path):
        """The operation of a request. Personalizer's paths may name a bandit and a version."""
        base = r"^(/v1/bandits/[^/]+)?/personalizer(/v1\.[01][^/]*)?(?=/)"
        path = re.sub(base, "/personalizer", path.partition("?")[0])
        fits = [one for one in self.operations if one.method == method and one.pattern.match(path)]
        return min(fits, key=lambda one: one.path.count("{"), default=None)


def laid_out(value, indent=0, before=0):
    """JSON in which every array or object that fits on a line is on one, and short members share lines."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent + before < WIDTH or not isinstance(value, (dict, list)) or not value:
        return line
    keys = [json.dumps(key) + ": " for key in value] if isinstance(value, dict) else [""] * len(value)
    values = list(value.values()) if isinstance(value, dict) else value
    lines = [""]
    for place, (key, one) in enumerate(zip(keys, values)):
        words = key + laid_out(one, indent + 1, len(key)) + ("," if place + 1 < len(values) else "")
        if lines[-1] and "\n" not in words + lines[-1] and indent + len(lines[-1]) + len(words) + 2 <= WIDTH:
            lines[-1] += " " + words
        else:
            lines.append(words)
    pad = "\n" + " " * (indent + 1)
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return opening + pad + pad.join(lines[1:]) + "\n" + " " * indent + closing
