#!/bin/sh
# leat decode --lenient: damaged PacketWay messages with the fields that are known.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"

damaged='4900020100000052 0000000055000101 0000000000000000' # V=1, RZ=0x55
sound='0900020100000052 0000000000000101 0000000000000000'
short='4900020100000052 0000000155000101 0000000000000000' # its DB is missing
printf '%s\n%s\n%s\n' "$damaged" "$sound" "$short" > "$folder/all.hex"

# The fields are those of the sound message; exit code and messages are those of strict decoding.
exits 2 "all.hex:1: packet 1: packetway: octet 0: version is not 0 (E_VERSION)" "$leat" decode --format packetway --json "$folder/all.hex"
cp "$folder/stdout" "$folder/strict.json"
cp "$folder/stderr" "$folder/strict.err"
exits 2 "packet 3: packetway: octet 0: version is not 0" "$leat" decode --format packetway --json --lenient "$folder/all.hex"
cp "$folder/stdout" "$folder/lenient.json"
cmp -s "$folder/stderr" "$folder/strict.err" || fail "--lenient complains differently"
same "fields" "$(jq -c 'select(.packet == 1).fields' "$folder/lenient.json")" "$(jq -c 'select(.packet == 2).fields' "$folder/strict.json")"
same "damage" "$(jq -c 'select(.packet == 1).damage | map([.code, .offset, (.wanted | split(",")[0])])' "$folder/lenient.json")" '[["E_VERSION",0,"V = 0"],["E_RSV",0,"RZ = 0"]]'
same "all but the fields" "$(jq -c 'select(.packet == 1) | del(.fields, .damage)' "$folder/lenient.json")" "$(jq -c 'select(.packet == 1) | del(.fields)' "$folder/strict.json")"
same "what is sound, and what cannot be known" "$(sed 1d "$folder/lenient.json")" "$(sed 1d "$folder/strict.json")"
if python3 -c 'import jsonschema' 2> /dev/null; then
    python3 "$(dirname "$0")/../../share/schema/check.py" < "$folder/lenient.json" || fail "the schema"
fi

# A damaged packet passes through leat encode as its octets.
exits 0 "" "$leat" encode --from-json "$folder/lenient.json"
same "there and back" "$(cat "$folder/stdout")" "$(tr -d ' ' < "$folder/all.hex")"

# The text has a line for each damage.
exits 2 "" "$leat" decode --format packetway --lenient "$folder/all.hex"
has "text" "$(cat "$folder/stdout")" "priority: 9"
same "lines of damage" "$(grep -cE "^ +0  E_(VERSION|RSV): .* (V|RZ) = 0" "$folder/stdout")" 2

# In captures, too, where other formats are shown as ever. The frame of PacketWay is outside the message.
{ sed -n 1p "$folder/lenient.json"; "$leat" encode esp | "$leat" decode --format esp --json; } > "$folder/two.json"
exits 0 "" "$leat" encode --from-json "$folder/two.json" --pcapng "$folder/two.pcapng"
exits 1 "packet 1: packetway: octet 0" "$leat" decode --lenient --json "$folder/two.pcapng"
same "a capture" "$(jq -c '[.format, .fields.dt, (.damage | length)]' "$folder/stdout" | tr '\n' ' ')" '["packetway",513,2] ["esp",null,0] '

# Other formats do not know it.
for format in esp aton atm; do
    exits 2 "--lenient: the rules of $format do not say" "$leat" decode --lenient --format $format "$folder/all.hex"
    same "output of $format" "$(wc -c < "$folder/stdout")" 0
done
finish
