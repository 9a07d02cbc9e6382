"""Commands on a machine that is short of something: each works as ever, or says what is wrong and ends with 1 or 2.

usage: narrow.py LEAT SEED [WORDS]     SEED chooses the sizes; commands that have WORDS

What is short: room on the disk of the results (or they may not be written at all), room on that and in /tmp, shared
memory (none, or a few pages), descriptors, stack, address space.
"""
import os
import random
import re
import subprocess
import sys

import workloads
from campaign import Campaign, Leftovers, in_own_machine, last_lines, run, wrong_end

SHELL = ["sh", "-c"]


def least_space(leat):
    """KiB of address space; with less the system does not load the libraries of the command."""
    for size in range(16384, 1 << 20, 1024):
        script = f'ulimit -v {size}; exec "$0" --version'
        if subprocess.run([*SHELL, script, leat], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode in (0, 2):
            return size
    sys.exit(f"{leat} does not start")


def places(draw, leat):
    """Name, and the shell's commands before the command. They run in a mount namespace of their own."""
    size = 4 * draw.randint(1, 6)
    stack = draw.choice([64, 128, 256, 1000])
    descriptors = draw.randint(12, 30)  # fewer, and the shell cannot start the command
    yield f"{size} KiB on the disk of results", f"mount -t tmpfs -o size={size}k none OUT"
    yield "no inodes on the disk of results", "mount -t tmpfs -o nr_inodes=1 none OUT"
    yield "a disk of results that is read-only", "mount -t tmpfs -o ro none OUT"
    yield "no room in /tmp", "mount -t tmpfs -o size=4k,nr_inodes=2 none /tmp"
    yield "a read-only /tmp", "mount -t tmpfs -o ro none /tmp"
    yield "no shared memory", "mount -t tmpfs -o ro none /dev/shm"
    yield "4 KiB of shared memory", "mount -t tmpfs -o size=4k none /dev/shm"
    yield "no /proc", "umount /proc || mount -t tmpfs -o ro none /proc"
    yield "a closed standard input", "exec 0<&-"
    yield "64 descriptors", "ulimit -n 64"
    yield f"{descriptors} descriptors", f"ulimit -n {descriptors}"
    yield f"a stack of {stack} KiB", f"ulimit -s {stack}"
    yield "a stack of 1 MiB", "ulimit -s 1024"
    space = least_space(leat) + draw.randint(1, 2048)
    yield f"address space of {space} KiB", f"ulimit -v {space}"
    yield "files of 1 KiB", "ulimit -f 1"
    yield "a full standard output", "exec > /dev/full"
    yield "a closed standard output", "exec 1>&-"
    yield "a closed standard error", "exec 2>&-"


class Place:
    def __init__(self, campaign, leat, name, before):
        self.campaign, self.leat, self.name = campaign, leat, name
        self.before = before.replace("OUT", campaign.path("out"))

    def command(self, line):
        words = [self.leat, *workloads.words_of(line, self.campaign.folder.name)]
        script = f'{self.before}; cd "$0" && "$@"; code=$?; for f in "$0"/out/*; do [ ! -e "$f" ] || echo "left $f" >&3; done; exit $code'
        return ["unshare", "-m", *SHELL, script, self.campaign.folder.name, *words]

    def run(self, line):
        """The end of the command, and the files that it leaves on the disk of results."""
        read, write = os.pipe()
        command = self.command(line)
        with os.fdopen(read, "rb") as names:
            done = run([*SHELL, f'exec 3>/proc/self/fd/{write}; exec "$@"', "sh", *command], passed=(write,))
            os.close(write)
            left = [os.path.basename(each.decode().strip()) for each in names]
        return done, left


def blank(octets):
    """Without numbers, since times differ."""
    return re.sub(rb"[0-9a-f.]+", b"#", octets)


def result_of(campaign, done):
    """What a command prints, and its files by name."""
    files = {}
    for name in os.listdir(campaign.path("out")):
        path = campaign.path(f"out/{name}")
        files[name] = b"" if name.endswith(("sqlite", "otf2")) else blank(octets_of(path))
    workloads.empty(campaign.path("out"))
    return blank(done.out), files


def octets_of(path):
    with open(path, "rb") as file:
        return file.read()


def judge(place, done, left, printed, wanted, files):
    if "standard error" in place.name and done.code in (1, 2):
        done.err = b"it may not say"
    wrong = wrong_end(done)
    if wrong:
        return wrong
    strange = [each for each in left if each not in wanted]
    if strange:
        return f"exit code {done.code}, leaves {', '.join(strange)}: {last_lines(done.err, 4)}"
    # A run that failed has an object and a recording that say so.
    failed = (".json", ".leatrec") if done.code else ()
    changed = [name for name, octets in files.items() if octets != wanted[name] and not name.endswith(failed)]
    if changed:
        return f"exit code {done.code}, leaves other octets in {', '.join(changed)}: {last_lines(done.err, 4)}"
    if done.code == 0 and printed and "standard output" in place.name:
        return f"exit code 0, but what it prints is lost: {last_lines(done.err, 4)}"
    missing = [each for each in wanted if each not in left]
    if done.code == 0 and missing:
        return f"exit code 0 without {', '.join(missing)}: {last_lines(done.err, 4)}"
    return None


def main(leat, seed, only=""):
    own = in_own_machine()
    if not own:
        print("skipped: no namespaces, or this tree is in /tmp, which they hide")
        sys.exit(77)
    campaign = Campaign("a machine that is short of something", seed, "/run")  # not in /tmp, which is full at times
    os.environ["XDG_CACHE_HOME"] = campaign.path("cache")
    workloads.prepare(leat, campaign.folder.name)
    lines = [line for line in workloads.lines(leat, campaign.folder.name, longer="--short" not in sys.argv) if only in line]
    wanted = {}
    for line in lines:
        done = run([leat, *workloads.words_of(line, campaign.folder.name)], folder=campaign.folder.name)
        wanted[line] = result_of(campaign, done)
    leftovers = Leftovers(own)
    for name, before in places(random.Random(seed), leat):
        place, codes = Place(campaign, leat, name, before), {}
        for line in lines:
            done, left = place.run(line)
            printed, results = wanted[line]
            if line.startswith("run "):
                printed = b""  # by the program, through mpirun, which does not say that it is lost
            wrong = judge(place, done, left, printed, results, result_of(campaign, done)[1]) or leftovers.found()
            leftovers.found()
            campaign.tried += 1
            codes[done.code] = codes.get(done.code, 0) + 1
            if wrong:
                campaign.note(f"{name}: leat {line}", wrong)
        ends = ", ".join(f"{count} end with {code}" for code, count in sorted(codes.items(), key=str))
        print(f"{name}: {len(lines)} commands: {ends}", flush=True)
    campaign.end(f"{len(lines)} commands, {campaign.tried} runs")


if __name__ == "__main__":
    words = [each for each in sys.argv[1:] if each != "--short"]
    main(os.path.abspath(words[0]), words[1], *words[2:])
