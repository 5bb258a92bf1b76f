"""The HTTP reference, from the OpenAPI description of the server."""

import json

METHODS = ("get", "put", "post", "patch", "delete")
PAGES = {"http": "HTTP reference", "http-personalizer": "HTTP reference: Personalizer"}


def write(root, source):
    """Writes the pages, and returns the part of the navigation."""
    document = json.loads((root / "src" / "serve" / "api" / "openapi.json").read_text())
    folder = source / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    for name, title in PAGES.items():
        (folder / f"{name}.md").write_text(routes_page(document, name, title))
    (folder / "http-objects.md").write_text(objects_page(document))
    return [{"Requests": "reference/http.md"}, {"Personalizer's requests": "reference/http-personalizer.md"},
            {"Objects": "reference/http-objects.md"}]


def resolve(document, value):
    while "$ref" in value:
        place = document
        for part in value["$ref"][2:].split("/"):
            place = place[part]
        value = {**place, **{key: other for key, other in value.items() if key != "$ref"}}
    return value


def routes_page(document, page, title):
    lines = [f"# {title}", ""]
    if page == "http":
        lines += [document["info"]["summary"], "", "The introduction, with examples, is "
                  "[HTTP API of the decision server](../docs/http-api.md). A running server describes itself in OpenAPI 3.1 "
                  "at `/openapi.json`.", ""]
    else:
        lines += ["Requests of Azure Personalizer's clients. [Coming from Azure Personalizer?](../docs/personalizer.md) is "
                  "the introduction. Unknown members of a request are ignored here.", ""]
    for path, item in document["paths"].items():
        if path.startswith("/personalizer/") == (page == "http-personalizer"):
            for method in METHODS:
                if method in item:
                    lines += operation(document, path, method, item)
    return "\n".join(lines) + "\n"


def operation(document, path, method, item):
    about = item[method]
    lines = [f"## {about['summary']} {{#{about['operationId']}}}", "", f"`{method.upper()} {path}`", ""]
    if about.get("x-role"):
        lines += [f"Role of the key: {about['x-role']}.", ""]
    lines += [cell(about["description"]), ""] if "description" in about else []
    parameters = [resolve(document, one) for one in item.get("parameters", []) + about.get("parameters", [])]
    if parameters:
        lines += ["| parameter | in | type | |", "|---|---|---|---|"]
        lines += [f"| `{one['name']}` | {one['in']} | {type_of(one['schema'])} | {cell(one.get('description', ''))} |"
                  for one in parameters] + [""]
    if "requestBody" in about:
        lines += ["Request body: " + bodies(about["requestBody"]) + ".", ""]
        for media in about["requestBody"]["content"].values():
            lines += members(document, media.get("schema", {}), inline=True)
    lines += ["| status | body | |", "|---|---|---|"]
    for status, response in about["responses"].items():
        response = resolve(document, response)
        lines.append(f"| {status} | {bodies(response)} | {cell(response['description'])} |")
    lines += [""]
    for status, response in about["responses"].items():
        for media in resolve(document, response).get("content", {}).values():
            if "properties" in media["schema"]:
                lines += [f"Members of the body of {status}:", "", *members(document, media["schema"], inline=True)]
    return lines


def bodies(holder):
    """The types of a body, with their media types if these are not JSON."""
    return ", ".join(type_of(media.get("schema", {})) if name == "application/json" else f"`{name}`"
                     for name, media in holder.get("content", {}).items())


def objects_page(document):
    lines = ["# HTTP reference: objects", "", "The JSON objects of requests and responses, in the order of the server's "
             "description. Members without “required” are optional.", ""]
    for name, schema in document["components"]["schemas"].items():
        lines += [f"## {name} {{#{name}}}", ""]
        lines += [cell(schema["description"]), ""] if "description" in schema else []
        lines += members(document, schema)
    return "\n".join(lines) + "\n"


def members(document, schema, inline=False):
    """The table of an object's members. inline: not for a schema that the page of objects shows."""
    if inline and "$ref" in schema:
        return []
    parts = [schema, *schema.get("allOf", [])]
    lines = [f"All members of {type_of(part)}, and:\n" for part in parts if "$ref" in part]
    required = {name for part in parts for name in part.get("required", [])}
    rows = [row for part in parts for row in rows_of(part, required)]
    if rows:
        return lines + ["| member | type | |", "|---|---|---|", *rows, ""]
    if "anyOf" in schema:
        return lines + [f"One of: {type_of(schema)}.", ""]
    return lines if len(parts) > 1 or inline else lines + [f"Type: {type_of(schema)}.", ""]


def rows_of(schema, required, before=""):
    for name, member in schema.get("properties", {}).items():
        notes = ["**required**" if name in required else "", cell(member.get("description", "")).rstrip("."), bounds(member)]
        yield f"| `{before}{name}` | {type_of(member)} | {'; '.join(filter(None, notes))} |"
        inner = member.get("items", member)
        if "properties" in inner:
            yield from rows_of(inner, set(inner.get("required", [])), f"{before}{name}{'[]' if inner is not member else ''}.")


def bounds(schema):
    """Limits of a value, in words."""
    words = []
    if "enum" in schema:
        words.append("one of " + ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"]))
    for low, high, unit in (("minimum", "maximum", ""), ("minLength", "maxLength", " bytes"), ("minItems", "maxItems", " items")):
        if low in schema and high in schema:
            words.append(f"{schema[low]} to {schema[high]}{unit}")
        elif low in schema or high in schema:
            words.append(f"at least {schema[low]}{unit}" if low in schema else f"at most {schema[high]}{unit}")
    if "default" in schema:
        words.append(f"default: `{json.dumps(schema['default'])}`")
    return "; ".join(words)


def type_of(schema):
    if "$ref" in schema:
        name = schema["$ref"].split("/")[3]  # a part of an object leads to the object
        return f"[{name}](http-objects.md#{name})"
    if "anyOf" in schema:
        return " or ".join(type_of(one) for one in schema["anyOf"])
    types = schema.get("type", "object" if "properties" in schema or "allOf" in schema else "any")
    types = types if isinstance(types, list) else [types]
    if "array" in types and schema.get("items"):
        types = [f"array of {type_of(schema['items'])}" if one == "array" else one for one in types]
    return " or ".join(types)


def cell(words):
    return words.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
