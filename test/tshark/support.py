"""Shared by the tests in this folder: tshark, the leat command, and packets of other tests."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "share/wireshark/leat.lua"
PACKETS = ROOT / "test/tshark/transcript.jsonl"  # some of every format
SKIPPED = 77

# One channel per adaptation layer, so that one capture can hold them all.
CHANNELS = {"aal1": 33, "aal2": 34, "aal34": 35, "aal5": 36}
AAL_PREFERENCE = "leat_atm.aal:" + ",".join(f"0/{vci}={aal}" for aal, vci in CHANNELS.items())


def need_tshark():
    if not shutil.which("tshark"):
        print("skipped: tshark is not installed")
        sys.exit(SKIPPED)


def leat_of(arguments):
    """The tool, by the first argument."""
    if not arguments or not os.access(arguments[0], os.X_OK):
        print(f"usage: {sys.argv[0]} LEAT, the path of the leat tool")
        sys.exit(2)
    return os.path.abspath(arguments[0])


def encode(leat, fmt, *fields):
    """The octets of one packet by `leat encode FORMAT FIELD=VALUE... --hex`."""
    command = [leat, "encode", fmt, *fields, "--hex"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    return bytes.fromhex(done.stdout)


def encode_capture(leat, lines):
    """A capture of packets written as `leat decode --json` would print them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "capture.pcapng"
        command = [leat, "encode", "--from-json", "-", "--pcapng", str(path)]
        done = subprocess.run(command, input=lines, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
        return path.read_bytes()


def decode_capture(leat, capture, *arguments):
    """What `leat decode` makes of it; exit 1 says that packets are damaged, which is no matter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "capture.pcapng"
        path.write_bytes(capture)
        command = [leat, "decode", "--json", *arguments, str(path)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def run_tshark(home, *arguments):
    """Its standard output. A home of its own keeps the user's settings out."""
    environment = dict(os.environ, HOME=home, XDG_CONFIG_HOME=home, TZ="UTC", LC_ALL="C.UTF-8")
    done = subprocess.run(["tshark", *arguments], capture_output=True, text=True, errors="replace",
                          env=environment)
    if done.returncode or "Lua" in done.stderr or "Error during loading" in done.stderr:
        sys.exit(f"tshark {' '.join(arguments)}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def tshark(capture, *arguments, script=True, home=None):
    """tshark on a capture, given as octets, with our dissectors or with its own alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "capture"
        path.write_bytes(capture)
        ours = ["-X", f"lua_script:{SCRIPT}"] if script else []
        return run_tshark(home or folder, *ours, "-n", "-r", str(path), *arguments)


def frames_of(text):
    """The text of `tshark -V` by frame."""
    frames = []
    for line in text.splitlines():
        if line.startswith("Frame "):
            frames.append("")
        if frames:
            frames[-1] += line + "\n"
    return frames


def with_bit_flipped(octets, bit):
    flipped = bytearray(octets)
    flipped[bit // 8] ^= 0x80 >> bit % 8
    return bytes(flipped)


class Checks:
    """Counts what was checked and says what failed; `finish` is the exit status."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, good, what):
        if good:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= 20:
            print(f"failed: {what}")

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
