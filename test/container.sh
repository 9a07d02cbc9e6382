#!/bin/sh
# The container of share/container, built and used. No registry is asked: its base is a Debian made by debootstrap (root).
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || { echo "expected root: debootstrap needs it" >&2; exit 2; }
. setup/packages.sh
need_packages debootstrap buildah
folder=$(mktemp -d)
trap 'rm -rf --one-file-system "$folder"' EXIT INT TERM
in_storage() { buildah --root "$folder/storage" --runroot "$folder/run" --storage-driver vfs "$@"; }

. /etc/os-release
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $VERSION_CODENAME" "Component: main" | head -n 1)
echo "== a bare $PRETTY_NAME"
debootstrap --variant=minbase "$VERSION_CODENAME" "$folder/base" "$mirror" > "$folder/log" 2>&1 || { tail -5 "$folder/log"; exit 1; }
tar -C "$folder/base" -cf "$folder/base.tar" .
printf 'FROM scratch\nADD base.tar /\n' > "$folder/Containerfile"
in_storage build --isolation chroot -q -f "$folder/Containerfile" -t base "$folder" > "$folder/log" 2>&1 || { tail "$folder/log"; exit 1; }
rm -rf "$folder/base" "$folder/base.tar"
echo "== leat"
in_storage build --isolation chroot -q --build-arg BASE=localhost/base -f share/container/Containerfile -t leat . > "$folder/log" 2>&1 || { tail -20 "$folder/log"; exit 1; }
at=$(in_storage from leat)
wrongs=0
# works COMMAND...: in the container, as its user.
works() {
    if said=$(in_storage run --isolation chroot "$at" -- "$@" 2>&1); then echo "ok $*"; else
        echo "FAILED $*: $said"
        wrongs=$((wrongs + 1))
    fi
}
works leat --version
works leat sim clos444 --load 0.5 --cycles 20000
works leat experiment echo --bytes 4,100
works sh -c '[ "$(id -un)" = leat ]'
echo "$wrongs failures"
[ "$wrongs" -eq 0 ]
