"""Shared by the campaigns: runs commands, judges how they end, reports what was tried and found."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

LIMIT = 60  # seconds until a command counts as hung
MEMORY_MB = 2000
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REPORTS = (b"Sanitizer", b"runtime error:", b"Assertion `", b"terminate called")

os.environ["ASAN_OPTIONS"] = f"detect_leaks=0:hard_rss_limit_mb={MEMORY_MB}"
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


class Done:
    """How a command ended: `code` is negative after a signal, None after LIMIT seconds."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(command, limit=LIMIT, folder=None, environment=None, passed=()):
    """In a process group of its own, which is gone afterwards."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
                          env={**os.environ, **(environment or {})}, start_new_session=True, pass_fds=passed) as process:
        try:
            out, err = process.communicate(timeout=limit)
            return Done(process.returncode, out, err)
        except subprocess.TimeoutExpired:
            end_group(process)
            out, err = process.communicate()
            return Done(None, out, err)


def wrong_end(done, codes=(0, 1, 2)):
    """What is wrong with this end, whatever the command was; None: nothing."""
    if done.code is None:
        return f"does not end within {LIMIT} s"
    if any(report in done.err for report in REPORTS):
        return "a report: " + last_lines(done.err)
    if done.code < 0:
        return f"signal {-done.code}: {last_lines(done.err)}"
    if done.code not in codes:
        return f"exit code {done.code}: {last_lines(done.err)}"
    if 0 < done.code < 128 and not done.err.strip():
        return f"exit code {done.code} without a message"
    return None


def last_lines(text, lines=12):
    return b"\n".join(text.splitlines()[-lines:]).decode(errors="replace")


class Campaign:
    """Tries and what they found: each finding once, with what repeats it."""

    def __init__(self, name, seed, place=None):
        self.name, self.seed = name, seed
        self.folder = tempfile.TemporaryDirectory(prefix="leat-campaign-", dir=place)
        self.keep = os.environ.get("KEEP")  # a folder for the files that found something
        self.tried, self.found = 0, []

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def note(self, what, how, shown=True):
        self.found.append((what, how))
        if shown:
            print(f"FOUND {self.name}: {what}: {how}", flush=True)

    def kept(self, file):
        """Where a file stays that found something."""
        if not self.keep:
            return file + " (KEEP=FOLDER keeps it)"
        os.makedirs(self.keep, exist_ok=True)
        stays = os.path.join(self.keep, f"{len(self.found)}-{os.path.basename(file)}")
        with open(file, "rb") as old, open(stays, "wb") as new:
            new.write(old.read())
        return stays

    def in_parallel(self, work, items):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for _ in pool.map(work, items):
                pass

    def end(self, text):
        print(f"{self.name}, seed {self.seed}: {text}, {len(self.found)} found")
        self.folder.cleanup()
        sys.exit(1 if self.found else 0)


def in_own_machine():
    """Starts this program again in namespaces of its own: its /tmp, /dev/shm and /run are empty, it sees its own
    processes only, and has no network but lo. Where that is not allowed, or would hide this tree, it goes on as it is."""
    if os.environ.get("LEAT_OWN_MACHINE"):
        return os.environ["LEAT_OWN_MACHINE"] == "yes"
    inside = "for f in /dev/shm /run /tmp; do mount -t tmpfs none $f || exit 97; done; ip link set lo up; exec \"$@\""
    command = ["unshare", "-mnipf", "--mount-proc", "--kill-child", "sh", "-c", inside, "sh"]
    if subprocess.run([*command, "test", "-e", __file__], capture_output=True, check=False).returncode:
        os.environ["LEAT_OWN_MACHINE"] = "no"
        return False
    os.environ["LEAT_OWN_MACHINE"] = "yes"
    sys.stdout.flush()
    sys.exit(subprocess.run([*command, sys.executable, *sys.argv], check=False).returncode)


def processes():
    """Those of this machine but this one, without those that have ended."""
    left = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                state = file.read().rsplit(")", 1)[1].split()
            if state[0] not in "ZX":
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    left.append((int(entry), file.read().replace(b"\0", b" ").decode(errors="replace")))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return left


class Leftovers:
    """What commands leave on this machine: files in /tmp, /dev/shm and /run, and processes."""

    PLACES = ("/tmp", "/dev/shm", "/run")

    def __init__(self, own):
        self.own = own
        self.files, self.known = self.list_files(), {pid for pid, _ in processes()}

    def list_files(self):
        return {os.path.join(place, name) for place in self.PLACES for name in os.listdir(place)} if self.own else set()

    def found(self, killed=False):
        """Text, or None; removes them. Who was killed cannot remove its files in /tmp."""
        if not self.own:
            return None
        for _ in range(100):  # what a daemon does last
            left = [each for each in processes() if each[0] not in self.known]
            if not left:
                break
            time.sleep(0.05)
        new = self.list_files() - self.files
        for pid, _ in left:
            os.kill(pid, signal.SIGKILL)
        for path in new:
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.remove(path)
        if killed:
            new = {path for path in new if not path.startswith("/tmp/")}
        texts = [f"process {text}" for _, text in left] + sorted(new)
        return "leaves " + ", ".join(texts) if texts else None
