#!/usr/bin/env python3
"""Progress and colours: screen_test.py LEAT FOLDER PROGRAM GRAPH. PROGRAM writes "line 0", "line 1" ...
and never ends, nor does GRAPH."""
import re
import signal
import sys
import time

from terminal import Terminal, end, fail, has, in_pipes, same

leat, folder, program, graph = sys.argv[1:]
ENDLESS = ["--cycles", "1e13"]
SIZES = ",".join(str(60000 + 4 * i) for i in range(250))
# A command that runs for ever or nearly so, its progress, and what it says when it is interrupted.
WORK = {
    "sim mesh": (["sim", "mesh:8,8", *ENDLESS], r"%  cycle \d+ of 10000000000000, \S+( k| M)?/s, \d+ d \d\d h left",
                 "network time), interrupted\n"),
    "sim clos": (["sim", "clos444", *ENDLESS], r"%  cycle \d+ of", "network time), interrupted\n"),
    "sim ring": (["sim", "ring16", *ENDLESS], r"%  cycle \d+ of", "bits round the ring, interrupted\n"),
    "sim ether": (["sim", "ether16", *ENDLESS], r"%  cycle \d+ of", "16 stations, interrupted\n"),
    "sim packetway": (["sim", "twosan", *ENDLESS], r"%  cycle \d+ of", "routers 1, interrupted\n"),
    "sim contracts": (["sim", "clos444", "--contracts", "share/contracts/office.contracts", *ENDLESS],
                      r"%  cycle \d+ of", "interrupted"),
    "sweep": (["sweep", "bmx:16", "--load", "0,0.9", "--seeds", "2", "-j", "2", *ENDLESS],
              r"\[#{12}\.{12}\] 2 of 4 runs, 2 running, \S+/s, \d+ s left", "Interrupted: the other runs are missing.\n"),
    "run": (["run", "--fabric", "mesh:2,2", "--", program], r"0\.\d{6} s simulated, \S+ per real second, \S+( k| M)? messages",
            " s real, interrupted\n"),
    "experiment": (["experiment", "echo", "--bytes", SIZES], r"size \d+ of 250", "interrupted\n"),
    "graph": (["graph", "run", graph], r"\d+ s, \S+( k| M| G)? packets received, ", "interrupted after"),
}
CONTROL = re.compile(r"\x1b\[\??[0-9;]*[A-Za-z]")


def words_of(name, columns):
    store = ["--store", f"{folder}/{columns}.sqlite"] if name == "sweep" else []
    return [leat, *WORK[name][0], *store]


def interrupt_at_progress(name, columns):
    """Waits for progress, then presses Ctrl-C: what is finished is shown, the progress is gone."""
    _, progress, result = WORK[name]
    began = time.monotonic()
    terminal = Terminal(words_of(name, columns), columns)
    part = progress if columns >= 80 else r"\r[^\r\n]+\x1b\[K"
    after = terminal.await_text(part)
    if time.monotonic() - began < 2:
        fail(f"{name}: progress within two seconds")
    terminal.await_text(part, after)  # it changes
    terminal.say("\3")
    same(f"{name}: exit code", terminal.end(), 128 + signal.SIGINT)
    shown = terminal.shown()
    drawn = re.findall(r"\r([^\r\n\x1b]+)\x1b\[K", terminal.text)
    for line in drawn:
        if len(line) >= columns:
            fail(f"{name}: '{line}' does not fit into {columns} columns")
        if line in shown:
            fail(f"{name}: '{line}' stays on the screen: {shown}")
    if columns >= 80:
        has(f"{name}: what is finished", shown.replace("^C", "") + "\n", result.strip("\n"))
    return shown


def progress_comes_and_goes():
    for name in WORK:
        shown = interrupt_at_progress(name, 132)
        if name == "run":
            lines = re.findall(r"^(?:\^C)?line (\d+)$", shown, re.M)
            if not lines or lines != [str(i) for i in range(len(lines))]:
                fail(f"run: the program's lines are not whole: {shown}")
    for name in ("sim mesh", "sweep", "run"):
        interrupt_at_progress(name, 24)


def pipes_get_no_progress():
    """For longer than progress takes to come."""
    for name in ("sim mesh", "run", "experiment"):
        words = ["timeout", "-s", "INT", "--preserve-status", "4", *words_of(name, 80)]
        text = in_pipes(words)
        has(f"{name} in pipes", text, "interrupted")
        if "\33" in text or "\r" in text:
            fail(f"{name}: a pipe gets {text!r}")


def only_standard_error_matters():
    """Output to a file does not change what a user at the terminal sees."""
    terminal = Terminal(["sh", "-c", f"exec {leat} sim mesh:8,8 --cycles 1e15 > {folder}/output"])
    terminal.await_text(r"%  cycle \d+ of")
    terminal.say("\3")
    same("exit code with output in a file", terminal.end(), 128 + signal.SIGINT)
    with open(f"{folder}/output", encoding="utf-8") as file:
        output = file.read()
    has("output in a file", output, "interrupted")
    if "\33" in output or "\r" in output:
        fail(f"a file gets {output!r}")


def colours_are_for_terminals():
    locked = ["sim", "mesh:4,4/route=adaptive", "--cycles", "10"]
    commands = [["help", "sim"], ["help", "esp", "route"], ["no-such-verb"], ["sim"], ["sim", "ring16", "--nothing"],
                ["sim", "mesh:4,4", "--traffic", "uniform", "--hot", "3", "--cycles", "2000", "--load", "0.9"], locked]
    for command in commands:
        words = [leat, *command]
        plain = in_pipes(words)
        if "\33" in plain:
            fail(f"{command}: a pipe gets colours: {plain!r}")
        for variables, coloured in (((), True), ((("NO_COLOR", ""),), True), ((("NO_COLOR", "1"),), False),
                                    ((("TERM", "dumb"),), False)):
            terminal = Terminal(words, 400, variables)
            terminal.end()
            got = terminal.text.replace("\r\n", "\n")
            if coloured != ("\33[" in got):
                fail(f"{command} with {variables}: colours expected: {coloured}, got {got!r}")
            timeless = [re.sub(r"\S+  seconds.*", "", text) for text in (CONTROL.sub("", got), plain)]
            same(f"{command}: the text is the same", *(sorted(text.split("\n")) for text in timeless))


def meanings_have_their_colours():
    """Headings are bold, warnings yellow, errors red."""
    terminal = Terminal([leat, "help", "sim"])
    terminal.end()
    for heading in ("leat sim:", "Examples:", "Options:"):
        has("a heading", terminal.text, f"\33[1m{heading}\33[0m")
    terminal = Terminal([leat, "sim", "mesh:4,4", "--hot", "3", "--load", "0.9", "--cycles", "5000"])
    terminal.end()
    has("a warning", terminal.text, "\33[33mleat:\33[0m --hot has no effect")
    has("saturation", terminal.text, "\33[33msaturated\33[0m: ")
    terminal = Terminal([leat, "no-such-verb"])
    same("exit code", terminal.end(), 2)
    has("an error", terminal.text, "\33[1;31mleat:\33[0m unknown verb")


colours_are_for_terminals()
meanings_have_their_colours()
pipes_get_no_progress()
only_standard_error_matters()
progress_comes_and_goes()
end()
