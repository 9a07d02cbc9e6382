#!/bin/sh
# usage: oracle.sh LEAT
# tshark's own dissectors accept our HEC, CRC-10 and CRC-32, and reject each with a bit flipped.
set -eu
exec python3 "$(dirname "$0")/oracle.py" "$@"
