#!/bin/sh
# usage: vectors.sh
# Our dissectors give the rooms' malformed vectors the error code that each vector names.
set -eu
exec python3 "$(dirname "$0")/vectors.py"
