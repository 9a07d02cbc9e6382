#!/bin/sh
# usage: manual.sh LEAT FOLDER
# Manual pages and completion, written by the command from its own table of verbs.
set -eu
leat=$1 folder=$2
mkdir -p "$folder"
"$leat" help --man > "$folder/leat.1"
for verb in $("$leat" help --verbs); do
    "$leat" help --man "$verb" > "$folder/leat-$verb.1"
done
"$leat" help --completion > "$folder/leat.bash"
touch "$folder/done"
