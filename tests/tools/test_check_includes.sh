#!/bin/sh
# test_check_includes.sh CHECK: tests check_includes.sh on a small tree: it accepts good includes and rejects bad ones.
set -eu
check=$1
mkdir -p include cli bench src/base src/math src/net src/policy/parts src/engine src/data src/evaluate src/lab src/ranks \
    src/serve/http src/serve/api python/src/shared python/src/core python/src/lab

write() { # FILE INCLUDE...
    file=$1
    shift
    for name in "$@"; do echo "#include $name"; done >"$file"
}
header() { for file in "$@"; do echo '/* a header */' >"$file"; done; }

header include/eenet.h src/base/status.h src/math/matrix.h src/net/network.h src/policy/policy.h src/policy/parts/schedule.h \
    src/policy/greedy.h src/policy/uniform.h src/engine/bandit.h src/data/npy.h src/evaluate/estimate.h \
    src/lab/runner.h src/ranks/ranks.h src/serve/service.h src/serve/http/http.h src/serve/api/call.h bench/bench.h python/src/shared/array_view.h python/src/core/bandit_object.h
write src/base/status.c '"status.h"' '<stdio.h>' '"eenet.h"'
write src/math/matrix.c '"matrix.h"' '<math.h>' '"base/status.h"'
write src/policy/greedy.c '"greedy.h"' '"policy.h"' '"parts/schedule.h"' '"net/network.h"'
write src/policy/parts/schedule.c '"schedule.h"' '"policy/policy.h"'
write src/data/npy.c '"npy.h"' '<zlib.h>' '"engine/bandit.h"'
write src/evaluate/estimate.c '"estimate.h"' '"data/npy.h"'
write src/lab/runner.c '"runner.h"' '"data/npy.h"' '"evaluate/estimate.h"' '"engine/bandit.h"'
write bench/bench.c '"bench.h"' '"lab/runner.h"'
write src/ranks/ranks.c '"ranks.h"' '<mpi.h>' '"lab/runner.h"'
write cli/main.c '"lab/runner.h"' '"ranks/ranks.h"' '"eenet.h"' '"serve/service.h"' '"bench/bench.h"'
write python/src/core/bandit_object.c '<Python.h>' '"bandit_object.h"' '"shared/array_view.h"' '"eenet.h"'
write python/src/lab/lab_module.c '<Python.h>' '"shared/array_view.h"' '"lab/runner.h"' '"evaluate/estimate.h"'
printf 'http  connections\napi   handlers\n' >src/serve/folders.txt
write src/serve/api/call.c '"call.h"' '"serve/http/http.h"'
write src/serve/service.c '"service.h"' '"serve/api/call.h"'
"$check" . || { echo 'the good tree fails'; exit 1; }

rejects() { # FILE INCLUDE WORDS-OF-THE-MESSAGE
    cp "$1" kept
    echo "#include $2" >>"$1"
    line=$(wc -l <"$1")
    if "$check" . >message; then echo "$1: accepts $2"; exit 1; fi
    grep -q "^$1:$line: .*$3" message || { echo "$1: $2: expected '$3', got:"; cat message; exit 1; }
    mv kept "$1"
}
rejects src/base/status.c '"math/matrix.h"' 'base may not include math'
rejects src/base/status.c '<math/matrix.h>' 'base may not include math'
rejects src/math/matrix.c '"../base/status.h"' 'write the folder'
rejects src/engine/bandit.h '"lab/runner.h"' 'engine may not include lab'
rejects src/engine/bandit.h '"data/npy.h"' 'engine may not include data'
rejects src/data/npy.c '"evaluate/estimate.h"' 'data may not include evaluate'
rejects src/evaluate/estimate.c '"lab/runner.h"' 'evaluate may not include lab'
rejects src/lab/runner.c '"bench/bench.h"' 'lab may not include bench'
rejects src/lab/runner.c '"ranks/ranks.h"' 'lab may not include ranks'
rejects src/ranks/ranks.c '"serve/http.h"' 'ranks may not include serve'
rejects src/lab/runner.c '<mpi.h>' 'MPI is for ranks alone'
rejects cli/main.c '<mpi.h>' 'MPI is for ranks alone'
rejects src/serve/http/http.h '"lab/runner.h"' 'serve may not include lab'
rejects src/serve/http/http.h '"serve/api/call.h"' 'serve/http may not include serve/api'
rejects src/serve/api/call.c '"serve/service.h"' 'serve/api may not include serve, which is above it'
rejects src/policy/greedy.c '"uniform.h"' 'may not include another'
rejects src/policy/greedy.c '"policy/uniform.h"' 'may not include another'
rejects src/policy/parts/schedule.c '"policy/uniform.h"' 'may not include a policy'
rejects src/policy/greedy.c '  "matrix.h"' 'no header matrix.h'
rejects src/math/matrix.c '<cblas.h>' 'needs libc alone'
rejects src/engine/bandit.h ' <jansson.h>' 'needs libc alone'
rejects include/eenet.h '"base/status.h"' 'include may not include base'
rejects python/src/shared/array_view.h '"core/bandit_object.h"' 'python/shared may not include python/core'
rejects python/src/core/bandit_object.c '"lab/runner.h"' 'python/core may not include lab'
rejects python/src/core/bandit_object.c '<jansson.h>' 'needs libc alone'
rejects python/src/lab/lab_module.c '"core/bandit_object.h"' 'python/lab may not include python/core'
rejects python/src/lab/lab_module.c '"serve/http.h"' 'python/lab may not include serve'
