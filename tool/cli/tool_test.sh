#!/bin/sh
# The command as a user types it: every verb, both directions, what is printed.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"

same "formats" "$("$leat" formats | cut -d' ' -f1 | tr '\n' ' ')" \
    "atm aal1 aal2 aal34 aal5 atmtask atmllc atmvcmux atmarp aton esp packetway poets q2931 atonserial poetsaddr poetsdebug "
same "formats as JSON" "$("$leat" formats --json | jq -r .format | wc -l)" 17

for format in $("$leat" formats | cut -d' ' -f1); do
    exits 0 "" "$leat" formats "$format"
    exits 0 "" "$leat" formats "$format" --json
    same "fields of $format" "$(jq -c .fields "$folder/stdout")" \
        "$("$leat" encode "$format" | "$leat" decode --format "$format" --json | jq -c .fields)"
done

# The line of the issue: encode, decode, and every field where it belongs.
json=$("$leat" encode esp opcode=COUNT compValTag=1 thresh=3 flags=X --hex | "$leat" decode --format esp --json)
same "opcode" "$(echo "$json" | jq -r .fields.opcode)" COUNT
same "compValTag" "$(echo "$json" | jq .fields.compValTag)" 1
same "thresh" "$(echo "$json" | jq .fields.thresh)" 3
same "flags" "$(echo "$json" | jq -r .fields.flags)" X
same "error" "$(echo "$json" | jq .error)" null

# spec/poets.md, V7
same "V7" "$("$leat" encode poets class=DEV task=3 device=513 pin=2 edge=259 payload=070000000000c03f)" \
    0102000302030100070000000000c03f

# Every vector of every room: there and back, one by one and all at once, as hex, octets, JSON.
for file in proto/*/vectors/*.hex; do
    name=$(basename "$file" .hex)
    case $name in bad_*) continue ;; esac
    format=${name%%_*}
    sed 's/#.*//; s/[ \t]//g; /^$/d' "$file" | tr 'A-F' 'a-f' > "$folder/want.hex"
    exits 0 "" "$leat" decode --format "$format" --json "$file"
    cp "$folder/stdout" "$folder/all.json"
    exits 0 "" "$leat" encode --from-json "$folder/all.json"
    cmp -s "$folder/stdout" "$folder/want.hex" || fail "$file: JSON there and back"
    python3 -m json.tool --json-lines "$folder/all.json" "$folder/pretty.json"   # exact, unlike jq
    exits 0 "" "$leat" encode "$format" --json "$folder/pretty.json"
    cmp -s "$folder/stdout" "$folder/want.hex" || fail "$file: pretty JSON there and back"
    python3 -c 'import json, sys; print(json.dumps(json.loads(sys.stdin.readline())["fields"]))' < "$folder/all.json" > "$folder/fields.json"
    exits 0 "" "$leat" encode "$format" --json "$folder/fields.json" --raw
    cp "$folder/stdout" "$folder/one.raw"
    exits 0 "" "$leat" decode --format "$format" --input raw --json "$folder/one.raw"
    same "$file: octets there and back" "$(jq -c .fields "$folder/stdout")" "$(jq -c . "$folder/fields.json")"
    exits 0 "" "$leat" decode --format "$format" "$file"
    same "$file: packets in the tree" "$(grep -c '^packet ' "$folder/stdout")" "$(wc -l < "$folder/want.hex")"
done

# Formats that tell their length are read one packet after the other from raw octets.
for format in atm aal1 aal2 aal34 atmtask aton atonserial esp; do
    printf '{"format":"%s","fields":{}}\n{"format":"%s","fields":{}}\n' $format $format |
        "$leat" encode --from-json - --raw > "$folder/two.raw"
    exits 0 "" "$leat" decode --format $format --input raw --json "$folder/two.raw"
    same "two $format packets of raw octets" "$(wc -l < "$folder/stdout")" 2
done

# Damaged vectors: the code in the comment, exit 2, a place.
for file in proto/*/vectors/bad_*.hex; do
    name=$(basename "$file" .hex)
    format=${name#bad_}
    format=${format%%_*}
    exits 2 "octet" "$leat" decode --format "$format" --json "$file"
    same "$file: codes" "$(jq -r .error.code "$folder/stdout" | tr '\n' ' ')" \
        "$(grep -v '^ *#' "$file" | grep '#' | sed 's/.*# *\([A-Z0-9_]*\).*/\1/' | tr '\n' ' ')"
    cp "$folder/stdout" "$folder/damaged.json"
    exits 0 "" "$leat" encode --from-json "$folder/damaged.json" # damaged packets pass through as octets
done

# Help and manual pages: all from the tables and the pages of verbs, none with a warning.
"$leat" help --pages > "$folder/pages"
while read -r verb subverb; do
    exits 0 "" "$leat" help "$verb" ${subverb:+"$subverb"}
    has "help $verb $subverb" "$(cat "$folder/stdout")" "leat $verb${subverb:+ $subverb}"
    cp "$folder/stdout" "$folder/help"
    exits 0 "" "$leat" "$verb" ${subverb:+"$subverb"} --help
    cmp -s "$folder/stdout" "$folder/help" || fail "leat $verb $subverb --help is not leat help $verb $subverb"
    exits 0 "" "$leat" help --man "$verb" ${subverb:+"$subverb"}
    if command -v mandoc > /dev/null; then
        mandoc -T lint -W warning < "$folder/stdout" > "$folder/lint" || true
        same "manual of $verb $subverb" "$(grep -v 'missing date\|lower case character in document title' "$folder/lint")" ""
    fi
done < "$folder/pages"
for page in "sim json" "sim details" "run time" numbers environment; do
    # shellcheck disable=SC2086 # two words
    exits 0 "" "$leat" help $page
done
exits 2 "unknown verb 'simm', did you mean sim? expected one of" "$leat" help simm
exits 2 "unknown verb 'jsno', did you mean json? expected one of" "$leat" help jsno
exits 2 "leat sim has no page 'jsno', did you mean json? expected one of details" "$leat" help sim jsno
exits 2 "unknown verb 'decod', did you mean decode?" "$leat" decod
exits 2 "'rout', did you mean route? expected one of sim send exec route" "$leat" esp rout
exits 2 "--tau does not go with stop, expected one of --name" "$leat" esp stop --tau 1s

# Completion: what leat proposes, and each shell with its script.
# proposes WANT WORD...: joined by blanks
proposes() {
    want=$1
    shift
    same "completion of $*" "$("$leat" help --complete -- "$@" | tr '\n' ' ')" "$want"
}
proposes "decode devices " de
proposes "spd spdppd " unit sp
proposes "broadcast bursty bit-reverse bit-complement broadcast-tree " sim clos444 --traffic b
proposes "tinsel: :files " sim ti
proposes "ether :files " fabric show eth
proposes "poets poetsaddr poetsdebug " decode --format po
proposes "--dev --driver " esp route --d
proposes "rtl " sim clos444 --model r
proposes ":files " report runs --png ''
proposes "route " help esp ro
proposes "numbers " help n
proposes "json " help j
proposes "encode esp experiment export environment " help e
for shell in bash zsh fish; do
    exits 0 "" "$leat" help --completion $shell
    cp "$folder/stdout" "$folder/completion.$shell"
    command -v $shell > /dev/null || continue
    $shell -n "$folder/completion.$shell" || fail "the completion is no $shell"
done
mkdir "$folder/bin"
ln -s "$(realpath "$leat")" "$folder/bin/leat"
same "completion in bash" "$(PATH=$folder/bin:$PATH bash -c 'cd /; . "$1"; COMP_WORDS=(leat unit sp); COMP_CWORD=2; _leat 2> /dev/null; echo "${COMPREPLY[@]}"' - "$folder/completion.bash")" "spd spdppd"
if command -v fish > /dev/null; then
    same "completion in fish" "$(HOME=$folder PATH=$folder/bin:$PATH fish -c 'source $argv[1]; complete -C "leat unit sp"' "$folder/completion.fish" | tr '\n' ' ')" "spd spdppd "
fi
if command -v zsh > /dev/null; then
    # What compadd is given, in place of a terminal.
    same "completion in zsh" "$(PATH=$folder/bin:$PATH zsh -f -c 'compdef() { :; }; _files() { :; }; compadd() { print -- "$@"; }; source $1; words=(leat unit sp) CURRENT=3; _leat' - "$folder/completion.zsh" | head -n 1)" "-- spd spdppd"
fi
exits 0 "" "$leat"
exits 0 "" "$leat" --version

# The tour of ./demo runs as it stands.
sh setup/tour.sh "$leat" > "$folder/tour" 2>&1 || fail "tour: $(tail -n 3 "$folder/tour")"
same "packets of the tour" "$(grep -c '^packet ' "$folder/tour")" 14
exits 2 "has no page 'rotue', did you mean route?" "$leat" esp rotue --help

# A former name has the page of the new one.
exits 0 "leat ring leave is called leat ring stop now" "$leat" ring leave --help
has "help of ring leave" "$(cat "$folder/stdout")" "leat ring stop:"
exits 0 "leat pktway leave is called leat pktway stop now" "$leat" help pktway leave

finish
