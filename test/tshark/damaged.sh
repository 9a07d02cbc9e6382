#!/bin/sh
# usage: damaged.sh LEAT [SEED] [COUNT]
# Malformed packets in our dissectors: the rooms' vectors, then thousands at random. Each has the
# error code that leat gives it, and none a Lua error.
set -eu
here=$(dirname "$0")
python3 "$here/vectors.py"
python3 "$here/fuzz.py" "$@"
