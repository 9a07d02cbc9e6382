#!/bin/sh
# usage: run_all.sh [-df] [-n RANKS] [-p PROGRAMS] [-t SECONDS] LAUNCHER... [--against LAUNCHER...]
# The MPI conformance set: compiles the programs of this folder with mpicc and runs each with 1, 2, 4,
# 5 and 16 ranks. LAUNCHER is a command in which {n} stands for the number of ranks:
#     run_all.sh mpirun --oversubscribe --bind-to none -n {n}
#     run_all.sh -d leat run --fabric clos444 -n {n} -- --against mpirun --oversubscribe -n {n}
# Every program checks itself. With a second launcher (the oracle) the reports of both must be the
# same. An oracle that fails is run again: a loaded machine makes stock mpirun lose a spawned rank now
# and then. If it crashes every time, that is no fault of the launcher, and nothing is compared. Then come programs that misbehave: the
# launcher must end with a failure, and none of their processes may stay behind.
#   -d           the launcher detects deadlocks: it must end them, with a failure
#   -f           faults only
#   -n RANKS     numbers of ranks, instead of all
#   -p PROGRAMS  these only, no faults but those named
#   -t SECONDS   how long a run may take (3000: a busy machine is slow, not wrong)
# Exit: 0 success; 1 a failure or a difference; 2 wrong usage; 77 there is no mpicc.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

conformance='send_modes matching sizes requests errors polling clocks collectives reduce reduce_user
             communicators intercomm topology datatypes onesided onesided_types
             shared threads spawn files'
faults='abort segfault kill exit status no_init'
deadlocks='receive synchronous barrier probe waitall polls'

usage() {
    sed -n '2s/^# //p' "$0" >&2
    exit 2
}

# ---- arguments ---------------------------------------------------------------------------------

sees_deadlocks='' faults_only='' limit_s=3000 only='' ranks='1 2 4 5 16'
while getopts dfn:p:t: option; do
    case $option in
    d) sees_deadlocks=yes ;;
    f) faults_only=yes ;;
    n) ranks=$OPTARG ;;
    p) only=$OPTARG ;;
    t) limit_s=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
launcher='' oracle='' against=''
for word; do
    if [ "$word" = --against ]; then
        against=yes
    elif [ -n "$against" ]; then
        oracle="$oracle $word"
    else
        launcher="$launcher $word"
    fi
done
case $launcher in *'{n}'*) ;; *) usage ;; esac
case $against$oracle in yes*'{n}'* | '') ;; *) usage ;; esac
for name in $only; do
    [ -e "$here/$name.c" ] || { echo "no program '$name' in $here" >&2; exit 2; }
done
for words in "${launcher# }" "${oracle# }"; do
    command=${words%% *}
    case $command in
    '') ;;
    [!/]*/*) false ;; # programs run in another folder
    *) command -v "$command" >/dev/null ;;
    esac || { echo "no command '$command', expected one that PATH finds, or its absolute path" >&2; exit 2; }
done
command -v mpicc >/dev/null || { echo "skipped: mpicc is not installed"; exit 77; }

work=$(mktemp -d "${TMPDIR:-/tmp}/leat-mpi.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# ---- the programs ------------------------------------------------------------------------------

# Not as position-independent code: then programs have copies of the MPI library's objects on every
# processor, as they have on x86-64 anyway.
compile() {
    cd "$work"
    mpicc -std=c17 -D_GNU_SOURCE -O1 -Wall -Wextra -c "$here/check.c" "$here/reduce_types.c"
    ar rc libcheck.a check.o reduce_types.o
    for source in "$here"/*.c; do
        name=$(basename "$source" .c)
        case $name in check | reduce_types) continue ;; esac
        [ -z "$only" ] || echo " $only " | grep -q " $name " || continue
        echo "$name"
    done | xargs -P "$(nproc)" -I NAME mpicc -std=c17 -D_GNU_SOURCE -O1 -Wall -Wextra \
        -fno-pie -no-pie -o NAME "$here/NAME.c" libcheck.a
}

# launch LAUNCHER RANKS PROGRAM...: its output to $work/out and err; its exit status is the result,
# 124 if it took too long. Stock mpirun is made fit for root and for more ranks than cores, and does
# without two short cuts through shared memory that fail onesided and errors.
launch() {
    words=$(echo "$1" | sed "s/{n}/$2/g")
    shift 2
    (
        cd "$work"
        case $words in *mpirun* | *mpiexec*)
            export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
            export OMPI_MCA_osc=pt2pt OMPI_MCA_btl_vader_single_copy_mechanism=none
            case $1 in */shared) export OMPI_MCA_osc=sm,pt2pt ;; esac
            export OMPI_MCA_mpi_yield_when_idle=1
            ;;
        esac
        set -f
        # shellcheck disable=SC2086 # words are words
        exec timeout -k 5 "$limit_s" $words "$@"
    ) >"$work/out" 2>"$work/err" </dev/null
}

# What a program says, without what its launcher may say before and after it.
report() {
    sed -n '/^[0-9]* ranks$/,/^all is well$/p' "$work/out"
}

wrong=0 runs=0 uncompared=0
complain() {
    wrong=$((wrong + 1))
    echo "WRONG $1"
    tail -n 12 "$work/out" | sed 's/^/    out: /'
    head -n 20 "$work/err" | sed 's/^/    err: /'
}

since_ms() {
    echo $(($(date +%s%3N) - $1))
}

# ---- conformance -------------------------------------------------------------------------------

conform() {
    program=$1 n=$2 status=0 start=$(date +%s%3N)
    runs=$((runs + 1))
    launch "$launcher" "$n" "$work/$program" || status=$?
    took=$(since_ms "$start")
    report >"$work/report"
    if [ "$status" = 124 ]; then
        complain "$program, $n ranks: no end after $limit_s s"
    elif [ "$status" != 0 ]; then
        complain "$program, $n ranks: exit status $status, expected 0"
    elif [ "$(head -n 1 "$work/report")" != "$n ranks" ]; then
        complain "$program, $n ranks: expected a report of $n ranks"
    elif [ "$(tail -n 1 "$work/report")" != "all is well" ]; then
        complain "$program, $n ranks: expected a whole report"
    elif [ -n "$oracle" ] && ! same_as_oracle; then
        :
    else
        echo "ok $program, $n ranks ($took ms)"
    fi
}

# The report of the oracle; its exit status is the result. Above 128: a signal ended it.
ask_oracle() {
    for try in 1 2 3 4 5; do
        status=0
        launch "$oracle" "$n" "$work/$program" || status=$?
        case $status in 0 | 124) break ;; esac
        echo "note $program, $n ranks: the oracle failed with exit status $status (try $try of 5)"
    done
    report >"$work/wanted"
    return "$status"
}

same_as_oracle() {
    status=0
    ask_oracle || status=$?
    if [ "$status" -gt 128 ]; then
        uncompared=$((uncompared + 1))
        return 0
    fi
    if [ "$status" != 0 ]; then
        complain "$program, $n ranks: the oracle itself fails with exit status $status"
        return 1
    fi
    diff "$work/wanted" "$work/report" >"$work/difference" && return
    complain "$program, $n ranks: its report is not that of the oracle (<)"
    sed 's/^/    /' "$work/difference"
    return 1
}

# ---- faults ------------------------------------------------------------------------------------

# The programs' processes that are still there a minute later.
left_behind() {
    for _ in $(seq 600); do
        pids=$(pgrep -f "^$work/" || true)
        [ -n "$pids" ] || return 0
        sleep 0.1
    done
    echo "$pids"
}

# misbehave fails|ends RANKS PROGRAM [ARGUMENT]
misbehave() {
    wanted=$1 n=$2 program=$3 status=0 start=$(date +%s%3N)
    shift 2
    runs=$((runs + 1))
    launch "$launcher" "$n" "$work/$program" ${2:+"$2"} || status=$?
    took=$(since_ms "$start")
    stay=$(left_behind)
    # shellcheck disable=SC2086 # one word per process
    [ -z "$stay" ] || kill -9 $stay 2>/dev/null || true
    if [ "$status" = 124 ] || [ "$status" = 137 ] && [ "$took" -ge "$((limit_s * 1000))" ]; then
        complain "$*, $n ranks: no end after $limit_s s"
    elif [ "$wanted" = fails ] && [ "$status" = 0 ]; then
        complain "$*, $n ranks: exit status 0, expected a failure"
    elif grep -q 'expected' "$work/out"; then
        complain "$*, $n ranks: went on"
    elif [ -n "$stay" ]; then
        complain "$*, $n ranks: expected that no process stays behind"
    else
        echo "ok $*, $n ranks: exit status $status ($took ms)"
    fi
}

try_faults() {
    for fault in $faults; do
        [ -z "$only" ] || echo " $only " | grep -q " fault_$fault " || continue
        wanted=fails
        [ "$fault" != no_init ] || wanted=ends # its status is the launcher's affair
        misbehave $wanted 2 "fault_$fault"
        misbehave $wanted 5 "fault_$fault"
    done
    [ -z "$only" ] || echo " $only " | grep -q " fault_deadlock " || return 0
    for deadlock in $deadlocks; do
        if [ -z "$sees_deadlocks" ]; then
            echo "skipped: fault_deadlock $deadlock (-d says that the launcher sees deadlocks)"
        else
            misbehave fails 2 fault_deadlock "$deadlock"
            misbehave fails 5 fault_deadlock "$deadlock"
        fi
    done
}

# ---- all ---------------------------------------------------------------------------------------

(compile) || { echo "the programs do not compile" >&2; exit 1; }
for program in $conformance; do
    [ -z "$faults_only" ] || break
    [ -z "$only" ] || echo " $only " | grep -q " $program " || continue
    for n in $ranks; do
        case $program:$n in errors:1 | intercomm:1) continue ;; esac # two and more, they say why
        conform "$program" "$n"
    done
done
try_faults
[ "$uncompared" = 0 ] || echo "not compared, since the oracle crashed every time: $uncompared runs"
echo "$runs runs, $wrong wrong"
[ "$wrong" = 0 ] && [ "$runs" -gt 0 ]
