#!/bin/sh
# Every citation of a specification note leads to a section that exists. A citation is
#
#     spec/atm.md, 4.2 and 4.3     spec/esp.md, "Store"     spec/esp.md, "Holes", 5     spec/poets.md, V21
#
# and in the files of a room also: spec 5.7, spec section 4, section 9, note 2.3, the note, 2.3. The rows of a
# CONFORMANCE.md begin with the number of their section.
set -eu

# citations FILE...: a line "FILE<tab>NOTE<tab>SECTION" for each; SECTION is empty where only the note is named.
citations() {
    awk '
    # The note that the short forms of a file mean.
    function note_of(file) {
        if (file ~ /packetway|pktway/) return "packetway"
        if (file ~ /proto\/poets/) return "poets"
        if (file ~ /proto\/atm|sim\//) return "atm"
        return ""
    }
    # Prints the list of sections at the beginning of `rest`. What is quoted behind a section is words of it.
    function list(note, rest,   last) {
        last = ""
        sub(/^(, | )?(sections? )?/, "", rest)
        for (;;) {
            if (match(rest, /^"[^"]+"/)) {
                print file "\t" note "\t" (last == "" ? "" : "words ") substr(rest, 2, RLENGTH - 2)
                last = substr(rest, 2, RLENGTH - 2)
            } else if (match(rest, /^V?[0-9]+(\.[0-9]+)?/) && substr(rest, RLENGTH + 1, 1) !~ /[A-Za-z_]/) {
                print file "\t" note "\t" (last ~ /^V?[0-9]|^$/ ? "" : last "#") substr(rest, 1, RLENGTH)
                if (last ~ /^V?[0-9]|^$/) last = substr(rest, 1, RLENGTH)
            } else
                return
            rest = substr(rest, RLENGTH + 1)
            if (!match(rest, /^(, | and | or | to |-)(sections? )?/)) return
            rest = substr(rest, RLENGTH + 1)
        }
    }
    function flush(   rest, note, short) {
        rest = text
        while (match(rest, /spec\/[a-z]+\.md/)) {
            note = substr(rest, RSTART + 5, RLENGTH - 8)
            rest = substr(rest, RSTART + RLENGTH)
            print file "\t" note "\t"
            sub(/^[`)]+/, "", rest)
            list(note, rest)
        }
        note = note_of(file)
        if (note == "") return
        rest = text
        short = note == "packetway" ? "[^a-z][Ss](pec|ection|pec section)s? [0-9]" : "[^a-z][Nn]ote,? [0-9]"
        while (match(rest, short)) {
            rest = substr(rest, RSTART + RLENGTH - 1)
            list(note, rest)
        }
        if (file ~ /CONFORMANCE\.md$/) {
            rest = text
            while (match(rest, /\| \| [0-9]+(\.[0-9]+)?/)) {
                rest = substr(rest, RSTART + 4)
                list(note, rest)
            }
        }
    }
    FNR == 1 { if (file != "") flush(); file = FILENAME; text = "" }
    { sub(/^[ \t]*(\/\*|\*|#|\/\/)?[ \t]*/, ""); text = text " " $0 }
    END { flush() }' "$@"
}

# is_there NOTE SECTION: a heading with this number, or one that begins with this title (and has this item); a vector; words.
is_there() {
    page=spec/$1.md
    [ -e "$page" ] || return 1
    case $2 in
    '') ;;
    'words '*) grep -qiF "${2#words }" "$page" ;;
    V[0-9]*) grep -q "^| ${2#V} |" "$page" ;;
    [0-9]*) grep -qE "^#+ $(echo "$2" | sed 's/\./\\./')[. ]" "$page" ;;
    *'#'*) awk -v title="${2%#*}" -v item="${2#*#}" '
        /^#/ { sub(/^#+ */, ""); inside = index($0, title) == 1 }
        inside && index($0, item ". ") == 1 { found = 1 }
        END { exit !found }' "$page" ;;
    *) awk -v title="$2" '
        /^#/ { sub(/^#+ *([0-9.]+ )?/, ""); if (index($0, title) == 1) found = 1 }
        END { exit !found }' "$page" ;;
    esac
}

# check FILE...: the citations that lead nowhere; fails if there are any, or no citation at all.
check() {
    citations "$@" | sort -u | {
        bad=0
        count=0
        while IFS="$(printf '\t')" read -r file note section; do
            count=$((count + 1))
            is_there "$note" "$section" || { echo "$file: spec/$note.md has no section '$section'"; bad=1; }
        done
        [ $count -gt 0 ] || { echo "no citation found"; bad=1; }
        exit $bad
    }
}

# A citation that leads nowhere, in every form, is found; the sound ones beside it are not named.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/packetway_sample.c" <<'END'
/* Sound: spec/atm.md, 4.2 and 4.3; spec/esp.md, "Store"; spec/esp.md, "Holes", 5; spec/poets.md, V21; spec 5.7.
 * Not sound: spec/atm.md,
 * 4.99; spec/atm.md, 4.2 and 77; spec/esp.md, "Shop"; spec/esp.md, "Holes", 50; spec/poets.md, V99; spec/none.md; spec 5.77. */
END
wrong=$(check "$folder/packetway_sample.c" | wc -l)
[ "$wrong" -eq 7 ] || { echo "of 7 wrong citations $wrong are found"; exit 1; }

# shellcheck disable=SC2046
check $(find . \( -name build -o -name .git -o -name .mirror \) -prune -o -type f \
        \( -name '*.[ch]' -o -name '*.hpp' -o -name '*.md' -o -name '*.hex' -o -name '*.sh' -o -name '*.py' -o -name '*.txt' \) -print |
        sed 's,^\./,,' | grep -v '^test/citations\.sh$')
