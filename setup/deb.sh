#!/bin/sh
# Debian packages of this tree, in build/deb: `make deb`. DEB_BUILD_OPTIONS=nocheck leaves out the tests of vectors.
set -eu
cd "$(dirname "$0")/.."
. setup/packages.sh
need_packages $BUILD_PACKAGES $DEB_PACKAGES
version=$(sed -n 's/^project(leat VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[ "$(dpkg-parsechangelog -S Version)" = "$version" ] || {
    echo "debian/changelog has version $(dpkg-parsechangelog -S Version), CMakeLists.txt $version" >&2
    exit 2
}
folder=build/deb/leat-$version
rm -rf build/deb
mkdir -p "$folder"
# What git knows or would add; of an unpacked archive all but what was built.
if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
    git ls-files -co --exclude-standard -z
else
    find . -path ./build -prune -o -type f -print0
fi | tar -c --null --ignore-failed-read -T - | tar -x -C "$folder"
(cd "$folder" && dpkg-buildpackage -b -us -uc)
rm -rf "$folder"
ls build/deb/*.deb
