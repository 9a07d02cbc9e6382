#!/bin/sh
# Each header that leat is built from, and each library that its build has found, belongs to a package
# that ./demo installs or to one that it depends on.
# Other systems have the names that setup/packages.sh says, and their own command to install them.
# usage: packages.sh BUILD
set -eu
build=$1
bad=0
others=$(mktemp -d)
trap 'rm -rf "$others"' EXIT INT TERM

# The line that installs these packages on a bare system of this ID and release.
installs() {
    printf 'ID=%s\nVERSION_ID="%s"\n' "$1" "$2" > "$others/os-release"
    shift 2
    LEAT_OS_RELEASE=$others/os-release PATH=$others/bin:$PATH sh -euc '. setup/packages.sh; need_packages "$@"' sh "$@" 2>&1 | grep -E '^(apt-get|dnf) '
}
mkdir "$others/bin"
for command in apt-get dnf; do
    printf '#!/bin/sh\n[ "$1" = update ] || echo %s "$@"\n' "$command" > "$others/bin/$command"
done
printf '#!/bin/sh\nexit 1\n' | tee "$others/bin/rpm" > "$others/bin/dpkg-query" # nothing is installed
printf '#!/bin/sh\n[ "$1" != -u ] || echo 0\n' > "$others/bin/id"
chmod +x "$others"/bin/*
# want SYSTEM RELEASE NAMES: of some of ours
want() {
    got=$(installs "$1" "$2" gcc libc6-dev g++ libopenmpi-dev pvm-dev netpipe-pvm bpftool) || got="exit code $?"
    [ "$got" = "$3" ] && return
    echo "$1 $2: '$got', expected '$3'"
    bad=1
}
apt="apt-get install -y --no-install-recommends"
want debian 12 "$apt gcc libc6-dev g++ libopenmpi-dev pvm-dev netpipe-pvm bpftool -q"
want debian 13 "$apt gcc libc6-dev g++ libopenmpi-dev bpftool -q"
want ubuntu 24.04 "$apt gcc libc6-dev g++ libopenmpi-dev pvm-dev netpipe-pvm linux-tools-common linux-tools-generic -q"
want ubuntu 25.10 "$apt gcc libc6-dev g++ libopenmpi-dev pvm-dev netpipe-pvm bpftool -q"
want fedora 42 "dnf install -y gcc glibc-devel gcc-c++ openmpi-devel bpftool -q"

command -v dpkg-query > /dev/null || { echo "no Debian packages here" >&2; exit 77; }
. setup/packages.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder" "$others"' EXIT INT TERM

# With all their dependencies: of alternatives the installed one.
# shellcheck disable=SC2016
dpkg-query -W -f '${db:Status-Status}\t${Package}\t${Provides}\t${Depends}, ${Pre-Depends}\n' |
    awk -F '\t' -v wanted="$BUILD_PACKAGES" '
    function bare(text) { gsub(/\([^)]*\)|:[a-z0-9]+|[ \t]/, "", text); return text }
    function want(name) { if (name in needs && !(name in found)) { found[name]; queue[++last] = name } }
    $1 == "installed" {
        needs[$2] = $4
        n = split(bare($3), names, ",")
        for (i = 1; i <= n; i++) provider[names[i]] = provider[names[i]] " " $2
    }
    END {
        n = split(wanted, names, " ")
        for (i = 1; i <= n; i++) want(names[i])
        for (next_one = 1; next_one <= last; next_one++) {
            n = split(bare(needs[queue[next_one]]), names, /[,|]/)
            for (i = 1; i <= n; i++) {
                want(names[i])
                m = split(provider[names[i]], others, " ")
                for (k = 1; k <= m; k++) want(others[k])
            }
        }
        for (name in found) print name
    }' | sort > "$folder/brought"

ninja -C "$build" -t deps > "$folder/deps"
{
    awk '/^[^ ]/ { of_leat = $1 !~ /_test|bench|fuzz/ } of_leat && $1 ~ "^/usr/" { print $1 }' "$folder/deps"
    # Libraries that only benches use for comparison do not count.
    sed -n '/^ISAL/d; s,^[A-Za-z0-9_]*:FILEPATH=\(/usr/lib/.*\.so\)$,\1,p' "$build/CMakeCache.txt"
} | sort -u | while read -r file; do
    readlink -f "$file" # alternatives, and libX.so of libX.so.1, are the packages' own
    echo "$file"
done | sort -u > "$folder/files"
[ "$(wc -l < "$folder/files")" -gt 50 ] || { echo "$build was not built here: no headers are known" >&2; exit 77; }

xargs dpkg-query -S < "$folder/files" 2> /dev/null | sed 's/\(:[a-z0-9]*\)\?: / /' | grep -v '^diversion' > "$folder/owners" || true
while read -r package file; do
    grep -qx "$package" "$folder/brought" && continue
    echo "$file is of $package, which none of BUILD_PACKAGES in setup/packages.sh brings along"
    bad=1
done < "$folder/owners"
[ -s "$folder/owners" ] || { echo "no package has any of the files"; bad=1; }
exit $bad
