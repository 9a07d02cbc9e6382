"""leat run, sweep and graph run, ended by SIGKILL, SIGTERM or SIGINT at random moments.

Nothing is left behind: no process, nothing in /tmp, /dev/shm and /run (after SIGKILL of leat itself, its own files in
/tmp may stay; processes and shared memory may not), no half-written result. What was finished is not lost: a sweep that
was ended continues, and has the table of one that was not.

usage: kill.py LEAT MOMENTS SEED [WORDS]     MOMENTS for each command; commands that have WORDS
"""
import os
import random
import signal
import subprocess
import sys
import time

import workloads
from campaign import LIMIT, Campaign, Done, Leftovers, end_group, in_own_machine, last_lines, run, wrong_end

COMMANDS = """
run --fabric mesh:2,2 -n 4 --json=OUT/run.json --store OUT/runs.sqlite -- IN/rounds
run --fabric clos444 -n 4 --record OUT/run.leatrec -- IN/rounds
run --fabric ring16 --fabric bmx:4 -n 2 --contention -- IN/rounds
experiment linear -o OUT/linear.html
graph run SHARE/poets/heat_plate.xml --schedule fifo --record OUT/plate.pcapng --snapshot OUT/plate.xml
graph run SHARE/poets/heat_plate.xml --fabric mesh:2,2 --json=OUT/plate.json
sweep mesh:4,4 clos444 --load 0.1,0.2 --seeds 3 --cycles 20000 -j 2 --store OUT/runs.sqlite
""".strip().splitlines()
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]


def end_at(command, moment, number):
    """Its end, if the signal comes after so many seconds; None instead of an end: it was over before."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=moment)
            return Done(process.returncode, out, err), False
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        try:
            out, err = process.communicate(timeout=LIMIT)
            return Done(process.returncode, out, err), True
        except subprocess.TimeoutExpired:
            end_group(process)
            process.communicate()
            return Done(None, b"", b""), True


class Target:
    def __init__(self, campaign, leat, line):
        self.campaign, self.line = campaign, line
        self.out = campaign.path("out")
        self.command = [leat, *workloads.words_of(line, campaign.folder.name)]
        run(self.command)  # fills caches
        workloads.empty(self.out)
        begin = time.monotonic()
        self.whole = run(self.command)
        self.seconds = time.monotonic() - begin
        self.results = set(os.listdir(self.out))
        workloads.empty(self.out)
        if self.whole.code:
            sys.exit(f"leat {line}: exit code {self.whole.code}: {last_lines(self.whole.err)}")

    def judge(self, done, number):
        if done.code != -number:  # of SIGTERM and SIGINT: before it was ready for them, when nothing had begun
            wrong = wrong_end(done, (0, 1, 128 + number))
            if wrong:
                return wrong
        strange = set(os.listdir(self.out)) - self.results
        return f"leaves {', '.join(strange)}" if strange and number != signal.SIGKILL else None

    def continued(self):
        """The sweep goes on, and has the same table."""
        if not self.line.startswith("sweep"):
            return None
        again = run(self.command)
        return None if (again.code, again.out) == (0, self.whole.out) else (
            f"continued: exit code {again.code}: {last_lines(again.err)}\n{last_lines(again.out)}")

    def try_all(self, moments, seed, leftovers):
        draw = random.Random(f"{seed} {self.line}")
        ended = 0
        for number in range(moments):
            which = draw.choice(SIGNALS)
            done, in_time = end_at(self.command, draw.uniform(0, 1.1 * self.seconds), which)
            ended += in_time
            wrong = self.judge(done, which) or self.continued() or leftovers.found(which == signal.SIGKILL)
            leftovers.found()
            workloads.empty(self.out)
            self.campaign.tried += 1
            if wrong:
                self.campaign.note(f"leat {self.line}, {which.name}, case {number}", wrong)
        print(f"leat {self.line}: {self.seconds:.2f} s; {ended} of {moments} ended", flush=True)


def main(leat, moments, seed, only=""):
    own = in_own_machine()
    campaign = Campaign("ended at random moments", seed, "/run" if own else None)
    os.environ["XDG_CACHE_HOME"] = campaign.path("cache")
    workloads.prepare(leat, campaign.folder.name)
    if not os.path.exists(campaign.path("in/rounds")):
        print("skipped: mpicc is not installed")
        sys.exit(77)
    leftovers = Leftovers(own)
    lines = [line for line in COMMANDS if only in line]
    for line in lines:
        Target(campaign, leat, line).try_all(moments, seed, leftovers)
    campaign.end(f"{len(lines)} commands, {campaign.tried} signals")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3], *sys.argv[4:])
