#!/bin/sh
# leat esp on simulated routers: against a second model, what is shown, faults, trees, bad input.
set -u
leat=$(realpath "$1")
here=$(dirname "$0")
. "$here/../../test/lib.sh"

# ---- the second model ---------------------------------------------------------------------------
python3 "$here/esp_model.py" "$leat" "${LEAT_SEED:-1}" 40 "$folder" || fail "differs from the model"

# ---- what is shown ------------------------------------------------------------------------------
json() { "$leat" esp sim "$@" --json; }
printf '7 0x10\n# a comment\n3 4\n' > "$folder/four"
exits 0 "" "$leat" esp sim --tree 2,2 --members 4 --service sum --values "$folder/four" --bits 8
same "text" "$(cat "$folder/stdout")" "sum of 4 members over 3 routers
  answer                           30  right
  truth                            30
  attempts                          1  the last with 1 rounds, 0 void
  time                        15.01ms
  packets                          14  over links, at most 2 over one
  announcements                    24  over links, at most 8 over one
  unicast                          12  over links, at most 4 over one
  certificate        $(json --tree 2,2 --members 4 --service sum --values "$folder/four" --bits 8 | jq -r .certificate)"
input="$folder/four" exits 0 "" "$leat" esp sim --tree 2,2 --members 4 --service average --values - --json
same "average from standard input" "$(jq .esp_answer "$folder/stdout")" 7.5
echo 18446744073709551615 18446744073709551615 18446744073709551614 18446744073709551615 > "$folder/large"
for robust in "" robust-; do # (as octets: JSON's readers have no such numbers)
    has "${robust}average of large values" "$(json --tree 2,2 --members 4 --service "${robust}average" --values "$folder/large")" '"esp_answer":18446744073709551614.750000,"right":true'
done
same "max" "$(json --tree 2,2 --members 4 --service max --values "$folder/four" | jq .esp_answer)" 16
same "seeds" "$(json --tree 3,3 --service sum --seed 5)" "$(json --tree 3,3 --service sum --seed 5)"
[ "$(json --tree 3,3 --service sum --seed 5)" != "$(json --tree 3,3 --service sum --seed 6)" ] || fail "the seed changes nothing"

# ---- trees --------------------------------------------------------------------------------------
exits 0 "" "$leat" esp sim --tree 2,2 --members 3 --service tree --dot "$folder/tree.dot"
same "tree" "$(tail -n 7 "$folder/stdout")" "root
  router 0  branch point, 2 children
    router 1  branch point, 2 children
      member 0
      member 2
    router 2
      member 1"
grep -q '^  "router 2" -> "router 0";' "$folder/tree.dot" || fail "no wire in the graph"
grep -q '^  "router 1" \[shape=box, style=filled\];' "$folder/tree.dot" || fail "no branch point in the graph"
same "wires of the graph" "$(grep -c -e '->' "$folder/tree.dot")" 6
no_part "tree"

# ---- multicast ----------------------------------------------------------------------------------
same "multicast" "$(json --tree 4,4 --members 200 --service census --multicast | jq -c '[.right,.duplicates,.announce_packets,.announce_per_link_max]')" "[true,85,570,2]"
same "multicast with loss" "$(json --tree 3,3 --members 30 --service robust-sum --multicast --loss 0.05 --duplicate 0.05 | jq .right)" true
has "multicast as text" "$("$leat" esp sim --tree 2,2 --service sum --multicast)" "  duplicates                        1  at branch points"
exits 1 "no multicast: the route of 9 members is not known" "$leat" esp sim --tree 3,3 --service sum --multicast --loss 1

# ---- faults -------------------------------------------------------------------------------------
model="--tree 4,4 --members 200 --loss 0.1 --duplicate 0.1 --reorder 0.1"
for seed in 1 2 3; do
    # shellcheck disable=SC2086
    same "robust, seed $seed" "$(json $model --service robust-sum --seed $seed | jq .right)" true
    # shellcheck disable=SC2086
    exits 1 "no answer in time" "$leat" esp sim $model --service sum --seed $seed --json
    same "plain, seed $seed" "$(jq -c '[.right,.esp_answer]' "$folder/stdout")" "[false,null]"
done
for seed in 1 2 3 4 5; do # each attempt has twice the copies of announcements of the one before
    same "20 % loss, seed $seed" "$(json --tree 4,4 --members 200 --service robust-census --loss 0.2 --seed $seed | jq -c '[.right,.attempts<=5,.seconds<3]')" "[true,true,true]"
done
same "rounds stay as given" "$(json --tree 2,2 --service robust-census --loss 1 --rounds 3 --attempts 3 2> /dev/null | jq .rounds)" 3
same "rounds grow" "$(json --tree 2,2 --service robust-census --loss 1 --attempts 3 2> /dev/null | jq .rounds)" 32
same "duplicates alone" "$(json --tree 3,3 --service sum --duplicate 1 2> /dev/null | jq .right)" false
exits 1 "nothing came from 4 members in 1 attempts" "$leat" esp sim --tree 2,2 --members 4 --service census --loss 1
for wide in "--tree 1,1 --members 300" "--tree 1,1 --members 300 --bits 64" "--tree 2,300" "--tree 1,1 --members 1000 --loss 0.05" "--tree 2,200 --members 1500"; do
    # shellcheck disable=SC2086
    same "many children: $wide" "$(json $wide --service robust-sum | jq -c '[.right,.shards>1]')" "[true,true]"
done
same "few children" "$(json --tree 1,1 --members 128 --service robust-sum | jq -c '[.right,.shards]')" "[true,1]"
for wide in "--tree 1,1 --members 300" "--tree 2,300" "--tree 1,1 --members 2000 --loss 0.1" "--tree 2,200 --members 1500"; do
    # shellcheck disable=SC2086
    same "a tree with many children: $wide" "$(json $wide --service tree | jq -c '[.right,.unplaced,.shards>1]')" "[true,0,true]"
    # shellcheck disable=SC2086
    same "casts to many children: $wide" "$(json $wide --service robust-census --multicast | jq -c '[.right,.duplicates>0]')" "[true,true]"
done
same "many members below many routers" "$(json --tree 2,1000 --members 20000 --service robust-sum | jq -c '[.right,.attempts]')" "[true,1]"
# As many as fill their stores to the half: shards that share a group have room all the same.
same "stores half full" "$(json --tree 1,1 --members 120000 --service robust-census | jq -c '[.right,.attempts]')" "[true,1]"
exits 1 "the route of 9 of 9 members is not known" "$leat" esp sim --tree 3,3 --service tree --loss 1

# ---- bad input ----------------------------------------------------------------------------------
wrong() { exits 2 "$@"; same "nothing shown by: $*" "$(cat "$folder/stdout")" ""; }
sim() { text=$1; shift; wrong "$text" "$leat" esp sim "$@"; }
wrong "'', expected one of sim send exec route key stop" "$leat" esp
wrong "'xyz', expected one of sim" "$leat" esp xyz
wrong "'senses', did you mean census? expected one of sim" "$leat" esp senses
wrong "--robust does not go with sim, expected one of --tree" "$leat" esp sim --tree 2,2 --service sum --robust 8
wrong "--loss does not go with census, expected one of --members" "$leat" esp census 7 --loss 0.1
wrong "--rounds does not go with sum" "$leat" esp sum 7 --rounds 3
wrong "--members does not go with route" "$leat" esp route --driver udp --members 3
sim "sim needs --service" --tree 2,2
sim "--service 'mean', expected one of census max min" --tree 2,2 --service mean
sim "--service 'robust-sun', did you mean robust-sum? expected one of census" --tree 2,2 --service robust-sun
sim "sim needs one of --tree" --service sum
sim "sim needs one of --tree" --service sum --tree 2,2 --fabric mesh:2,2
sim "'more', expected nothing behind sim" more --tree 2,2 --service sum
for tree in 2 0,2 2,0 33,1 2,1025 2,x ","; do
    sim "--tree '$tree', expected LEVELS,FANOUT" --tree "$tree" --service sum
done
sim "too many routers, expected at most 1048576" --tree 21,2 --service sum
sim "--fabric 'nowhere', expected a network" --fabric nowhere --service sum
sim "no route from router 1 to router 4" --fabric fly:2,3 --service sum --at-router 4
sim "--members '0', expected a whole number, 1 to 1048575" --tree 2,2 --members 0 --service sum
sim "--at-router '3', expected a whole number, 0 to 2" --tree 2,2 --at-router 3 --service sum
sim "--loss '1.5', expected 0 to 1 in steps of 1e-9" --tree 2,2 --service sum --loss 1.5
sim "--duplicate 'x', expected 0 to 1" --tree 2,2 --service sum --duplicate x
sim "--delay '5', expected a time of 1us to 250ms" --tree 2,2 --service sum --delay 5
sim "--delay '1s', expected a time" --tree 2,2 --service sum --delay 1s
sim "--tau '-1s', expected a time" --tree 2,2 --service sum --tau -1s
sim "an attempt takes 12004 us, expected at most tau, 12003 us" --tree 2,2 --service sum --tau 12.003ms
sim "--rounds for sum, expected robust-sum" --tree 2,2 --service sum --rounds 3
sim "--rounds '65', expected a whole number, 1 to 64" --tree 2,2 --service robust-sum --rounds 65
sim "--attempts '0', expected a whole number, 1 to 64" --tree 2,2 --service sum --attempts 0
sim "--trust for sum, expected a robust service" --tree 2,2 --service sum --trust
sim "--bits '65', expected a whole number, 1 to 64" --tree 2,2 --service sum --bits 65
sim "--dot for sum, expected --service tree" --tree 2,2 --service sum --dot "$folder/x.dot"
sim "four:3: 4 values, expected one for each of 5 members" --tree 2,2 --members 5 --service sum --values "$folder/four"
sim "four:3: value 4, expected one for each of 3 members" --tree 2,2 --members 3 --service sum --values "$folder/four"
sim "four:1: value 16, expected one that fits 4 bits" --tree 2,2 --members 4 --service sum --bits 4 --values "$folder/four"
printf '1\nx\n' > "$folder/words"
sim "words:2: 'x', expected a whole number" --tree 2,2 --members 2 --service sum --values "$folder/words"
sim "" --tree 2,2 --members 2 --service sum --values "$folder/missing"
printf '0 1\n2 3\n' > "$folder/apart"
sim "apart:2: " --graph "$folder/apart" --service sum
printf '0 1 x\n' > "$folder/bad"
sim "bad:1: 'x', expected the cycles of the wire" --graph "$folder/bad" --service sum
exits 0 "" "$leat" esp sim --tree 2,2 --service max --delay 1.5ms --tau 10s
exits 0 "leat: --dup is called --duplicate now" "$leat" esp sim --tree 2,2 --service max --dup 0

# ---- recordings --------------------------------------------------------------------------------------
# A sum: bindings are created, changed and expire; instructions are what leat decode shows; the run is the same.
recorded() { "$leat" esp sim --fabric mesh:3,3 --service sum --seed 4 --delay 1ms --tau 60ms --json "$@"; }
same "certificate with a recording" "$(recorded --record "$folder/esp.leatrec" | jq -r .certificate)" "$(recorded | jq -r .certificate)"
recorded --record "$folder/again.leatrec" > /dev/null
cmp -s "$folder/esp.leatrec" "$folder/again.leatrec" || fail "recordings of two runs differ"
exits 0 "" "$leat" export "$folder/esp.leatrec" --csv "$folder/esp.csv" --pcapng "$folder/esp.pcapng"
count() { awk -F, -v what="$1" -v name="$2" '$2 == what && $4 == name' "$folder/esp.csv" | wc -l; }
created=$(count instant "binding created")
[ "$created" -ge 9 ] || fail "bindings created: $created"
same "where the network is" "$(awk -F, '$2 == "place"' "$folder/esp.csv")" "$(printf '0,place,network.fabric,"mesh:3,3",,,,,\r')"
same "routers whose stores held some" "$(awk -F, '$2 == "value" && $3 ~ /bindings/ && $5 > 0 { print $3 }' "$folder/esp.csv" | sort -u | wc -l)" 9
arrived=$(grep -c ,arrives, "$folder/esp.csv")
[ "$arrived" -gt 9 ] && [ "$arrived" -le "$(grep -c ,leaves, "$folder/esp.csv")" ] || fail "packets that arrived: $arrived"
"$leat" decode --json "$folder/esp.pcapng" > "$folder/decoded"
same "packets that are damaged" "$(jq -c 'select(.error)' "$folder/decoded" | wc -l)" 0
same "lives of bindings" "$(awk -F, '$2 == "instant" && $4 ~ /created|expired/ { sign = $4 ~ /created/ ? 1 : -1; live[$3] += sign; if (live[$3] < 0) bad++ } END { print bad + 0 }' "$folder/esp.csv")" 0
"$leat" esp sim --tree 2,2 --service max --tau 1s --delay 1ms --rounds 3 --record "$folder/tree.leatrec" > /dev/null || fail "a tree recorded"
exits 2 "name one file" "$leat" esp sim --tree 2,2 --service tree --dot "$folder/x" --record "$folder/x"
no_part "recordings"

# ---- help --------------------------------------------------------------------------------------------

has "help of a subverb" "$("$leat" esp route --help)" "leat esp route: make this host an ESP router"
has "its options" "$("$leat" help esp route)" "--capacity N       bindings of the centre's store, 1 to 268435456; default"
! "$leat" help esp route | grep -q -- --service || fail "help of route: an option of sim"
for word in sim send exec route key stop status store trace join census max min sum average tree multicast; do
    has "help of all subverbs" "$("$leat" esp --help)" "  $word "
    has "help of $word" "$("$leat" help esp $word)" "  leat esp $word "
done
finish
