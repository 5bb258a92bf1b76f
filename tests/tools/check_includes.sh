#!/bin/sh
# check_includes.sh [ROOT]: checks which folder may include which. Prints FILE:LINE and exits with 1 for an include
# - that breaks the order of the folders, or of the sub-folders of one (src/FOLDER/folders.txt),
# - of a policy in another policy, or in a part,
# - of a library other than libc in the eenet library, or of MPI outside ranks.
set -eu
cd "${1:-.}"
files=$(find include src cli bench python/src -name '*.[ch]' | sort)
# shellcheck disable=SC2086 # no file of the tree has a blank in its name
exec awk '
BEGIN {
    # Each folder, and the other folders that it may include.
    below["include"] = ""
    below["base"] = ""
    below["math"] = "base"
    below["net"] = "base math"
    below["policy"] = "base math net"
    below["features"] = "base"
    below["engine"] = "base math net policy features"
    library = "base math net policy features engine"
    below["data"] = library
    below["evaluate"] = library " data"
    below["lab"] = library " data evaluate"
    below["serve"] = library " data evaluate"
    below["ranks"] = library " data evaluate lab"
    below["bench"] = library " data evaluate lab serve"
    below["cli"] = library " data evaluate lab ranks serve bench"
    # The extensions of the Python package. Like the library, eenet._core needs only libc.
    below["python/shared"] = ""
    below["python/portable"] = ""
    below["python/core"] = "python/shared features engine"
    below["python/lab"] = "python/shared " library " data evaluate lab"
    libc_alone = library " python/shared python/core"
    for (above in below)
        while ((getline line < ("src/" above "/folders.txt")) > 0) {
            split(line, part, " ")
            place[above "/" part[1]] = ++places
            ordered[above] = 1
        }
}

function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text; failed = 1 }
function exists(path,    line, found) { found = (getline line < path) >= 0; close(path); return found }
function stem(path) { sub(/.*\//, "", path); sub(/\.[ch]$/, "", path); return path }
function contains(words, word) { return index(" " words " ", " " word " ") }

FNR == 1 {
    split(FILENAME, part, "/")
    own = part[1] == "src" ? part[2] : part[1] == "python" ? "python/" part[3] : part[1]
    folder = FILENAME
    sub(/[^\/]*$/, "", folder)
    in_parts = FILENAME ~ /^src\/policy\/parts\//
    inside = own in ordered && split(FILENAME, part, "/") > 3 ? own "/" part[3] : ""
    if (inside && !(inside in place)) complain("src/" inside " is not in src/" own "/folders.txt")
    if (!(own in below)) complain((own ~ /\// ? "" : "src/") own " has no place in the order of the folders")
}

/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    name = $0
    sub(/^[^<"]*[<"]/, "", name)
    sub(/[>"].*/, "", name)
    split(name, part, "/")

    if (name ~ /(cblas|lapack|openblas|zlib|zstd|jansson|sqlite|gnutls)/ && contains(libc_alone, own)) {
        complain("the library needs libc alone, not " name)
        next
    }
    if (name == "mpi.h" && own != "ranks") { complain("MPI is for ranks alone: " name); next }
    if (name ~ /(^|\/)\.\.\//) { complain("write the folder, as base/status.h, in place of " name); next }
    if (exists(folder name)) target = own
    else if (own ~ /^python/ && exists("python/src/" name)) target = "python/" part[1]
    else if (part[1] in below) target = part[1]
    else if (name == "eenet.h" || $0 ~ /include[ \t]*</) next
    else { complain("no header " name " in " folder); next }

    if (target != own && !contains(below[own], target)) complain(own " may not include " target ": " name)
    if (inside && part[1] == own && (part[3] == "" || place[own "/" part[2]] > place[inside]))
        complain(inside " may not include " own (part[3] == "" ? ", which is above it" : "/" part[2]) ": " name)
    # A policy may include policy.h, headers in parts/ and its own headers. A part may not include a policy.
    if (own == "policy" && target == "policy" && stem(name) != "policy" && name !~ /(^|\/)parts\// &&
        !in_parts && index(stem(name), stem(FILENAME)) != 1 && index(stem(FILENAME), stem(name)) != 1)
        complain("a policy may not include another: " name)
    if (own == "policy" && in_parts && !exists(folder name) && part[1] == "policy" && part[2] != "policy.h")
        complain("a part may not include a policy: " name)
}

END { exit failed }
' $files
