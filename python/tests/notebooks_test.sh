#!/bin/sh
# The notebooks of share/notebooks run as a reader runs them; their assertions hold. None has outputs.
# usage: notebooks_test.sh LEAT
set -u
leat=$1
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/../test/lib.sh"
. "$here/tests/find_python.sh"
needs mpicc
find_python nbconvert ipykernel pandas matplotlib
# The kernel of the same interpreter, wherever Jupyter would look for one.
export JUPYTER_PATH="$folder/jupyter" HOME="$folder" LEAT="$leat" PYTHONPATH="$here" TMPDIR="$folder" PYTHONDONTWRITEBYTECODE=1
"$python" -m ipykernel install --prefix "$folder/prefix" > "$folder/made" 2>&1 || fail "kernel: $(cat "$folder/made")"
JUPYTER_PATH=$folder/prefix/share/jupyter
mkdir "$folder/here"
for notebook in "$here"/../share/notebooks/*.ipynb; do
    name=$(basename "$notebook" .ipynb)
    "$python" -m nbconvert --to notebook --execute --output-dir "$folder/here" "$notebook" > "$folder/ran" 2>&1 ||
        fail "$name: $(tail -n 40 "$folder/ran")"
    same "outputs in $name" "$(jq '[.cells[] | .outputs // [] | length] | add' "$notebook")" 0
    same "pictures of $name" "$(jq '[.cells[].outputs[]?.data["image/png"] // empty] | length >= 2' "$folder/here/$name.ipynb")" true
    jq -e '[.cells[] | select(.cell_type == "code" and ([.source[] | test("\\bassert\\b")] | any))] | length >= 3' "$notebook" > /dev/null ||
        fail "$name: too few assertions"
done
finish
