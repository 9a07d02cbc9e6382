"""Fabrics, and packets of all formats: leat fabric list, leat decode, leat encode."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .child import Interrupted, ask, call, find_command, options_of
from .results import from_json


@dataclass(frozen=True)
class Fabric:
    """A kind of network, or a parameter of such (/buffer=CELLS)."""
    kind: str
    name: str
    parameter: bool
    text: str
    json: dict[str, Any] = field(repr=False)


def fabrics(*, command: str | os.PathLike[str] | None = None) -> list[Fabric]:
    """The names of all fabrics, with their parameters, as `leat fabric list` prints them."""
    return [from_json(Fabric, each)
            for each in ask([find_command(command), "fabric", "list", "--json"]).objects()]


def decode(packets: bytes | str | os.PathLike[str], format: str | None = None, *,
           command: str | os.PathLike[str] | None = None, **options: Any) -> list[dict[str, Any]]:
    """The packets of octets, or of a file (a capture, hex text or octets): an object for each, with
    format, fields and error. A packet that is damaged is an object with an error, too."""
    words = [find_command(command), "decode", "--json", *options_of({"format": format, **options})]
    if isinstance(packets, bytes):
        ended = call([*words, "--input", "raw"], packets)
    else:
        ended = call([*words, os.fspath(packets)])
    if ended.interrupted:
        raise Interrupted()
    return ended.objects()


def encode(format: str, fields: Mapping[str, Any] | None = None, *,
           command: str | os.PathLike[str] | None = None, **more: Any) -> bytes:
    """The octets of a packet: encode("esp", opcode="COUNT", thresh=3). Fields that are not given have a
    default; `leat formats FORMAT` lists them."""
    packet = {"format": format, "fields": {**(fields or {}), **more}}
    return ask([find_command(command), "encode", "--from-json", "-", "--raw"], json.dumps(packet).encode()).out
