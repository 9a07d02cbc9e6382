#!/bin/sh
# Runs every unit test that draws random cases with each seed of a range, on all processors.
# usage: seeds.sh BUILD FROM TO [PATTERN]      PATTERN: a regular expression of the programs' names
# Prints each failure with the command that replays it; exit 1 if there was one.
set -eu

# Runs of one program: prints failed checks and the command that replays them. One write per failure,
# so that the output of parallel runs does not mix.
if [ "${1:-}" = --runs ]; then
    program=$2
    shift 2
    for seed in "$@"; do
        ! output=$(LEAT_SEED=$seed timeout 600 "$program" 2>&1) || continue
        sentences=$(echo "$output" | grep '^not ok\|^# ' | grep -v '^# replay' | head -n 12)
        echo "LEAT_SEED=$seed $program
${sentences:-$(echo "$output" | tail -n 3)}"
    done
    exit 0
fi

[ $# -ge 3 ] || { echo "usage: seeds.sh BUILD FROM TO [PATTERN]" >&2; exit 2; }
build=$1 from=$2 to=$3 pattern=${4:-.}
[ -d "$build" ] || { echo "seeds.sh: $build: no such build folder" >&2; exit 2; }

# Does a source, or a header of tests that it includes, use the seed?
draws() {
    ! grep -q 'tap_seed()' "$1" || return 0
    for header in $(sed -n 's/^#include "\(.*_test\.h\|.*_harness\.h\)"$/\1/p' "$1"); do
        found=$(git ls-files "*/$header")
        # shellcheck disable=SC2086
        ! grep -q 'tap_seed()' $found || return 0
    done
    return 1
}

list=$(mktemp)
trap 'rm -f "$list" "$list.failed"' EXIT
for program in $(find "$build" -name '*_test' -type f -perm -u+x | sort); do
    echo "${program##*/}" | grep -qE "$pattern" || continue
    source=$(git ls-files "*/${program##*/}.c" "${program##*/}.c")
    [ -n "$source" ] && draws "$source" && echo "$program" >>"$list"
done
programs=$(wc -l <"$list")
[ "$programs" -gt 0 ] || { echo "seeds.sh: no test program of $build matches" >&2; exit 2; }

while read -r program; do
    seq "$from" "$to" | xargs -n 10 echo "$program"
done <"$list" | xargs -P "$(nproc)" -L 1 sh "$0" --runs | tee "$list.failed"
failed=$(grep -c '^LEAT_SEED=' "$list.failed" || true)
echo "$programs programs, seeds $from to $to: $failed runs failed"
[ "$failed" -eq 0 ]
