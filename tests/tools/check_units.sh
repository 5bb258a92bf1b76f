#!/bin/sh
# check_units.sh ROOT PROGRAM: checks that systemd accepts the units and rates the service as well sandboxed. Exits with
# 77 (skipped) without systemd.
set -eu
root=$1 program=$2
command -v systemd-analyze >/dev/null || exit 77
fail() { echo "check_units.sh: $*"; exit 1; }
sed "s|^ExecStart=eenet |ExecStart=$program |" "$root/share/systemd/eenet.service" >eenet.service
cp "$root/share/systemd/eenet.socket" .
# Ignore manual pages, which are not installed here, and errors in other units of this machine.
systemd-analyze verify --man=no --recursive-errors=no ./eenet.service ./eenet.socket >said 2>&1 || true
! grep -q '^[^ ]*eenet\.\(service\|socket\)' said || fail "$(cat said)"
# The exposure is 0 (sandboxed) to 10 (open); the threshold is in tenths.
systemd-analyze security --offline=true --threshold=20 ./eenet.service >judged 2>&1 ||
    fail "too open: $(tail -n 1 judged)"
