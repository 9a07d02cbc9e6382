# shellcheck shell=sh
# Shared by the tests of the command: keeps what is wrong, goes on, tells at the end.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# In a file, since a variable of "$(...)" or of a pipe is lost with its shell; told on standard
# error, since standard output may be a value there.
wrongs=$folder/wrongs
: > "$wrongs"
fail() { echo "FAILED: $*" | tee -a "$wrongs" >&2; }

# same WHAT GOT WANT
same() { [ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"; }

# has WHAT TEXT PART
has() { case $2 in *"$3"*) ;; *) fail "$1: '$2' does not have '$3'" ;; esac }

# exits CODE TEXT COMMAND...: the exit code, and TEXT on standard error
exits() {
    want=$1 text=$2
    shift 2
    got=0
    "$@" > "$folder/stdout" 2> "$folder/stderr" < "${input:-/dev/null}" || got=$?
    same "exit code of: $*" "$got" "$want"
    [ -z "$text" ] || has "stderr of: $*" "$(cat "$folder/stderr")" "$text"
    ! grep -q 'runtime error\|AddressSanitizer\|LeakSanitizer' "$folder/stderr" || fail "sanitizer: $*: $(cat "$folder/stderr")"
}

# no_part WHAT: no half-written file is in the folder
no_part() {
    for part in "$folder"/*.part*; do
        [ ! -e "$part" ] || fail "$1: leaves $part"
    done
}

# waits_for PATTERN: until such a file has something in it
waits_for() {
    tries=0
    while [ -z "$(find "$folder" -name "$1" -size +0)" ] && [ $tries -lt 100 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
}

finish() {
    echo "$(grep -c '^FAILED: ' "$wrongs") failures"
    [ -f "$wrongs" ] && [ ! -s "$wrongs" ]
    exit
}
