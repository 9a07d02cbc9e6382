#!/usr/bin/env python3
"""Signalling messages against tshark's own dissector of Q.2931, in AAL5 packets on VPI 0 and VCI 5:
every field that tshark shows has the value that leat was asked to encode, and leat shows it too.

tshark wants a trailer of SSCOP around each message (Q.2110: a sequenced data PDU), which leat leaves
out; this test adds it.

usage: q2931.py LEAT
"""

import json
import random
import subprocess
import sys
from xml.etree import ElementTree

from containers import erf_aal5
from support import Checks, encode, frames_of, leat_of, need_tshark, tshark

TYPES = (0x02, 0x05, 0x07, 0x0F, 0x4D, 0x5A, 0x75, 0x7D, 0x80, 0x81, 0x82, 0x83, 0x84)
RATES = {"forwardPeakClp0": 0x82, "backwardPeakClp0": 0x83, "forwardPeak": 0x84, "backwardPeak": 0x85,
         "forwardSustainableClp0": 0x88, "backwardSustainableClp0": 0x89, "forwardSustainable": 0x90,
         "backwardSustainable": 0x91, "forwardBurstClp0": 0xA0, "backwardBurstClp0": 0xA1,
         "forwardBurst": 0xB0, "backwardBurst": 0xB1}
SEQUENCED_DATA = 8
MESSAGES = 600


def fixed(*rows):
    """An element of numbers alone: (our name, tshark's name, bits)."""
    def make(draw):
        fields = {ours: draw.getrandbits(bits) for ours, _, bits in rows}
        return fields, [(theirs, fields[ours]) for ours, theirs, _ in rows]
    return make


def cause(draw):
    fields = {"location": draw.getrandbits(4), "cause": draw.choice((3, 16, 27, 38, 45))}
    return fields, [("cause.location", fields["location"]), ("cause.value", fields["cause"])]


def traffic(draw):
    fields, shown = {}, []
    for name, item in RATES.items():
        if draw.randrange(2):
            fields[name] = draw.choice((0, 1, 353207, 0xFFFFFF, draw.getrandbits(24)))
            shown += [("atm_identifier", item), ("atm_identifier_value", fields[name])]
    if draw.randrange(2):
        fields["bestEffort"] = True
        shown += [("atm_identifier", 0xBE)]
    if draw.randrange(2):
        fields["options"] = bits = draw.choice((0, 1, 2, 0x40, 0x80, 0xC3))
        shown += [("atm_identifier", 0xBF), ("frame_discard_forward_dir", bits >> 7 & 1),
                  ("frame_discard_backward_dir", bits >> 6 & 1), ("tagging_backward_dir", bits >> 1 & 1),
                  ("tagging_forward_dir", bits & 1)]
    return fields, shown


def aal(draw):
    fields = {"aal": 5, "forwardSdu": draw.getrandbits(16), "backwardSdu": draw.getrandbits(16),
              "sscs": draw.choice((0, 1, 2, 4))}
    return fields, [("aal_type", 5), ("aal.parameter_identifier", 0x8C),
                    ("aal1.forward_max_cpcs_sdu_size", fields["forwardSdu"]),
                    ("aal.parameter_identifier", 0x81),
                    ("aal1.backward_max_cpcs_sdu_size", fields["backwardSdu"]),
                    ("aal.parameter_identifier", 0x84), ("aal1.sscs_type", fields["sscs"])]


def bearer(draw):
    fields = {"class": draw.choice((1, 3, 16)), "clipping": draw.getrandbits(2),
              "configuration": draw.getrandbits(2)}
    shown = [("bearer_class", fields["class"])]
    if draw.randrange(2):
        fields["transfer"] = draw.choice((5, 9, 10, 12))
        shown += [("atm_transfer_capability", fields["transfer"])]
    return fields, shown + [("susceptibility_to_clipping", fields["clipping"]),
                            ("user_plane_connection_configuration", fields["configuration"])]


def number(draw, calling):
    fields = {"type": draw.choice((0, 1, 2, 4)), "plan": draw.choice((1, 2))}
    shown = [("number.type", fields["type"]), ("number.plan", fields["plan"])]
    if calling and draw.randrange(2):
        fields |= {"presentation": draw.randrange(3), "screening": draw.randrange(4)}
        shown += [("number.presentation_indicator", fields["presentation"]),
                  ("number.screening_indicator", fields["screening"])]
    if fields["plan"] == 1:
        fields["number"] = "".join(draw.choice("0123456789") for _ in range(draw.randrange(1, 16)))
        return fields, shown + [("number.string", fields["number"])]
    fields["address"] = ("47" + draw.randbytes(19).hex())  # ICD: tshark takes an ATM address apart
    return fields, shown + [("address", fields["address"])]


ELEMENTS = {
    0x08: cause,
    0x14: fixed(("state", "call_state", 6)),
    0x54: fixed(("type", "endpoint_reference.type", 8), ("flag", "endpoint_reference.flag", 1),
                ("endpoint", "endpoint_reference.identifier_value", 15)),
    0x55: fixed(("state", "endpoint_state", 6)),
    0x58: aal,
    0x59: traffic,
    0x5A: fixed(("associated", "conn_id.vp_associated_signalling", 2),
                ("exclusive", "conn_id.preferred_exclusive", 3), ("vpci", "conn_id.vpci", 16),
                ("vci", "conn_id.vci", 16)),
    0x5C: fixed(("forwardClass", "qos_class_forward", 8), ("backwardClass", "qos_class_backward", 8)),
    0x5E: bearer,
    0x6C: lambda draw: number(draw, True),
    0x70: lambda draw: number(draw, False),
}


def element(draw, key, length):
    """One element: what leat is asked for, and what tshark must show."""
    fields, shown = ELEMENTS[key](draw)
    follow, action = draw.random() < 0.3, draw.choice((0, 1, 2, 5, 6))
    asked = {"id": key, "follow": follow, "action": action, **fields}
    head = [("information_element", key), ("information_element.extension", 0x80 | follow << 4 | action),
            ("ie_coding_standard", 0), ("ie_handling_instructions", int(follow))]
    if follow:
        head.append(("ie_action_indicator", action))
    return asked, head + [("information_element.length", length)] + shown


def message(draw):
    """A message as asked, with the fields of tshark; lengths are filled in from the octets."""
    follow, action = draw.random() < 0.3, draw.randrange(3)
    asked = {"call": draw.getrandbits(23), "toOriginator": draw.random() < 0.5,
             "type": draw.choice(TYPES), "follow": follow, "action": action, "elements": []}
    shown = [("disc", 9), ("call_ref_len", 3), ("call_ref_flag", int(asked["toOriginator"])),
             ("call_ref", asked["call"]), ("message_type", asked["type"]),
             ("message_type_ext", 0x80 | follow << 4 | action), ("message_flag", int(follow))]
    if follow:
        shown.append(("message_action_indicator", action))
    shown.append(("message_len", None))
    for key in draw.sample(sorted(ELEMENTS), draw.randrange(6)):
        one, theirs = element(draw, key, None)
        asked["elements"].append(one)
        shown += theirs
    return asked, shown


def lengths_of(octets):
    """The lengths in a message, in order: its own and those of its elements."""
    yield int.from_bytes(octets[7:9], "big")
    at = 9
    while at < len(octets):
        length = int.from_bytes(octets[at + 2:at + 4], "big")
        yield length
        at += 4 + length


def run_leat(leat, verb, *arguments, text):
    done = subprocess.run([leat, verb, *arguments], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"leat {verb}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def in_sscop(octets):
    pad = -len(octets) % 4
    return octets + bytes(pad) + bytes([pad << 6 | SEQUENCED_DATA, 0, 0, 0])


def as_erf(leat, messages):
    header = encode(leat, "atm", "vpi=0", "vci=5")[:4]
    lines = "".join(json.dumps({"payload": in_sscop(octets).hex()}) + "\n" for octets in messages)
    pdus = run_leat(leat, "encode", "aal5", "--from-json", "-", text=lines).split()
    return erf_aal5([(header, bytes.fromhex(pdu)) for pdu in pdus])


def value_of(field, name):
    if name == "call_ref":
        return int(field.get("value"), 16) & 0x7FFFFF  # tshark shows the flag with it
    if name == "number.string":
        return field.get("show")
    return int(field.get("show"), 0)


def shown_by_tshark(packet):
    """(name, value) of every field, in order; the parts of an ATM address are joined."""
    shown, end = [], None
    proto = next(proto for proto in packet.iter("proto") if proto.get("name") == "q2931")
    for field in proto.iter("field"):
        name, at = field.get("name").removeprefix("q2931."), int(field.get("pos") or 0)
        if name.startswith("arp.src.atm_"):
            before = shown.pop()[1] if shown[-1][0] == "address" else ""
            shown.append(("address", before + field.get("value")))
        elif field.get("name").startswith("q2931."):
            if name == "information_element":
                end = None
            if end is None or at < end and int(field.get("size")):
                shown.append((name, value_of(field, name)))
            # Behind elements of items, tshark 4.0 reads on into the next one.
            if name == "information_element.length":
                end = at + 2 + value_of(field, name)
    return shown


def check_ours(checks, asked, decoded, octets):
    """`leat decode` gives back every number that it was asked for, or its name."""
    for ours, wanted in zip([decoded, *decoded["elements"]], [asked, *asked["elements"]]):
        for key, value in wanted.items():
            good = ours.get(key) == value or isinstance(ours.get(key), str) and key != "number"
            checks.check(key == "elements" or good, f"{octets.hex()}: {key}: {ours.get(key)}, not {value}")


def main():
    need_tshark()
    leat = leat_of(sys.argv[1:])
    checks = Checks()
    draw = random.Random(1)
    messages = [message(draw) for _ in range(MESSAGES)]
    lines = "".join(json.dumps(asked) + "\n" for asked, _ in messages)
    hexes = run_leat(leat, "encode", "q2931", "--from-json", "-", text=lines)
    octets = [bytes.fromhex(line) for line in hexes.split()]
    decoded = run_leat(leat, "decode", "--format", "q2931", "--json", text=hexes)
    checks.check(run_leat(leat, "encode", "--from-json", "-", text=decoded) == hexes,
                 "what leat decodes encodes to other octets")

    pdml = tshark(as_erf(leat, octets), "-T", "pdml", script=False)
    packets = list(ElementTree.fromstring(pdml).iter("packet"))
    checks.check(len(packets) == MESSAGES, f"{MESSAGES} messages, tshark read {len(packets)}")
    for packet, line, (asked, shown), message_octets in zip(packets, decoded.splitlines(), messages, octets):
        lengths = lengths_of(message_octets)
        shown = [(name, next(lengths) if value is None else value) for name, value in shown]
        found = shown_by_tshark(packet)
        checks.check(found == shown, f"{message_octets.hex()}:\n  tshark {found}\n  leat   {shown}")
        check_ours(checks, asked, json.loads(line)["fields"], message_octets)

    # tshark 4.0 reads beyond elements of items, which is malformed where such an element is the last.
    text = frames_of(tshark(as_erf(leat, octets), "-V", script=False))
    for frame, (asked, _), message_octets in zip(text, messages, octets):
        of_items = asked["elements"] and asked["elements"][-1]["id"] in (0x58, 0x59)
        checks.check("(correct)" in frame, f"{message_octets.hex()}: the CRC of AAL5")
        checks.check("Malformed" not in frame or of_items, f"{message_octets.hex()}: malformed")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
