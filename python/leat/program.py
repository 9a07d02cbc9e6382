"""Real programs over simulated networks: leat run."""
from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any, overload

from .child import Interrupted, ask, call, find_command, options_of, text_of, texts_of, warn
from .progress import Progress
from .results import RunResult, from_json

PathLike = str | os.PathLike[str]


@overload
def run(program: PathLike | Sequence[PathLike], *, fabric: PathLike, fabrics: None = ...,
        tasks: int | None = ..., contention: bool = ..., store: PathLike | None = ...,
        progress: bool | None = ..., command: PathLike | None = ..., **options: Any) -> RunResult: ...


@overload
def run(program: PathLike | Sequence[PathLike], *, fabric: None = ..., fabrics: Iterable[PathLike],
        tasks: int | None = ..., contention: bool = ..., store: PathLike | None = ...,
        progress: bool | None = ..., command: PathLike | None = ..., **options: Any) -> list[RunResult]: ...


def run(program: PathLike | Sequence[PathLike], *, fabric: PathLike | None = None,
        fabrics: Iterable[PathLike] | None = None, tasks: int | None = None, contention: bool = False,
        store: PathLike | None = None, progress: bool | None = None, command: PathLike | None = None,
        **options: Any) -> RunResult | list[RunResult]:
    """Runs an Open MPI or PVM program over a simulated network: a result for `fabric`, or a list of one
    for each of `fabrics`.

    `leat help run` describes the options; `tasks` is its -n. Each fabric is a run of the command, so an
    option has to suit all of them. The program has no input; its output is
    `stdout` of the result. A program that fails is a result with a status other than "done", and a
    warning. store: a file that keeps the results, for `leat report` and leat.Store.
    """
    if (fabric is None) == (fabrics is None):
        raise TypeError("expected either fabric= or fabrics=")
    leat = find_command(command)
    names = texts_of(fabric if fabric is not None else fabrics)
    for option in {"record", "messages"} & options.keys():
        if len(names) > 1:
            raise TypeError(f"{option}= is the file of one run: expected fabric=")
    for name in names:
        ask([leat, "fabric", "check", name])  # before the first one takes its time
    program = [program] if isinstance(program, (str, os.PathLike)) else program
    words = ["--", *(text_of(each) for each in program)]
    chosen = options_of({"n": tasks, "contention": contention, "store": store, **options})
    results: list[RunResult] = []
    with Progress(progress, len(names), "fabrics") as bar:
        for name in names:
            result = run_over(name, leat, [*chosen, *words], lambda: bar.show(len(results), name))
            results.append(result)
            if result.status == "interrupted":
                raise Interrupted(result if fabric is not None else results)
    return results[0] if fabric is not None else results


def run_over(fabric: str, leat: str, words: list[str], tick: Any) -> RunResult:
    with tempfile.TemporaryDirectory(prefix="leat") as folder:
        path = pathlib.Path(folder, "result.json")
        ended = call([leat, "run", "--fabric", fabric, "--json", str(path), *words], tick=tick)
        objects = ended.objects(path.read_text() if path.exists() else "")
    if not objects:
        raise Interrupted() if ended.interrupted else ended.error()
    result = from_json(RunResult, objects[0], stdout=ended.out.decode(errors="replace"), stderr=ended.err)
    if result.status not in ("done", "interrupted"):
        warn(f"{fabric}: {result.status}: {result.reason or ended.err.strip()}")
    return result
