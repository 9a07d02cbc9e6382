"""The leat command: where it is, how keywords become options, how it is run and how it fails."""
from __future__ import annotations

import json
import numbers
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

TICK_SECONDS = 0.2  # between two looks at what a child has finished
GRACE_SECONDS = 10.0  # for an interrupted child to print what it has


class LeatError(Exception):
    """The command failed. `code` is its exit code (2: a wrong argument or file), `message` what it
    says, `words` the command line."""

    def __init__(self, code: int, message: str, words: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.code, self.message, self.words = code, message, list(words)


class LeatWarning(UserWarning):
    """What the command says beside a result: a deadlock, failed runs, the former name of an option."""


class Interrupted(KeyboardInterrupt):
    """A KeyboardInterrupt that ended the command; `result` has what was finished, or is None."""

    def __init__(self, result: Any = None) -> None:
        super().__init__("interrupted; .result has what was finished" if result else "interrupted")
        self.result = result


# ---- where it is -----------------------------------------------------------------------------------

def find_command(given: str | os.PathLike[str] | None = None) -> str:
    """The command: the argument, leat.command, $LEAT, PATH, or build/leat of the tree that the package
    lies in or Python runs in."""
    chosen = given or getattr(sys.modules[__package__], "command", None) or os.environ.get("LEAT")
    if chosen:
        found = shutil.which(os.fspath(chosen))
        if found:
            return os.path.abspath(found)  # the child may run in another folder
        raise LeatError(127, f"{os.fspath(chosen)}: no such command, expected the path of leat")
    built = pathlib.Path(__file__).resolve().parents[2] / "build" / "leat"
    found = shutil.which("leat") or shutil.which(str(built)) or shutil.which("build/leat")
    if found:
        return os.path.abspath(found)
    raise LeatError(127, "the command leat is not found: neither in PATH nor as "
                         f"{built}. Build it with `make` (and `make install`), or set the environment "
                         "variable LEAT or leat.command to its path")


# ---- options ---------------------------------------------------------------------------------------

def text_of(value: object) -> str:
    """A value as the command takes it. 0.1 + 0.2 is 0.3 there, and 1e6 a whole number."""
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        number = float(value)
        return str(int(number)) if number.is_integer() else format(number, ".12g")
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    raise TypeError(f"{value!r}, expected a number, a text or a path")


def texts_of(values: Any) -> list[str]:
    """One value or several, as the command takes them."""
    if values is None:
        return []
    if isinstance(values, Iterable) and not isinstance(values, (str, os.PathLike)):
        return [text_of(value) for value in values]
    return [text_of(values)]


def options_of(keywords: dict[str, Any]) -> list[str]:
    """packet_flits=8 is --packet-flits 8, j=2 is -j 2, True a switch, a list an option for each value;
    None and False are left out. An underscore at the end allows Python's own words."""
    words: list[str] = []
    for keyword, value in keywords.items():
        name = keyword.rstrip("_").replace("_", "-")
        if name == "json":
            raise TypeError("json is not an argument: the result has it as .json")
        option = ("-" if len(name) == 1 else "--") + name
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            for text in texts_of(value):
                words += [option, text]
    return words


# ---- running it ------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Ended:
    """A child that has ended."""
    words: list[str]
    code: int
    out: bytes
    err: str
    interrupted: bool = False

    def error(self) -> LeatError:
        said = self.err.strip() or f"{shlex.join(self.words)}: exit code {self.code}"
        return LeatError(self.code, said, self.words)

    def objects(self, text: str | None = None) -> list[dict[str, Any]]:
        """The JSON objects of its output, or of a text, one per line. Without any it has failed."""
        lines = (self.out.decode() if text is None else text).splitlines()
        found = [json.loads(line) for line in lines if line.startswith("{")]
        if not found and self.code and not self.interrupted:
            raise self.error()
        return found


def warn(text: str) -> None:
    """Points to the line that called the package."""
    depth, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(text, LeatWarning, stacklevel=depth)


def start(words: list[str], **how: Any) -> subprocess.Popen[bytes]:
    """In a process group of its own: Ctrl-C on a terminal reaches Python, which then ends the child."""
    return subprocess.Popen(words, stdout=subprocess.PIPE, process_group=0, **how)


def end(child: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Interrupts it and takes what it still prints; a second interrupt, or silence, kills it."""
    child.send_signal(signal.SIGINT)
    try:
        return child.communicate(timeout=GRACE_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        os.killpg(child.pid, signal.SIGKILL)  # with its own children
        return child.communicate()


def call(words: list[str], given: bytes | None = None, tick: Callable[[], None] | None = None) -> Ended:
    """Runs it to its end and calls `tick` now and then. After a KeyboardInterrupt, the result has what
    the child printed and says so: the caller raises Interrupted."""
    stdin = subprocess.DEVNULL if given is None else subprocess.PIPE
    with start(words, stdin=stdin, stderr=subprocess.PIPE) as child:
        interrupted = False
        try:
            while True:
                try:
                    out, err = child.communicate(given, timeout=TICK_SECONDS if tick else None)
                    break
                except subprocess.TimeoutExpired:
                    given = None  # communicate goes on with it
                    if tick:
                        tick()
        except KeyboardInterrupt:
            out, err = end(child)
            interrupted = True
        except BaseException:  # of a callback
            end(child)
            raise
    return Ended(words, child.returncode, out, err.decode(errors="replace"), interrupted)


def ask(words: list[str], given: bytes | None = None) -> Ended:
    """Runs it for an answer; anything but success is an error."""
    ended = call(words, given)
    if ended.interrupted:
        raise Interrupted()
    if ended.code:
        raise ended.error()
    return ended
