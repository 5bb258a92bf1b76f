#!/bin/sh
# image.sh PROGRAM VERSION ARCHITECTURE FOLDER: writes FOLDER/eenet-VERSION-ARCHITECTURE.oci.tar, an OCI image of PROGRAM
# with its libraries from Debian 12. ARCHITECTURE: amd64 or arm64, of any machine: nothing of the image is run. Needs no
# root. The same program, packages and SOURCE_DATE_EPOCH (default: 0) give the same bytes. MIRROR (optional) is the
# Debian mirror to use, for example a snapshot.
set -eu
program=$1 version=$2 architecture=$3 folder=$4
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0}
export SOURCE_DATE_EPOCH
user=65532
case $architecture in
amd64) prefix=x86_64-linux-gnu ;;
arm64) prefix=aarch64-linux-gnu ;;
*) echo "image.sh: unknown architecture '$architecture'; expected amd64 or arm64" >&2; exit 1 ;;
esac
# Names of binutils carry the prefix only if they are for another architecture.
strip=strip
[ "$(dpkg --print-architecture)" = "$architecture" ] || strip=$prefix-strip

mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root layout=$scratch/layout
umask 022
mkdir -p "$root"

# Libraries, licences and root certificates. No package is configured, so there is no shell and no package manager;
# scanners read the versions in /var/lib/dpkg/status.d.
packages=libc6,libpq5,libgnutls30,libsqlite3-0,zlib1g,libzstd1,ca-certificates
describe='mkdir "$1/var/lib/dpkg/status.d"
for file in "$1"/var/cache/apt/archives/*.deb; do
    dpkg-deb -f "$file" >"$1/var/lib/dpkg/status.d/$(dpkg-deb -f "$file" Package)"
done'
# shellcheck disable=SC2086 # an empty MIRROR is no word
mmdebstrap --quiet --variant=extract --architectures="$architecture" --include="$packages" \
    --extract-hook="$describe" --skip=chroot/mount bookworm "$scratch/debian.tar" ${MIRROR:-}
tar -xf "$scratch/debian.tar" -C "$root" --no-same-owner --wildcards --no-wildcards-match-slash \
    './lib*/ld-linux-*' "./lib/$prefix/*.so*" "./usr/lib/$prefix/*.so*" './usr/share/doc/*/copyright' \
    './usr/share/ca-certificates/mozilla/*' './var/lib/dpkg/status.d/*'
# Used only by a plugin of SASL, which is not there.
rm -f "$root/usr/lib/$prefix"/libdb-*.so
mkdir -p "$root/etc/ssl/certs" "$root/usr/bin" "$root/usr/share/doc/eenet" "$root/proc" "$root/sys" "$root/dev" \
    "$root/data"
LC_ALL=C sh -c 'cat "$1"/*' - "$root/usr/share/ca-certificates/mozilla" >"$root/etc/ssl/certs/ca-certificates.crt"
rm -rf "$root/usr/share/ca-certificates"
echo "eenet:x:$user:$user::/data:/" >"$root/etc/passwd"
echo "eenet:x:$user:" >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
install -m 644 "$(dirname "$0")/../LICENSE" "$root/usr/share/doc/eenet/copyright"
$strip -o "$root/usr/bin/eenet" "$program"
chmod 755 "$root/usr/bin/eenet"

# One layer. Only /data belongs to the user: a new volume that is mounted there inherits its owner.
pack() {
    tar "$@" --sort=name --format=gnu --numeric-owner --mtime="@$SOURCE_DATE_EPOCH"
}
pack -cf "$scratch/layer.tar" -C "$root" --owner=0 --group=0 --mode=go-w --exclude=./data .
pack -rf "$scratch/layer.tar" -C "$root" --owner=$user --group=$user --mode=700 ./data

umoci init --layout "$layout"
umoci new --image "$layout:$version"
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
umoci raw add-layer --image "$layout:$version" --history.created "$created" --history.created_by image.sh \
    "$scratch/layer.tar"
umoci config --no-history --image "$layout:$version" --created "$created" --os linux --architecture "$architecture" \
    --config.user $user:$user --config.workingdir /data --config.volume /data --config.exposedports 8080/tcp \
    --config.entrypoint /usr/bin/eenet --config.cmd serve --config.cmd=--keys --config.cmd /data/keys \
    --config.env EENET_FOLDER=/data --config.env EENET_ADDRESS=0.0.0.0 --config.env TMPDIR=/data \
    --config.env PATH=/usr/bin \
    --config.label org.opencontainers.image.title=eenet --config.label "org.opencontainers.image.version=$version" \
    --config.label org.opencontainers.image.licenses=MIT
umoci gc --layout "$layout"
# With its name: 'podman load' calls the image localhost/eenet:VERSION, 'docker load' eenet:VERSION.
sed -i "s/\"org.opencontainers.image.ref.name\":\"/&eenet:/" "$layout/index.json"

name=$folder/eenet-$version-$architecture.oci.tar
pack -cf "$name.part" -C "$layout" --owner=0 --group=0 --mode=u=rwX,go=rX blobs index.json oci-layout
mv "$name.part" "$name"
# The most that we promise.
most=40000000
for file in "$name" "$scratch/layer.tar"; do
    [ "$(stat -c %s "$file")" -lt $most ] || { echo "image.sh: ${file##*/} has more than $most bytes" >&2; exit 1; }
done
printf '%s: %s bytes; unpacked: %s bytes\n' "$name" "$(stat -c %s "$name")" "$(stat -c %s "$scratch/layer.tar")"
