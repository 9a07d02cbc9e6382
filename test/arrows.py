#!/usr/bin/env python3
"""Dependencies point downwards only. A file may include headers of its own layer and of those below.

Two headers never have the same name, so a name tells the layer. Rooms of proto/ do not know each
other. Public headers, <leat/...>, need public headers and the C library only. Clocks, threads, files and sockets do not exist in core/, proto/ and sim/ (tests apart).
"""
import re
import subprocess
import sys

ROOMS = ["proto/atm", "proto/aton", "proto/esp", "proto/packetway", "proto/poets"]
SIM = ["sim/kernel", "sim/record", "sim/atm", "sim/net", "sim/aton", "sim/ether", "sim/esp", "sim/packetway"]
LIVE = ["live", "live/aton", "live/esp", "live/packetway"]
PROGRAM = ["program/run", "program/clock", "program/mpi", "program/pvm", "program/thesis", "program/poets",
           "program/start", "program/collective", "program/fold", "program/ranks"]
# A layer, and what stands below it. A folder belongs to the longest of these names that it begins with.
BELOW = {
    "include": [],
    "core": [],
    **{room: ["core"] for room in ROOMS},
    "proto": ["core", *ROOMS],
    "port": ["core"],
    "sim/kernel": ["core", "port"],
    "sim/record": ["core", "sim/kernel"],
    "sim/atm": ["core", "port", "sim/kernel", "sim/net", "proto/atm"],
    "sim/net": ["core", "port", "sim/kernel", "proto/esp"],
    "sim/aton": ["core", "port", "sim/kernel", "proto/aton"],
    "sim/ether": ["core", "port", "sim/kernel", "proto/esp"],
    "sim/esp": ["core", "sim/kernel", "proto/esp"],
    "sim/packetway": ["core", "port", "sim/kernel", "sim/atm", "sim/net", "sim/aton", "sim/ether",
                      "proto/atm", "proto/aton", "proto/packetway"],
    "crew": ["core", "sim/kernel"],
    "device": ["core", "sim/kernel", "sim/net"],
    "fabric": ["core", "crew", "port", *SIM, "proto/atm", "proto/aton", "proto/packetway"],
    "view": ["core", "sim/kernel", "sim/record"],
    "live": ["core"],
    "live/aton": ["core", "live", "proto/aton"],
    "live/esp": ["core", "live", "proto/esp"],
    "live/packetway": ["core", "live", "proto/packetway"],
    "program/run": ["core", "port"],
    "program/clock": ["core", "program/run"],
    "program/mpi": ["core", "program/run", "program/clock"],
    "program/fold": ["core", "port"],
    "program/pvm": ["core", "port", "program/run", "program/clock", "program/fold"],
    "program/thesis": ["core", "port", "program/run", "program/clock"],
    "program/poets": ["core", "port", "proto/poets"],
    "program/start": ["core", "program/run"],
    "program/ranks": ["core", "sim/kernel"],
    "program/collective": ["core", "port", "program/run", "program/mpi", "program/fold"],
    "tool": ["core", "crew", "device", "fabric", "port", "view", "proto", *ROOMS, *SIM, *LIVE, *PROGRAM],
    "bench": ["core", "crew", "device", "fabric", "port", "proto", *ROOMS, *SIM, *LIVE, *PROGRAM],
    "test": ["core"],
}
# Programs reach networks through port/, but their tests need one.
OF_TESTS = {"program/run": ["sim/atm"], "program/pvm": ["sim/atm"], "program/thesis": ["sim/atm"]}
PURE = ("core/", "proto/", "sim/")
IMPURE = {"time.h", "pthread.h", "threads.h", "stdio.h", "unistd.h", "fcntl.h", "sys/socket.h"}


def layer_of(path):
    layers = [layer for layer in BELOW if path.startswith(layer + "/")]
    return max(layers, key=len) if layers else None


def is_test(path):
    return bool(re.search(r"_(test|fuzz)\.[ch]$", path))


def main():
    files = subprocess.run(["git", "ls-files", "*.c", "*.h"], capture_output=True, text=True, check=True).stdout.split()
    files = [file for file in files if not file.startswith(("share/", "test/"))] + ["test/tap.h", "test/format_harness.h"]
    bad = []
    home = {}
    for file in files:
        name = file.rsplit("/", 1)[-1]
        if file.startswith("include/"):
            continue
        if name in home:
            bad.append(f"{file}: {home[name]} has the same name")
        home[name] = file
    for file in files:
        layer = layer_of(file)
        if not layer:
            bad.append(f"{file}: of no layer, expected one of {', '.join(BELOW)}")
            continue
        allowed = {layer, *BELOW[layer]} | ({"test", *OF_TESTS.get(layer, [])} if is_test(file) else set())
        with open(file, encoding="utf-8") as text:
            includes = re.findall(r'^#include ([<"])(.*)[>"]$', text.read(), re.M)
        for kind, header in includes:
            if kind == "<":
                if header.startswith("leat/") and "include/" + header not in files:
                    bad.append(f"{file}: <{header}> is not in include/")
                if header in IMPURE and file.startswith(PURE) and not is_test(file):
                    bad.append(f"{file}: <{header}>, expected no clock, thread, file or socket here")
            elif header not in home or layer_of(home[header]) not in allowed:
                bad.append(f'{file}: "{header}" does not lie below {layer}')
    print("\n".join(bad) or f"{len(files)} files")
    return 1 if bad else 0


sys.exit(main())
