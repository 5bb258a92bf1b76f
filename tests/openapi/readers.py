"""Finds the table of routes, and the tables of member names by which the server reads JSON bodies and query parameters, in its
source."""

import re
from pathlib import Path

# A table, and the calls that use one. Readers without a table do not count: json_is() on a key is refused below.
TABLE = re.compile(r"static const char \*const (names|known)\[\] = \{([^}]*)\};")
MEMBERS = re.compile(r"^\} members\[\] = \{\n(.*?)^\};", re.M | re.S)
USE = re.compile(r"\b(?:member_next|call_check_query)\((?!member_reader \*|call \*)")
QUERY = re.compile(r'\b(?:call_query_number|call_query_time|http_query)'
                   r'\([^,;()]*(?:self|exchange)[^,;()]*, "(\w+)"')
ROUTE = re.compile(r'\{HTTP_([A-Z]+), "([^"]+)", KEY_([A-Z]+), (\w+),\s*([\w |]+),\s*(?:NULL|"\w+")\}')
FUNCTION = re.compile(r"^(?!static const|typedef|enum|struct)[a-z][^\n;={}]*?\b(\w+)\([^;{}]*\)\n\{", re.M)


def routes(source: Path):
    """(method, path, role or None, handler, traits) of each route."""
    text = (source / "src/serve/routes.c").read_text()
    found = ROUTE.findall(text)
    assert len(found) == text.count("{HTTP_"), "a route has another form than ROUTE"
    return [(method, path, None if role == "NOBODY" else role.lower(), *about) for method, path, role, *about in found]


def function_at(text, place):
    """The function that the place is in; a table before the first is the file's own."""
    found = [one for one in FUNCTION.finditer(text) if one.start() < place]
    inside = found and text.find("\n}\n", found[-1].end()) >= place
    return found[-1][1] if inside else "members"


def tables(source: Path):
    """{(file, function): [names]} of all tables; query parameters are those of the calls that name them."""
    found = {}
    for path in sorted((source / "src/serve").glob("*/*.c")):
        text = path.read_text()
        found.setdefault(("batches", "members"), []).extend(re.findall(r"\bmember = \"(\w+)\"", text))
        if not USE.search(text) and not MEMBERS.search(text):
            continue
        for table in TABLE.finditer(text):
            found[path.name, function_at(text, table.start())] = re.findall(r'"([^"]+)"', table[2])
        for table in MEMBERS.finditer(text):
            found[path.name, "members"] = re.findall(r'\{"([^"]+)"', table[1])
    return found


def query_names(source: Path):
    """{(file, name)} of all query parameters that the server asks for."""
    found = set()
    for path in sorted((source / "src/serve").glob("*/*.c")):
        found |= {(path.name, name) for name in QUERY.findall(path.read_text())}
    return found


def readers_without_table(source: Path, found):
    """Functions that read members, whose table has another name or form than TABLE: it would escape the comparison."""
    for path in sorted((source / "src/serve").glob("*/*.c")):
        text = path.read_text()
        for use in USE.finditer(text):
            function = function_at(text, use.start())
            if not {(path.name, function), (path.name, "members")} & set(found):
                yield path.name, function


def keys_without_table(source: Path):
    """Keys that a reader compares one by one: they would escape the comparison."""
    for path in sorted((source / "src/serve").glob("*/*.c")):
        for found in re.finditer(r'json_is\(token(?:\.|->)key, "(\w+)"\)', path.read_text()):
            yield path.name, found[1]
