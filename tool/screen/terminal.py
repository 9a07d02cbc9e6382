"""A command at a terminal, for tests: what it writes, what a user would then see, and keys."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 300  # seconds after which a test gives up
LINES = 500     # more than any test writes: nothing scrolls away
bad = 0


def fail(text):
    global bad
    bad += 1
    print(f"FAILED: {text}")


def same(what, got, want):
    if got != want:
        fail(f"{what}: got {got!r}, want {want!r}")


def has(what, text, part):
    if part not in text:
        fail(f"{what}: {text!r} does not have {part!r}")


class Terminal:
    def __init__(self, words, columns=80, variables=()):
        environment = {**os.environ, "TERM": "xterm", **dict(variables)}
        self.columns = columns
        self.text = ""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, columns, 0, 0))
        self.pid = os.fork()
        if self.pid == 0:
            os.close(master)
            os.login_tty(slave) if hasattr(os, "login_tty") else self.log_in(slave)
            os.execvpe(words[0], words, environment)
        os.close(slave)
        self.master = master

    @staticmethod
    def log_in(slave):
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for file in range(3):
            os.dup2(slave, file)

    def read(self, seconds):
        """False: the command has closed the terminal."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            octets = os.read(self.master, 65536)
        except OSError:
            return False
        self.text += octets.decode(errors="replace")
        return bool(octets)

    def await_text(self, part, begin=0):
        """Until it has written this; returns where that ends. `part` is a regular expression."""
        gives_up_at = time.monotonic() + PATIENCE
        while not (found := re.search(part, self.text[begin:])):
            if time.monotonic() > gives_up_at or not self.read(1):
                fail(f"no {part!r} in {self.text[begin:]!r}")
                return len(self.text)
        return begin + found.end()

    def say(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        """Its exit code; a signal's is negative."""
        while self.read(PATIENCE):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def shown(self):
        """The lines that a user sees at the end: what was erased or overwritten is gone."""
        lines, row, column = [""], 0, 0
        for piece in re.findall(r"\x1b\[\??[0-9;]*[A-Za-z]|.|\n|\r", self.text):
            if piece == "\r":
                column = 0
            elif piece == "\n":
                row += 1
                lines += [""] * (row + 1 - len(lines))
            elif piece == "\33[K":
                lines[row] = lines[row][:column]
            elif piece[0] != "\33":
                if column == self.columns:  # the terminal wraps
                    row, column = row + 1, 0
                    lines += [""] * (row + 1 - len(lines))
                lines[row] = lines[row][:column].ljust(column) + piece + lines[row][column + 1:]
                column += 1
        return "\n".join(lines)


def in_pipes(words, variables=()):
    done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "TERM": "xterm", **dict(variables)}, timeout=PATIENCE)
    return done.stdout + done.stderr


def end():
    sys.exit(bad > 0)
