#!/usr/bin/env python3
"""check_sbom.py FILE: checks an SPDX 2.3 document in JSON: required members, the forms of their values, unique ids, and
relationships between elements that exist. Every package is reached from what the document describes."""

import json
import re
import sys

REQUIRED = {"spdxVersion": r"SPDX-2\.3", "dataLicense": r"CC0-1\.0", "SPDXID": "SPDXRef-DOCUMENT", "name": r".+",
            "documentNamespace": r"https?://[^#\s]+"}
PACKAGE = {"SPDXID": r"SPDXRef-[A-Za-z0-9.-]+", "name": r".+", "versionInfo": r".+",
           "downloadLocation": r"NOASSERTION|NONE|https?://\S+", "licenseDeclared": None, "licenseConcluded": None,
           "copyrightText": r".+"}
# Identifiers of the SPDX licence list that we use.
LICENCES = {"MIT", "Zlib", "BSD-3-Clause", "BSD-3-Clause-Open-MPI", "GPL-2.0-only", "LGPL-2.1-or-later", "PostgreSQL",
            "blessing", "Apache-2.0", "MPL-1.1"}
RELATIONSHIPS = {"DESCRIBES", "CONTAINS", "GENERATES", "DYNAMIC_LINK", "STATIC_LINK", "DEPENDS_ON", "RUNTIME_DEPENDENCY_OF"}
REFERENCE = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": r"pkg:[a-z]+/[^\s]+@[^\s]+"}


def wrong_members(name, value, forms):
    for member, form in forms.items():
        found = value.get(member)
        if not isinstance(found, str):
            yield f"{name}: no text '{member}'"
        elif form is None:
            if found != "NOASSERTION" and not set(re.split(r" (?:OR|AND) ", found)) <= LICENCES:
                yield f"{name}: unknown licence {found}"
        elif not re.fullmatch(form, found):
            yield f"{name}: '{member}' is {found}"


def wrong(document):
    yield from wrong_members("document", document, REQUIRED)
    creation = document.get("creationInfo", {})
    yield from wrong_members("creationInfo", creation, {"created": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"})
    if not creation.get("creators") or not all(re.match("(Tool|Organization|Person): .", one) for one in creation["creators"]):
        yield "creationInfo: no creators"
    packages = document.get("packages", [])
    for package in packages:
        name = package.get("name", "a package")
        yield from wrong_members(name, package, PACKAGE)
        if package.get("filesAnalyzed") is not False:
            yield f"{name}: filesAnalyzed needs a verification code"
        for reference in package.get("externalRefs", []):
            yield from wrong_members(name, reference, REFERENCE)
    ids = [package.get("SPDXID") for package in packages]
    yield from (f"{one}: two packages have this id" for one in sorted({one for one in ids if ids.count(one) > 1}))
    yield from wrong_relationships(document.get("relationships", []), {*ids, "SPDXRef-DOCUMENT"})


def wrong_relationships(relationships, ids):
    reached = {"SPDXRef-DOCUMENT"}
    for one in relationships:
        ends = {one.get("spdxElementId"), one.get("relatedSpdxElement")}
        if one.get("relationshipType") not in RELATIONSHIPS:
            yield f"unknown relationship {one.get('relationshipType')}"
        yield from (f"a relationship names {end}, which does not exist" for end in sorted(map(str, ends - ids)))
        if ends & reached:
            reached |= ends
    if not any(one.get("relationshipType") == "DESCRIBES" for one in relationships):
        yield "the document describes nothing"
    yield from (f"nothing leads to {one}" for one in sorted(ids - reached))


def planted(document):
    """Copies of the document with one error each."""
    def copy(change):
        other = json.loads(json.dumps(document))
        change(other)
        return other
    yield copy(lambda one: one.pop("documentNamespace"))
    yield copy(lambda one: one["creationInfo"].update(created="today"))
    yield copy(lambda one: one["packages"][1].update(SPDXID=one["packages"][0]["SPDXID"]))
    yield copy(lambda one: one["packages"][1].pop("downloadLocation"))
    yield copy(lambda one: one["packages"][1].update(licenseDeclared="GPL"))
    yield copy(lambda one: one["relationships"][1].update(relatedSpdxElement="SPDXRef-nothing"))
    yield copy(lambda one: one["relationships"].pop(0))
    yield copy(lambda one: one["relationships"].pop(1))


def main(document):
    problems = list(wrong(document))
    problems += [f"the check does not find planted error {number}"
                 for number, other in enumerate(planted(document)) if not list(wrong(other))]
    print("\n".join(problems) or f"{len(document['packages'])} packages, {len(document['relationships'])} relationships")
    return 1 if problems else 0


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.exit(main(json.load(file)))
