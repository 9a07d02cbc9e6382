#!/usr/bin/env python3
"""The hops in the table of a recording: packets go from wire to wire without a jump, later each time, and reach the port that
their last wire leads to. Arguments: the table, the fabric's name."""
import collections
import csv
import sys

FIRST_PACKET = 1 << 34
table, fabric = sys.argv[1:]
wrong, at, since, last_hop = [], {}, {}, 0
count, port_of_wire = collections.Counter(), {}
events = list(csv.DictReader(open(table, newline="")))
for e in events:
    if not e["message"] or int(e["message"]) < FIRST_PACKET:
        continue
    packet, what, time = int(e["message"]), e["track"].rsplit(".", 1)[1], int(e["time_ps"])
    count[e["event"]] += 1
    if e["event"] == "leaves":
        if packet in at:
            wrong.append(f"{packet} leaves twice")
        at[packet] = what
    elif e["event"] == "passes":
        begin, end = what.split(" ")[0].split(">")
        where = at.get(packet)
        if where and where.startswith("port"):  # each port is at one router
            if port_of_wire.setdefault(where, begin) != begin and "clos" not in fabric and "bmx" not in fabric:
                wrong.append(f"{where} is at {begin} and {port_of_wire[where]}")
        elif where != begin:
            wrong.append(f"{packet} is at {where}, not at {begin}")
        if time < since.get(packet, 0):
            wrong.append(f"{packet} passes too early")
        at[packet] = end
    else:
        if at.pop(packet, None) != what or time <= since[packet]:
            wrong.append(f"{packet} arrives at {what}, which its way does not lead to")
    since[packet] = time
if not (count["leaves"] >= count["arrives"] > 50 and count["passes"] >= count["arrives"]):
    wrong.append(f"too few: {count}")
if [e["name"] for e in events if e["track"] == "network.fabric"] != [fabric]:
    wrong.append("the fabric's name")
if [e["time_ps"] for e in events if e["track"] == "network.wires.width"] != ["0"]:
    wrong.append("the width of wires")
for text in wrong[:9]:
    print(text, file=sys.stderr)
sys.exit(len(wrong) > 0)
