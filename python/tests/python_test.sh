#!/bin/sh
# The package: its types, its tests with the command, and its installation by pip, without a network.
# usage: python_test.sh LEAT
set -u
leat=$1
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/../test/lib.sh"
. "$here/tests/find_python.sh"
find_python pip wheel pandas
cp -r "$here" "$folder/tree"

if command -v mypy > /dev/null; then
    (cd "$folder/tree" && mypy --strict leat > "$folder/types" 2>&1) || fail "mypy: $(cat "$folder/types")"
else
    echo "skipped: mypy is not installed"
fi

"$python" -m venv --system-site-packages "$folder/venv" > "$folder/made" 2>&1 || fail "venv: $(cat "$folder/made")"
"$folder/venv/bin/pip" install --no-build-isolation --no-index "$folder/tree" > "$folder/installed" 2>&1 ||
    fail "pip: $(cat "$folder/installed")"
# Away from the tree, so that the installed package is tested, with its marker of types.
mkdir "$folder/away"
LEAT=$leat PYTHONPATH='' PYTHONDONTWRITEBYTECODE=1 "$folder/venv/bin/python" -m unittest discover -s "$here/tests" -t "$here/tests" > "$folder/tested" 2>&1 ||
    fail "$(cat "$folder/tested")"
same "the version" "$("$leat" --version | grep -o '[0-9.]*' | head -n 1)" "$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/pyproject.toml")"
same "typed, and installed" "$(cd "$folder/away" && "$folder/venv/bin/python" -c \
    'import leat, pathlib; at = pathlib.Path(leat.__file__).parent; print("venv" in str(at) and (at / "py.typed").exists())')" True
finish
