#!/bin/sh
# Handlers are code: only leat graph run runs it, and says so; it is loaded only from a folder that no other user can
# write to; code that never returns is ended, and named. As root, and as an unprivileged user.
set -u
leat=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
. "$here/../../test/lib.sh"
stranger=54321 # owns what is planted; no such user needs to exist
chmod 755 "$folder"

# app CODE ON_INIT ON_RECEIVE: first sends one packet to second
app() {
    cat << XML
<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g"><SharedCode><![CDATA[$1]]></SharedCode>
<MessageTypes><MessageType id="m"><Message>uint32_t n;</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><Properties>uint32_t me;</Properties><State>uint32_t n;</State>
<OnInit><![CDATA[deviceState->n = deviceProperties->me; $2]]></OnInit>
<InputPin name="in" messageTypeId="m"><OnReceive><![CDATA[$3]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="m"><OnSend><![CDATA[deviceState->n = 0;]]></OnSend></OutputPin>
<ReadyToSend><![CDATA[*readyToSend = deviceState->n ? RTS_FLAG_out : 0;]]></ReadyToSend></DeviceType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g"><DeviceInstances><DevI id="first" type="d" P="{1}"/><DevI id="second" type="d"/></DeviceInstances>
<EdgeInstances><EdgeI path="second:in-first:out"/></EdgeInstances></GraphInstance></Graphs>
XML
}
# leaves FILE: C++ of a static object that makes the file when its code is loaded
leaves() { echo "static struct leat_trace { leat_trace() { if (FILE *f = fopen(\"$1\", \"w\")) fclose(f); } } leat_trace_here;"; }
notice="this runs C++ code of the file for the first time, with all your rights"

# ---- check runs nothing, run says what it does -------------------------------------------------
export XDG_CACHE_HOME="$folder/cache"
app "$(leaves "$folder/ran")" '' '' > "$folder/foreign.xml"
exits 0 "" "$leat" graph check "$folder/foreign.xml"
[ ! -e "$folder/ran" ] || fail "leat graph check runs code of the file"
same "a check says nothing of running" "$(cat "$folder/stderr")" ""
exits 0 "leat: $folder/foreign.xml: $notice" "$leat" graph run "$folder/foreign.xml" --until idle
[ -e "$folder/ran" ] || fail "the code did not run at all"
exits 0 "" "$leat" graph run "$folder/foreign.xml" --until idle
! grep -q "$notice" "$folder/stderr" || fail "told a second time: $(cat "$folder/stderr")"
app "$(leaves "$folder/ran") // changed" '' '' > "$folder/foreign.xml"
exits 0 "$notice" "$leat" graph run "$folder/foreign.xml" --until idle
# What a check must find without loading it: functions that are nowhere, messages that are too long.
app 'int nowhere(int);' 'nowhere(5);' '' > "$folder/nowhere.xml"
exits 2 "nowhere.xml:3:14: E_CC: undefined reference to \`nowhere(int)'" "$leat" graph check "$folder/nowhere.xml"
cat > "$folder/long.xml" << 'XML'
<Graphs xmlns="" appname="app"><GraphType id="g">
<MessageTypes><MessageType id="m"><Message>std::string::value_type c[57];</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><OutputPin name="out" messageTypeId="m"><OnSend/></OutputPin></DeviceType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g"><DeviceInstances><DevI id="0" type="d"/></DeviceInstances><EdgeInstances/></GraphInstance></Graphs>
XML
exits 2 "long.xml:2:" "$leat" graph check "$folder/long.xml"
has "a long message" "$(cat "$folder/stderr")" "E_LIMIT: message 'm' has more than 56 octets"

# What a file says is shown, and no terminal obeys it: texts of the compiler, of headers, names.
esc=$(printf '\033')
app 'static_assert(false, "\033[31mred\033]0;title\007");' '' '' > "$folder/colour.xml"
echo "#error ${esc}[31mred" > "$folder/colour.h"
app '#include "colour.h"' '' '' > "$folder/colours.xml"
app '' '' '' | sed 's/id="first"/id="fi\&#x9b;31mrst"/; s/-first:/-fi\&#x9b;31mrst:/' > "$folder/name.xml"
for name in colour colours name; do
    exits 2 "" "$leat" graph check "$folder/$name.xml"
    same "control characters of $name.xml" "$(LC_ALL=C grep -c "[$(printf '\001-\010\013-\037\177')]\|$(printf '\302[\200-\237]')" "$folder/stderr")" 0
done
has "a name" "$(cat "$folder/stderr")" 'fi\xc2\x9b31mrst'

# ---- headers ------------------------------------------------------------------------------------
# Only what the file's own text includes by "..." is looked for beside it; and whatever a compiler has read, a change
# of it is seen, though the file is the same.
mkdir "$folder/headers" "$folder/elsewhere"
headers="$folder/headers"
app '' '' '' > "$headers/app.xml"
for name in cstdint cstdio cstring vector stdint.h; do
    echo "$(leaves "$folder/ran-$name") #include_next <$name>" | sed 's/ #include_next/\n#include_next/' > "$headers/$name"
done
planted() { find "$folder" -name 'ran-*'; }
exits 0 "" "$leat" graph run "$headers/app.xml" --until idle
same "headers beside a file that includes nothing" "$(planted)" ""
input="$headers/app.xml" exits 0 "" env -C "$headers" "$leat" graph run - --until idle
same "headers where a graph is read from standard input" "$(planted)" ""
rm "$headers"/c* "$headers/vector" "$headers/stdint.h"

# says NUMBER: what the header has; the device logs it
says() { echo "static const int number = $1;" > "$headers/own.h"; }
log='handler_log(1, "number %d", number);'
# seen INCLUDE [WORD...]: changes of the header are
seen() {
    app "$1" "$log" '' > "$headers/own.xml"
    shift
    for number in 1 2; do
        says $number
        exits 0 "" env -C "$headers" "$leat" graph run own.xml --until idle "$@"
        has "$(sed -n 's/.*<SharedCode>//p' "$headers/own.xml")" "$(cat "$folder/stdout")" "number $number"
    done
}
seen '#include "own.h"'
seen '# include "own.h"'
seen '#include/**/"own.h"'
seen '#import "own.h"'
seen '#include_next "own.h"'
seen "#include <$headers/own.h>"
seen '#include <own.h>' --cxxflags "-I$headers"
seen '#include <own.h>' --cxxflags "-isystem $headers"
seen '#define H "own.h"
#include H'
seen '# 1 "some.h" 3
#include "own.h"'
seen '#if __has_include("none.h")
#endif
#include "own.h"'
echo '#include "own.h"' > "$headers/a \$b#c.h"
seen '#include "a $b#c.h"'
# One that is the same is not compiled again, and a new one is told of.
seen '#include "own.h"'
exits 0 "" "$leat" graph run "$headers/own.xml" --until idle
sleep 0.1 # a header as young as its object is not trusted
objects=$(find "$XDG_CACHE_HOME" -name '*.so' -printf '%i %n %p\n' | sort)
exits 0 "" "$leat" graph run "$headers/own.xml" --until idle
same "objects after a run with the same headers" "$(find "$XDG_CACHE_HOME" -name '*.so' -printf '%i %n %p\n' | sort)" "$objects"
! grep -q "$notice" "$folder/stderr" || fail "told again of the same code"
says 4
exits 0 "$notice" "$leat" graph run "$headers/own.xml" --until idle
ln -sfn one "$headers/version"
mkdir "$headers/one" "$headers/two"
for number in one two; do echo "static const char *const number = \"$number\";" > "$headers/$number/own.h"; done
app '#include "version/own.h"' 'handler_log(1, "number %s", number);' '' > "$headers/link.xml"
sleep 0.1
for number in one two one; do
    ln -sfn $number "$headers/version"
    exits 0 "" "$leat" graph run "$headers/link.xml" --until idle
    has "a link to another header" "$(cat "$folder/stdout")" "number $number"
done
# Of somebody else, or open to all: its code would run with one's own rights.
chmod o+w "$headers/own.h"
exits 2 "own.h: others may write it, and its code runs with your rights" "$leat" graph run "$headers/own.xml" --until idle
chmod o-w "$headers/own.h"
exits 0 "" "$leat" graph run "$headers/own.xml" --until idle
if [ "$(id -u)" -eq 0 ]; then
    chown $stranger "$headers/own.h"
    for name in own.xml "$headers/own.xml"; do
        exits 2 "own.h belongs to user $stranger" env -C "$headers" "$leat" graph run "$name" --until idle
    done
    chown $stranger "$headers/own.xml" # all of it is his, and one has been told so
    exits 0 "" "$leat" graph run "$headers/own.xml" --until idle
fi

# ---- the folder for tables ----------------------------------------------------------------------
# Its default name is in the working folder, which many may share: there it must be one's own.
mkdir -m 1777 "$folder/shared"
echo mine > "$folder/mine"
tables="$folder/shared/poets_output"
table() { env -C "$folder/shared" "$leat" graph run "$folder/foreign.xml" --until idle --instrument; }
# kept_out TEXT: told, and nothing was written to the user's file or to another folder
kept_out() {
    exits 1 "$1" table
    same "$1: a file behind a link" "$(cat "$folder/mine")" mine
    same "$1: another's folder" "$(find "$folder/elsewhere" "$tables/" -newer "$folder/mine" -name '*.csv')" ""
}
exits 0 "" table
[ -s "$tables/instrumentation_thread_0.csv" ] || fail "no table"
exits 0 "" table
ln -sf "$folder/mine" "$tables/instrumentation_thread_0.csv"
exits 1 "poets_output/instrumentation_thread_0.csv: Too many levels of symbolic links" table
same "a link in the place of a table" "$(cat "$folder/mine")" mine
touch "$folder/mine"
chmod 777 "$tables"
kept_out "poets_output: others may write there, expected mode go-w"
rm -r "$tables"
ln -s "$folder/elsewhere" "$tables"
kept_out "poets_output: expected a folder, and no link"
rm "$tables"
if [ "$(id -u)" -eq 0 ]; then
    mkdir -m 755 "$tables"
    ln -s "$folder/mine" "$tables/instrumentation_thread_0.csv"
    chown -h $stranger "$tables" "$tables/instrumentation_thread_0.csv"
    touch "$folder/mine"
    kept_out "poets_output belongs to user $stranger, expected user 0"
fi

# ---- compilers that do not come to an end --------------------------------------------------------
# They read what the file includes, and that may be a pipe. A signal ends them all, and nothing stays behind.
pipe="$folder/never"
mkfifo "$pipe"
app "#include \"$pipe\"" '' '' > "$folder/pipe.xml"
export XDG_CACHE_HOME="$folder/killed"
# Of this test only: those that have its folder in their environment. The brackets keep grep from finding itself.
compilers() { grep -lz "^XDG_CACHE_HOME=$folder/killed$" /proc/[0-9]*/environ 2> /dev/null | grep -v "/$$/" | xargs -r dirname 2> /dev/null | while read -r p; do tr '\0' ' ' < "$p/cmdline"; done 2> /dev/null | grep '/cc1plu[s]\|clan[g]'; }
no_compiler() { [ -z "$(compilers)" ]; }
for verb in check run; do
    for words in "TERM 143" "INT 130" "KILL 137"; do
        signal=${words% *}
        setsid env --default-signal=INT "$leat" graph $verb "$folder/pipe.xml" > "$folder/stdout" 2> "$folder/stderr" &
        pid=$!
        wait_until compilers || fail "$verb: no compiler begins"
        kill -s "$signal" $pid
        got=0
        wait $pid || got=$?
        same "$verb, SIG$signal" "$got" "${words#* }"
        same "$verb, SIG$signal: nothing is said" "$(cat "$folder/stdout" "$folder/stderr")" ""
        wait_until no_compiler || fail "$verb: a compiler outlives SIG$signal: $(compilers)"
        [ "$signal" = KILL ] || same "$verb, SIG$signal: no traces" "$(ls "$folder/killed/leat/poets")" ""
    done
    [ -n "$(ls "$folder/killed/leat/poets")" ] || fail "SIGKILL: expected a folder that stays"
    # The folder is locked until the last process of the dead compiler is gone, and only a build looks for stale ones.
    nothing_is_left() { rm -f "$folder/killed/leat/poets/"*.so && "$leat" graph check "$folder/foreign.xml" > /dev/null 2>&1 && [ -z "$(find "$folder/killed/leat/poets" -name 'build.*')" ]; }
    wait_until nothing_is_left || fail "the next one does not remove what SIGKILL has left: $(ls "$folder/killed/leat/poets")"
    rm -r "$folder/killed"
done
# A folder of a build that goes on stays.
"$leat" graph check "$folder/pipe.xml" &
pid=$!
wait_until compilers || fail "no compiler begins"
exits 0 "" "$leat" graph check "$folder/foreign.xml"
same "the folder of a build that goes on" "$(find "$folder/killed/leat/poets" -name 'build.*' | wc -l)" 1
kill $pid
wait $pid
# Why a compiler does not run; with some limits leat itself does not start, with others compilers do run.
told=
for files in 5 6 7 8 10 12; do
    sh -c "ulimit -n $files; exec $leat --version" > /dev/null 2>&1 || continue
    got=0
    sh -c "ulimit -n $files; XDG_CACHE_HOME=$folder/limited exec $leat graph check $folder/foreign.xml" > /dev/null 2> "$folder/stderr" || got=$?
    [ $got -eq 0 ] || same "$files files: $(cat "$folder/stderr")" "$got $(grep -o -m 1 E_CC "$folder/stderr")" "2 E_CC"
    ! grep -q 'package g++\|ld returned' "$folder/stderr" || fail "$files files: $(cat "$folder/stderr")"
    ! grep -q 'oo many open files' "$folder/stderr" || told=yes
done
same "told that files are too many" "$told" yes
mkdir "$folder/none"
exits 2 "c++ does not run, expected a C++ compiler (package g++)" env PATH="$folder/none" "$leat" graph check "$folder/foreign.xml"
export XDG_CACHE_HOME="$folder/cache"

# ---- code that does not come back ---------------------------------------------------------------
# endless COMPILER WAYS...: in OnInit, in OnReceive, in a constructor, in a destructor, by a limit
# A loop that writes: before it, a compiler leaves out any other plain store.
forever='for (;;) { }'
endless() {
    compiler=$1
    shift
    app '' 'for (;;) deviceState->n++;' '' > "$folder/init.xml"
    app '' '' 'for (;;) deviceState->n++;' > "$folder/receive.xml"
    app "static struct s { s() { $forever } } s_;" '' '' > "$folder/constructor.xml"
    app "static struct s { ~s() { $forever } } s_;" '' '' > "$folder/destructor.xml"
    for name in init receive constructor destructor; do
        timeout "$run_limit" "$leat" graph check "$folder/$name.xml" > /dev/null || { fail "$compiler: $name" && return; }
    done
    # Several at once, since it takes two seconds to be sure.
    limited receive "--schedule fifo"
    for words; do
        limited init "$words"
        limited constructor "$words"
    done
    limited destructor "-j 1"
    wait
    no_part "$compiler: code that does not come back"
    told receive "--schedule fifo" "device second: a handler does not come back in OnReceive of in"
    for words; do
        told init "$words" "device first: a handler does not come back in OnInit"
        told constructor "$words" "a constructor or destructor does not come back"
    done
    told destructor "-j 1" "a constructor or destructor does not come back"
}
# signalled WORDS...: the same files, by a signal
signalled() {
    for words; do
        # shellcheck disable=SC2086
        set -- $words
        interrupted TERM "$leat" graph run "$folder/$1.xml" "$2" "$3"
        same "$words, SIGTERM" "$got" 143
        case $1 in
        init) who="device first: a handler does not come back in OnInit" ;;
        receive) who="device second: a handler does not come back in OnReceive of in" ;;
        *) who="a constructor or destructor does not come back" ;;
        esac
        same "$words, SIGTERM" "$(who_hangs "$folder/stderr")" "leat: $who"
    done
}
# limited NAME WORDS: with a limit, and a file of packets that must not stay half written
limited() {
    # shellcheck disable=SC2086
    timeout -s KILL "$run_limit" "$leat" graph run "$folder/$1.xml" $2 --until 3s --record "$folder/packets" > /dev/null 2> "$folder/$1$2" &
}
told() { same "$compiler: $1, $2" "$(who_hangs "$folder/$1$2")" "leat: $3"; }
# Without the line, which a compiler may leave out for a loop that does nothing.
who_hangs() { grep 'come back' "$1" | sed 's/, [^ ]*:[0-9]*$//'; }
endless "c++" "-j 1" "-j 2" "--schedule fifo"
signalled "init -j 1" "receive -j 1" "receive -j 2" "constructor -j 1"
if command -v clang++ > /dev/null; then
    mkdir "$folder/bin"
    ln -s "$(command -v clang++)" "$folder/bin/c++"
    before=$PATH
    PATH="$folder/bin:$PATH"
    endless clang++ "-j 1" # what it makes of such loops is another matter than leat's threads
    PATH=$before
fi
app 'static struct s { s() { exit(0); } } s_;' '' '' > "$folder/exit.xml"
exits 1 "leat: a constructor or destructor called exit" timeout "$run_limit" "$leat" graph run "$folder/exit.xml" --record "$folder/packets"
app 'static struct s { s() { *(volatile int *)8 = 1; } } s_;' '' '' > "$folder/crash.xml"
exits 1 "leat: a constructor or destructor crashed" timeout "$run_limit" "$leat" graph run "$folder/crash.xml" --record "$folder/packets"
no_part "code that ends the process while it is loaded"

# ---- the folder of compiled handlers -----------------------------------------------------------
app '' '' '' > "$folder/app.xml"
app "$(leaves "$folder/open/evil")" '' '' > "$folder/evil.xml"
mkdir -m 777 "$folder/open"
XDG_CACHE_HOME="$folder/evils" "$leat" graph check "$folder/evil.xml" > /dev/null
evil=$(find "$folder/evils" -name '*.so')
chmod 755 "$folder/evils" "$folder/evils/leat" "$folder/evils/leat/poets"
chmod 644 "$evil"

# as WORDS...: by this user. run: with the folder of this case; refused TEXT: nothing ran
as() { $who env "$@"; }
try() { as XDG_CACHE_HOME="$cache" "$leat" graph run "$folder/app.xml" --until idle; }
refused() {
    exits 2 "$1" try
    [ ! -e "$folder/open/evil" ] || fail "$whose: a planted object runs: $1"
}
ignored() {
    exits 0 "idle after" try
    [ ! -e "$folder/open/evil" ] || fail "$whose: a planted object runs: $1"
    same "$whose: $1: it is compiled again" "$(stat -c '%F %u' "$object")" "regular file $uid"
}
# new CASE: a cache with a compiled handler in it, which is $object; a copy of the first, with its owner and modes
new() {
    cache="$folder/open/$uid-$1"
    as cp -rp "$folder/open/$uid" "$cache"
    object=$(find "$cache" -name '*.so')
}
# plant: another's object in the place of $object
plant() { rm "$object" && cp "$evil" "$object"; }

cases() {
    cache="$folder/open/$uid"
    as XDG_CACHE_HOME="$cache" "$leat" graph check "$folder/app.xml" > "$folder/stdout" || fail "$whose: no handler"
    object=$(find "$cache" -name '*.so')
    same "$whose: nobody else can read or write it" "$(stat -c %a "$cache" "$cache/leat" "$cache/leat/poets" "$object" | sort -u | paste -sd' ')" "600 700"
    same "$whose: no traces of compilers" "$(find "$cache/leat/poets" -mindepth 1 ! -name '*.so' ! -name '*.cpp')" ""
    for mode in g+w o+w; do
        new writable-$mode
        chmod $mode "$cache/leat/poets"
        refused "$cache/leat/poets: others may write there"
        has "$whose: what mends it" "$(cat "$folder/stderr")" "chmod go-w $cache/leat/poets"
        new above-$mode
        chmod $mode "$cache/leat"
        refused "$cache/leat: others may write there"
    done
    new link
    mkdir "$folder/open/elsewhere-$uid"
    [ -z "$who" ] || chown "$uid" "$folder/open/elsewhere-$uid"
    rm -r "$cache/leat/poets"
    ln -s "$folder/open/elsewhere-$uid" "$cache/leat/poets"
    [ -z "$who" ] || chown -h "$uid" "$cache/leat/poets"
    refused "$cache/leat/poets: expected a folder"
    same "$whose: nothing is written behind a link" "$(ls "$folder/open/elsewhere-$uid")" ""
    ln -s "$cache" "$folder/open/own-$uid"
    [ -z "$who" ] || chown -h "$uid" "$folder/open/own-$uid"
    rm "$cache/leat/poets"
    cache="$folder/open/own-$uid" exits 0 "idle after" try # one's own link above it is one's own affair
    new object-link
    rm "$object"
    ln -s "$evil" "$object"
    ignored "a link in the place of an object"
    new object-writable
    plant
    [ -z "$who" ] || chown "$uid" "$object"
    chmod 666 "$object"
    ignored "an object that others may write"
    for octets in 0 100 "$(($(stat -c %s "$object") / 2))" "$(($(stat -c %s "$object") - 1))"; do
        new "object-of-$octets"
        truncate -s "$octets" "$object"
        ignored "an object that ends after $octets octets"
    done
    new object-changed
    printf x | dd of="$object" bs=1 seek=5000 conv=notrunc status=none
    ignored "an object with another octet in it"
    new object-pipe
    rm "$object"
    mkfifo "$object"
    [ -z "$who" ] || chown "$uid" "$object"
    ignored "a pipe in the place of an object"
    [ "$(id -u)" -eq 0 ] || return 0
    new object-owner
    plant
    chown $stranger "$object"
    chmod 755 "$object"
    ignored "an object of another owner"
    for part in "" /leat /leat/poets; do
        new "owner$(echo "$part" | tr / -)"
        plant
        chown $stranger "$cache$part"
        chmod 755 "$cache" "$cache/leat" "$cache/leat/poets"
        refused "$cache$part belongs to user $stranger"
    done
    new foreign-link
    ln -s "$cache" "$folder/open/foreign-$uid"
    chown -h $stranger "$folder/open/foreign-$uid"
    cache="$folder/open/foreign-$uid"
    refused "$cache belongs to user $stranger"
}
whose="this user" who="" uid=$(id -u)
cases
if [ "$(id -u)" -eq 0 ]; then
    whose="a user without rights" who="setpriv --reuid=65534 --regid=65534 --clear-groups" uid=65534
    if $who "$leat" --version > /dev/null 2>&1; then cases; else echo "no other user can run $leat here"; fi
    # Nobody's: no name, no home. There is no folder of his own, and /tmp is none.
    who="setpriv --reuid=$stranger --regid=$stranger --clear-groups"
    if $who "$leat" --version > /dev/null 2>&1; then
        exits 2 "no folder for compiled handlers: set HOME or XDG_CACHE_HOME to a folder of your own" \
            as -u HOME -u XDG_CACHE_HOME "$leat" graph run "$folder/app.xml" --until idle
    fi
fi
exits 2 "/dev/null: expected a folder" env XDG_CACHE_HOME=/dev/null/no "$leat" graph check "$folder/app.xml"
finish
