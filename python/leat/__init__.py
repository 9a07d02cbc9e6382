"""Networks under load, sweeps over many of them, and real programs over them, by the leat command.

    import leat
    leat.sim("mesh:8,8", load=0.3, cycles=20000).latency_cycles.mean
    leat.sweep(["mesh:8,8", "torus:8,8"], loads=[0.1, 0.2, 0.3], seeds=3, store="runs.sqlite").frame()
    leat.run(["./program"], fabrics=["mesh:4,4", "torus:4,4"], tasks=16)

Every option of a verb is a keyword: `packet_flits=8` is --packet-flits 8, True gives a switch, a list
repeats an option. `leat help VERB` describes them.
"""
from .child import Interrupted, LeatError, LeatWarning
from .formats import Fabric, decode, encode, fabrics
from .program import run
from .recording import Event, Message, Recording, Span
from .results import (Call, Latency, Pair, RunResult, SimResult, SweepPoint, SweepResult, Task,
                      Timeline, Wire, frame)
from .store import Store, StoredProgram, StoredRun, StoredSweep
from .load import sim, sweep

command: str | None = None
"""The leat command to use. None: the variable LEAT, then PATH, then build/leat of this tree."""

__all__ = ["Call", "Event", "Fabric", "Interrupted", "Latency", "LeatError", "LeatWarning", "Message",
           "Pair", "Recording", "RunResult", "SimResult", "Span", "Store", "StoredProgram",
           "StoredRun", "StoredSweep", "SweepPoint", "SweepResult", "Task", "Timeline", "Wire",
           "command", "decode", "encode", "fabrics", "frame", "run", "sim", "sweep"]
