#!/bin/sh
# usage: certificates.sh [--print] BUILD [EMULATOR WORD...]
# Runs every simulation of certificates.txt with the programs of the folder BUILD, in an emulator if
# they are for another processor, and compares the certificates. --print writes a new list, for a
# change that is meant to change the simulation.
set -u
print=
[ "$1" != --print ] || { print=yes; shift; }
build=$1
shift
here=$(dirname "$0")
. "$here/lib.sh"

# A hash of states covers structs in the processor's byte order, so it differs on a big-endian one.
is_big_endian() { [ "$(od -An -tx1 -j5 -N1 "$build/tool/leat" | tr -d ' ')" = 02 ]; }

# come_to PROGRAM WORD...: the result of a simulation
come_to() {
    program=$1
    shift
    case $program in
    leat) "$@" --json | grep -oE '"certificate":"[0-9a-f]+"' | cut -d'"' -f4 ;;
    poets) # the answer, and how many packets it took
        "$@" 2> "$folder/stderr" | cksum | cut -d' ' -f1 | tr '\n' -
        sed -n 's/.*: \([0-9]*\) packets received.*/\1/p' "$folder/stderr" ;;
    states)
        "$@" 2>&1 > /dev/null | sed -n 's/.*states //p' ;;
    esac
}

count=0
while read -r want program words; do
    case $want in
    '' | '#'*)
        [ -z "$print" ] || echo "$want${program:+ $program}${words:+ $words}"
        continue ;;
    esac
    case $program in
    leat) file=$build/tool/leat ;;
    poets | states) file=$build/program/poets_examples/${words%% *} ;;
    *) fail "certificates.txt: '$program', expected leat, poets or states"; continue ;;
    esac
    rest=$words
    [ "$program" = leat ] || { rest=${words#"${words%% *}"}; }
    [ "$program" != states ] || [ -n "$print" ] || ! is_big_endian || continue
    # shellcheck disable=SC2086 # words are words
    got=$(come_to "$program" "$@" "$file" $rest < /dev/null)
    if [ -n "$print" ]; then
        echo "$got $program $words"
    else
        same "$program $words" "$got" "$want"
    fi
    count=$((count + 1))
done < "$here/certificates.txt"
[ -z "$print" ] || exit 0
[ $count -gt 0 ] || fail "no simulation in certificates.txt"
echo "$count simulations"
finish
