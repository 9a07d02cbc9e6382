#!/bin/sh
# leat graph run: the examples' answers against models, schedules, the supervisor, ends, bad input.
set -u
leat=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
share=$(realpath "$here/../../share/poets")
. "$here/../../test/lib.sh"
run() { "$leat" graph run "$@" 2> /dev/null; }
cd "$folder" || exit 1 # short names, so that handlers are the same in all builds
json() { timeout "$run_limit" "$leat" graph run "$@" --json 2> /dev/null; }

# ---- answers ------------------------------------------------------------------------------------
python3 "$here/graph_model.py" "$leat" "$share/make.py" "${LEAT_SEED:-1}" 8 || fail "differs from the models"
python3 "$share/make.py" heat 8 6 20 1 | cmp -s - "$share/heat_plate.xml" || fail "heat_plate.xml is another"
python3 "$share/make.py" paths 10 24 1 | cmp -s - "$share/shortest_paths.xml" || fail "shortest_paths.xml is another"
python3 "$share/make.py" ising 8 8 30 2000 1 1 | cmp -s - "$share/ising.xml" || fail "ising.xml is another"
python3 "$share/make.py" pagerank 12 40 30 1 | cmp -s - "$share/pagerank.xml" || fail "pagerank.xml is another"
python3 "$share/make.py" spikes 16 60 200 1 | cmp -s - "$share/spikes.xml" || fail "spikes.xml is another"
for file in ring clock_tree heat_plate shortest_paths ising pagerank spikes; do
    states=
    for words in "-j 1" "-j 4" "--schedule fifo" "--schedule lifo" "--schedule random --seed 7" "--schedule delay:0.7 --seed 9"; do
        # shellcheck disable=SC2086
        json "$share/$file.xml" $words > "$folder/json" || fail "$file $words: $?"
        states="$states $(jq -r .states "$folder/json")"
    done
    same "$file has one answer" "$(echo "$states" | tr ' ' '\n' | sort -u | grep -c .)" 1
done
same "what the supervisor says" "$(run "$share/ring.xml")" "the sum is 3364
16 reports"
# Who has taken a packet and not yet put the next one is not idle, however seldom it runs.
for _ in $(seq 50); do run "$share/ring.xml" -j 2; done > "$folder/rings"
same "a ring is never idle too early" "$(grep -c '^16 reports$' "$folder/rings")" 50
same "a clock tree" "$(run "$share/clock_tree.xml" -j 2 --placement block)" "n (Thread 0x0): 3200 leaves answered"

# ---- a run can be had again ---------------------------------------------------------------------
for words in "--schedule random --seed 5" "--schedule delay:0.5 --seed 5" "--schedule random --seed 5 --quantum 3"; do
    # shellcheck disable=SC2086
    one=$(json "$share/heat_plate.xml" $words -j 1 | jq -c '[.receives,.epochs,.states]')
    # shellcheck disable=SC2086
    same "again: $words" "$(json "$share/heat_plate.xml" $words -j 3 | jq -c '[.receives,.epochs,.states]')" "$one"
done
[ "$(json "$share/heat_plate.xml" --schedule delay:0.5 --seed 5 | jq .epochs)" != "$(json "$share/heat_plate.xml" --schedule delay:0.5 --seed 6 | jq .epochs)" ] || fail "seeds do not matter"
json "$share/heat_plate.xml" --schedule fifo | jq -e '.reason == "success" and .devices == 49 and .edges == 212 and .receives == 48 + 164 * 20 and .sends == .receives and .dropped_by_cause == {} and .threads == 49 and .rts == "level"' > /dev/null || fail "what a run tells"

# ---- placement ----------------------------------------------------------------------------------
# A plate whose devices stand in the file in any order: the same answer wherever they are dealt to.
python3 "$share/make.py" heat 30 30 20 > plate.xml
awk '/^<DevI /{ print (NR * 7919) % 104729 "\t" $0 }' plate.xml | sort -n | cut -f 2- > "$folder/devices"
awk -v devices="$folder/devices" '/^<DevI /{ if (!done++) while ((getline line < devices) > 0) print line; next } { print }' plate.xml > mixed.xml
for placement in block locality random; do
    json mixed.xml -j 2 --placement $placement > "$folder/$placement.json" || fail "--placement $placement"
done
same "wherever devices are" "$(cat "$folder"/*.json | jq -r '.states' | sort -u | wc -l)" 1
jq -es '.[0].cut_workers < .[1].cut_workers and .[0].cut_threads < .[1].cut_threads and .[0].placement == "locality" and .[0].cut_threads >= .[0].cut_workers' "$folder/locality.json" "$folder/block.json" > /dev/null || fail "locality cuts no less than block"
json mixed.xml -j 1 | jq -e '.placement == "locality" and .cut_workers == 0' > /dev/null || fail "the placement where none is asked for"
json mixed.xml --schedule fifo | jq -e '.placement == "block"' > /dev/null || fail "the placement of a schedule"

# ---- devices that misbehave ---------------------------------------------------------------------
# device ON_RECEIVE ON_SEND: an application with one device that sends to itself
device() {
    cat << XML
<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g">
<MessageTypes><MessageType id="m"><Message>uint32_t n;</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><State>uint32_t n;</State>
<InputPin name="in" messageTypeId="m"><OnReceive><![CDATA[$1]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="m" indexed="true"><OnSend><![CDATA[deviceState->n++; $2]]></OnSend></OutputPin>
<ReadyToSend><![CDATA[*readyToSend = RTS_FLAG_out;]]></ReadyToSend></DeviceType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g"><DeviceInstances><DevI id="culprit" type="d"/></DeviceInstances>
<EdgeInstances><EdgeI path="culprit:in-culprit:out"/></EdgeInstances></GraphInstance></Graphs>
XML
}
device 'assert(deviceState->n < 1);' '' > a.xml
device 'throw std::string("x");' '' > b.xml
device '' '*sendIndex = 1;' > c.xml
for words in "-j 1" "--schedule fifo"; do
    # shellcheck disable=SC2086
    exits 1 "assertion after" timeout "$run_limit" "$leat" graph run a.xml $words
    has "an assertion" "$(cat "$folder/stdout")" "culprit (Thread 0x0): assertion failed: deviceState->n < 1"
    # shellcheck disable=SC2086
    exits 1 "assertion after" timeout "$run_limit" "$leat" graph run b.xml $words
    has "an exception" "$(cat "$folder/stdout")" "culprit (Thread 0x0): an exception"
    # shellcheck disable=SC2086
    exits 1 "assertion after" timeout "$run_limit" "$leat" graph run c.xml $words
    has "a bad index" "$(cat "$folder/stdout")" "culprit (Thread 0x0): sendIndex is out of range"
done
exits 1 "assertion failed" timeout "$run_limit" "$leat" graph run a.xml --json
same "its status" "$(jq -c '[.reason,.status]' "$folder/stdout")" '["assertion","failed"]'
device 'volatile int *p = (volatile int *)8; *p = 1;' '' > d.xml
exits 1 "leat: device culprit: a handler crashed" timeout "$run_limit" "$leat" graph run d.xml
device '__builtin_trap();' '' > trap.xml
exits 1 "leat: device culprit: a handler crashed: a trap" timeout "$run_limit" "$leat" graph run trap.xml
# A crash has its handler and line, also in shared code and in libraries that a handler calls.
crash() {
    cat << XML
<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g">
<SharedCode><![CDATA[#include <ctime>
static __attribute__((noinline)) int helper(volatile int *p) {
    *p = 1; return *p;
}
static inline void inlined(volatile int *p) {
    *p = 1;
}
]]></SharedCode>
<MessageTypes><MessageType id="m"><Message>uint32_t n;</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><State>uint32_t n;</State>
<InputPin name="in" messageTypeId="m"><OnReceive><![CDATA[
    deviceState->n += 0;
    $1
]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="m"><OnSend><![CDATA[
    deviceState->n++;
    $2
]]></OnSend></OutputPin>
<ReadyToSend><![CDATA[*readyToSend = RTS_FLAG_out;
    $3
]]></ReadyToSend>
<OnInit><![CDATA[
    $4
]]></OnInit></DeviceType></DeviceTypes></GraphType>
<GraphInstance id="i" graphTypeId="g"><DeviceInstances><DevI id="culprit" type="d"/></DeviceInstances>
<EdgeInstances><EdgeI path="culprit:in-culprit:out"/></EdgeInstances></GraphInstance></Graphs>
XML
}
# places HANDLER LINE RECEIVE SEND READY INIT
places() {
    said=" in $1, crash.xml:$2"
    shift 2
    crash "$@" > crash.xml
    exits 1 "leat: device culprit: a handler c" timeout "$run_limit" "$leat" graph run crash.xml
    has "where: $*" "$(cat "$folder/stderr")" "$said"
}
places "OnReceive of in" 14 '*(volatile int *)8 = 1;' "" "" ""
places "OnReceive of in" 4 'deviceState->n = helper((int *)8);' "" "" ""
places "OnSend of out" 7 "" 'inlined((int *)8);' "" ""
places "OnSend of out" 18 "" 'memset((void *)8, 1, deviceState->n + 4000);' "" ""
places "ReadyToSend" 21 "" "" 'if (deviceState->n > 3) abort();' ""
places "OnInit" 24 "" "" "" 'exit(0);'
# So has an exception: where it was thrown, also within the library, and not one that is caught there.
thrown() { # thrown TEXT HANDLER LINE RECEIVE SEND READY INIT
    told="culprit (Thread 0x0): $1 in $2, crash.xml:$3"
    shift 3
    crash "$@" > crash.xml
    for words in "-j 1" "--schedule fifo"; do
        # shellcheck disable=SC2086
        exits 1 "assertion after" timeout "$run_limit" "$leat" graph run crash.xml $words
        has "where it was thrown: $*" "$(cat "$folder/stdout")" "$told"
    done
}
thrown "an exception" "OnReceive of in" 14 'throw 7;' "" "" ""
thrown "an exception" "OnSend of out" 18 '' 'throw std::string("x");' "" ""
thrown "an exception" "OnReceive of in" 15 'try { throw 5; } catch (int) { deviceState->n++; }
    throw 6;' "" "" ""
thrown "basic_string::_M_create" "OnReceive of in" 15 'try { std::string().reserve(SIZE_MAX); } catch (...) {}
    std::string().reserve(SIZE_MAX);' "" "" ""
thrown "basic_string::_M_create" "OnInit" 24 "" "" "" 'std::string().reserve(SIZE_MAX);'
# Of a library's function that is inlined, the line is not known.
crash 'deviceState->n += (uint32_t)std::string("x").at(9);' "" "" "" > crash.xml
exits 1 "assertion after" timeout "$run_limit" "$leat" graph run crash.xml
has "its handler, at least" "$(cat "$folder/stdout")" " in OnReceive of in"
# So has a handler that does not return, computing or waiting. The limit is long enough for a packet to arrive on a busy machine.
stuck() { # stuck HANDLER LINE RECEIVE SEND READY INIT
    told="leat: device culprit: a handler does not come back in $1, crash.xml:$2"
    shift 2
    crash "$@" > crash.xml
    for words in "-j 1" "--schedule fifo" "--fabric tinsel"; do
        # shellcheck disable=SC2086
        exits 1 "$told" timeout "$run_limit" "$leat" graph run crash.xml $words --until 3s
        same "told once" "$(grep -c 'come back' "$folder/stderr")" 1
    done
}
stuck "OnReceive of in" 14 'for (volatile int i = 1; i; i = 1) {}' "" "" ""
stuck "OnInit" 24 "" "" "" 'const timespec t = { 1000, 0 }; for (;;) nanosleep(&t, nullptr);'
has "the line of an assertion" "$(run a.xml)" "assertion failed: deviceState->n < 1, a.xml:4"
device 'exit(0);' '' > exit.xml
for way in quick_exit std::quick_exit _exit _Exit std::_Exit; do
    device "::$way(0);" '' | sed 's/::std::/std::/; 2s/^/<SharedCode>#include \&lt;unistd.h><\/SharedCode>/' > quick.xml
    exits 1 "leat: device culprit: a handler called exit, expected handler_exit" timeout "$run_limit" "$leat" graph run quick.xml --record packets
done
device 'static bool once; if (!once) { once = true; fork(); }' '' | sed '2s/^/<SharedCode>#include \&lt;unistd.h><\/SharedCode>/' > fork.xml
exits 1 "leat: device culprit: a handler called fork, expected no second process" timeout "$run_limit" "$leat" graph run fork.xml --until 1s --record packets
no_part "handlers that end the process"
device 'if (system("exit 3") >> 8 == 3) handler_exit(0);' '' > system.xml
exits 0 "success after" timeout "$run_limit" "$leat" graph run system.xml
device 'handler_log(1, "goodbye"); if (deviceState->n > 60) *(volatile int *)8 = 1;' '' > said.xml
for words in "-j 1" "--schedule fifo"; do
    # shellcheck disable=SC2086
    exits 1 "leat: device culprit: a handler called exit, expected handler_exit" timeout "$run_limit" "$leat" graph run exit.xml $words
done
exits 1 "leat: device culprit: a handler crashed" timeout "$run_limit" "$leat" graph run said.xml --schedule fifo
has "what was said before is seen" "$(cat "$folder/stdout")" "goodbye"
sed 's/if (PKT(lap) == GRAPHPROPERTIES(laps))/*(volatile int *)8 = 1;/' "$share/ring.xml" > boss.xml
for words in "-j 1" "--schedule fifo"; do
    # shellcheck disable=SC2086
    exits 1 "leat: the supervisor: a handler crashed: memory that is not there (SIGSEGV) in OnReceive, boss.xml:52" timeout "$run_limit" "$leat" graph run boss.xml $words
done
# Handlers that do not come back: two at once, since it takes two seconds to be sure.
device '' '' | sed 's,<ReadyToSend>,<OnInit>for (;;) asm volatile("");</OnInit>&,' > loop.xml
"$leat" graph check loop.xml > /dev/null
timeout -s KILL "$run_limit" "$leat" graph run loop.xml --until 10ms 2> "$folder/loop1" &
one=$!
timeout -s KILL "$run_limit" "$leat" graph run loop.xml --until 10ms --schedule lifo 2> "$folder/loop2" &
two=$!
timeout -s KILL "$run_limit" timeout --preserve-status -s TERM 0.2 "$leat" graph run loop.xml 2> "$folder/loop3"
same "an interrupt" $? 143
wait $one
same "a limit" $? 1
wait $two
same "a limit, epochs" $? 1
same "who it was" "$(cat "$folder"/loop[123] | grep -v ' for the first time, ' | sort -u)" "leat: device culprit: a handler does not come back in OnInit, loop.xml:6"
device 'deviceState->n = 0;' '' > e.xml # it never ends
exits 0 "limit after" timeout "$run_limit" "$leat" graph run e.xml --until 200ms
exits 0 "--until 0.1 is taken for 0.1s" timeout "$run_limit" "$leat" graph run e.xml --until 0.1 --schedule random
has "it ends" "$(cat "$folder/stderr")" "limit after"
interrupted INT "$leat" graph run e.xml
same "exit code of an interrupted run" $got 130
has "an interrupted run" "$(cat "$folder/stderr")" "interrupted after"
device 'deviceState->n = 0; handler_log(3, "no"); handler_log(2, "%s %d", "yes", 5); handler_exit(message->n + 1);' '' > f.xml
exits 1 "failed after" timeout "$run_limit" "$leat" graph run f.xml --schedule fifo
has "log" "$(cat "$folder/stdout")" "culprit (Thread 0x0): yes 5"
! grep -q no "$folder/stdout" || fail "a level too high"
has "as the original" "$(run f.xml --schedule fifo --compat log_raw)" "culprit (Thread 0x0): %s %d"
sed 's/RTS_FLAG_out/0/' c.xml > idle.xml
exits 1 "the application is idle" timeout "$run_limit" "$leat" graph run idle.xml
exits 0 "idle after" timeout "$run_limit" "$leat" graph run idle.xml --until idle

# ---- instrumentation ----------------------------------------------------------------------------
exits 0 "" timeout "$run_limit" "$leat" graph run "$share/clock_tree.xml" --schedule fifo --instrument --output "$folder/out"
same "a table for each thread" "$(find "$folder/out" -name 'instrumentation_thread_*.csv' | wc -l)" 64
same "its columns" "$(head -n 1 "$folder/out/instrumentation_thread_0.csv")" "ThreadID, cIDX, Time, cycles, deltaT, RX, OnRX, TX, SupTX, OnTX, Idle, OnIdle, Blocked, CacheMiss, CacheHit, CacheWB, CPUIdle, RX/s, TX/s, Sup/s"
same "all that was received" "$(awk -F', ' 'FNR > 1 { sum += $7 } END { print sum }' "$folder"/out/*.csv)" 8400

exits 1 "instrumentation_thread_" timeout "$run_limit" "$leat" graph run "$share/ring.xml" --instrument --output /dev/null/no
same "told once" "$(grep -c instrumentation "$folder/stderr")" 1

# ---- the command line ---------------------------------------------------------------------------
wrong() { exits 2 "$@"; same "nothing shown by: $*" "$(cat "$folder/stdout")" ""; }
wrong "run: expected one file" "$leat" graph run
wrong "-j '0', expected a whole number, 1 to 256" "$leat" graph run x.xml -j 0
wrong "--schedule 'often', expected free" "$leat" graph run x.xml --schedule often
wrong "--schedule 'randm', did you mean random? expected free" "$leat" graph run x.xml --schedule randm
wrong "--schedule 'delay:1', expected" "$leat" graph run x.xml --schedule delay:1
wrong "--until 'soon', expected idle, stop or a time" "$leat" graph run x.xml --until soon
wrong "--rts 'edge', expected one of latched level" "$leat" graph run x.xml --rts edge
wrong "--engine 'fpga', expected threads or mpi, or --fabric FABRIC" "$leat" graph run x.xml --engine fpga
wrong "--compat 'x', expected hdr_pin_as_edge" "$leat" graph run x.xml --compat x
wrong "--no-handlers does not go with run, expected one of --dialect" "$leat" graph run x.xml --no-handlers
wrong "cannot be opened" "$leat" graph run none.xml
wrong "expected one of block locality random" "$leat" graph run "$share/ring.xml" --placement nowhere
wrong "E_CC" "$leat" graph run "$share/ring.xml" --cxxflags --no-such-flag
finish
