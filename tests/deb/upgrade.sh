#!/bin/sh
# upgrade.sh OLDER NEWER: in a fresh root, which it changes: installs the packages in the folder OLDER, upgrades to those in
# NEWER, removes and purges them. The server's data and the administrator's settings survive until the purge.
set -eu
older=$1 newer=$2
fail() { echo "upgrade.sh: $*"; exit 1; }
cd /tmp
. "$(dirname "$0")/wait.sh"

# The steps of dpkg are shown only if one fails.
quiet() { "$@" >/tmp/said 2>&1 || { cat /tmp/said; fail "$*"; }; }
version() { dpkg-query -W -f '${Version}' "$1"; }

# serve COMMAND: runs the command in sh while the server runs as the service's user, at $url.
serve() {
    start_server setpriv --reuid=eenet --regid=eenet --clear-groups --no-new-privs \
        eenet serve --settings /etc/eenet/eenet.conf --folder /var/lib/eenet --port 0
    await 'a server that is ready' curl -fs "$url/readyz" -o /tmp/said
    eval "$1" || fail "$1: $(cat err)"
    stop_server
}

export DEBIAN_FRONTEND=noninteractive
quiet apt-get -y --no-install-recommends install "$older"/*.deb
[ "$(version eenet)" != "$(dpkg-deb -f "$newer"/eenet_*.deb Version)" ] || fail 'both versions are the same'
getent passwd eenet >/dev/null || fail 'no user eenet'
echo 'checkpoints = 3' >>/etc/eenet/eenet.conf
install -d -o eenet -g eenet -m 700 /var/lib/eenet # as systemd does
serve 'curl -fsS $url/v1/bandits -d "{\"name\": \"shop\"}" >/dev/null &&
    curl -fsS $url/v1/bandits/shop/decide -d "{\"id\": \"visit\", \"actions\": [{\"id\": \"a\"}, {\"id\": \"b\"}]}" >/tmp/first'

# The administrator changed the settings, and so did the new package: dpkg keeps the administrator's.
quiet apt-get -y --no-install-recommends -o Dpkg::Options::=--force-confold install "$newer"/*.deb
for package in eenet libeenet0 libeenet-dev python3-eenet; do
    [ "$(version $package)" = "$(dpkg-deb -f "$newer"/eenet_*.deb Version)" ] || fail "$package is $(version $package)"
done
grep -q '^checkpoints = 3$' /etc/eenet/eenet.conf || fail 'the settings were lost'
cmp /etc/eenet/eenet.conf.dpkg-dist "$newer/eenet.conf" || fail 'the new settings are not beside the old ones'
[ ! -e /usr/share/doc/eenet/only-in-the-older ] || fail 'a file of the older package is left'
serve 'curl -fsS $url/v1/bandits/shop/decide -d "{\"id\": \"visit\", \"actions\": [{\"id\": \"a\"}, {\"id\": \"b\"}]}" >/tmp/again'
cmp /tmp/first /tmp/again || fail 'the repeated decision is another one'
quiet python3 -c 'import eenet; eenet.Bandit("eenet", dim=2)'

quiet dpkg --remove eenet libeenet-dev libeenet0 python3-eenet
[ -e /etc/eenet/eenet.conf ] && [ -e /var/lib/eenet/eenet.db ] || fail 'removing took the settings or the data'
[ ! -e /usr/lib/python3/dist-packages/eenet ] || fail 'compiled Python files are left'

quiet dpkg --purge eenet libeenet-dev libeenet0 python3-eenet
left=$(find / -xdev \( -path /proc -o -path /sys -o -path /tmp -o -path "$older" -o -path "$newer" \) -prune -o -name '*eenet*' -print)
[ -z "$left" ] || fail "left after the purge: $left"
echo 'installed, upgraded, removed and purged'
