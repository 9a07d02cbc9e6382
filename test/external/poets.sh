#!/bin/sh
# Published POETS applications, unmodified, under several engines and schedules. They are not part of leat: DIR holds clones of
# POETSII/Orchestrator, POETSII/Orchestrator_examples and POETSII/graph_schema, as many of them as there are.
# usage: poets.sh LEAT DIR
set -u
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
refused 27 E_XML "$invalid/L3-compilation/invalid-rts-flag.xml"
refused 25 E_XML "$invalid/L4-run-time/return-in-handler.xml"
[ $tried -gt 0 ] || { echo "poets.sh: no published application in $dir" >&2; exit 2; }
echo "$((tried - bad)) of $tried pass"
[ $bad -eq 0 ]
