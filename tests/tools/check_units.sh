#!/bin/sh
# check_units.sh ROOT PROGRAM: systemd understands the units, and finds the service well shut in. 77 where there is no
# systemd to ask.
set -eu
root=$1 program=$2
command -v systemd-analyze >/dev/null || exit 77
fail() { echo "check_units.sh: $*"; exit 1; }
sed "s|^ExecStart=eenet |ExecStart=$program |" "$root/share/systemd/eenet.service" >eenet.service
cp "$root/share/systemd/eenet.socket" .
# No manual page is installed here, and other units of this machine are not ours to judge.
systemd-analyze verify --man=no --recursive-errors=no ./eenet.service ./eenet.socket >said 2>&1 || true
! grep -q '^[^ ]*eenet\.\(service\|socket\)' said || fail "$(cat said)"
# 0 is shut in, 10 is open.
systemd-analyze security --offline=true --threshold=20 ./eenet.service >judged 2>&1 ||
    fail "too open: $(tail -n 1 judged)"
