"""All fuzz targets, for as many executions as wanted, in slices of equal time: a target that is slow gets fewer.

The targets of FAST (make's preset fuzz-fast) trap on undefined behaviour. What they find new is then run once by the
targets of CHECKED (preset fuzz), which have the address sanitizer. Counts are kept in FAST/executions.json, so that a
later call goes on where one was ended; JOBS targets run at a time, SLICE seconds each, with the lowest priority.

usage: fuzz.py FAST CHECKED EXECUTIONS [TARGET]
"""
import glob
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

from campaign import ROOT, Campaign, last_lines, run

SLICE_S = int(os.environ.get("SLICE", "20"))
START_S = 120  # to read a large corpus
LENGTHS = (512, 128, 512, 4096)  # the longest input, round by round


class Targets:
    def __init__(self, campaign, fast, checked, only):
        self.campaign, self.fast, self.checked = campaign, fast, checked
        paths = glob.glob(f"{fast}/**/*_fuzz", recursive=True)
        self.programs = {os.path.basename(path): path for path in sorted(paths) if os.path.isfile(path) and only in path}
        self.counts_path = f"{fast}/executions.json"
        self.counts = {name: {"executions": 0, "seconds": 0, "rounds": 0} for name in self.programs}
        if os.path.exists(self.counts_path):
            with open(self.counts_path, encoding="utf-8") as file:
                self.counts.update({name: row for name, row in json.load(file).items() if name in self.programs})

    def total(self):
        return sum(row["executions"] for row in self.counts.values())

    def keep_counts(self):
        with open(self.counts_path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.counts, file, indent=1)
        os.replace(self.counts_path + ".new", self.counts_path)

    def folders(self, name):
        """What was found new, and the seeds."""
        found = f"{self.fast}/found/{name}"
        os.makedirs(found, exist_ok=True)
        return [found, *(path for layer in ("proto", "sim", "core")
                         for path in glob.glob(f"{ROOT}/{layer}/**/corpus/{name}", recursive=True))]

    def libfuzzer(self, program, *words):
        """None, or the number of executions; a failure is noted and its input kept."""
        kept = f"{self.fast}/failed/"
        os.makedirs(kept, exist_ok=True)
        done = run([program, "-print_final_stats=1", f"-artifact_prefix={kept}", *words], limit=SLICE_S + START_S)
        executions = re.search(rb"number_of_executed_units: (\d+)", done.err)
        if done.code:
            self.campaign.note(os.path.basename(program), f"exit code {done.code}, input in {kept}\n{last_lines(done.err, 25)}")
        return int(executions[1]) if executions and not done.code else None

    def slice(self, name):
        row = self.counts[name]
        executions = self.libfuzzer(self.programs[name], f"-max_total_time={SLICE_S}", f"-seed={row['rounds'] + 1}",
                                    f"-max_len={LENGTHS[row['rounds'] % len(LENGTHS)]}", *self.folders(name))
        if executions is None:
            del self.programs[name]
            return
        row["executions"] += executions
        row["seconds"] += SLICE_S
        row["rounds"] += 1

    def check(self, name):
        """What was found once more, with the address sanitizer."""
        program = self.programs[name].replace(self.fast, self.checked, 1)
        return self.libfuzzer(program, "-runs=0", "-max_len=4096", *self.folders(name)) or 0


def main(fast, checked, wanted, only=""):
    os.nice(19)
    campaign = Campaign("fuzz targets", 1)
    targets = Targets(campaign, fast, checked, only)
    if not targets.programs:
        sys.exit(f"{fast}: no fuzz targets")
    with ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        while targets.total() < wanted and targets.programs:
            for _ in pool.map(targets.slice, list(targets.programs)):
                targets.keep_counts()
            print(f"{targets.total():,} executions", flush=True)
        checked_inputs = sum(pool.map(targets.check, list(targets.programs)))
    for name, row in targets.counts.items():
        print(f"{name:<28} {row['executions']:>13,} executions {row['executions'] // max(row['seconds'], 1):>9,}/s")
    campaign.end(f"{len(targets.counts)} targets, {targets.total():,} executions, {checked_inputs:,} inputs checked again")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
