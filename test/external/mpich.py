"""Runs the cases of a built MPICH test suite under stock mpirun and over simulated networks, and compares: see mpich.sh."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

Case = collections.namedtuple("Case", "name folder program ranks words result seconds")
Outcome = collections.namedtuple("Outcome", "verdict code output")
NOT_FOR_US = ("mpiexecarg", "hasgpu")  # options of MPICH's own mpiexec; accelerators


def read_case(build, folder, line):
    """A line of a testlist: PROGRAM [RANKS [KEY=VALUE ...]]; None: not for an MPI other than MPICH."""
    program, *rest = line.split()
    ranks, pairs = (rest[0] if rest else "2"), [word.partition("=") for word in rest[1:]]
    given = collections.defaultdict(list)
    for key, _, value in pairs:
        given[key].append(value)
    if any(key in given for key in NOT_FOR_US) or given["strict"] == ["false"]:
        return None
    name = " ".join([str(folder.relative_to(build) / program), ranks, *given["arg"]])
    return Case(name, folder, program, int(ranks), given["arg"], (given["resultTest"] or ["TestNormal"])[0],
                int((given["timeLimit"] or [0])[0]))


def read_folder(build, source, folder):
    """All cases of a folder and those below it, in the order of its testlist."""
    lists = [place / folder.relative_to(build) / "testlist" for place in (build, source)]
    text = next((path.read_text() for path in lists if path.exists()), "")
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if not line or line.startswith("!"):
            continue
        if (folder / line.split()[0]).is_dir():
            yield from read_folder(build, source, folder / line.split()[0])
        else:
            case = read_case(build, folder, line)
            if case:
                yield case


def judge(case, code, output):
    """As the suite's own driver does, by the kind of result that the case names."""
    no_errors = any(re.fullmatch(r"\s*No [Ee]rrors\s*", line) for line in output.splitlines())
    skipped = any(line.strip() == "Test Skipped" for line in output.splitlines())
    if case.result in ("TestStatus", "TestErrFatal"):
        return code != 0
    if case.result == "TestStatusNoErrors":
        return code != 0 and no_errors
    return code == 0 and (no_errors or skipped)


def run(case, command, seconds):
    """One case in a folder of its own, since many write files of the same name; and in a process group of its own, so that
    nothing of it is left behind."""
    with tempfile.TemporaryDirectory() as folder:
        for entry in case.folder.iterdir():
            (pathlib.Path(folder) / entry.name).symlink_to(entry)
        return run_in(folder, case, command, seconds)


def run_in(folder, case, command, seconds):
    with tempfile.TemporaryFile() as out, subprocess.Popen(
            [*command, "./" + case.program, *case.words], cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            code = None
        for kill in (signal.SIGTERM, signal.SIGKILL) if code is None else (signal.SIGKILL,):
            try:
                os.killpg(process.pid, kill)
                process.wait(timeout=5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        out.seek(0)
        output = out.read(1 << 20).decode(errors="replace")
    if code is None:
        return Outcome("slow", None, output)
    return Outcome("pass" if judge(case, code, output) else "fail", code, output)


def read_kept(path):
    """What an earlier campaign has found; a line for each case, of which the last may have been cut off."""
    kept = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            name, *outcome = json.loads(line)
        except json.JSONDecodeError:
            break
        kept[name] = Outcome(*outcome)
    return kept


def run_all(asked, cases, command, path, known):
    """The outcomes by case; several at once. Each is kept in a file as soon as it is known: a campaign takes hours."""
    done = {case.name: known[case.name] for case in cases if case.name in known}
    missing = [case for case in cases if case.name not in known]
    with path.open("w") as kept, concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for name, outcome in known.items():
            kept.write(json.dumps([name, *outcome]) + "\n")
        futures = {pool.submit(run, case, command(case), min(max(asked.seconds, case.seconds), asked.most)): case
                   for case in missing}
        for future in concurrent.futures.as_completed(futures):
            name = futures[future].name
            done[name] = future.result()
            kept.write(json.dumps([name, *done[name]]) + "\n")
            kept.flush()
            if sys.stderr.isatty():
                print(f"\r{path.stem}: {len(done)} of {len(cases)}", end="", file=sys.stderr)
    return done


def compare(stock, ours):
    """A case whose verdict is right, but whose exit code is not mpirun's, is of a kind of its own."""
    if ours.verdict == "pass" and ours.code != stock.code:
        return "exit"
    return ours.verdict


def table(cases, stock, ours, fabric):
    """Counts by folder, then what does not pass."""
    counts = collections.defaultdict(collections.Counter)
    wrong = []
    for case in cases:
        folder = case.name.split("/")[0]
        verdict = compare(stock[case.name], ours[case.name])
        counts[folder][verdict] += 1
        if verdict != "pass":
            wrong.append((verdict, case.name, ours[case.name]))
    print(f"\n{fabric}: cases that pass under stock mpirun")
    print(f"{'folder':12}{'cases':>7}{'pass':>7}{'fail':>7}{'slow':>7}{'exit':>7}")
    total = sum(counts.values(), collections.Counter())
    for folder, count in [*counts.items(), ("all", total)]:
        print(f"{folder:12}{sum(count.values()):7}" + "".join(f"{count[v]:7}" for v in ("pass", "fail", "slow", "exit")))
    for verdict, name, outcome in wrong:
        last = [line for line in outcome.output.splitlines() if line.strip()][-1:] or [""]
        print(f"  {verdict}  {name}: {last[0][:120]}")
    return len(wrong)


def arguments():
    parser = argparse.ArgumentParser(prog="mpich.sh", description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--leat", default=str(pathlib.Path(__file__).resolve().parents[2] / "build" / "leat"))
    parser.add_argument("--fabric", action="append")
    parser.add_argument("--option", action="append", default=[], metavar="WORD",
                        help="of leat run, as --option=--ranks-per-host=4")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose names match")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=60, help="the time of a case, unless it names more itself")
    parser.add_argument("--most", type=int, default=600, metavar="SECONDS", help="the time of a case, whatever it names")
    parser.add_argument("--resume", action="store_true", help="go on with a campaign that was interrupted, of the same leat")
    parser.add_argument("--again", action="store_true", help="run stock mpirun again, whose results are kept in the build")
    return parser.parse_args()


def run_stock(asked, cases):
    """Its results do not depend on leat: those of earlier campaigns count."""
    path = asked.build / "stock.jsonl"
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return run_all(asked, cases, lambda case: ["mpirun.openmpi", "--oversubscribe", *root, "-n", str(case.ranks)],
                   path, {} if asked.again else read_kept(path))


def run_leat(asked, cases, fabric):
    path = asked.build / f"leat-{re.sub('[^a-z0-9]+', '-', ' '.join([fabric, *asked.option]))}.jsonl"
    return run_all(asked, cases,
                   lambda case: [asked.leat, "run", "--fabric", fabric, "-n", str(case.ranks), *asked.option, "--"],
                   path, read_kept(path) if asked.resume else {})


def main():
    asked = arguments()
    if not shutil.which(asked.leat):
        sys.exit(f"mpich.sh: no command {asked.leat}: expected leat, built")
    asked.build = asked.build.resolve()
    asked.leat = str(pathlib.Path(shutil.which(asked.leat)).resolve())
    every = {case.name: case for case in read_folder(asked.build, asked.build.parent, asked.build)
             if re.search(asked.only, case.name)}
    cases = [case for case in every.values() if os.access(case.folder / case.program, os.X_OK)]
    stock = run_stock(asked, cases)
    good = [case for case in cases if stock[case.name].verdict == "pass"]
    print(f"{len(every)} cases, {len(cases)} can be built, {len(good)} pass under stock mpirun")
    wrong = 0
    for fabric in asked.fabric or ["torus:2,2"]:
        wrong += table(good, stock, run_leat(asked, good, fabric), " ".join([fabric, *asked.option]))
    return 1 if wrong else 0


sys.exit(main())
