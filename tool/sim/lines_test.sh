#!/bin/sh
# Networks of cells on physical lines: rates, bit errors, what is refused.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"

# ---- the rate of the table ----------------------------------------------------------------------
# Sources that send whenever they can, through one memory: all but the first cells of a port come.
full=crossbar:4/cells/switch=shared/buffer=1000/clock=12ns
exits 0 "" "$leat" fabric lines --json
jq -r '"\(.name) \(.cells_numerator) \(.cells_denominator)"' "$folder/stdout" > "$folder/lines"
same "lines" "$(grep -c . "$folder/lines")" 9
while read -r line num den; do
    cycles=$((41666666500 * den / num)) # 500 cell times
    exits 0 "" "$leat" sim "$full/line=$line" --traffic W --load 1 --cycles "$cycles" --json
    same "$line is full" "$(jq "(.cells_delivered / 4 / (.cycles * .cycle_ns / 1e9) / ($num / $den))
        | . > 0.9 and . <= 1" "$folder/stdout")" true
    same "$line" "$(jq -c '[.physical_line, .cells_numerator, .cells_denominator, .lost, .line_errors.line_cells]' \
        "$folder/stdout")" "[\"$line\",$num,$den,0,0]"
done < "$folder/lines"

# ---- bit errors ---------------------------------------------------------------------------------
for line in stm1 ds3-plcp 8b10b; do
    set -- sim "hypercube:3/cells/line=$line" --load 0.2 --cycles 400000 --retransmit 9000 --json
    for errors in "--bit-errors 1e-3" "--fault ber:1e-3"; do
        # shellcheck disable=SC2086 # two words
        exits 0 "" "$leat" "$@" $errors
        cp "$folder/stdout" "$folder/first"
        same "$line $errors: causes" "$(jq '.line_errors | .line_bits > 1000 and .line_cells > 1000' "$folder/first")" true
        # A lost cell counts in the network when its place has reached the port.
        same "$line $errors: lost" "$(jq '(.line_errors | .discarded_cells + .cells_missed + .cells_misrouted) as $n
            | .lost == .losses.corrupted and .lost > 0 and .lost <= $n and .lost * 1.02 > $n' "$folder/first")" true
        same "$line $errors: units notice" "$(jq '.line_errors.altered_cells > 0 and .bad_cells > 0 and .retransmissions > 0
            and .messages_delivered > 100 and .altered == 0' "$folder/first")" true
        # shellcheck disable=SC2086
        exits 0 "" "$leat" "$@" $errors --threads 2
        same "$line $errors: again" "$(jq .certificate "$folder/stdout")" "$(jq .certificate "$folder/first")"
    done
done
exits 0 "" "$leat" sim hypercube:3/cells/line=e3 --fault ber:0.02@20000..60000 --cycles 300000 --retransmit 9000 --json
same "frames are lost and found" "$(jq '.line_errors | .synchronisation_lost > 0 and .cells_missed > 0 and .headers_corrected > 0' \
    "$folder/stdout")" true
exits 0 "" "$leat" sim hypercube:3/cells/line=e3 --cycles 100000
has "text" "$(cat "$folder/stdout")" "80000.0  cells/s on every wire of e3, a cell time of 250 cycles"

# ---- what a fabric says of its line -------------------------------------------------------------
exits 0 "" "$leat" fabric show torus:4,4/cells/line=stm1
has "line" "$(cat "$folder/stdout")" "stm1, SDH, STM-1 frames: 155.52 Mb/s, 3.70 % overhead, 353207.5 cells/s"
exits 0 "" "$leat" fabric show torus:4,4/cells/line=e3 --json
same "line as JSON" "$(jq -c '[.physical_line, .bits_per_second, .cell_cycles]' "$folder/stdout")" '["e3",34368000,250]'
exits 0 "" "$leat" sim mesh:2/cells/line=e1 --calls random:erlangs=1,hold=50ms,class=cbr,pcr=500 --cycles 400000
has "slots of calls" "$(cat "$folder/stdout")" "slots of 220.833 us"

# ---- refused ------------------------------------------------------------------------------------
exits 2 "'8b10' is no line, did you mean 8b10b? expected one of stm1 e1" "$leat" sim torus:4,4/cells/line=8b10
exits 2 "expected it with /cells, as in torus:4,4/cells/line=stm1" "$leat" sim torus:4,4/line=stm1
exits 2 "as in clos:4,4,4/cells/switch=xpq/line=stm1" "$leat" sim clos444/line=stm1
exits 2 "as in crossbar:8/cells/switch=xpq/line=e3" "$leat" fabric show bmx:8/line=e3
exits 2 "expected a cell time of the line to be 53 cycles or more" "$leat" sim torus:4,4/cells/line=cell622
exits 2 "expected one chance for all bits of the line e3" "$leat" sim mesh:2/cells/line=e3 --bit-errors 1e-6,1e-5
exits 2 "--hec, expected none on the line e3" "$leat" sim mesh:2/cells/line=e3 --bit-errors 1e-6 --hec

finish
