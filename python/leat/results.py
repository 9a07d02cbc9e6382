"""What the command reports, as dataclasses.

Names and units are those of the JSON objects (`leat help sim json`, share/schema). A key that an object
does not have is None; `json` has the whole object, with keys that this version does not know.
"""
from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


def from_json(kind: type[T], obj: Mapping[str, Any], **more: Any) -> T:
    """The dataclass `kind` of an object; its fields have the names of the keys."""
    values: dict[str, Any] = dict(more)
    for each in dataclasses.fields(kind):
        if each.name == "json":
            values["json"] = dict(obj)
        elif each.name not in more:
            values[each.name] = nested(NESTED.get(each.name), obj.get(each.name))
    return kind(**values)


def nested(kind: type[Any] | None, value: Any) -> Any:
    if kind is not None and isinstance(value, Mapping):
        return from_json(kind, value)
    if kind is not None and isinstance(value, list):
        return [from_json(kind, each) for each in value]
    return value


# ---- frames ----------------------------------------------------------------------------------------

def flat(obj: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested keys with dots between, as in `leat report --csv`."""
    row: dict[str, Any] = {}
    for key, value in obj.items():
        if isinstance(value, Mapping):
            row |= flat(value, f"{prefix}{key}.")
        else:
            row[prefix + key] = value
    return row


def row_of(item: Any) -> dict[str, Any]:
    whole = getattr(item, "json", item)
    obj = whole if isinstance(whole, Mapping) else dataclasses.asdict(item)
    return {key: value for key, value in flat(obj).items() if key != "schema"}


def frame(items: Iterable[Any]) -> Any:
    """A pandas.DataFrame with a row for each result, point, call, event or dict; nested keys have dots."""
    return frame_of(row_of(item) for item in items)


def frame_of(rows: Iterable[Mapping[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("a frame needs pandas: apt install python3-pandas, or pip install pandas") from None
    return pandas.DataFrame(list(rows))


# ---- networks under load ---------------------------------------------------------------------------

@dataclass(frozen=True)
class Latency:
    """In cycles; cycle_ns of the result says how long one takes."""
    mean: float | None
    ci95: float | None
    p50: float | None
    p99: float | None
    p99_ci95: float | None
    max: float | None


@dataclass(frozen=True)
class SimResult:
    """One run of leat sim. Throughput is a share of the line, as load is."""
    fabric: str
    status: str | None
    traffic: str | None
    load: float | None
    seed: int | None
    cycles: int | None
    cycle_ns: float | None
    throughput: float | None
    throughput_ci95: float | None
    latency_cycles: Latency | None
    saturated: bool | None
    deadlock: list[Any] | None
    certificate: str | None
    wall_seconds: float | None
    cells_offered: int | None
    cells_delivered: int | None
    messages_offered: int | None
    messages_delivered: int | None
    messages_waiting: int | None
    flits_offered: int | None
    flits_delivered: int | None
    packets_offered: int | None
    packets_delivered: int | None
    packets_waiting: int | None
    packets_rerouted: int | None
    losses: dict[str, int] | None
    hops_mean: float | None
    links: Any
    json: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class SweepPoint:
    """A fabric at a load: means over all seeds, with half of their 95 % intervals (None: one seed)."""
    fabric: str
    traffic: str | None
    load: float
    runs: int
    cycle_ns: float | None
    throughput: float | None
    throughput_ci95: float | None
    latency_cycles: Latency | None
    saturated_runs: int | None
    deadlocked_runs: int | None
    packets_lost: int | None
    packets_rerouted: int | None
    certificates: dict[str, str] | None
    json: dict[str, Any] = field(repr=False)

    @property
    def saturated(self) -> bool | None:
        """Is one of its runs? None if they do not say."""
        return None if self.saturated_runs is None else self.saturated_runs > 0


@dataclass(frozen=True)
class SweepResult(Sequence[SweepPoint]):
    """The points of a sweep, by fabric, traffic and load."""
    points: list[SweepPoint]
    store: pathlib.Path | None
    messages: str = field(default="", repr=False)  # what the command said, as of failed runs

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[SweepPoint]:
        return iter(self.points)

    def __getitem__(self, index: Any) -> Any:
        return self.points[index]

    def curve(self, fabric: str, traffic: str | None = None) -> list[SweepPoint]:
        """The points of a fabric, by load. A ValueError names what there is if there are none."""
        points = [point for point in self.points if point.fabric == fabric
                  and traffic in (None, point.traffic)]
        if not points:
            known = sorted({f"{point.fabric} ({point.traffic})" for point in self.points})
            raise ValueError(f"no points of {fabric}{f' ({traffic})' if traffic else ''}, "
                             f"expected one of {', '.join(known) or 'none: the sweep is empty'}")
        return sorted(points, key=lambda point: point.load)

    def frame(self) -> Any:
        """A pandas.DataFrame with a row for each point."""
        return frame_of({key: value for key, value in row_of(point).items()
                         if not key.startswith("certificates.")} for point in self.points)


# ---- programs --------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Call:
    """An MPI call, over all tasks. bytes: what ranks handed over in it."""
    call: str
    calls: int
    bytes: int | None
    seconds: float | None
    waiting_seconds: float | None


@dataclass(frozen=True)
class Task:
    task: int
    port: int | None
    seconds: float | None
    waiting_seconds: float | None
    messages_sent: int | None
    bytes_sent: int | None
    messages_received: int | None
    bytes_received: int | None


@dataclass(frozen=True)
class Pair:
    """What one task sent to another."""
    sender: int
    receiver: int
    messages: int
    bytes: int


@dataclass(frozen=True)
class Wire:
    """A busy wire; utilisation is a share of the run's simulated time. One of the numbers says what it carried."""
    wire: str
    utilisation: float
    flits: int | None
    cells: int | None
    frames: int | None
    packets: int | None


@dataclass(frozen=True)
class Timeline:
    """What the tasks did: for each task and bin of time, the shares of its states, as [state, share] with
    the state's place in `state_names`. A task's bins end with it."""
    bin_seconds: float
    state_names: list[str]
    bins: list[list[list[list[float]]]]

    def share(self, state: str) -> list[list[float]]:
        """The share of one state: a row for each task, a value for each bin."""
        place = self.state_names.index(state)
        longest = max((len(task) for task in self.bins), default=0)
        rows = [[0.0] * longest for _ in self.bins]
        for row, task in zip(rows, self.bins):
            for i, parts in enumerate(task):
                row[i] = sum(share for number, share in parts if number == place)
        return rows

    def totals(self) -> dict[str, float]:
        """Seconds of all tasks in each state, the longest first."""
        seconds = [0.0] * len(self.state_names)
        for task in self.bins:
            for parts in task:
                for number, share in parts:
                    seconds[int(number)] += share * self.bin_seconds
        return dict(sorted(zip(self.state_names, seconds), key=lambda pair: -pair[1]))


@dataclass(frozen=True)
class RunResult:
    """A program over one fabric (`leat help run json`)."""
    fabric: str
    program: str | None
    library: str | None
    status: str | None
    reason: str | None
    exit_code: int | None
    tasks: int | None
    simulated_seconds: float | None
    messages: int | None
    bytes: int | None
    certificate: str | None
    wall_seconds: float | None
    replayed: int | None
    repeatable: bool | None
    not_repeatable_because: list[str] | None
    contention_free_seconds: float | None
    contention_seconds: float | None
    contention_note: str | None
    reordered_tasks: int | None
    profile: list[Call] | None
    per_task: list[Task] | None
    pairs: list[Pair] | None
    busiest_wires: list[Wire] | None
    timeline: Timeline | None
    json: dict[str, Any] = field(repr=False)
    stdout: str = field(default="", repr=False)  # the program's own
    stderr: str = field(default="", repr=False)  # the program's, then the report of leat

    def matrix(self, what: str = "bytes") -> list[list[int]]:
        """Bytes, or "messages", from each task (row) to each other (column)."""
        rows = [[0] * (self.tasks or 0) for _ in range(self.tasks or 0)]
        for pair in self.pairs or []:
            rows[pair.sender][pair.receiver] = pair.bytes if what == "bytes" else pair.messages
        return rows


# A key means the same in all objects: these hold another object, or a list of them.
NESTED: dict[str, type[Any]] = {"latency_cycles": Latency, "profile": Call, "per_task": Task,
                                "pairs": Pair, "busiest_wires": Wire, "timeline": Timeline}
