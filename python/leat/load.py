"""Networks under load: leat sim, leat sweep."""
from __future__ import annotations

import numbers
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

from .child import Interrupted, call, find_command, options_of, text_of, texts_of, warn
from .progress import Progress
from .results import SimResult, SweepPoint, SweepResult, from_json
from .store import NewRuns, StoredRun

PathLike = str | os.PathLike[str]


def sim(fabric: PathLike, *, load: float | None = None, traffic: str | None = None,
        cycles: float | None = None, seed: int | None = None, bytes: int | str | None = None,
        flits: int | None = None, command: PathLike | None = None, **options: Any) -> SimResult:
    """Simulates a network under load. `leat help sim` describes the options; what is not given has the
    command's default. A deadlock is a result, with a warning."""
    words = [find_command(command), "sim", text_of(fabric), "--json",
             *options_of({"load": load, "traffic": traffic, "cycles": cycles, "seed": seed,
                          "bytes": bytes, "flits": flits, **options})]
    ended = call(words)
    results = [from_json(SimResult, each) for each in ended.objects()]
    if ended.interrupted:
        raise Interrupted(results[0] if results else None)
    if not results:
        raise ended.error()
    if ended.err:
        warn(ended.err.strip())
    return results[0]


def sweep(fabrics: PathLike | Iterable[PathLike], loads: float | str | Iterable[float] | None = None, *,
          traffic: str | Iterable[str] | None = None, seeds: int | str | Iterable[int] | None = None,
          store: PathLike | None = None, cycles: float | None = None, jobs: int | None = None,
          progress: bool | None = None, callback: Callable[[StoredRun], object] | None = None,
          command: PathLike | None = None, **options: Any) -> SweepResult:
    """Runs leat sim for every fabric, traffic, load and seed, `jobs` at a time (all processors).

    loads and seeds: a list, or a text as the command takes it ("0.1:0.9:0.1"); seeds=3 means 1 to 3.
    store: the file that keeps the runs; the same sweep then continues what was interrupted, and
    leat.Store reads it. callback: called with each stored run. progress: None shows it where somebody
    looks. Runs that fail are a warning, and missing in the result.
    """
    for name in ("load", "seed"):
        if name in options:
            raise TypeError(f"{name}= is not an argument of leat.sweep, did you mean {name}s=?")
    if loads is None:
        raise TypeError("leat.sweep needs loads, as in loads=[0.1, 0.2] or loads='0.1:0.9:0.1'")
    plan = Plan(fabrics, traffic, loads, seeds)
    with tempfile.TemporaryDirectory(prefix="leat") as folder:
        path = pathlib.Path(store if store is not None else os.path.join(folder, "runs.sqlite"))
        words = [find_command(command), "sweep", *plan.fabrics, "--json",
                 *options_of({**plan.options, "store": path, "cycles": cycles, "j": jobs, **options})]
        new, done = NewRuns(path), 0
        with Progress(progress, plan.total, "runs") as bar:
            def look() -> None:
                nonlocal done
                for run in filter(plan.has, new.look()):
                    done += 1
                    if callback:
                        callback(run)
                bar.show(done)

            watched = callback is not None or bar.shown
            ended = call(words, tick=look if watched else None)
            if watched and not ended.interrupted:
                look()
    points = [from_json(SweepPoint, each) for each in ended.objects()]
    result = SweepResult(points, path if store is not None else None, ended.err.strip())
    if ended.interrupted:
        raise Interrupted(result)
    if ended.err:
        warn(result.messages)
    return result


class Plan:
    """What a sweep asks for: as options, and which runs it means. A store that grew may have others."""

    def __init__(self, fabrics: Any, traffic: Any, loads: Any, seeds: Any) -> None:
        self.fabrics = texts_of(fabrics)
        traffics, load_texts, seed_texts = texts_of(traffic), texts_of(loads), texts_of(seeds)
        self.options = {"traffic": ",".join(traffics) or None, "load": ",".join(load_texts),
                        "seeds": ",".join(seed_texts) or None}
        # None: a text or a default says it, which only the command reads.
        self.wanted = [set(self.fabrics),
                       set(self.options["traffic"].split(",")) if self.options["traffic"] else {"uniform"},
                       None if isinstance(loads, str) else set(load_texts),
                       {str(seed) for seed in range(1, int(seeds) + 1)} if isinstance(seeds, numbers.Integral)
                       else None if seeds is None or isinstance(seeds, str) else set(seed_texts)]

    @property
    def total(self) -> int | None:
        total = 1
        for values in self.wanted:
            if values is None:
                return None
            total *= len(values)
        return total

    def has(self, run: StoredRun) -> bool:
        return all(values is None or text_of(value) in values for values, value
                   in zip(self.wanted, (run.fabric, run.traffic, run.load, run.seed)))
