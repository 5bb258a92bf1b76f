#!/usr/bin/env python3
"""check_wheel.py WHEEL...: fails if a wheel needs more than its name promises.

A wheel manylinux_2_28_MACHINE must hold extensions for that machine that need no symbol version above GLIBC_2.28, only
libraries of the manylinux policy, and no search path. It must also hold the licences of the libraries it contains.
"""
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# The part of the policy (PEP 600) that a wheel of C code can need.
LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libgcc_s.so.1"}
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}
NOTICES = {"libzstd.copyright", "zlib1g.copyright"}


def readelf(file, *flags):
    return subprocess.run(["readelf", "-W", *flags, str(file)], check=True, capture_output=True, text=True).stdout


def problems_of(file, newest, machine):
    """What is wrong with an extension; newest is a pair such as (2, 28)."""
    found = []
    built_for = MACHINES.get(re.search(r"Machine:\s*(.*?)\s*$", readelf(file, "-h"), re.M)[1])
    if built_for != machine:
        found.append(f"built for {built_for}, expected {machine}")
    dynamic = readelf(file, "-d")
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if library not in LIBRARIES | {LOADERS[machine]}:
            found.append(f"needs {library}, which is outside the manylinux policy")
    if re.search(r"\((RPATH|RUNPATH)\)", dynamic):
        found.append("has a search path for libraries")
    # Undefined symbols (Ndx UND) with a version; the version of this file's own symbols does not matter.
    for symbol, version in sorted(set(re.findall(r"UND (\w+)@(\S+)", readelf(file, "--dyn-syms")))):
        number = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)+)", version)
        if not number or tuple(map(int, number[1].split("."))) > newest:
            found.append(f"needs {symbol}@{version}")
    # Versions that belong to no symbol, such as GLIBC_ABI_DT_RELR.
    for version in re.findall(r"Name: (GLIBC_[A-Z]\w*)", readelf(file, "-V")):
        found.append(f"needs {version}")
    return found


def check(wheel):
    tag = re.search(r"-cp39-abi3-manylinux_(\d+)_(\d+)_(x86_64|aarch64)\.whl$", wheel.name)
    if not tag:
        return [f"{wheel.name}: expected a name that ends in -cp39-abi3-manylinux_X_Y_MACHINE.whl"]
    found = []
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        names = [name for name in archive.namelist() if name.endswith(".so")]
        if not names:
            found.append(f"{wheel.name}: no extensions")
        for name in names:
            file = archive.extract(name, folder)
            said = problems_of(file, (int(tag[1]), int(tag[2])), tag[3])
            found += [f"{wheel.name}: {name} {what}" for what in said]
        missing = NOTICES - {Path(name).name for name in archive.namelist()}
        found += [f"{wheel.name}: no {name}" for name in sorted(missing)]
    return found


def main(paths):
    found = [what for path in paths for what in check(Path(path))]
    print("\n".join(found) if found else f"{len(paths)} wheels need nothing that their names do not promise")
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
