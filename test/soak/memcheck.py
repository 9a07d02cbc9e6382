"""Small commands of every verb under valgrind: no memory is used that was not set, or not owned, and none is lost.

usage: memcheck.py LEAT [PART OF A COMMAND]
"""
import os
import shutil
import sys

import workloads
from campaign import Campaign, last_lines, run

LIMIT_S = 600
LARGE = ("run ", "experiment echo", "experiment linear")  # map more memory than valgrind allows
FOUND = 99  # exit code
VALGRIND = ["valgrind", "-q", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect", "--num-callers=12",
            f"--error-exitcode={FOUND}"]


def main(leat, only=""):
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        sys.exit(77)
    campaign = Campaign("valgrind", 1)
    folder = campaign.folder.name
    os.environ["XDG_CACHE_HOME"] = campaign.path("cache")
    workloads.prepare(leat, folder)
    lines = [line for line in workloads.lines(leat, folder, longer=True)
             if only in line and not line.startswith(LARGE)]

    def check(item):
        number, line = item
        own = campaign.path(f"of-{number}")
        os.makedirs(f"{own}/out")
        os.symlink(f"{folder}/in", f"{own}/in")
        done = run([*VALGRIND, leat, *workloads.words_of(line, own)], LIMIT_S)
        campaign.tried += 1
        if done.code != 0:
            campaign.note(f"leat {line}", f"exit code {done.code}: {last_lines(done.err, 40)}")

    campaign.in_parallel(check, enumerate(lines))
    campaign.end(f"{campaign.tried} commands")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), *sys.argv[2:])
