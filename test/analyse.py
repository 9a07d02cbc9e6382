"""clang-tidy (its checks: .clang-tidy) and gcc -fanalyzer over the C files of the product, by the commands that build
them. Prints what they find; exit code 1: something was found.

analyse.known lists what -fanalyzer finds wrongly: FILE FUNCTION WARNING, and a reason before each group. A line that
nothing is found for is an error, too. -fanalyzer sees each file as it is written (-O0): what the optimiser makes of
it only adds wrong findings. Leaks are left to valgrind (make test-valgrind): gcc 12 forgets memory that is reached
through a struct.

usage: analyse.py BUILD [PATTERN OF FILES]
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
NOT_PRODUCT = re.compile(r"(_test|_fuzz)\.c$|^(bench|test|build)/")
TIDY = next((name for name in ("clang-tidy-14", "clang-tidy") if shutil.which(name)), None)
ANALYSER = ["-O0", "-fanalyzer", "-Wno-analyzer-malloc-leak", "-Wno-analyzer-file-leak", "-Wno-error",
            "-fdiagnostics-plain-output", "-S", "-o", "/dev/null"]


def product(build, part):
    """file -> the command that compiles it, and its folder."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    files = {}
    for entry in entries:
        name = os.path.relpath(entry["file"], ROOT)
        if not NOT_PRODUCT.search(name) and re.search(part, name):
            files.setdefault(name, (shlex.split(entry["command"]), entry["directory"]))
    return files


def run(command, folder=ROOT):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C"})


def options(command):
    """Of the compiler, but for what it writes, and for what clang does not know."""
    at = command.index("-o")
    words = command[:at] + command[at + 2:]
    first = 2 if os.path.basename(words[0]) == "ccache" else 1
    return words[:first], [word for word in words[first:] if word not in ("-c", "-Werror", "-fno-thread-jumps")]


def tidied(name, command, folder):
    _, words = options(command)
    done = run([TIDY, "--quiet", words[-1], "--", *words[:-1], "-w"], folder)
    found = [line for line in done.stdout.splitlines() if re.search(r"(warning|error): .*\[[a-z].*\]$", line)]
    if done.returncode and not found:
        found = [f"{name}: {done.stderr.strip()}"]
    return [line.replace(ROOT + "/", "") for line in found]


def analysed(name, command, folder):
    """(file, function, warning) -> the line that says so."""
    compiler, words = options(command)
    done = run([compiler[-1], *words, *ANALYSER], folder)
    found, function = {}, "-"
    for line in done.stderr.splitlines():
        inside = re.search(r": In function '(\w+)", line)
        function = inside[1] if inside else function
        warning = re.match(r"([^:]+):.* warning: .*\[-Wanalyzer-([a-z-]+)\]$", line)
        if warning:
            where = os.path.relpath(os.path.join(folder, warning[1]), ROOT)
            found.setdefault((where, function, warning[2]), line.replace(ROOT + "/", ""))
    if done.returncode:
        found[name, "-", "compiler"] = done.stderr.strip()
    return found


def known_findings():
    with open(os.path.join(HERE, "analyse.known"), encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {tuple(line) for line in lines}


def main(build, part=""):
    if not TIDY or "gcc" not in run(["gcc", "--version"]).stdout.lower():
        print("skipped: clang-tidy or gcc is not installed")
        sys.exit(77)
    files = product(build, part)
    known = {each for each in known_findings() if re.search(part, each[0])}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tidy = pool.map(lambda item: tidied(item[0], *item[1]), files.items())
        analyser = pool.map(lambda item: analysed(item[0], *item[1]), files.items())
        by_tidy = [line for lines in tidy for line in lines]
        by_analyser = {each: line for found in analyser for each, line in found.items()}
    new = [f"{line} (in {each[1]})" for each, line in by_analyser.items() if each not in known]
    stale = [f"analyse.known: not found any more: {' '.join(each)}" for each in sorted(known - {*by_analyser})]
    for line in [*sorted({*by_tidy}), *new, *stale]:
        print(line)
    print(f"{len(files)} files: clang-tidy {len({*by_tidy})} found, gcc -fanalyzer {len(new)} found, "
          f"{len(known) - len(stale)} explained")
    sys.exit(1 if by_tidy or new or stale else 0)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), *sys.argv[2:])
