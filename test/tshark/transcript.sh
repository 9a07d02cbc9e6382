#!/bin/sh
# usage: transcript.sh LEAT [--update]
# A capture of all formats in the words of our dissectors: the stored transcript, the names that
# `leat decode` uses, and the same when they are installed as a plugin.
set -eu
here=$(dirname "$0")
python3 "$here/transcript.py" "$@"
python3 "$here/names.py" "$1"
python3 "$here/install.py"
