#!/bin/sh
# leat graph run A.xml B.xml: several tasks in one engine, each with the results that it has alone; ends, externals,
# files, bad input.
set -u
leat=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
share=$(realpath "$here/../../share/poets")
. "$here/../../test/lib.sh"
cd "$folder" || exit 1 # short names, so that handlers are the same in all builds
run() { timeout "$run_limit" "$leat" graph run "$@"; }
json() { run "$@" --json 2> told; }
cp "$share/ring.xml" "$share/heat_plate.xml" "$share/clock_tree.xml" "$share/shortest_paths.xml" .

# ---- the results are those of each task alone ---------------------------------------------------
python3 "$here/graph_tasks.py" "$leat" "${LEAT_SEED:-1}" 4 || fail "tasks differ from runs alone"
files="ring.xml heat_plate.xml clock_tree.xml shortest_paths.xml ring.xml"
for file in $files; do json "$file" | jq -c '[.file,.reason,.states]'; done > alone
for words in "-j 1" "-j 4" "--schedule random --seed 7" "--fabric tinsel" "--fabric clos444 --mailbox threads=8"; do
    # shellcheck disable=SC2086
    json $files $words > tasks || fail "$words: $?"
    same "tasks, $words" "$(jq -c '[.file,.reason,.states]' tasks)" "$(cat alone)"
    same "their numbers, $words" "$(jq .task tasks | paste -sd,)" 0,1,2,3,4
done
same "one has a number, too" "$(json ring.xml | jq .task)" 0
# A fabric with fewer places than devices: each task has a share of them.
json clock_tree.xml heat_plate.xml ring.xml --fabric mesh:2,2 --mailbox threads=16 > tasks || fail "shares: $?"
same "all places are used, none twice" "$(jq -s 'map(.threads) | add <= 64 and add > 60 and min >= 1' tasks)" true

# ---- lines, and the exit code: the worst of all --------------------------------------------------
# game WHAT: two devices that send to each other for ever; at the tenth packet: 1 exits with 0, 2 with 1, 3 asserts, 4 crashes
game() {
    cat << XML
<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g"><Properties>uint32_t what;</Properties>
<MessageTypes><MessageType id="m"><Message>uint32_t n;</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><State>uint32_t n;</State>
<InputPin name="in" messageTypeId="m"><OnReceive><![CDATA[
    const uint32_t what = ++deviceState->n == 10 ? graphProperties->what : 0;
    assert(what != 3);
    if (what == 4) *(volatile int *)8 = 1;
    if (what) handler_exit(what - 1);
]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="m"><OnSend></OnSend></OutputPin>
<ReadyToSend>*readyToSend = RTS_FLAG_out;</ReadyToSend></DeviceType></DeviceTypes></GraphType>
XML
    for what in 0 1 2 3 4; do
        echo "<GraphInstance id=\"w$what\" graphTypeId=\"g\" P=\"{$what}\"><DeviceInstances><DevI id=\"one\" type=\"d\"/>"
        echo '<DevI id="two" type="d"/></DeviceInstances><EdgeInstances><EdgeI path="one:in-two:out"/><EdgeI path="two:in-one:out"/></EdgeInstances></GraphInstance>'
    done
    echo '</Graphs>'
}
game > game.xml
for words in "-j 1" "-j 3" "--schedule fifo" "--fabric tinsel:1,1"; do
    for until in 50ms 1s 20s 200s; do # a busy machine needs longer for the tasks that end by themselves
        got=0
        # shellcheck disable=SC2086
        run game.xml --instance w1 --instance w2 --instance w3 --instance w0 --until $until $words > stdout 2> stderr || got=$?
        [ "$(grep -c ': limit after' stderr)" != 1 ] || break
    done
    same "exit code, $words" $got 1
    has "the second, $words" "$(cat stderr)" "task 1: failed after"
    has "the first, $words" "$(cat stderr)" "task 0: success after"
    has "the third, $words" "$(cat stderr)" "task 2: assertion after"
    has "its line, $words" "$(cat stdout)" "assertion failed: what != 3"
    same "only of the third, $words" "$(grep -c '^task [013]: ' stdout)" 0
    has "whoever ends does not end others, $words" "$(cat stderr)" "task 3: limit after"
    # shellcheck disable=SC2086
    exits 0 "" run ring.xml game.xml ring.xml --instance w1 $words
    same "what supervisors say, $words" "$(sort stdout)" "task 0: 16 reports
task 0: the sum is 3364
task 2: 16 reports
task 2: the sum is 3364"
    # shellcheck disable=SC2086
    exits 1 "leat: task 1: device " run ring.xml game.xml --instance w4 $words
    has "a crash, $words" "$(cat stderr)" ": a handler crashed: memory that is not there (SIGSEGV) in OnReceive of in, game.xml:7"
done
interrupted INT "$leat" graph run game.xml --instance w0 --instance w0
same "exit code of interrupted tasks" $got 130
same "all are interrupted" "$(grep -c '^task [01]: interrupted after' "$folder/stderr")" 2
sed 's/handler_exit(what - 1)/for (;;) asm volatile("")/' game.xml > loop.xml
exits 1 "leat: task 2: device " run ring.xml loop.xml --instance w0 --instance w1 --until 300ms
has "a handler that does not come back" "$(cat stderr)" "a handler does not come back"

# ---- instances of a file are tasks; each has its own ---------------------------------------------
same "instances in their order" "$(json game.xml ring.xml --instance w1 --instance w0 --until 20ms | jq -r .instance | paste -sd,)" "w1,w0,five"
exits 0 "" run clock_tree.xml ring.xml clock_tree.xml --schedule fifo --instrument --output out
same "a table for each thread" "$(find out -name 'instrumentation_thread_*.csv' | wc -l)" $((64 + 5 + 64))
same "all that was received" "$(awk -F', ' 'FNR > 1 { sum += $7 } END { print sum }' out/*.csv)" $((8400 + 15 + 8400))

same "info" "$("$leat" graph info game.xml ring.xml --instance w1 --instance w0 | grep '^task ')" "task 0: w1 of g (v4): 2 devices, 0 externals, 2 edges
task 1: w0 of g (v4): 2 devices, 0 externals, 2 edges
task 2: five of ring (orch): 5 devices, 0 externals, 5 edges"
same "info for programs" "$("$leat" graph info ring.xml clock_tree.xml --json | jq -c '[.task,.instance]' | paste -sd,)" '[0,"five"],[1,"tree_4_3"]'

# ---- files ---------------------------------------------------------------------------------------
for words in "-j 2" "--schedule random" "--fabric tinsel"; do
    # shellcheck disable=SC2086
    exits 0 "" run ring.xml clock_tree.xml ring.xml --record all.pcapng $words
    "$leat" decode --json all.pcapng > decoded || fail "decode, $words"
    same "packets of tasks, $words" "$(jq -s '[.[] | select(.fields.class == "SUP" and .fields.opcode == "IMPL") | .fields.task] | group_by(.) | map([.[0], length])' decoded | jq -c .)" "[[0,16],[2,16]]"
    same "threads of tasks are apart, $words" "$(jq -s 'group_by(.carriage.hwAddr) | map(map(.fields.task) | unique | length) | max' decoded)" 1
done
exits 0 "the first 20 of " run ring.xml ring.xml --record few.pcapng --record-packets 20
same "the limit is that of all" "$("$leat" decode --json few.pcapng | wc -l)" 20
same "interfaces are tasks" "$(strings all.pcapng | grep -c '^task [012]: ')" 3
no_part "files of tasks"

# ---- externals -----------------------------------------------------------------------------------
smooth=$share/smooth.xml
seq 1 9 > numbers
graph() { timeout "$run_limit" "$leat" graph run "$@"; }
graph "$smooth" --attach unix:door --until idle 2> told &
one=$!
timeout "$run_limit" python3 "$share/external.py" unix:door < numbers > alone || fail "alone: $(cat told)"
wait $one
for words in "-j 2" "--schedule fifo"; do
    # shellcheck disable=SC2086
    graph "$smooth" ring.xml "$smooth" --attach 2=unix:door2 --attach 0=unix:door0 --until idle --json $words > tasks 2> told &
    all=$!
    timeout "$run_limit" python3 "$share/external.py" unix:door0 < numbers > early || fail "early, $words: $(cat told)"
    # The first has ended before anybody attaches to the last.
    timeout "$run_limit" python3 "$share/external.py" unix:door2 2 < numbers > late || fail "late, $words: $(cat told)"
    wait $all || fail "with externals, $words: $(cat told)"
    same "sums of the first, $words" "$(cat early)" "$(cat alone)"
    same "sums of the last, $words" "$(cat late)" "$(cat alone)"
    same "what each has sent, $words" "$(jq -c '[.task, .reason, (.attachments // [] | map(.received + .sent))]' tasks | paste -sd' ')" '[0,"idle",[9,9]] [1,"stopped",[]] [2,"idle",[9,9]]'
done
# A process of another task is refused, and no packet of it arrives.
cat > foreign.py << 'PY'
import sys
sys.path.insert(0, sys.argv[1])
import external as x
a = x.Externals(sys.argv[2], 1)
try:
    a.attach("meter", "screen")
except RuntimeError as error:
    print(error)
PY
graph "$smooth" --attach unix:door --attach-wait 5s --json > tasks 2> told &
one=$!
same "another task" "$(timeout "$run_limit" python3 foreign.py "$share" unix:door)" "there is no such external"
kill -INT $one
wait $one
jq -e '.dropped_by_cause.ext_unknown >= 1 and .receives == 0' tasks > /dev/null || fail "a foreign process: $(cat tasks)"

# ---- the command line ----------------------------------------------------------------------------
wrong() { exits 2 "$@"; same "nothing shown by: $*" "$(cat "$folder/stdout")" ""; }
wrong "--instance w9, expected a graph instance of one of the files" "$leat" graph run game.xml ring.xml --instance w0 --instance w9
wrong "E_NOINST: no graph instance w9" "$leat" graph run game.xml --instance w0 --instance w9
wrong "game.xml:12:1: E_NOINST: several graph instances, expected --instance" "$leat" graph run ring.xml game.xml
wrong "E_XML" "$leat" graph run ring.xml none.xml
wrong "standard input for several tasks, expected a file" "$leat" graph run - -
wrong "standard input for several tasks, expected a file" "$leat" graph run - --instance w0 --instance w1
wrong "--attach unix:door, expected TASK=ADDRESS" "$leat" graph run "$smooth" ring.xml --attach unix:door
wrong "--attach 64=unix:door, expected TASK=ADDRESS" "$leat" graph run "$smooth" ring.xml --attach 64=unix:door
wrong "--attach 0=unix:too, expected one for each task" "$leat" graph run "$smooth" ring.xml --attach 0=unix:door --attach 0=unix:too
wrong "--attach 2=unix:door, expected a task below 2" "$leat" graph run "$smooth" ring.xml --attach 2=unix:door
[ ! -e door ] || fail "a socket is left"
wrong "--snapshot with several tasks, expected one" "$leat" graph run ring.xml ring.xml --snapshot states
wrong "--restore with several tasks, expected one" "$leat" graph run ring.xml ring.xml --restore states
[ ! -e states ] || fail "a snapshot is left"
# shellcheck disable=SC2046
wrong "too many tasks, expected at most 64" "$leat" graph run $(yes ring.xml | head -n 65)
wrong "the tasks need 3 threads, expected at most 2" "$leat" graph run ring.xml ring.xml ring.xml --fabric mesh:2,1 --mailbox threads=1
finish
