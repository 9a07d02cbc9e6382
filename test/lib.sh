# shellcheck shell=sh
# Shared by the tests of the command: records failures, continues, reports them at the end.
folder=$(mktemp -d)
tear_down() { :; } # overridden by a test that must remove more than its folder
trap 'tear_down; rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# In a file, since a variable of "$(...)" or of a pipe is lost with its shell; printed on standard
# error, since standard output may be a value there. On a full disk there is no file: that fails, too.
wrongs=$folder/wrongs
: > "$wrongs"
fail() { echo "FAILED: $*" | tee -a "$wrongs" >&2 || rm -f "$wrongs"; }

# needs TOOL...: without one of them the test is skipped
needs() {
    for tool; do command -v "$tool" > /dev/null || { echo "skipped: $tool is not installed"; exit 77; }; done
}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # of mpirun
export XDG_CACHE_HOME="${LEAT_HANDLERS:-$folder/cache}"           # of compiled handlers

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
    ! grep -q 'runtime error\|Sanitizer:' "$folder/stderr" || fail "sanitizer: $*: $(cat "$folder/stderr")"
}

# put_key FILE TEXT: a key file, as leat takes it
put_key() { echo "$2" > "$1" && chmod 600 "$1"; }

# no_part WHAT: no half-written file is in the folder
no_part() {
    for part in "$folder"/*.part*; do
        [ ! -e "$part" ] || fail "$1: leaves $part"
    done
}

# A busy machine makes a test slow, not wrong: tests wait for a condition, and this is only the time
# after which they give up, in seconds.
patience=300
# shellcheck disable=SC2034
run_limit=1200 # of a program that would not end; less than ctest's own

# wait_until COMMAND...: until it succeeds; fails at the end of patience
wait_until() {
    gives_up_at=$(($(date +%s) + patience))
    until "$@" > /dev/null 2>&1; do
        [ "$(date +%s)" -lt $gives_up_at ] || return 1
        sleep 0.05
    done
}

# comes_to WHAT WANT COMMAND...: repeats it until it prints WANT
comes_to() {
    becomes_what=$1 becomes=$2
    shift 2
    wait_until prints "$@" || same "$becomes_what" "$("$@")" "$becomes"
}
prints() { [ "$("$@")" = "$becomes" ]; }

# comes_to_exit CODE TEXT COMMAND...: repeats it until it ends with that exit code and prints TEXT: for
# queries whose answer may be late on a busy machine
comes_to_exit() { wait_until ends_with "$@" || exits "$@"; }
ends_with() {
    want=$1 text=$2 got=0
    shift 2
    "$@" > "$folder/stdout" 2> "$folder/stderr" < /dev/null || got=$?
    [ "$got" = "$want" ] && grep -qF -e "$text" "$folder/stdout" "$folder/stderr"
}

# waits_for PATTERN: until such a file has something in it
waits_for() { wait_until has_something "$1" || fail "$1: nothing is written there"; }
has_something() { find "$folder" -name "$1" -size +0 | grep -q .; }

# has_computed PID: half a second of processor time; is_waiting PID: for input, or a signal
has_computed() { awk '{ sub(/.*\) /, ""); exit !($12 + $13 >= 50) }' "/proc/$1/stat"; }
is_waiting() { grep -q '^State:.S' "/proc/$1/status"; }

# interrupted SIGNAL COMMAND...: sends the signal after it has computed; its exit code is $got
interrupted() {
    signal=$1
    shift
    "$@" > "$folder/stdout" 2> "$folder/stderr" &
    pid=$!
    wait_until has_computed $pid || fail "it does not compute: $*"
    kill -s "$signal" $pid
    got=0
    wait $pid || got=$?
}

# no_process OF: no process is left whose command begins with OF
no_process() {
    # shellcheck disable=SC2009 # its command, not its name
    ! ps -eo args | grep -q "^$1"
}

finish() {
    echo "$(grep -c '^FAILED: ' "$wrongs") failures"
    [ -f "$wrongs" ] && [ ! -s "$wrongs" ]
    exit
}
