"""Stores, the SQLite files of `leat sweep --store` and `leat run --store`; tool/sweep/store.h describes
them. A store may be read while leat writes to it."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .child import LeatError
from .results import RunResult, SimResult, flat, frame_of, from_json

APPLICATION_ID = 0x4C454154  # "LEAT"
VERSION = 2
WAIT_SECONDS = 60.0  # for a writer


@dataclass(frozen=True)
class StoredSweep:
    """What runs have in common. options: those of leat sim, as a shell takes them; files: those that
    were named, with a hash of each; starts: how often it was begun or continued."""
    id: int
    version: str
    options: str
    files: str
    starts: int
    created: str


@dataclass(frozen=True)
class StoredRun:
    """A run of a sweep; fabric and traffic as on the command line."""
    sweep: int
    fabric: str
    traffic: str
    load: float
    seed: int
    result: SimResult = field(repr=False)


@dataclass(frozen=True)
class StoredProgram:
    """A run of a program over one fabric. command: the program and its arguments, options: those of
    leat run, each as a shell takes them."""
    id: int
    version: str
    command: str
    options: str
    fabric: str
    tasks: int
    created: str
    result: RunResult = field(repr=False)


def opened(path: pathlib.Path) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True,
                                              timeout=WAIT_SECONDS))


class Store:
    """Reads a store. Each method opens the file for itself. What iterates reads row by row, and a sweep
    that writes waits for its end, at most a minute: take a list of it for long work meanwhile."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path)
        with self.rows("SELECT 1 FROM run LIMIT 1"):
            pass

    def __repr__(self) -> str:
        return f"leat.Store({str(self.path)!r})"

    @contextlib.contextmanager
    def rows(self, query: str, *values: object) -> Iterator[sqlite3.Cursor]:
        """The rows of a query, while the store is open. Anything that is no store is a LeatError."""
        try:
            with opened(self.path) as database:
                self.check(database)
                yield database.execute(query, values)
        except sqlite3.Error as error:
            raise LeatError(2, f"{self.path}: {error}, expected a store of leat") from error

    def check(self, database: sqlite3.Connection) -> None:
        application, version = (database.execute(f"PRAGMA {name}").fetchone()[0]
                                for name in ("application_id", "user_version"))
        if application != APPLICATION_ID:
            raise LeatError(2, f"{self.path}: no store of leat")
        if version < VERSION:
            raise LeatError(2, f"{self.path}: a store of version {version}, expected {VERSION}: "
                               f"`leat report {self.path} --csv -` upgrades it")
        if version > VERSION:
            raise LeatError(2, f"{self.path}: a store of version {version}, expected {VERSION}: it is "
                               "of a newer leat")

    def sweeps(self) -> list[StoredSweep]:
        with self.rows("SELECT id, version, options, files, starts, created FROM sweep ORDER BY id") as rows:
            return [StoredSweep(*row) for row in rows]

    def runs(self, sweep: int | None = None, fabric: str | None = None) -> Iterator[StoredRun]:
        """By sweep, fabric, traffic, load and seed; all, or those of a sweep or of a fabric."""
        yield from self.find_runs("(?1 IS NULL OR sweep = ?1) AND (?2 IS NULL OR fabric = ?2)"
                                  " ORDER BY sweep, fabric, traffic, load, seed", sweep, fabric)

    def find_runs(self, where: str, *values: object) -> Iterator[StoredRun]:
        with self.rows(f"SELECT sweep, fabric, traffic, load, seed, result FROM run WHERE {where}",
                       *values) as rows:
            for sweep, fabric, traffic, load, seed, result in rows:
                yield StoredRun(sweep, fabric, traffic, load, seed, from_json(SimResult, json.loads(result)))

    def programs(self) -> Iterator[StoredProgram]:
        """In the order in which they ran."""
        with self.rows("SELECT id, version, command, options, fabric, tasks, created, result FROM program"
                       " ORDER BY id") as rows:
            for number, version, command, options, fabric, tasks, created, result in rows:
                yield StoredProgram(number, version, command, options, fabric, tasks, created,
                                    from_json(RunResult, json.loads(result)))

    def frame(self, sweep: int | None = None) -> Any:
        """A pandas.DataFrame with a row for each run, and a column for each figure of leat sim."""
        return frame_of({"sweep": run.sweep, "fabric": run.fabric, "traffic": run.traffic,
                         "load": run.load, "seed": run.seed}
                        | {key: value for key, value in flat(run.result.json).items()
                           if key not in ("schema", "fabric", "traffic", "load", "seed")
                           and not isinstance(value, list)} for run in self.runs(sweep))


class NewRuns:
    """The runs that a sweep, which was started after this was made, adds to a store."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.last = 0
        self.sweep: int | None = None
        self.starts = self.count_starts()

    def count_starts(self) -> dict[int, int]:
        """Of each sweep, in a store of an older leat, too, which this one upgrades."""
        with contextlib.suppress(sqlite3.Error), opened(self.path) as database:
            return dict(database.execute("SELECT id, starts FROM sweep"))
        return {}  # not there yet, or no store, which leat reports

    def look(self) -> list[StoredRun]:
        """What is there and was not when we looked last: at first, what the sweep had before."""
        if self.sweep is None:
            self.sweep = next((id for id, starts in self.count_starts().items()
                               if starts != self.starts.get(id)), None)
        if self.sweep is None:
            return []
        with contextlib.suppress(LeatError):  # busy: next time
            store = Store(self.path)
            with store.rows("SELECT max(rowid) FROM run") as rows:
                newest = rows.fetchone()[0] or 0
            runs = list(store.find_runs("sweep = ? AND rowid > ? AND rowid <= ?", self.sweep, self.last,
                                        newest))
            self.last = newest
            return runs
        return []
