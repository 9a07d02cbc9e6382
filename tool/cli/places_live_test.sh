#!/bin/sh
# Another user of the host (nobody) and the files that leat keeps in places where everybody may make some: a squatted
# name, a link, a FIFO, a folder, a hard link and a stale file of a stranger are neither used, changed nor removed; the
# files and processes of root's live parts can be neither read nor disturbed. doc/security.md lists the places.
# usage: places_live_test.sh LEAT
set -eu
leat=$(readlink -f "$1")
here=$(dirname "$0")
. "$here/../../test/lib.sh"
. "$here/../../test/live.sh"
target=/dev/shm/leat-places.$$
tear_down() {
    for p in a b; do
        [ -e "/run/netns/$name$p" ] || continue
        for stop in "ring stop --dev x0" "esp stop --name core" "pktway stop --name gate"; do
            # shellcheck disable=SC2086
            in_ns $p "$leat" $stop > /dev/null 2>&1 || true
        done
    done
    rm -rf "$target"* /dev/shm/leat-*.99.stale "${squatted:-$target}"
    delete_hosts
}
hosts "what another user may do to leat's files is" a b
ip link add x0 netns "${name}a" type veth peer name x0 netns "${name}b" || skip "this kernel has no veth"
for p in a b; do
    ip -n "$name$p" link set x0 up
    ip -n "$name$p" link set lo up
done
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
for python in "$(command -v python3)" /usr/bin/python3; do # one in a home folder is its owner's
    ! $nobody "$python" -c "" 2> /dev/null || break
done
$nobody "$python" -c "" 2> /dev/null || skip "no setpriv, or no Python, for another user"
chmod 755 "$folder"

join() { in_ns "$1" "$leat" ring join --dev x0 --address "$2" --driver packet --allow 0 --previous "$(mac "$3" x0)" --next "$(mac "$3" x0)"; }
esp() { in_ns "$1" "$leat" esp route --name core --driver udp --listen 127.0.0.1:4274 --next-hop 127.0.0.1:4275; }
device=$(ip -n "${name}a" -json link show x0 | jq '.[0].ifindex')
mark=$(mark_of a)

# ---- names that somebody else has first

echo whole > "$target"
chmod 600 "$target"
# squat WHAT NAME: nobody makes it in /dev/shm; a hard link to root's file only where the system lets users make one, so root does
squat() {
    case $1 in
    file) $nobody sh -c ": > $2; chmod 666 $2" ;;
    link) $nobody ln -s "$target" "$2" ;;
    dangling) $nobody ln -s "$target.new" "$2" ;;
    fifo) $nobody mkfifo -m 666 "$2" ;;
    folder) $nobody mkdir -m 777 "$2" ;;
    'hard link') ln "$target" "$2" ;;
    'open file') (umask 0 && : > "$2") ;;
    esac
}
for what in file link dangling fifo folder 'hard link' 'open file'; do
    for part in "leat-ring.$mark.$device" "leat-ring-lender.$mark.$device" "leat-esp.$mark.core"; do
        squatted=/dev/shm/$part
        squat "$what" "$squatted"
        before=$(stat -c '%i %u %a %s' "$squatted")
        case $part in
        *esp*) begin="esp a" ;;
        *) begin="join a 1 b" ;;
        esac
        code=0
        # shellcheck disable=SC2086
        $begin > "$folder/stdout" 2> "$folder/stderr" || code=$?
        [ $code = 1 ] || [ $code = 2 ] || fail "$what at $part: exit code $code"
        grep -qE "$squatted (is of another user|is in the way)" "$folder/stderr" || fail "$what at $part: $(cat "$folder/stderr")"
        same "$what at $part: what is there" "$(stat -c '%i %u %a %s' "$squatted")" "$before"
        case $part in *lender*) in_ns a "$leat" ring stop --dev x0 > /dev/null 2>&1 || true ;; esac
        rm -r "$squatted"
    done
    same "$what: the file of root" "$(cat "$target")" whole
    [ ! -e "$target.new" ] || fail "$what: a file was made through a link"
done

# ---- results where everybody may write

mkdir -m 1777 "$folder/all"
result="$folder/all/result"
$nobody sh -c ": > $result; chmod 666 $result"
(umask 022 && exits 0 "" "$leat" sim mesh:4,4 --cycles 100 --json="$result")
same "a result in the place of another user's file" "$(stat -c '%U %a' "$result")" "root 644"
chmod 640 "$result"
(umask 022 && exits 0 "" "$leat" sim mesh:4,4 --cycles 100 --json="$result")
same "a result in the place of one's own" "$(stat -c '%U %a' "$result")" "root 640"
rm "$result"
$nobody ln -s "$target" "$result"
if [ "$(cat /proc/sys/fs/protected_symlinks)" = 1 ]; then
    exits 2 "Permission denied" "$leat" sim mesh:4,4 --cycles 100 --json="$result"
    same "a result in the place of another user's link" "$(cat "$target")" whole
fi

# ---- stale files: one's own are removed, a stranger's stay

stale=leat-esp.${mark%.*}.99.stale
case $mark in
*.0) echo "SKIPPED, AND LOUDLY: stale files are not recognised: this kernel has no cookies of namespaces" ;;
*)
    for owner in 0 65534; do
        setpriv --reuid $owner --clear-groups sh -c ": > /dev/shm/$stale"
        esp a > /dev/null
        in_ns a "$leat" esp stop --name core
        [ $owner = 0 ] || [ -e "/dev/shm/$stale" ] || fail "a stranger's file is removed"
        [ $owner != 0 ] || [ ! -e "/dev/shm/$stale" ] || fail "a stale file stays"
        rm -f "/dev/shm/$stale"
    done
    ;;
esac

# ---- what runs

join b 2 a > /dev/null
join a 1 b > "$folder/started.ring"
esp a > "$folder/started.esp"
in_ns a "$leat" pktway route --name gate --san udp:127.0.0.1:4276,bias=0x100,address=0x102 --san udp:127.0.0.1:4277,bias=0x200,address=0x202 > "$folder/started.pktway"
in_ns a "$leat" ring set 5 77
find /dev/shm -name "leat-*.$mark.*" > "$folder/files"
same "files: station, lender, router" "$(wc -l < "$folder/files")" 3
for file in $(cat "$folder/files"); do
    same "$file" "$(stat -c '%U %a %h' "$file")" "root 600 1"
done
sed -n 's/.*process \([0-9]*\).*/\1/p' "$folder"/started.* > "$folder/processes"
cat > "$folder/attack.py" << 'PY'
import os, signal, sys
files, processes = (open(name).read().split() for name in sys.argv[1:])
tried = 0
def attempt(what, deed, *words):
    global tried
    tried += 1
    try:
        deed(*words)
        print("ESCAPED:", what, *words)
    except PermissionError:
        pass
for file in files:
    attempt("read", open, file)
    attempt("write", open, file, "r+")
    attempt("truncate", os.truncate, file, 0)
    attempt("remove", os.unlink, file)
    attempt("replace", os.rename, file, file + ".moved")
    attempt("rights", os.chmod, file, 0o666)
for pid in processes:
    attempt("end", os.kill, int(pid), signal.SIGTERM)
    for name in "mem", "environ", "fd/3", "maps":
        attempt("read", open, f"/proc/{pid}/{name}")
print(tried)
PY
chmod 644 "$folder/attack.py" "$folder/files" "$folder/processes"
same "what nobody could do" "$(nsenter "$(net_of a)" $nobody "$python" - "$folder/files" "$folder/processes" < "$folder/attack.py")" 33
# shellcheck disable=SC2086
for words in "ring get 5" "ring stop --dev x0" "esp status --name core" "esp stop --name core" "pktway status --name gate" "pktway stop --name gate"; do
    ! nsenter "$(net_of a)" $nobody "$leat" $words > "$folder/stdout" 2> "$folder/stderr" || fail "nobody: $words: $(cat "$folder/stdout")"
done
same "the station afterwards" "$(in_ns a "$leat" ring get 5 --json | jq '.registers["5"] // .value')" 77
in_ns a "$leat" esp status --name core > /dev/null || fail "no router any more"
in_ns a "$leat" pktway status --name gate > /dev/null || fail "no PacketWay router any more"
finish
