#!/bin/sh
# Opcodes of the application, 01 to EF: from the supervisor to devices and back, on every engine, against sums that awk makes.
set -u
leat=$(realpath "$1")
. "$(dirname "$0")/../../test/lib.sh"
cd "$folder" || exit 1
devices=50

# The supervisor sends opcode 1 to all, and each device answers with an opcode of its own and 56 octets; the
# supervisor then sends opcode EF to each device alone, with a number that it checks, and it answers without a payload.
cat > begin.xml << 'XML'
<Graphs xmlns="" appname="opcodes"><GraphType id="g"><Properties><![CDATA[ uint32_t devices; ]]></Properties>
<SharedCode><![CDATA[ struct answer { uint32_t number; uint32_t value; uint64_t more[6]; };
static_assert(sizeof(answer) == 56, "all octets"); ]]></SharedCode>
<DeviceTypes><DeviceType id="d"><Properties><![CDATA[ uint32_t number; ]]></Properties><State><![CDATA[ uint32_t value = 0; uint32_t opcodes = 0; ]]></State>
<OnCtl><![CDATA[
    uint32_t value;
    memcpy(&value, payload, sizeof value);
    DEVICESTATE(opcodes) += opcode;
    if (opcode == 1) {
        DEVICESTATE(value) = value * (DEVICEPROPERTIES(number) + 1);
        answer a = { DEVICEPROPERTIES(number), DEVICESTATE(value), { 0, 0, 0, 0, 0, 7 } };
        handler_control(2 + DEVICEPROPERTIES(number) % 200, a);
    } else {
        assert(opcode == 0xEF && value == DEVICESTATE(value) + 1);
        handler_control(0xEF);
    }
]]></OnCtl></DeviceType>
<SupervisorType id=""><State><![CDATA[ uint32_t answers = 0, ends = 0; uint64_t sum = 0, opcodes = 0; ]]></State>
<OnInit><![CDATA[
    if (Super::control_all(0) || Super::control_all(0xF0) || Super::control(GRAPHPROPERTIES(devices), 1)) Super::post("what is wrong is taken");
    Super::control_all(1, (uint32_t)3);
]]></OnInit>
<OnCTL><![CDATA[
    answer a;
    memcpy(&a, payload, sizeof a);
    if (opcode == 0xEF) {
        if (++SUPSTATE(ends) < GRAPHPROPERTIES(devices)) return 0;
        Super::post(std::to_string(SUPSTATE(sum)) + " " + std::to_string(SUPSTATE(opcodes)));
        Super::stop_application();
        return 0;
    }
    SUPSTATE(sum) += a.value + a.more[5];
    SUPSTATE(opcodes) += opcode;
    Super::control(a.number, 0xEF, a.value + 1);
    return 0;
]]></OnCTL></SupervisorType></DeviceTypes></GraphType>
XML
file() {
    cat begin.xml
    echo "<GraphInstance id=\"i\" graphTypeId=\"g\" P=\"{$devices}\"><DeviceInstances>"
    awk -v n=$devices 'BEGIN { for (i = 0; i < n; i++) printf "<DevI id=\"d%d\" type=\"d\" P=\"{%d}\"/>\n", i, i }'
    echo "</DeviceInstances></GraphInstance></Graphs>"
}
file > opcodes.xml
expected=$(awk -v n=$devices 'BEGIN { for (i = 0; i < n; i++) { sum += 3 * (i + 1) + 7; opcodes += 2 + i % 200 } print sum, opcodes }')
for words in "-j 1" "-j 3" "--schedule fifo" "--schedule lifo" "--schedule random --seed 5" "--schedule delay:0.5" "--fabric tinsel"; do
    # shellcheck disable=SC2086
    exits 0 "stopped after" timeout "$run_limit" "$leat" graph run opcodes.xml $words
    same "what came back: $words" "$(cat "$folder/stdout")" "$expected"
    # shellcheck disable=SC2086
    same "packets of the supervisor: $words" "$("$leat" graph run opcodes.xml $words --json 2> /dev/null | jq -c '[.supervisor_packets, .receives, .dropped_by_cause]')" "[$((2 * devices)),$((2 * devices)),{}]"
done
if [ -e "$(dirname "$leat")/../program/libleat-mpi.so" ] && command -v mpirun > /dev/null; then
    same "over ranks" "$(timeout "$run_limit" mpirun --oversubscribe --bind-to none -n 3 "$leat" graph run opcodes.xml --engine mpi 2> /dev/null)" "$expected"
fi

# A recording has them, with their opcodes.
exits 0 "" "$leat" graph run opcodes.xml --schedule fifo --record opcodes.pcapng
"$leat" decode --json opcodes.pcapng > packets
same "opcodes in a recording" "$(jq -r 'select(.fields.opcode == 239) | .fields.class' packets | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd' ')" "$devices CTL $devices SUP"

# Mistakes.
sed 's/handler_control(0xEF)/handler_control(0xF0)/' opcodes.xml > high.xml
exits 1 "assertion after" timeout "$run_limit" "$leat" graph run high.xml --schedule fifo
has "an opcode that is not the application's" "$(cat "$folder/stdout")" "handler_control: expected an opcode from 0x01 to 0xEF"
sed 's/more\[6\]/more[7]/; s/== 56/== 64/' opcodes.xml > long.xml
exits 2 "56 octets" "$leat" graph check long.xml
sed '/<OnCTL>/,/<\/OnCTL>/d' opcodes.xml > deaf.xml
echo '</SupervisorType></DeviceTypes></GraphType>' > rest
awk '/<\/OnInit>/ { print; while ((getline line < "rest") > 0) print line; next } { print }' deaf.xml > deaf2.xml
exits 0 "" timeout "$run_limit" "$leat" graph run deaf2.xml --json
same "nobody takes them" "$(jq -c .dropped_by_cause "$folder/stdout")" "{\"sup_drop\":$devices}"
finish
