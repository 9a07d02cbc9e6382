#!/usr/bin/env python3
"""Installed in a plugin folder, the dissectors say the same as when named on the command line; and
the README beside them names every filter that they register, and no other.

usage: install.py
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from containers import pcapng
from packets import FORMATS, frames, is_carried, vectors
from support import ROOT, SCRIPT, Checks, need_tshark, run_tshark, tshark


def install(home):
    plugins = Path(home) / ".local/lib/wireshark/plugins"
    shutil.copytree(SCRIPT.parent, plugins)


def check_text(checks, home):
    captured = [frame for fmt, _, octets, _ in vectors()
                if fmt in FORMATS and is_carried(fmt, octets) for frame in frames(fmt, octets)]
    capture = pcapng(captured)
    by_script = tshark(capture, "-V")
    checks.check(tshark(capture, "-V", script=False, home=home) == by_script,
                 "a plugin shows another text than the script")
    checks.check(tshark(capture, "-V", home=home) == by_script,
                 "plugin and script together show another text than the script")


def check_readme(checks, home):
    registered = set(re.findall(r"\t(leat_\w+\.[\w.]+)\t", run_tshark(home, "-G", "fields")))
    readme = (ROOT / "share/wireshark/README.md").read_text()
    named = set()
    for protocol, names in re.findall(r"^\| `(leat_\w+)` \| (.*) \|$", readme, re.M):
        named |= {f"{protocol}.{name}" for name in re.findall(r"`([\w.]+)`", names)}
    statuses = {name for name in registered if name.endswith(".status")}
    experts = {name for name in registered
               if name.rsplit(".")[-1] in ("malformed", "checksum_bad", "preference")}
    errors = {name for name in registered if name.endswith(".error")}
    plain = registered - statuses - experts - errors
    checks.check(plain, "no field registered")
    for name in sorted(plain ^ named):
        checks.check(False, f"{name}: {'not in the README' if name in plain else 'unknown'}")
    checks.check(plain == named, "README and filters differ")


def main():
    need_tshark()
    checks = Checks()
    with tempfile.TemporaryDirectory() as home:
        install(home)
        check_text(checks, home)
        check_readme(checks, home)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
