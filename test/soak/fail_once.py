"""Every allocation and every system call of a command fails once.

A library (fail_once.c) counts the calls of a first run; then the command is repeated, and each time another call fails:
from every place in the program that makes one, the first and the last. The command has to end with 1 or 2 and a
message, or with the same results as ever: no signal, no end after an hour, no success with other results, no
half-written file, nothing left in /tmp, /dev/shm and /run, no process left.

usage: fail_once.py LEAT LIBRARY CALLS SEED [WORDS]     at most CALLS of each command; commands that have WORDS.
    0: all, and of commands that start processes, which are left out otherwise, LONGER_CALLS
"""
import json
import os
import random
import re
import sqlite3
import struct
import sys

import workloads
from campaign import Campaign, Leftovers, in_own_machine, last_lines, run, wrong_end

# What the C library does within these is not the command's to handle: OTF2 asks for the host's name, and a library that
# cannot be loaded for lack of memory ends the process.
FOREIGN = ("gethostid", "dlopen")
LONGER_CALLS = 120  # of commands that start processes
SHOWN = 10  # findings of one command


class Trial:
    def __init__(self, campaign, leat, library, line):
        self.campaign, self.leat, self.library, self.line = campaign, leat, library, line
        self.folder = campaign.folder.name
        self.words = workloads.words_of(line, self.folder)
        self.first = self.run_plainly()
        self.second = self.run_plainly()

    def run_plainly(self):
        return self.run_with(0)[1:]

    def run_with(self, failing):
        """The end of the command, what it printed and its files by name."""
        workloads.empty(f"{self.folder}/out")
        with open(f"{self.folder}/count", "wb") as file:
            file.write(struct.pack("=QQ", 0, failing))
        open(f"{self.folder}/log", "wb").close()
        done = run(["setarch", "-R", self.leat, *self.words], folder=self.folder, environment={
            "LD_PRELOAD": self.library, "LEAT_FAIL": f"{self.folder}/count", "LEAT_FAIL_LOG": f"{self.folder}/log",
            "LEAT_FAIL_PROGRAM": "leat"})
        return done, done.out, self.files()

    def files(self):
        found = {}
        for top, _, names in os.walk(f"{self.folder}/out"):
            for name in names:
                path = os.path.join(top, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, f"{self.folder}/out")] = file.read()
        return found

    def calls(self):
        """Of each place the first and the last call: number and name."""
        self.run_with(0)
        with open(f"{self.folder}/count", "rb") as file:
            if not struct.unpack("=QQ", file.read())[0]:
                sys.exit(f"{self.library} counts no calls of leat {self.line}")
        places = {}
        with open(f"{self.folder}/log", encoding="utf-8") as log:
            for each in log:
                number, rest = each.rstrip().split(" ", 1)
                places.setdefault(rest, []).append(int(number))
        ends = {number: rest.rsplit(" ", 1)[0] for rest, numbers in places.items() for number in (numbers[0], numbers[-1])}
        return sorted(ends.items())

    def same(self, got, index, key=None):
        """Is a result the one that it always is? Numbers may differ where they always do."""
        first, second = self.first[index], self.second[index]
        if key is not None:
            first, second = first.get(key), second.get(key)
        if first == second:
            return got == first
        blank = [re.sub(rb"[0-9a-f.]+([+-][0-9]+)?", b"#", each) if each is not None else None for each in (first, second, got)]
        return blank[0] != blank[1] or blank[2] == blank[0]

    def wrong_file(self, name, octets):
        if name.endswith(".sqlite"):
            return wrong_store(f"{self.folder}/out/{name}")
        if name not in self.first[1]:
            return f"leaves {name}"
        return None if self.same(octets, 1, name) else f"leaves {name} with other octets ({len(octets)})"

    def judge(self, done, out, files):
        wrong = wrong_end(done)
        if wrong:
            return wrong
        for name, octets in files.items():
            wrong = None if done.code and is_complete_json(name, octets) else self.wrong_file(name, octets)
            if wrong:
                return f"exit code {done.code}: {wrong}: {last_lines(done.err)}"
        if done.code == 0 and not self.same(out, 0):
            return f"exit code 0 with other output: {last_lines(out, 4)} {last_lines(done.err, 4)}"
        missing = set(self.first[1]) - set(files)
        if done.code == 0 and missing:
            return f"exit code 0 without {', '.join(missing)}: {last_lines(done.err, 4)}"
        return None

    def try_all(self, calls_max, seed, leftovers):
        calls = self.calls()
        if calls_max and len(calls) > calls_max:
            calls = sorted(random.Random(f"{seed} {self.line}").sample(calls, calls_max))
        codes, shown, foreign = {}, 0, 0
        for number, name in calls:
            done, out, files = self.run_with(number)
            wrong = self.judge(done, out, files) or leftovers.found()
            leftovers.found()
            self.campaign.tried += 1
            codes[done.code] = codes.get(done.code, 0) + 1
            if wrong and any(each in self.place() for each in FOREIGN):
                foreign += 1
            elif wrong:
                shown += 1
                self.campaign.note(f"leat {self.line}: call {number}, {name}", f"{wrong}\n{self.place()}", shown <= SHOWN)
        ends = ", ".join(f"{count} end with {code}" for code, count in sorted(codes.items(), key=str))
        print(f"leat {self.line}: {len(calls)} calls failed: {ends}"
              + (f"; {foreign} of the C library ended otherwise" if foreign else ""), flush=True)

    def place(self):
        with open(f"{self.folder}/log", encoding="utf-8", errors="replace") as log:
            return "".join("    " + line for line in log.readlines()[1:] if "fail_once" not in line)


def is_complete_json(name, octets):
    """Its status says what happened."""
    try:
        return name.endswith(".json") and all("status" in json.loads(line) for line in octets.splitlines())
    except (ValueError, TypeError):
        return False


def wrong_store(path):
    try:
        store = sqlite3.connect(path)
        result = store.execute("pragma integrity_check").fetchone()[0]
        store.close()
        return None if result == "ok" else f"{path}: {result}"
    except sqlite3.Error as error:
        return f"{path}: {error}"


def main(leat, library, calls_max, seed, only=""):
    own = in_own_machine()
    campaign = Campaign("calls that fail once", seed)
    os.environ["XDG_CACHE_HOME"] = campaign.path("cache")
    workloads.prepare(leat, campaign.folder.name)
    lines = [line for line in workloads.lines(leat, campaign.folder.name, longer=not calls_max) if only in line]
    leftovers = Leftovers(own)
    for line in lines:
        Trial(campaign, leat, library, line).try_all(
            LONGER_CALLS if line in workloads.LONGER else calls_max, seed, leftovers)
    campaign.end(f"{len(lines)} commands, {campaign.tried} calls")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3]), sys.argv[4], *sys.argv[5:])
