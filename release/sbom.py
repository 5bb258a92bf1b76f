#!/usr/bin/env python3
"""sbom.py ROOT BUILD [IMAGE...]: prints an SPDX 2.3 document in JSON: the program, the library and the Python package of the
folder BUILD, the portable wheels and the WebAssembly package, and the Debian packages that each is linked with; the
JavaScript client; the playground and the web site with the packages of its theme; and what the container images contain,
which are archives of make image. Needs a Debian system. The output depends only on the build,
on the installed packages, on the images and on SOURCE_DATE_EPOCH (default: 0)."""

import email
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import time
import uuid
from pathlib import Path
from urllib.parse import quote

# Licences by Debian's source package, as these projects state them. Others are NOASSERTION.
LICENCES = {"zlib": "Zlib", "libzstd": "BSD-3-Clause OR GPL-2.0-only", "sqlite3": "blessing", "glibc": "LGPL-2.1-or-later",
            "gnutls28": "LGPL-2.1-or-later", "postgresql": "PostgreSQL", "openmpi": "BSD-3-Clause-Open-MPI", "numpy": "BSD-3-Clause",
            "mkdocs-material": "MIT"}
PARTS = {"program": ["eenet"], "library": ["libeenet.so"], "python": ["python/eenet/_core.abi3.so", "python/eenet/_lab.abi3.so"]}
TITLES = {"program": "eenet (program)", "library": "libeenet", "python": "eenet (Python package)"}
# Artefacts that contain what they are linked with, and the packages it comes from.
STATIC = {"eenet (portable wheels)": r"zlib1g-dev|libzstd-dev", "eenet-wasm": r"wasi-libc|libclang-rt-\d+-dev-wasm32"}
# The theme of the web site, and licences of the npm packages in it, as these projects state them.
THEME = "mkdocs-material"
NPM_LICENCES = {"clipboard": "MIT", "escape-html": "MIT", "lunr": "MIT", "lunr-languages": "MPL-1.1", "resize-observer-polyfill": "MIT",
                "rxjs": "Apache-2.0", "unfetch": "MIT"}


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}).stdout


def linked_libraries(file):
    """The libraries that a file names (not those that these need)."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", file))
    places = dict(re.findall(r"(\S+) => (\S+)", output_of("ldd", file)))
    return {os.path.realpath(places[name]) for name in needed if name in places and not name.startswith("libeenet")}


def packages_of(paths):
    """The Debian package of each file. dpkg knows a file under /usr/lib or under /lib, which may be a link to it."""
    words = ["dpkg-query", "-S", *paths, *(path.removeprefix("/usr") for path in paths)]
    found = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    owners = {os.path.realpath(place): owner.split(",")[0] for owner, place in re.findall(r"(.+): (/.*)", found)}
    missing = sorted(set(paths) - set(owners))
    if missing:
        sys.exit(f"sbom: no Debian package has {', '.join(missing)}")
    return owners


def native_packages(form, *names):
    """The fields of form for each installed package that runs on this machine. For cross builds, dpkg may also know the same
    package of another architecture."""
    native = output_of("dpkg", "--print-architecture").strip()
    form = "${db:Status-Status}\t${Architecture}\t" + form + "\n"
    for line in output_of("dpkg-query", "-W", f"-f={form}", *names).splitlines():
        status, architecture, *fields = line.split("\t")
        if status == "installed" and architecture in (native, "all"):
            yield fields


def debian_package(name):
    found = list(native_packages("${Package}\t${Version}\t${Architecture}\t${source:Package}\t${Homepage}", name))
    if len(found) != 1:
        sys.exit(f"sbom: expected one installed package {name} for this machine, found {len(found)}")
    return described_debian_package(*found[0])


def packages_in_image(archive):
    """The packages whose versions an image keeps for scanners: see cmake/image.sh."""
    with tarfile.open(archive) as files:
        def blob(digest):
            return files.extractfile("blobs/" + digest.replace(":", "/")).read()

        manifest = json.loads(blob(json.load(files.extractfile("index.json"))["manifests"][0]["digest"]))
        layers = [tarfile.open(fileobj=io.BytesIO(blob(layer["digest"]))) for layer in manifest["layers"]]
    for layer in layers:
        for member in layer.getmembers():
            if member.isfile() and "/var/lib/dpkg/status.d/" in member.name:
                about = email.message_from_bytes(layer.extractfile(member).read())
                source = (about["Source"] or about["Package"]).split()[0]
                yield described_debian_package(about["Package"], about["Version"], about["Architecture"], source,
                                               about["Homepage"] or "")


def described_debian_package(package, version, architecture, source, home):
    described = described_package(package, version, LICENCES.get(re.sub(r"^(postgresql)-\d+$", r"\1", source), "NOASSERTION"))
    described["supplier"] = "Organization: Debian"
    described["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                  "referenceLocator": f"pkg:deb/debian/{package}@{quote(version, safe=':~')}?arch={architecture}"}]
    if home:
        described["homepage"] = home
    return described


def described_package(name, version, licence):
    return {"name": name, "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-"), "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": licence, "copyrightText": "NOASSERTION"}


def npm_package(name, version):
    described = described_package(name, version, "MIT")
    described["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                  "referenceLocator": f"pkg:npm/{name}@{version}"}]
    return described


def packages_in_theme():
    """The npm packages that the scripts and styles of the theme contain, which its source maps name without versions."""
    files = [Path(line) for line in output_of("dpkg-query", "-L", THEME).splitlines() if "/assets/" in line]
    sources = [source for file in files if file.suffix == ".map" for source in json.loads(file.read_text())["sources"]]
    names = {found[1] for source in sources if (found := re.search(r"node_modules/((?:@[^/]+/)?[^/]+)/", source))}
    if any(file.name.startswith("lunr.") for file in files):
        names.add("lunr-languages")
    return [described_package(name, "NOASSERTION", NPM_LICENCES.get(name, "NOASSERTION")) for name in sorted(names)]


def add_pages(version, packages, relationships, used, whole):
    """What runs in browsers: the client, the playground, and the web site if its theme is installed."""
    client, playground = npm_package("eenet", version), described_package("eenet (playground)", version, "MIT")
    wasm = next(package for package in packages if package["name"] == "eenet-wasm")
    wasm["externalRefs"] = npm_package("eenet-wasm", version)["externalRefs"]
    client["name"] = "eenet (JavaScript client)"
    packages += [client, playground]
    relationships += [(whole["SPDXID"], "GENERATES", own["SPDXID"]) for own in (client, playground)]
    relationships.append((playground["SPDXID"], "CONTAINS", wasm["SPDXID"]))
    if not any(native_packages("${Package}", THEME)):
        return
    site, theme = described_package("eenet (web site)", version, "MIT"), debian_package(THEME)
    packages.append(site)
    used[THEME] = theme
    relationships.append((whole["SPDXID"], "GENERATES", site["SPDXID"]))
    relationships += [(site["SPDXID"], "CONTAINS", one["SPDXID"]) for one in (playground, theme)]
    for package in packages_in_theme():
        package["SPDXID"] += "-npm"
        used[package["SPDXID"]] = package
        relationships.append((theme["SPDXID"], "CONTAINS", package["SPDXID"]))


def add_static(version, packages, relationships, used, whole):
    installed = [name for (name,) in native_packages("${Package}")]
    for title, names in STATIC.items():
        own = described_package(title, version, "MIT")
        packages.append(own)
        relationships.append((whole["SPDXID"], "GENERATES", own["SPDXID"]))
        for name in sorted({name for name in installed if re.fullmatch(names, name)}):
            used[name] = used.get(name) or debian_package(name)
            relationships.append((own["SPDXID"], "STATIC_LINK", used[name]["SPDXID"]))


def add_images(images, version, packages, relationships, used, whole):
    for image in images:
        architecture = image.name.removesuffix(".oci.tar").rpartition("-")[2]
        own = described_package(f"eenet (container image, {architecture})", version, "MIT")
        packages.append(own)
        relationships.append((whole["SPDXID"], "GENERATES", own["SPDXID"]))
        for package in sorted(packages_in_image(image), key=lambda one: one["name"]):
            package["SPDXID"] += f"-image-{architecture}"
            used[package["SPDXID"]] = package
            relationships.append((own["SPDXID"], "CONTAINS", package["SPDXID"]))


def document(root, build, images):
    version = re.search(r'#define EE_VERSION "(.*)"', (root / "include" / "eenet.h").read_text())[1]
    whole = described_package("eenet-source", version, "MIT")
    packages, relationships = [whole], [("SPDXRef-DOCUMENT", "DESCRIBES", whole["SPDXID"])]
    used = {}
    libraries = {part: set().union(*(linked_libraries(build / file) for file in files)) for part, files in PARTS.items()}
    owners = packages_of(set().union(*libraries.values()))
    for part in PARTS:
        own = described_package(TITLES[part], version, "MIT")
        packages.append(own)
        relationships.append((whole["SPDXID"], "GENERATES", own["SPDXID"]))
        for name in sorted({owners[library] for library in libraries[part]}):
            used[name] = used.get(name) or debian_package(name)
            relationships.append((own["SPDXID"], "DYNAMIC_LINK", used[name]["SPDXID"]))
        if part == "python":
            used["python3-numpy"] = debian_package("python3-numpy")
            relationships.append((used["python3-numpy"]["SPDXID"], "RUNTIME_DEPENDENCY_OF", own["SPDXID"]))
    add_static(version, packages, relationships, used, whole)
    add_pages(version, packages, relationships, used, whole)
    add_images(images, version, packages, relationships, used, whole)
    packages += [used[name] for name in sorted(used)]
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "0"))))
    result = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"eenet-{version}",
              "documentNamespace": "", "creationInfo": {"created": created, "creators": [f"Tool: eenet-sbom-{version}"]},
              "packages": packages,
              "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                                for one, kind, other in relationships]}
    unique = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(result, sort_keys=True))
    result["documentNamespace"] = f"https://spdx.org/spdxdocs/eenet-{version}-{unique}"
    return result


if __name__ == "__main__":
    print(json.dumps(document(*map(Path, sys.argv[1:3]), [Path(image) for image in sys.argv[3:]]), indent=1))
