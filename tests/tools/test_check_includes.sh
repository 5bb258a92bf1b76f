#!/bin/sh
# test_check_includes.sh CHECK SOURCE: check_includes.sh accepts the tree, and rejects each bad include that is added to it.
set -eu
check=$1
cp -R "$2"/include "$2"/src "$2"/cli "$2"/bench "$2"/python .
"$check" . || { echo 'the tree itself fails'; exit 1; }

rejects() { # FILE INCLUDE WORDS-OF-THE-MESSAGE
    cp "$1" kept
    echo "#include $2" >>"$1"
    line=$(wc -l <"$1")
    if "$check" . >message; then echo "$1: accepts $2"; exit 1; fi
    grep -q "^$1:$line: .*$3" message || { echo "$1: $2: expected '$3', got:"; cat message; exit 1; }
    mv kept "$1"
}
rejects src/base/status.c '"math/triangle.h"' 'base may not include math'
rejects src/math/triangle.c '"../base/status.h"' 'write the folder'
rejects src/engine/bandit.h '"data/files/npy.h"' 'engine may not include data'
rejects src/data/files/npy.c '"evaluate/checks/diagnosis.h"' 'data may not include evaluate'
rejects src/evaluate/checks/diagnosis.c '"lab/runs/runner.h"' 'evaluate may not include lab'
rejects src/lab/runs/runner.c '"ranks/ranks.h"' 'lab may not include ranks'
rejects src/ranks/serving.c '"serve/http.h"' 'ranks may not include serve'
rejects src/lab/runs/runner.c '<mpi.h>' 'MPI is for ranks alone'
rejects cli/main.c '<mpi.h>' 'MPI is for ranks alone'
rejects src/serve/http/http.h '"lab/runs/runner.h"' 'serve may not include lab'
rejects src/serve/http/http.h '"serve/api/call.h"' 'serve/http may not include serve/api'
rejects src/serve/api/call.c '"serve/service.h"' 'serve/api may not include serve, which is above it'
rejects src/policy/greedy.c '"eenet_options.h"' 'may not include another'
rejects src/policy/parts/schedule.c '"policy/eenet_options.h"' 'may not include a policy'
rejects src/policy/greedy.c '  "matrix.h"' 'no header matrix.h'
rejects src/math/triangle.c '<cblas.h>' 'needs libc alone'
rejects src/engine/bandit.h ' <jansson.h>' 'needs libc alone'
rejects include/eenet.h '"base/status.h"' 'include may not include base'
rejects python/src/shared/array_view.h '"core/bandit_object.h"' 'python/shared may not include python/core'
rejects python/src/core/bandit_object.c '"lab/runs/runner.h"' 'python/core may not include lab'
rejects python/src/core/bandit_object.c '<jansson.h>' 'needs libc alone'
rejects python/src/lab/lab_module.c '"core/bandit_object.h"' 'python/lab may not include python/core'
