"""Every reader of a user's file (those of cut.py), with its file cut at every octet, and mutated a million times.

A library (mutate.c) stops the command before main, and runs main for one case after the other in one process, whose
changes it undoes each time: thousands of cases a second. What ends such a process, and the last of each thousand cases,
runs alone, in a process of its own. A case ends with 0, 1 or 2, and with a message unless it is 0: no signal, no report
of a sanitizer, no hang (a minute of processor time, or asleep for five), and nothing stays in /tmp, /dev/shm and /run.
A command with sanitizers runs each case alone, and mutations only: cut.py has the cuts.

FOLDER keeps what each reader's cases are made from, how many were done, and files that found something; a later call goes
on there. Readers get slices of SLICE seconds, JOBS at a time.

usage: mutate.py LEAT LIBRARY MUTATIONS SEED FOLDER [READER [CASE]]     FOLDER -: a temporary one; CASE: this one, shown
"""
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import cut
from campaign import Campaign, Leftovers, in_own_machine

SLICE_S = int(os.environ.get("SLICE", "10"))
BATCH = 1000
# What a command does behind its reader is not the matter here: a simulation has fewer cycles, a router is not put into
# the background, a program is not started.
SHORTER = {"--cycles": ["50"]}
MORE = {"placement": ["run", "--record", "/nosuch/x"], "settings of pktway": ["pktway", "route", "--foreground"]}


def words_of(name, words):
    words = list(words)
    for option, replaced in SHORTER.items():
        if option in words:
            words[words.index(option) + 1:words.index(option) + 2] = replaced
    more = MORE.get(name, [])
    common = sum(1 for a, b in zip(more, words) if a == b)
    return more + words[common:]


@functools.lru_cache(None)
def sanitizer_of(leat):
    """The library that has to be loaded first, or none."""
    listed = subprocess.run(["ldd", leat], capture_output=True, text=True, check=True).stdout
    found = re.search(r"=> (\S*libasan\S*)", listed)
    return found[1] if found else ""


class Reader:
    COUNTS = ("cases", "accepted", "failed", "refused", "alone", "found", "unlike", "repeated")

    def __init__(self, folder, name, file, octets, words):
        self.name, self.words = name, words_of(name, words)
        self.short = re.sub("[^a-z0-9]+", "-", name.lower())
        self.file = f"/dev/shm/leat-mutate-{self.short}/{file}"
        self.octets_path, self.folder = f"{folder}/{self.short}.octets", folder
        if not os.path.exists(self.octets_path):
            with open(self.octets_path, "wb") as kept:
                kept.write(octets)
        self.cuts = os.path.getsize(self.octets_path)

    def prepare(self):
        os.makedirs(os.path.dirname(self.file), mode=0o700, exist_ok=True)

    def extra_files(self):
        """What cases left beside their file."""
        folder = os.path.dirname(self.file)
        extra = [name for name in os.listdir(folder) if os.path.join(folder, name) != self.file]
        for name in extra:
            os.remove(os.path.join(folder, name))
        return extra

    def command(self, leat):
        return [leat, *(self.file if word == "{}" else word for word in self.words)]

    def serve(self, leat, library, seed, cases, seconds):
        """Runs the cases FROM:TO; the lines of its report."""
        sanitizer = sanitizer_of(leat)
        report = f"{self.folder}/{self.short}.report"
        number = int.from_bytes(hashlib.sha256(f"{seed} {self.name}".encode()).digest()[:8], "big")
        environment = {
            "LD_PRELOAD": f"{sanitizer} {library}".strip(), "LD_BIND_NOW": "1", "GLIBC_TUNABLES": "glibc.pthread.rseq=0",
            "LEAT_MUTATE_OCTETS": self.octets_path, "LEAT_MUTATE_FILE": self.file, "LEAT_MUTATE_SEED": str(number),
            "LEAT_MUTATE_CASES": cases, "LEAT_MUTATE_SECONDS": str(seconds), "LEAT_MUTATE_REPORT": report,
            "LEAT_MUTATE_BATCH": str(1 if sanitizer else BATCH), "LEAT_MUTATE_KEEP": f"{self.folder}/found-{self.short}-"}
        self.prepare()
        done = subprocess.run(self.command(leat), env={**os.environ, **environment}, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode:
            sys.exit(f"{self.name}: the server of cases ended with {done.returncode}: {done.stderr.decode()}")
        with open(report, encoding="utf-8", errors="replace") as file:
            lines = file.read().rstrip("\n").split("\n")
        os.remove(report)
        return lines


class Mutations:
    def __init__(self, campaign, leat, library, wanted, seed, folder, only):
        self.campaign, self.leat, self.library, self.wanted, self.seed = campaign, leat, library, wanted, seed
        folder = campaign.path("mutate") if folder == "-" else os.path.abspath(folder)
        os.makedirs(folder, exist_ok=True)
        self.readers = [Reader(folder, *row) for row in cut.readers(campaign, leat) if only in row[0]]
        self.totals_path = f"{folder}/totals-{seed}.json"
        self.totals = {}
        if os.path.exists(self.totals_path):
            with open(self.totals_path, encoding="utf-8") as file:
                self.totals = json.load(file)
        for reader in self.readers:
            first = reader.cuts if sanitizer_of(leat) else 0
            self.totals.setdefault(reader.name, {"next": first, "seconds": 0.0, "slowest": [0, 0.0], "findings": [],
                                                 **{each: 0 for each in Reader.COUNTS}})

    def keep(self):
        with open(self.totals_path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.totals, file, indent=1)
        os.replace(self.totals_path + ".new", self.totals_path)

    def mutations(self, reader):
        return max(0, self.totals[reader.name]["next"] - reader.cuts)

    def unfinished(self):
        return [reader for reader in self.readers if self.mutations(reader) < self.wanted]

    def slice(self, reader):
        row = self.totals[reader.name]
        begun = time.monotonic()
        for line in reader.serve(self.leat, self.library, self.seed, f"{row['next']}:{reader.cuts + self.wanted}", SLICE_S):
            self.take(reader, row, line)
        row["seconds"] = round(row["seconds"] + time.monotonic() - begun, 3)
        extra = reader.extra_files()
        if extra:
            self.find(reader, row, f"before case {row['next']}: leaves {', '.join(extra)}")

    def find(self, reader, row, text):
        row["findings"].append(text)
        self.campaign.note(reader.name, text)

    def take(self, reader, row, line):
        kind, rest = line.split(" ", 1)
        if kind == "next":
            numbers = [int(each) for each in re.findall(r"\d+", line)]
            row["next"] = numbers[0]
            for each, number in zip(Reader.COUNTS, numbers[1:]):
                row[each] += number
        elif kind == "unsuited":
            row["unsuited"] = rest
        elif kind == "slowest":
            number, seconds = rest.split()
            row["slowest"] = max(row["slowest"], [int(number), float(seconds)], key=lambda each: each[1])
        else:  # found, unlike
            self.find(reader, row, line)

    def run(self):
        own = Leftovers(os.environ.get("LEAT_OWN_MACHINE") == "yes")
        for reader in self.readers:
            reader.prepare()
        own.files = own.list_files()
        with ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
            while self.unfinished():
                for _ in pool.map(self.slice, self.unfinished()):
                    self.keep()
                left = own.found()
                if left:
                    self.campaign.note("all", left)
                self.show()

    def show(self):
        done = sorted(self.mutations(reader) for reader in self.readers)
        print(f"{sum(row['cases'] for row in self.totals.values()):,} cases; mutations of a reader: least {done[0]:,}, "
              f"median {done[len(done) // 2]:,}; {sum(each >= self.wanted for each in done)} of {len(done)} readers are done",
              flush=True)

    def end(self):
        for reader in self.readers:
            row = self.totals[reader.name]
            print(f"{reader.name:<22} {reader.cuts:>7,} cuts {self.mutations(reader):>9,} mutations {row['accepted']:>8,} accepted "
                  f"{row['alone']:>6,} alone {row['cases'] / max(row['seconds'], 1):>8,.0f}/s, slowest {row['slowest'][1]:.3f} s")
        self.campaign.found = [each for row in self.totals.values() for each in row["findings"]]
        self.campaign.end(f"{len(self.readers)} readers, {sum(row['cases'] for row in self.totals.values()):,} cases")

    def show_case(self, case):
        """Writes the case's file, runs the command."""
        reader = self.readers[0]
        reader.serve(self.leat, self.library, self.seed, f"{case}:{case + 1}", 1)
        with open(reader.file, "rb") as file:
            octets = file.read()
        kept = f"{reader.folder}/{reader.short}-{case}-{os.path.basename(reader.file)}"
        with open(kept, "wb") as file:
            file.write(octets)
        reader.file = kept
        print(" ".join(reader.command(self.leat)), flush=True)
        sys.exit(subprocess.run(reader.command(self.leat), check=False).returncode)


def main(leat, library, wanted, seed, folder, only="", case=None):
    in_own_machine()
    mutations = Mutations(Campaign("mutations", seed), leat, library, wanted, seed, folder, only)
    if not mutations.readers:
        sys.exit(f"no reader has {only} in its name")
    if case is not None:
        mutations.show_case(int(case))
    mutations.run()
    mutations.end()


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
