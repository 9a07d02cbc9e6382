#!/bin/sh
# unit_golden_test.sh LEAT BENCH NAME: a published unit test; every value of its trace is shown, and in every format.
set -u
leat=$1 bench=$2 name=$3
here=$(dirname "$0")
. "$here/../../test/lib.sh"
vectors=proto/atm/vectors/unit

exits 0 "" "$leat" unit "$bench" "$vectors/$name.stimuli"
python3 "$here/unit_model.py" golden "$vectors/$name.trace.jsonl" "$folder/stdout" || fail "$name: values differ"
python3 "$here/unit_model.py" formats "$leat" "$bench" "$vectors/$name.stimuli" || fail "$name: formats differ"
finish
