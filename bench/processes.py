"""What a command costs with all the processes that it starts: seconds, and memory at its highest."""
import pathlib
import subprocess
import sys
import threading
import time


def family(root):
    """The process, and all that it has started."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                pass
    found, added = {root}, True
    while added:
        more = {process for process, parent in parents.items() if parent in found} - found
        found, added = found | more, bool(more)
    return found


def memory_kib(root):
    """Proportional: what processes share counts once."""
    total = 0
    for process in family(root):
        try:
            text = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
            total += int(text.split("\nPss:")[1].split()[0])
        except (OSError, IndexError):
            pass
    return total


def run(command, environment=None):
    """Seconds, and KiB at the highest. Watching takes a third of the time at most."""
    began, highest, done = time.monotonic(), 0, threading.Event()
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        def watch():
            nonlocal highest
            pause = 0.05
            while not done.wait(pause):
                looked = time.monotonic()
                highest = max(highest, memory_kib(process.pid))
                pause = max(0.05, 2 * (time.monotonic() - looked))

        watcher = threading.Thread(target=watch)
        watcher.start()
        errors = process.communicate()[1]
        done.set()
        watcher.join()
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}\n{errors}")
    return time.monotonic() - began, highest
