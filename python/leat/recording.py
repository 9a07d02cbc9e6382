"""Recordings of `leat run --record` and `leat sim --record`, read through `leat export`.

Everything streams: memory is bounded by what is open at a time, not by the length of the recording.
"""
from __future__ import annotations

import csv
import io
import os
import pathlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .child import Ended, end, find_command, start
from .results import frame


@dataclass(frozen=True)
class Event:
    """A line of `leat export --csv` (`leat help export csv`): event is begin, end, instant, value,
    frame, leaves, passes, arrives, place or close."""
    time_ps: int
    event: str
    track: str
    name: str | None
    value: int | None
    message: int | None
    peer: str | None
    length: int | None
    tag: int | None


@dataclass(frozen=True)
class Message:
    """From the moment it leaves one track until it arrives at another; arrived_ps None: it did not."""
    message: int
    sender: str
    receiver: str | None
    length: int | None
    tag: int | None
    left_ps: int
    arrived_ps: int | None


@dataclass(frozen=True)
class Span:
    """What a track does for a time, as computing; end_ps is that of the recording if it went on."""
    track: str
    name: str
    begin_ps: int
    end_ps: int


class Recording:
    """Reads a recording as often as it is iterated: `for event in leat.Recording(path)`."""

    def __init__(self, path: str | os.PathLike[str], command: str | os.PathLike[str] | None = None) -> None:
        self.path = pathlib.Path(path)
        self.command = command

    def __repr__(self) -> str:
        return f"leat.Recording({str(self.path)!r})"

    def __iter__(self) -> Iterator[Event]:
        """All events, in the order of time. A damaged recording is a LeatError, where it is found."""
        words = [find_command(self.command), "export", str(self.path.absolute()), "--csv", "-"]
        with tempfile.TemporaryFile() as said, start(words, stderr=said) as child:
            assert child.stdout
            try:
                lines = csv.reader(io.TextIOWrapper(child.stdout, newline=""))
                next(lines, None)  # the names of the columns
                last: list[str] = []  # where the recording is damaged, it may be cut
                for line in lines:
                    if last:
                        yield event_of(last)
                    last = line
            except BaseException:  # the reader has seen enough, or is interrupted
                end(child)
                raise
            if child.wait():
                said.seek(0)
                raise Ended(words, child.returncode, b"", said.read().decode()).error()
            if last:
                yield event_of(last)

    def messages(self) -> Iterator[Message]:
        """As they arrive; those that did not arrive come last. A message without a peer is a broadcast:
        one for each arrival. The packets and cells that carry them are events, but no messages."""
        open_ones: dict[int, Event] = {}
        arrived: set[int] = set()  # of broadcasts
        for event in self:
            if event.message is None or is_packet(event.message):
                continue
            if event.event == "leaves":
                open_ones[event.message] = event
            elif event.event == "arrives" and event.message in open_ones:
                left = open_ones[event.message]
                yield message_of(left, event.track, event.time_ps)
                if left.peer:
                    del open_ones[event.message]
                else:
                    arrived.add(event.message)
        for number, left in open_ones.items():
            if number not in arrived:
                yield message_of(left, left.peer, None)

    def spans(self) -> Iterator[Span]:
        """As they end; those that are open at the end of the recording come last."""
        open_ones: dict[str, list[Event]] = {}
        end_ps = 0
        for event in self:
            end_ps = event.time_ps
            if event.event == "begin":
                open_ones.setdefault(event.track, []).append(event)
            elif event.event == "end":
                begin = open_ones[event.track].pop()
                yield Span(event.track, begin.name or "", begin.time_ps, end_ps)
        for track, begins in open_ones.items():
            for begin in begins:
                yield Span(track, begin.name or "", begin.time_ps, end_ps)

    def frame(self) -> Any:
        """A pandas.DataFrame of all events, in memory."""
        return frame(self)


def is_packet(number: int) -> bool:
    """Of a packet or cell (`leat help export csv`); the highest numbers are of operations."""
    return number >> 62 == 0 and number >= 1 << 34


def event_of(line: list[str]) -> Event:
    time, event, track, name, value, message, peer, length, tag = line

    def number(text: str) -> int | None:
        return int(text) if text else None

    return Event(int(time), event, track, name or None, number(value), number(message), peer or None,
                 number(length), number(tag))


def message_of(left: Event, receiver: str | None, arrived_ps: int | None) -> Message:
    assert left.message is not None
    return Message(left.message, left.track, receiver, left.length, left.tag, left.time_ps, arrived_ps)
