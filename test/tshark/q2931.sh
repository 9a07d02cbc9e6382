#!/bin/sh
# usage: q2931.sh LEAT
# tshark's own dissector of Q.2931 shows every field of our signalling messages as leat does.
set -eu
exec python3 "$(dirname "$0")/q2931.py" "$@"
