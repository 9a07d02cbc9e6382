# shellcheck shell=sh
# find_python MODULE...: sets python to an interpreter that has them. Debian's own has Debian's packages; the
# first in PATH may be another one. Without any, the test is skipped.
find_python() {
    modules=$(echo "$*" | tr ' ' ',')
    for python in python3 /usr/bin/python3; do
        "$python" -c "import $modules" 2> /dev/null && return
    done
    echo "skipped: no python3 has $modules"
    exit 77
}
