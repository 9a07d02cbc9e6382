"""Every reader of a user's file, with files cut at every octet, and mutated.

A command that reads such a file ends with 0, 1 or 2, and with a message unless it is 0: no signal, no report of a
sanitizer, no end without a message, no more memory than MEMORY_MB, no more time than LIMIT.

A file of more than CUTS_MAX octets is cut at as many random ones.

usage: cut.py LEAT MUTATIONS SEED [READER]     MUTATIONS of each file; CUT=0.1 in the environment: a tenth of the cuts
"""
import glob
import os
import random
import re
import subprocess
import sys

from campaign import ROOT, Campaign, last_lines, run, wrong_end

CUTS_MAX = 4000
EXTREMES = [b"0", b"1", b"-1", b"255", b"256", b"65535", b"65536", b"2147483648", b"4294967295", b"4294967296",
            b"18446744073709551615", b"18446744073709551616", b"1e15", b"1e400", b"-1e-400", b"nan", b"inf",
            b"0x7fffffffffffffff", b"99999999999999999999999999"]


def text_of(path):
    """Without comments and blank lines, so that there are fewer places to cut at."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        lines = [re.sub(r"(^|\s+)#.*", "", line.rstrip()) for line in file]
    return "\n".join(line for line in lines if line).encode() + b"\n"


def octets_of(path):
    with open(os.path.join(ROOT, path), "rb") as file:
        return file.read()


def output_of(*command, text=b""):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def written_by(campaign, *command):
    """What the command writes to the file that is its last word."""
    path = campaign.path("written")
    if os.path.exists(path):
        os.remove(path)
    output_of(*command, path)
    return octets_of(path)


def readers(campaign, leat):
    """Name, a file's name, its octets, and the command behind leat, where {} is the file."""
    yield from readers_of_packets(campaign, leat)
    yield from readers_of_networks()
    yield from readers_of_runs(campaign, leat)
    yield from readers_of_settings()


def readers_of_packets(campaign, leat):
    formats = ["atm", "aal1", "aal2", "aal34", "aal5", "atmllc", "atmarp", "q2931", "atmtask", "aton", "atonserial",
               "esp", "packetway", "poets"]
    lines = {each: output_of(leat, "encode", each) for each in formats}
    yield "hex text", "in.hex", b"# two\n" + lines["esp"] * 2, ["decode", "--format", "esp", "--json", "{}"]
    for each in formats:
        raw = bytes.fromhex(lines[each].decode())
        yield f"octets of {each}", "in.bin", raw, ["decode", "--input", "raw", "--format", each, "--json", "{}"]
    yield "lenient", "in.bin", bytes.fromhex(lines["packetway"].decode()), [
        "decode", "--input", "raw", "--format", "packetway", "--lenient", "{}"]
    for each in ("aal5", "packetway", "poets"):
        capture = written_by(campaign, leat, "encode", each, "--pcapng")
        yield f"capture of {each}", "in.pcapng", capture, ["decode", "--json", "{}"]
    yield "old capture", "in.pcap", octets_of("core/format/corpus/leat_capture_fuzz/old.pcap"), ["decode", "{}"]
    objects = b"".join(output_of(leat, "decode", "--format", each, "--json", text=lines[each]) for each in ("esp", "q2931"))
    yield "JSON", "in.json", objects, ["encode", "--from-json", "{}"]


def readers_of_networks():
    for name in ("campus", "twosan", "mesh8x8", "fattree4x2", "boards2x2"):
        yield f"fabric {name}", "in.yaml", text_of(f"share/fabrics/{name}.yaml"), ["fabric", "check", "{}"]
    yield "edges", "in.edges", text_of("share/fabrics/campus.edges"), ["fabric", "check", "{}"]
    yield "edges of esp", "in.edges", b"0 1 2\n1 2\n2 3 4\n0 4\n4 5\n", [
        "esp", "sim", "--graph", "{}", "--service", "census"]
    yield "trace", "in.trace", b"0 0 5 2\n3 1 4 1\n9 2 7\n20 15 0 4\n", [
        "sim", "mesh:4,4", "--traffic", "trace", "--trace", "{}", "--cycles", "1000"]
    yield "faults", "in.faults", b"link:0-4@100..900\nport:3@5..90\nber:1e-5\nswitch:5@20..40\nflap:1-5/20,50\n", [
        "sim", "clos444", "--cycles", "2000", "--fault-file", "{}"]
    yield "contracts", "in.contracts", text_of("share/contracts/office.contracts"), [
        "sim", "clos444", "--cycles", "2000", "--contracts", "{}"]
    yield "calls", "in.calls", text_of("share/contracts/day.calls"), [
        "sim", "clos444", "--cycles", "2000", "--calls", "{}"]
    yield "circuits", "in.circuits", text_of("share/circuits/exchange.circuits"), [
        "sim", "clos444", "--cycles", "2000", "--circuits", "{}"]


def readers_of_runs(campaign, leat):
    recording = written_by(campaign, leat, "sim", "bmx:2", "--cycles", "600", "--record")
    yield "recording", "in.leatrec", recording, [
        "export", "{}", "--csv=/dev/null", "--vcd=/dev/null", "--perfetto=/dev/null", "--pcapng=/dev/null"]
    sweep = ["sweep", "mesh:2,2", "--load", "0.1", "--seeds", "1", "--cycles", "100", "--store"]
    store = written_by(campaign, leat, *sweep)
    yield "store, reported", "in.sqlite", store, ["report", "{}", "--csv", "-"]
    yield "store, continued", "in.sqlite", store, [*sweep, "{}"]
    vectors = "proto/atm/vectors/unit/"
    yield "stimuli of ppd", "in.stimuli", text_of(vectors + "ppd_success.stimuli"), ["unit", "ppd", "--cycles", "20", "{}"]
    yield "stimuli of spd", "in.stimuli", text_of(vectors + "spd_success.stimuli"), ["unit", "spd", "--cycles", "20", "{}"]
    yield "stimuli of bmx", "in.stimuli", text_of(vectors + "bmx_routing.stimuli"), ["unit", "bmx", "--cycles", "20", "{}"]
    yield "schedule", "in.schedule", text_of("share/benches/two_messages.schedule"), [
        "unit", "aal", "--cycles", "200", "{}"]
    yield "linear system", "in.txt", b"2 1 1 5\n1 3 2 6\n1 0 1 3\n", ["experiment", "linear", "{}"]
    yield "matrices", "in.txt", b"1 2\n3 4\n*\n5 6\n7 8\n", ["experiment", "matrix", "{}"]
    messages = b"".join(octets_of("proto/atm/vectors/apps/comm_experimental.csv").splitlines(True)[:12])
    yield "messages", "in.csv", messages, ["experiment", "contention", "{}"]
    yield "placement", "in.txt", b"0 1\n1-2 3\n3 2\n", [
        "run", "--fabric", "mesh:2,2", "-n", "4", "--placement", "{}", "--library", "mpi", "--", "true"]
    for name in ("ring", "smooth"):
        yield f"graph {name}", "in.xml", octets_of(f"share/poets/{name}.xml"), [
            "graph", "check", "--no-handlers", "{}"]


def readers_of_settings():
    yield "script", "in.esp", text_of("share/esp/census.esp"), ["esp", "exec", "{}", "--tree", "2,2", "--members", "4"]
    yield "values", "in.txt", b"1\n2 3\n4\n", ["esp", "sim", "--tree", "2,2", "--members", "4", "--service", "sum",
                                               "--values", "{}"]
    yield "operands", "in.txt", b"7\n7\n3\n7\n", ["ring", "majority", "--stations", "4", "--operands", "{}"]
    yield "settings of esp", "in.yaml", text_of("share/systemd/esp.yaml").replace(b"eth", b"nosuch"), [
        "esp", "route", "--config", "{}"]
    yield "settings of ring", "in.yaml", text_of("share/systemd/ring.yaml"), [
        "ring", "join", "--dev", "nosuch0", "--config", "{}"]
    yield "settings of pktway", "in.yaml", text_of("share/systemd/pktway.yaml").replace(b"eth", b"nosuch"), [
        "pktway", "route", "--config", "{}"]
    yield "key", "in.key", b"00112233445566778899aabbccddeeff\n", [
        "ring", "join", "--dev", "nosuch0", "--address", "3", "--previous", "02:00:00:00:00:02",
        "--next", "02:00:00:00:00:04", "--key-file", "{}"]


def mutated(draw, octets):
    """One to four random changes."""
    text = bytearray(octets)
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        how = draw.randrange(7)
        at = draw.randrange(len(text) + 1)
        size = 1 + draw.randrange(draw.choice([1, 4, 40]))
        if how == 0 and at < len(text):
            text[at] ^= 1 << draw.randrange(8)
        elif how == 1 and at < len(text):
            text[at] = draw.randrange(256)
        elif how == 2:
            text[at:at] = draw.randbytes(size)
        elif how == 3:
            del text[at:at + size]
        elif how == 4:
            source = draw.randrange(len(text) + 1)
            text[at:at] = text[source:source + size]
        elif how == 5:
            text[at:at + 8] = draw.choice([b"\0", b"\xff", b"\x80", b"\x7f"]) * draw.choice([1, 2, 4, 8])
        else:
            numbers = list(re.finditer(rb"\d+", bytes(text)))
            if numbers:
                number = draw.choice(numbers)
                text[number.start():number.end()] = draw.choice(EXTREMES)
    return bytes(text)


class Reader:
    def __init__(self, campaign, leat, name, file, octets, words):
        self.campaign, self.leat, self.name, self.file = campaign, leat, name, file
        self.octets, self.words, self.accepted = octets, words, 0

    def try_one(self, item):
        case, octets = item
        path = self.campaign.path(f"{re.sub('[^a-z0-9]', '-', self.name)}-{case}-{self.file}")
        with open(path, "wb") as file:
            file.write(octets)
        os.chmod(path, 0o600)
        command = [self.leat, *(path if word == "{}" else word for word in self.words)]
        done = run(command)
        how = wrong_end(done)
        self.campaign.tried += 1
        self.accepted += done.code == 0
        if case == "whole" and done.code and "nosuch" not in done.err.decode():
            self.campaign.note(f"{self.name}, whole", f"refused: {last_lines(done.err)}")
        if how:
            self.campaign.note(f"{self.name}, {case}", f"{how}\n    {' '.join(command)}\n    {self.campaign.kept(path)}")
        for left in glob.glob(path + "*"):
            os.remove(left)

    def cases(self, mutations, share, seed):
        draw = random.Random(f"{seed} {self.name}")
        cuts = list(range(len(self.octets)))
        wanted = min(CUTS_MAX, int(len(cuts) * share))
        yield "whole", self.octets
        for cut in cuts if wanted == len(cuts) else sorted(draw.sample(cuts, wanted)):
            yield f"cut at {cut}", self.octets[:cut]
        for number in range(mutations):
            yield f"mutation {number}", mutated(draw, self.octets)


def main(leat, mutations, seed, only=""):
    campaign = Campaign("cut and mutated files", seed)
    share = float(os.environ.get("CUT", "1"))
    count = 0
    for row in readers(campaign, leat):
        if only not in row[0]:
            continue
        reader = Reader(campaign, leat, *row)
        before = campaign.tried
        campaign.in_parallel(reader.try_one, reader.cases(mutations, share, seed))
        tried = campaign.tried - before
        print(f"{reader.name}: {len(reader.octets)} octets, {tried} files, {reader.accepted} accepted", flush=True)
        count += 1
    campaign.end(f"{count} readers, {campaign.tried} files")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3], *sys.argv[4:])
