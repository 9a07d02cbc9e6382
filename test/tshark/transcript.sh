#!/bin/sh
# usage: transcript.sh LEAT [--update]
# Our dissectors show a capture of all formats as in the stored transcript, with the names that
# `leat decode` uses, also when they are installed as a plugin.
set -eu
here=$(dirname "$0")
python3 "$here/transcript.py" "$@"
python3 "$here/names.py" "$1"
python3 "$here/install.py"
