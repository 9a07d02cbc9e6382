#!/usr/bin/env python3
"""leat run --gdb at a terminal: run_tool_test.py LEAT PROGRAM CERTIFICATE."""
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "screen"))
from terminal import Terminal, end, fail, has, same  # noqa: E402

leat, program, certificate = sys.argv[1:]
GDB = {"DEBUGINFOD_URLS": "", "HOME": "/nonexistent"}  # nobody's settings


def session(options, *commands):
    """Each command when gdb asks for one; returns the terminal when the last was given."""
    terminal = Terminal([leat, "run", "--fabric", "mesh:2,2", *options, "--", program, "two words"], 200, GDB.items())
    at = terminal.await_text(r"\(gdb\) ")
    for command in ("set confirm off", *commands):
        terminal.say(command + "\n")
        at = terminal.await_text(r"\(gdb\) ", at) if command != "quit" else at
    return terminal


def a_rank_stops_where_it_shall_and_nothing_else_changes():
    terminal = session(["--gdb", "1"], "break at_breakpoint", "run", "print me", "print words[1]", "info inferiors",
                       "continue", "quit")
    same("exit code", terminal.end(), 0)
    shown = terminal.shown()
    has("the breakpoint", shown, "Breakpoint 1, ")
    has("which rank it is", shown, "$1 = 1\n")
    has("its arguments", shown, '"two words"')
    has("gdb itself runs without the library, the program with it", shown, "preloaded: libleat-fi.so")
    has("the result", shown, f"certificate {certificate},")
    if re.search(r"rank 0 of 4: .*\(gdb\)", shown):
        fail("other ranks are under gdb, too")


def an_interrupt_is_for_gdb():
    terminal = Terminal([leat, "run", "--fabric", "mesh:2,2", "--gdb", "2", "--", program, "wait"], 200, GDB.items())
    at = terminal.await_text(r"\(gdb\) ")
    terminal.say("set confirm off\n")
    at = terminal.await_text(r"\(gdb\) ", at)
    terminal.say("run\n")
    at = terminal.await_text("rank 2 waits", at)
    terminal.say("\3")
    at = terminal.await_text("SIGINT", at)
    at = terminal.await_text(r"\(gdb\) ", at)
    terminal.say("kill\n")
    at = terminal.await_text(r"\(gdb\) ", at)
    terminal.say("quit\n")
    code = terminal.end()
    if code in (0, 128 + signal.SIGINT):
        fail(f"a killed rank: exit code {code}")
    has("a killed rank", terminal.shown(), "leat: ")


def a_rank_that_does_not_exist_is_refused():
    terminal = Terminal([leat, "run", "--fabric", "mesh:2,2", "--gdb", "4", "--", program], 200)
    same("exit code", terminal.end(), 2)
    has("a rank that does not exist", terminal.shown(), "--gdb 4: there are 4 tasks, expected 0 to 3")


a_rank_stops_where_it_shall_and_nothing_else_changes()
an_interrupt_is_for_gdb()
a_rank_that_does_not_exist_is_refused()
end()
