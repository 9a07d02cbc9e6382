#!/bin/sh
# Published POETS applications, unmodified, under several engines and schedules. They are not part of leat: DIR holds clones of
# POETSII/Orchestrator, POETSII/Orchestrator_examples and POETSII/graph_schema, as many of them as there are; in DIR/generated
# may be instances that graph_schema's generators have made (apps/*/create_*.py), all of which end with success.
# usage: poets.sh [LEAT] DIR      LEAT is build/leat unless it is given
set -u
[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "poets.sh: expected a folder of published applications" >&2; exit 2; }
[ $# -eq 2 ] || set -- "$(dirname "$0")/../../build/leat" "$1"
{ [ -x "$1" ] && [ -d "$2" ]; } || { echo "poets.sh: no command $1, or no folder $2" >&2; exit 2; }
leat=$(realpath "$1") dir=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder" || exit 2
bad=0 tried=0

# row FILE WORDS VERDICT
row() {
    printf '%-72s %-28s %s\n' "${1#"$dir"/}" "$2" "$3"
    tried=$((tried + 1))
    [ "$3" = pass ] || bad=$((bad + 1))
}

# runs REASON FILE: it ends for that reason under every schedule
runs() {
    [ -e "$2" ] || return 0
    for words in "-j 1" "-j 4" "--schedule fifo" "--schedule lifo" "--schedule random --seed 1" "--schedule delay:0.5"; do
        # shellcheck disable=SC2086
        reason=$(timeout 120 "$leat" graph run "$2" $words --json 2> /dev/null | sed 's/.*"reason":"\([a-z]*\)".*/\1/')
        row "$2" "$words" "$([ "$reason" = "$1" ] && echo pass || echo "FAIL: ${reason:-nothing}")"
    done
}

# leaves CONTENT NAME FILE [WORDS]: a run leaves a file that begins with CONTENT
leaves() {
    [ -e "$3" ] || return 0
    rm -f "$2"
    timeout 60 "$leat" graph run "$3" ${4:+--until "$4"} > out 2>&1
    got=$(head -c "$(printf %s "$1" | wc -c)" "$2" 2> /dev/null)
    row "$3" "${4:+--until $4}" "$([ "$got" = "$1" ] && echo pass || echo "FAIL: $got")"
}

# prints LINES FILE [TIME]: what a run prints, its lines sorted
prints() {
    [ -e "$2" ] || return 0
    got=$(timeout 60 "$leat" graph run "$2" -j 1 ${3:+--until "$3"} 2> /dev/null | sort | paste -sd'|')
    row "$2" "${3:+--until $3}" "$([ "$got" = "$1" ] && echo pass || echo "FAIL: $got")"
}

# rows COUNT NAME FILE TIME: a run leaves a file of so many rows at least
rows() {
    [ -e "$3" ] || return 0
    rm -f "$2"
    timeout 120 "$leat" graph run "$3" --until "$4" > out 2>&1
    got=$(wc -l < "$2" 2> /dev/null)
    row "$3" "--until $4, $1 rows" "$([ "${got:-0}" -ge "$1" ] && echo pass || echo "FAIL: ${got:-none}")"
}

# sound FILE: check finds no mistake, handlers included
sound() {
    [ -e "$1" ] || return 0
    "$leat" graph check "$1" > /dev/null 2>&1 && verdict=pass || verdict=FAIL
    row "$1" check "$verdict"
}

# refused LINE CODE FILE: check names that line and that code
refused() {
    [ -e "$3" ] || return 0
    "$leat" graph check --no-handlers "$3" 2>&1 | grep -q ":$1:.* $2:" && verdict=pass || verdict=FAIL
    row "$3" "$2 in line $1" "$verdict"
}

pep20=$dir/Orchestrator/Tests/ReferenceXML/v4/PEP20
for app in amg_poisson_8_8_v4 apsp_100_10_v4 gals_heat_8x8_v4 ising_spin_fix_16_2_v4 storm_16_4_8_v4 relaxation_heat_16x16_v4 \
    betweeness_centrality_16_16_20_20_v4 example_device_idle apsp_vec_barrier_150_10; do
    runs success "$pep20/apps/$app.xml"
done
for file in "$pep20"/tests/valid/L4-run-time/single-device-*.xml; do runs success "$file"; done
for name in example-dt10 external-no-inst; do runs idle "$pep20/tests/valid/L4-run-time/$name.xml"; done
for file in "$pep20"/tests/valid/L3-compilation/*.xml "$pep20"/tests/valid_but_unsupported/*/*.xml \
    "$pep20"/tests/valid/L4-run-time/external-*-inst-in-proc.xml; do sound "$file"; done
for file in "$dir"/generated/*.xml; do runs success "$file"; done
runs success "$dir/graph_schema/apps/ising_spin/ising_spin_8x8.xml"
runs idle "$dir/graph_schema/apps/hello_world/hello_world_inst.xml"
runs idle "$dir/graph_schema/apps/nursery/nested_arrays/nested_arrays_inst.xml"
for file in "$dir"/graph_schema/apps/tests/supervisors/instances/*.xml; do runs stopped "$file"; done

examples=$dir/Orchestrator_examples
leaves 1 ring_test_output "$examples/ring_test.xml"
leaves "Sending 1000000 packets" ping_pong_timer.txt "$examples/ping_pong_timer.xml"
for name in test_packet_to_supervisor test_packet_chain_to_supervisor test_superapi_stop; do
    leaves 0 "${name}_result" "$examples/mothership_diagnosis/$name.xml"
done
leaves 0 test_superapi_dirs "$examples/mothership_diagnosis/test_superapi_dirs.xml"
leaves "Last packet received. Expected: 11" supreply.txt "$examples/mothership_diagnosis/test_supervisor_reply.xml"
leaves 999999937 test_thread_spawning_supervisor "$examples/mothership_diagnosis/test_thread_spawning_supervisor.xml" 20s
leaves "x, y, temp" plate_3x3_out.csv "$examples/plate_heat/pregen/plate_3x3.xml" 3s
rows 1024 plate_32x32_out.csv "$examples/plate_heat/pregen/plate_32x32.xml" 10s
rows 1089 plate_33x33_out.csv "$examples/plate_heat/pregen/plate_33x33.xml" 10s
rows 2 spammer_out.csv "$examples/netstress/netstress_1mailbox.xml" 4s
prints "State 1 from device" "$examples/simple_tests/test_OnSend_behaviour.xml"
prints "State 0 from device|State 1 from device" "$examples/simple_tests/test_RequestIdle_behaviour.xml"
prints 60 "$examples/simple_tests/test_Struct_Access.xml"
letters=abcdefghijabcdefghijabcdefghijabcdefghij digits=0123456789012345678901234567890123456789
prints "0 (Thread 0x0): $letters|1 (Thread 0x1): $letters|2 (Thread 0x2): $digits" "$examples/mothership_diagnosis/test_handler_log.xml" 1s
prints "0: debug AA|0: debug BB|1: debug AA|1: debug BB|2: debug CC" "$examples/mothership_diagnosis/test_debug_uart.xml" 1s
prints "OnIdle|OnInit|OnStop" "$examples/mothership_diagnosis/test_superapi_post.xml"

invalid=$pep20/tests/invalid
refused 14 E_CARD "$invalid/L0-syntax/duplicate-properties.xml"
refused 16 E_CARD "$invalid/L0-syntax/duplicate-shared-code.xml"
refused 15 E_CARD "$invalid/L0-syntax/duplicate-state.xml"
refused 12 E_ELEM "$invalid/L0-syntax/invalid-element-name1.xml"
refused 33 E_ELEM "$invalid/L0-syntax/invalid-element-name2.xml"
refused 37 E_PATH "$invalid/L0-syntax/malformed-path.xml"
refused 22 E_DUP "$invalid/L1-graph-topology/duplicate-device-id.xml"
refused 38 E_DUP "$invalid/L1-graph-topology/duplicate-edge-path.xml"
refused 16 E_REF "$invalid/L1-graph-topology/non-existent-message-type.xml"
refused 37 E_DIR "$invalid/L1-graph-topology/reversed-edge-path.xml"
refused 5 E_STRUCT "$invalid/L2-graph-attributes/struct-with-extra-features1.xml"
refused 6 E_STRUCT "$invalid/L2-graph-attributes/struct-with-extra-features2.xml"
refused 13 E_STRUCT "$invalid/L2-graph-attributes/struct-with-extra-features3.xml"
refused 27 E_XML "$invalid/L3-compilation/invalid-rts-flag.xml"
refused 30 E_XML "$invalid/L3-compilation/modifying-device-properties.xml"
refused 30 E_XML "$invalid/L3-compilation/modifying-device-properties2.xml"
refused 25 E_XML "$invalid/L4-run-time/return-in-handler.xml"
[ $tried -gt 0 ] || { echo "poets.sh: no published application in $dir" >&2; exit 2; }
echo "$((tried - bad)) of $tried pass"
[ $bad -eq 0 ]
