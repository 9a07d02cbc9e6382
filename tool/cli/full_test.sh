#!/bin/sh
# Files that may not grow (ulimit -f), and a full disk: the command reports it and ends with 1; no partial file stays.
set -u
leat=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
share=$(realpath "$here/../../share")
. "$here/../../test/lib.sh"
mkdir "$folder/disk"
file=$folder/disk/file
"$leat" sim clos444 --load 0.2 --cycles 100000 --record "$folder/cells.leatrec" > /dev/null

# limited COMMAND...: none of its files may have more than a few thousand octets
limited() { (ulimit -f 8 && exec "$@"); }
# on_full_disk COMMAND...: its files are on one that has no room; what it leaves there is on standard error
on_full_disk() {
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount -t tmpfs -o size=8k none "$0" && { "$@"; code=$?; ls -A "$0" >&2; exit $code; }' "$folder/disk" "$@"
}
# cannot COMMAND...: it cannot write all of $file
cannot() {
    "$@" > "$folder/stdout" 2> "$folder/stderr" || fail "$*: $(cat "$folder/stderr")"
    find "$file" -size +9000c | grep -q . || fail "$*: writes too little for this test"
    rm -rf "$file"
    exits 1 "too large" limited "$@"
    same "limited: $* leaves" "$(ls -A "$folder/disk")" ""
    $disk || return 0
    exits 1 "No space left on device" on_full_disk "$@"
    ! grep -q 'part\|^file$' "$folder/stderr" || fail "a full disk: $* leaves $(cat "$folder/stderr")"
}
disk=false
if unshare -m mount -t tmpfs none "$folder/disk" 2> /dev/null; then disk=true; fi

cannot "$leat" sim bmx:4 --traffic W --cycles 30000 --record "$file"
for shape in pcapng vcd perfetto csv; do cannot "$leat" export "$folder/cells.leatrec" --$shape "$file"; done
if "$leat" export "$folder/cells.leatrec" --otf2 "$folder/archive" 2> /dev/null; then
    cannot "$leat" export "$folder/cells.leatrec" --otf2 "$file"
fi
cannot "$leat" view "$folder/cells.leatrec" -o "$file"
cannot "$leat" fabric draw torus:16,16 -o "$file"
cannot "$leat" ring sim --stations 16 --command add --vcd "$file"
cannot "$leat" esp sim --tree 6,4 --members 1000 --service tree --dot "$file"
if "$leat" graph check "$share/poets/heat_plate.xml" > /dev/null 2>&1; then
    "$leat" graph run "$share/poets/heat_plate.xml" > /dev/null 2>&1
    cannot "$leat" graph run "$share/poets/heat_plate.xml" --record "$file"
    cannot "$leat" graph run "$share/poets/clock_tree.xml" --snapshot "$file"
fi
# A test of ours that finds a fault there fails, too, though it cannot keep it.
if $disk; then
    # shellcheck disable=SC2016
    exits 1 "FAILED: a fault" on_full_disk env TMPDIR="$folder/disk" sh -c '. "$0"; head -c 100000 /dev/zero > "$folder/filler"; fail "a fault"; finish' "$here/../../test/lib.sh"
fi
finish
