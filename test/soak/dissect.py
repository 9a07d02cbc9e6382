"""Every codec against our Wireshark dissectors, which share no code with it: random and damaged packets of every
format are read by `leat decode` and by tshark, once per batch. Both find the same packets, the same errors, and the
same values in the same fields, in the same order.

usage: dissect.py LEAT PACKETS SEED
"""
import collections
import io
import os
import random
import re
import sys
import tempfile
from xml.etree import ElementTree

from campaign import ROOT, Campaign

sys.path.insert(0, os.path.join(ROOT, "test", "tshark"))
# pylint: disable=wrong-import-position
from containers import SECOND, pcapng
from packets import FORMATS, LINK_OF_FORMAT, cells, frames, is_carried, other_carriages, sealed, vectors
from support import (AAL_PREFERENCE, CHANNELS, SCRIPT, decode_capture, leat_of, need_tshark, run_tshark, tshark)

BATCH = 4000

# Where the two differ on purpose. Fields that the dissector may show where leat shows none: whole octets whose bits
# follow, reserved zeros and padding, lengths of parts, what carries the packet.
ONLY_DISSECTOR = {
    "atm": {"crc"},  # of an RM cell that is not of ABR, which leat shows as payload
    "aal2": {"unused"},
    # leat shows the header and trailer of a CPCS-PDU where one segment holds it all
    "aal34": {"unused", "cpcs.cpi", "cpcs.btag", "cpcs.ba_size", "cpcs.al", "cpcs.etag", "cpcs.length"},
    "aal5": {"cells", "first_cell", "last_cell", "pad"},
    "atmtask": {"zero", "message.name"},
    "aton": {"ac", "ctl", "flags", "zero", "padding", "opcode", "width", "register", "group",  # passive: no meaning
             "param", "ring_id", "sequence", "hops_left", "ring_flags", "ring_zero"},
    "atonserial": {"flags", "param"},
    "esp": {"control", "flags", "loc", "zero", "zeros", "trailing"},
    "packetway": {"words", "version", "rz", "pad", "padding", "e.little", "e.size", "leading.version", "leading.zero",
                  "leading.length", "records.pl", "records.at", "oui", "protocol",
                  "oh.last", "oh.length", "ot.last", "ot.length", "quote", "data"},  # of records: their octets, too
    "poets": {"length", "sw_addr", "pin_addr", "ms", "cnc"},
}
ONLY_LEAT = {
    "aal34": {"abort", "cpcs.payload"},  # the payload again; the dissector says abort in words
    "atmtask": {"name_words"},  # of a name whose characters are none; the dissector shows dots
}
RENAMED = {
    ("packetway", "routes"): "leading.octets",
    ("packetway", "addresses"): "records.address",
    ("packetway", "address"): "records.address",
    ("packetway", "memory_address"): "mem.address",
    ("packetway", "kind"): "leading",
    **{("packetway", name): f"mem.{name}" for name in ("count", "reply_address", "source_address")},
    ("atm", "e_rrate"): "rm.er_rate",
    ("atm", "cc_rrate"): "rm.ccr_rate",
    ("atm", "mc_rrate"): "rm.mcr_rate",
    ("atonserial", "error"): "error_bit",
}
EMPTY = {("esp", "has"), ("esp", "is")}  # "" is a dash
BITS = {  # leat: A|C, the dissector: a field each
    ("aton", "flags"): ("A", "C"),
    ("atonserial", "flags"): ("A", "C"),
    ("esp", "flags"): ("XR", "E", "R", "X"),
    ("esp", "loc"): ("input", "centre", "output"),
}


# What is sent.

def damaged(draw, octets, others):
    """One mutation of a packet."""
    octets = bytearray(octets)
    kind = draw.randrange(10)
    if kind == 0:
        return bytes(octets[:draw.randrange(len(octets) + 1)])
    if kind == 1:
        return bytes(octets) + draw.randbytes(draw.randrange(1, 70))
    if kind == 2:
        return draw.randbytes(draw.randrange(100))
    if kind == 3 and octets:
        at = draw.randrange(len(octets))
        return bytes(octets[:at]) + draw.choice(others)[at:]
    for _ in range(draw.choice((1, 1, 2, 5))):
        at, size = draw.randrange(len(octets) + 1), draw.choice((1, 1, 2, 4, 8))
        room = len(octets[at:at + size])
        if room and draw.randrange(3) == 0:
            octets[at] ^= 1 << draw.randrange(8)
        elif room:
            octets[at:at + room] = draw.choice((b"\0" * room, b"\xff" * room, draw.randbytes(room), draw.randbytes(room)))
    return bytes(octets)


def pdu_of_aal5(draw):
    payload = draw.randbytes(draw.randrange(1, 200))
    trailer = draw.randbytes(2) + len(payload).to_bytes(2, "big") + bytes(4)
    return sealed("aal5", payload + bytes(-(len(payload) + 8) % 48) + trailer)


def in_cells(draw, fmt, octets):
    """A SAR-PDU as the payload of a cell. A PDU of AAL5 has several, one of which may be lost or doubled."""
    if fmt != "aal5":
        return cells(fmt, octets[:48].ljust(48, b"\0"))
    pieces = cells(fmt, octets[:len(octets) // 48 * 48] or bytes(48))
    if draw.randrange(8) == 0:
        at = draw.randrange(len(pieces))
        pieces[at:at + 1] = [pieces[at]] * draw.choice((0, 2))
    return pieces


def inverted(seeds):
    """(format, octets): each valid vector, with each of its octets inverted, under a right checksum."""
    for fmt, _, octets in sorted({(fmt, code, octets) for fmt, code, octets in seeds if not code}):
        for at, octet in enumerate(octets):
            yield fmt, sealed(fmt, octets[:at] + bytes([octet ^ 0xFF]) + octets[at + 1:])


def randomly_damaged(draw, seeds, count):
    """(format, octets): the formats in turn, their vectors at random."""
    everything = [octets for _, _, octets in seeds]
    pools = {fmt: [octets for f, code, octets in seeds if f == fmt for _ in range(1 if code else 4)] for fmt in FORMATS}
    for number in range(count):
        fmt = FORMATS[number % len(FORMATS)]
        octets = pdu_of_aal5(draw) if fmt == "aal5" and draw.randrange(2) else draw.choice(pools[fmt])
        octets = damaged(draw, octets, everything)
        yield fmt, sealed(fmt, octets) if draw.randrange(4) else octets  # what lies behind the checksum is reached


def carried(draw, packets):
    """(what the frame is, link type, octets) of packets."""
    for fmt, octets in packets:
        if fmt in CHANNELS:
            for piece in in_cells(draw, fmt, octets):
                yield fmt, LINK_OF_FORMAT["atm"], piece
        elif not is_carried(fmt, octets):
            yield "frame", LINK_OF_FORMAT[fmt], octets
        elif octets and draw.randrange(4) == 0 and other_carriages(fmt, octets):
            yield "elsewhere", *draw.choice(other_carriages(fmt, octets))
        else:
            yield fmt, *frames(fmt, octets)[0]


def gather(seed, count):
    """Half of them differ from valid packets in one octet, the others more."""
    draw = random.Random(seed)
    seeds = [(fmt, code, octets) for fmt, code, octets, _ in vectors() if fmt in FORMATS]
    swept = list(inverted(seeds))
    packets = draw.sample(swept, min(len(swept), count // 2))
    packets += randomly_damaged(draw, seeds, count - len(packets))
    return list(carried(draw, packets))


# What tshark makes of it.

class Field:
    """One that the dissector shows: its number or text, the name of that number, its octets."""

    def __init__(self, element):
        self.name = element.get("name").split(".", 1)[1]
        self.show, self.octets = element.get("show", ""), element.get("value", "").lower()
        title = element.get("showname", "")
        named = re.search(r": (.*) \((?:0x)?[0-9a-f]+\)$", title)
        self.meaning = named[1] if named else title.split()[0] if self.is_group() and title else None

    def is_group(self):
        return not self.show and not self.octets

    def is_same(self, value):
        """Does leat's value say the same?"""
        if isinstance(value, bool):
            return self.show == str(int(value))
        if isinstance(value, int):
            return self.number() == value or self.meaning == str(value)
        octets = (value.encode(code).hex() for code in ("latin-1", "utf-32-be"))  # 32 bits: names of tasks
        return value in (self.meaning, self.show, self.octets) \
            or any(self.octets and each.ljust(len(self.octets), "0") == self.octets for each in octets)

    def number(self):
        try:
            return int(self.show, 0)
        except ValueError:
            return None

    def __repr__(self):
        return f"{self.show} ({self.meaning})" if self.meaning else self.show


def names_of_fields():
    """format -> the names of its fields, without the protocol's."""
    names = collections.defaultdict(set)
    with tempfile.TemporaryDirectory() as home:
        for line in run_tshark(home, "-G", "fields", "-X", f"lua_script:{SCRIPT}").splitlines():
            protocol, _, name = line.split("\t")[2].partition(".")
            names[protocol.removeprefix("leat_")].add(name)
    return names


def fields_in(element):
    """All below this element. A CRC in an option is not shown as its octets, too."""
    below = element.findall("field")
    is_crc = any(re.search(r"\.crc\d\d$", inner.get("name")) for inner in below)
    for inner in below:
        name = inner.get("name")
        if name.startswith("leat_") and not (is_crc and name.endswith("h.octets")):
            yield Field(inner)
        if not name.endswith(".quote"):  # another message's header, which leat leaves be
            yield from fields_in(inner)


def dissected(capture):
    """Per frame: format -> the fields of its protocol, in order; the error among them."""
    shown = []
    pdml = tshark(capture, "-o", AAL_PREFERENCE, "-T", "pdml")
    if "Lua Error" in pdml:
        sys.exit(pdml[pdml.index("Lua Error"):][:500])
    for _, element in ElementTree.iterparse(io.StringIO(pdml)):
        if element.tag != "packet":
            continue
        shown.append({proto.get("name")[5:]: list(fields_in(proto))
                      for proto in element.iter("proto") if proto.get("name").startswith("leat_")})
        element.clear()
    return shown


# What leat makes of it.

def snake(key):
    return re.sub(r"([A-Z])([A-Z][a-z])", r"\1_\2", re.sub(r"([a-z])([A-Z])", r"\1_\2", key)).lower()


def leaves(value, key="", parent=""):
    """(field or part.field, value) of what `leat decode --json` prints, in order."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, snake(name), key or parent)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, key, parent)
    else:
        yield f"{parent}.{key}" if parent else key, value


def named_as_shown(fmt, packet, names):
    """(field, value) of a valid packet, by the dissector's names; what is empty has no octets to be shown at."""
    carriage = packet.get("carriage", {}) if fmt == "poets" else {}
    for name, value in leaves({**carriage, **packet["fields"]}):
        part, _, last = name.rpartition(".")
        if (fmt, last) in BITS:
            for bit in BITS[fmt, last]:
                yield f"{last}.{snake(bit)}", bit in value.split("|")
        elif (fmt, last) in EMPTY and value == "":
            yield last, "-"
        elif value != "":
            yield RENAMED.get((fmt, last)) or (name if name in {*names[fmt], *ONLY_LEAT.get(fmt, ())} else last), value


def without_extras(fmt, said, fields):
    """What the dissector shows, but for groups, the state of checksums, and what a list cannot explain."""
    if fmt == "esp" and "loc" not in said:  # management: the control octet is zero
        del fields[:[field.name for field in fields].index("opcode")]
    for field in fields:
        if fmt == "packetway" and field.name == "data":  # with its padding and the address of a MEM-WRITE
            field.octets = field.octets[16 * ("memoryAddress" in said):len(field.octets) - 2 * said["pl"]]
        if fmt == "packetway" and field.name in ("crc32", "crc64"):
            field.name = "crc"
        if not field.name.endswith("status") and (not field.is_group() or field.name == "leading" and "leading" in said):
            yield field


def decoded(leat, capture):
    """(frame, format) -> what leat says: cells alone, and as each adaptation layer on its channel."""
    said = {}
    for aal in (None, *CHANNELS):
        for packet in decode_capture(leat, capture, *(("--format", aal) if aal else ())):
            frame = packet["time_ns"] // 1_000_000_000 - SECOND
            if not aal or packet["format"] == aal and packet.get("carriage", {}).get("vci") == CHANNELS[aal]:
                said[frame, packet["format"]] = packet
    return said


class Comparison:
    """Of one batch; counts by format go to the campaign's."""

    SHOWN_MAX = 3  # of each kind of difference

    def __init__(self, campaign, counts, names, captured):
        self.campaign, self.counts, self.names, self.captured = campaign, counts, names, captured

    def differ(self, index, fmt, what, detail):
        self.counts[fmt]["differ"] += 1
        self.counts[fmt, what]["differ"] += 1
        link, octets = self.captured[index][1:]
        self.campaign.note(f"{fmt}: {what}", f"{detail}\n    link type {link}: {octets.hex()}",
                           self.counts[fmt, what]["differ"] <= self.SHOWN_MAX)

    def compare(self, index, fmt, packet, fields):
        error = packet["error"] and packet["error"]["code"]
        errors = [field.show for field in fields if field.name == "error"]
        self.counts[fmt]["refused" if error else "valid"] += 1
        if errors != [error] * bool(error):
            self.differ(index, fmt, "error", f"leat: {error}, dissector: {errors}")
        elif not error:
            self.compare_values(index, fmt, packet, fields)

    def compare_values(self, index, fmt, packet, fields):
        said = collections.defaultdict(list)
        for name, value in named_as_shown(fmt, packet, self.names):
            said[name].append(value)
        shown = collections.defaultdict(list)
        for field in without_extras(fmt, packet["fields"], fields):
            shown[field.name].append(field)
        if fmt == "packetway":  # leat lists them by options, the dissector by place
            said["crc"].sort()
            shown["crc"].sort(key=Field.number)
        for name in sorted({*said, *shown}):
            self.compare_field(index, fmt, name, said[name], shown[name])

    def compare_field(self, index, fmt, name, said, shown):
        if not said and name in ONLY_DISSECTOR[fmt] or not shown and name in ONLY_LEAT.get(fmt, ()):
            return
        self.counts[fmt]["values"] += len(said)
        if len(said) != len(shown):
            self.differ(index, fmt, f"{name} is not shown as often", f"leat: {said}, dissector: {shown}")
        elif not all(field.is_same(value) for value, field in zip(said, shown)):
            self.differ(index, fmt, f"{name} has other values", f"leat: {said}, dissector: {shown}")


    def compare_frame(self, index, protocols, said):
        for fmt in {*protocols, *(fmt for fmt in FORMATS if (index, fmt) in said)}:
            fields, packet = protocols.get(fmt), said.get((index, fmt))
            if fields is None:
                self.differ(index, fmt, "leat alone finds it", packet)
            elif packet:
                self.compare(index, fmt, packet, fields)
            elif fmt != "aal5" or any(field.name in ("length", "error") for field in fields):  # or an inner cell
                self.differ(index, fmt, "the dissector alone finds it", fields)


def try_batch(campaign, counts, names, leat, captured):
    capture = pcapng([(link, octets) for _, link, octets in captured])
    shown, said = dissected(capture), decoded(leat, capture)
    comparison = Comparison(campaign, counts, names, captured)
    campaign.tried += len(captured)
    for index, protocols in enumerate(shown):
        comparison.compare_frame(index, protocols, said)
    if len(shown) != len(captured):
        campaign.note("frames", f"{len(captured)} captured, tshark read {len(shown)}")


def main(leat, count, seed):
    campaign = Campaign("codecs and dissectors", seed)
    counts, names = collections.defaultdict(collections.Counter), names_of_fields()
    captured = gather(seed, count)
    campaign.in_parallel(lambda at: try_batch(campaign, counts, names, leat, captured[at:at + BATCH]),
                         range(0, len(captured), BATCH))
    for fmt in FORMATS:
        row = counts[fmt]
        print(f"{fmt}: {row['valid']} valid, {row['refused']} refused, {row['values']} values, {row['differ']} differ")
        if not row["valid"] or not row["refused"]:
            campaign.note(fmt, "no packet of it, or none refused")
    campaign.end(f"{campaign.tried} frames, {sum(counts[fmt]['values'] for fmt in FORMATS)} values")


if __name__ == "__main__":
    need_tshark()
    main(leat_of(sys.argv[1:]), int(sys.argv[2]), sys.argv[3])
