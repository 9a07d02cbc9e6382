"""The package beside the command's own output, SQLite read apart, and closed formulas.

LEAT names the command. Times are never compared.
"""
from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import warnings
from typing import Any

import leat
from leat import child, progress, results

COMMAND = os.environ["LEAT"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
MACHINE = ("wall_seconds", "cycles_per_second", "flit_hops_per_second")


def said(*words: str) -> str:
    return subprocess.run([COMMAND, *words], stdout=subprocess.PIPE, check=True, text=True).stdout


def without_machine(obj: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in obj.items() if key not in MACHINE}


class InFolder(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        warnings.simplefilter("error")  # nothing is said beside a result unless a test expects it
        self.addCleanup(warnings.resetwarnings)

    def interrupt_what_computes(self) -> None:
        """Interrupts this process once a child that it starts has computed for half a second."""
        def start(words: list[str], **how: Any) -> subprocess.Popen[bytes]:
            process = begin(words, **how)
            threading.Thread(target=self.interrupt_with, args=[process], daemon=True).start()
            return process
        begin = child.start
        self.enterContext(unittest.mock.patch.object(child, "start", start))

    @staticmethod
    def interrupt_with(process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(OSError):  # it has ended
            while True:
                used = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
                if int(used[11]) + int(used[12]) >= 50:
                    return os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.05)

    def no_child_is_left(self) -> None:
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)


class Options(unittest.TestCase):
    def test_keywords_are_options_one_to_one(self) -> None:
        self.assertEqual(child.options_of({"flit_bits": 8, "links": True, "unsafe": False, "trace": None,
                                           "fault": ["link:1-2", "link:2-3"], "j": 2, "from_": "a"}),
                         ["--flit-bits", "8", "--links", "--fault", "link:1-2", "--fault", "link:2-3",
                          "-j", "2", "--from", "a"])

    def test_numbers_are_what_a_reader_means(self) -> None:
        self.assertEqual(child.texts_of([0.1 + 0.2, 1e6, 1.0, 2**63, 1e-7, pathlib.Path("a b")]),
                         ["0.3", "1000000", "1", "9223372036854775808", "1e-07", "a b"])
        with self.assertRaises(TypeError):
            child.text_of(object())

    def test_json_is_the_packages_own(self) -> None:
        with self.assertRaisesRegex(TypeError, "json"):
            leat.sim("mesh:2,2", json="file")


class Command(InFolder):
    def test_the_argument_comes_before_the_module_the_environment_and_the_path(self) -> None:
        for name in ("a", "b", "c", "leat"):
            path = self.folder / name
            path.write_text("#!/bin/sh\n")
            path.chmod(0o755)
        places = {"LEAT": str(self.folder / "c"), "PATH": str(self.folder)}
        with unittest.mock.patch.dict(os.environ, places), unittest.mock.patch.object(leat, "command", "b"):
            self.assertEqual(child.find_command("a"), str(self.folder / "a"))
            self.assertEqual(child.find_command(), str(self.folder / "b"))
            leat.command = None
            self.assertEqual(child.find_command(), str(self.folder / "c"))
            del os.environ["LEAT"]
            self.assertEqual(child.find_command(), str(self.folder / "leat"))

    def test_a_missing_one_is_reported_with_what_to_do(self) -> None:
        with self.assertRaisesRegex(leat.LeatError, "/no/leat: no such command"):
            leat.sim("mesh:2,2", command="/no/leat")
        copy = shutil.copytree(pathlib.Path(leat.__file__).parent, self.folder / "a/b/leat")
        told = subprocess.run([sys.executable, "-c", "import leat; leat.fabrics()"], text=True, cwd=copy.parent,
                              env={"PATH": "/nowhere"}, stderr=subprocess.PIPE).stderr
        self.assertIn("set the environment variable LEAT or leat.command", told)

    def test_a_misspelt_keyword_gets_the_commands_proposal(self) -> None:
        for call in (lambda: leat.sim("mesh:2,2", laod=0.3),
                     lambda: leat.sweep("mesh:2,2", 0.1, cycels=5),
                     lambda: leat.run("true", fabric="mesh:2,2", contentoin=True)):
            with self.assertRaisesRegex(leat.LeatError, "did you mean --(load|cycles|contention)") as caught:
                call()
            self.assertEqual(caught.exception.code, 2)
        with self.assertRaisesRegex(TypeError, "did you mean loads="):
            leat.sweep("mesh:2,2", load=0.1)
        with self.assertRaisesRegex(TypeError, "did you mean seeds="):
            leat.sweep("mesh:2,2", 0.1, seed=2)
        with self.assertRaisesRegex(TypeError, "needs loads"):
            leat.sweep("mesh:2,2")
        with self.assertRaisesRegex(leat.LeatError, "meesh"):
            leat.run("true", fabrics=["mesh:2,2", "meesh:2,2"])


class Results(unittest.TestCase):
    def test_unknown_keys_are_kept_and_missing_ones_are_none(self) -> None:
        result = results.from_json(leat.SimResult, {"fabric": "f", "new": 1, "latency_cycles": {"mean": 2}})
        self.assertEqual(result.json["new"], 1)
        self.assertIsNone(result.throughput)
        assert result.latency_cycles
        self.assertEqual((result.latency_cycles.mean, result.latency_cycles.p99), (2, None))

    def test_fields_are_keys_of_the_published_schemas(self) -> None:
        folder = ROOT / "share/schema"
        keys = json.loads((folder / "keys.json").read_text())["$defs"]
        for kind, properties in (
                *((kind, json.loads((folder / f"leat.{verb}.json").read_text())["properties"]) for verb, kind in
                  (("sim", leat.SimResult), ("sweep", leat.SweepPoint), ("run", leat.RunResult))),
                (leat.Latency, keys["latency_cycles"]["properties"]), (leat.Timeline, keys["timeline"]["properties"]),
                *((kind, keys[key]["items"]["properties"]) for key, kind in
                  (("profile", leat.Call), ("per_task", leat.Task), ("pairs", leat.Pair), ("busiest_wires", leat.Wire)))):
            fields = {field.name for field in dataclasses.fields(kind)} - {"json", "stdout", "stderr"}
            self.assertEqual(fields - set(properties), set(), kind)

    def test_a_wire_has_the_number_that_its_network_counts(self) -> None:
        run = results.from_json(leat.RunResult, {"busiest_wires": [{"wire": "ring: ring", "utilisation": 0.5, "frames": 3},
                                                                   {"wire": "west: ring>clos", "utilisation": 0.1, "packets": 2}]})
        self.assertEqual([(w.wire, w.flits, w.cells, w.frames, w.packets) for w in run.busiest_wires or []],
                         [("ring: ring", None, None, 3, None), ("west: ring>clos", None, None, None, 2)])

    def test_frames_name_nested_keys_with_dots_or_say_what_is_missing(self) -> None:
        point = results.from_json(leat.SweepPoint, {"schema": "s", "fabric": "f", "latency_cycles": {"mean": 2},
                                                    "certificates": {"1": "a"}})
        with unittest.mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(ImportError, "python3-pandas"):
                leat.SweepResult([point], None).frame()
        try:
            import pandas
        except ImportError:
            self.skipTest("no pandas")
        self.assertEqual(list(leat.SweepResult([point], None).frame().columns), ["fabric", "latency_cycles.mean"])
        self.assertIsInstance(leat.frame([]), pandas.DataFrame)

    def test_a_timeline_is_a_row_for_each_task(self) -> None:
        timeline = leat.Timeline(0.5, ["computing", "MPI_Send"], [[[[0, 1]], [[0, 0.25], [1, 0.75]]], [[[1, 1]]]])
        self.assertEqual(timeline.share("MPI_Send"), [[0, 0.75], [1, 0]])
        self.assertEqual(timeline.totals(), {"MPI_Send": 0.875, "computing": 0.625})


class Sim(InFolder):
    def test_results_are_those_of_the_command(self) -> None:
        for fabric, options in (("mesh:4,4", {"flits": 2, "links": True, "fault": ["ber:1e-6"]}),
                                ("clos444", {"bytes": 40, "model": "rtl"}), ("ring8", {}), ("ether8", {}),
                                ("twosan", {"cut_through": "no"})):
            with self.subTest(fabric):
                result = leat.sim(fabric, load=0.1 + 0.2, cycles=3e3, seed=7, **options)  # type: ignore[arg-type]
                told = json.loads(said("sim", fabric, "--json", "--load", "0.3", "--cycles", "3000", "--seed", "7",
                                       *child.options_of(options)))  # type: ignore[arg-type]
                self.assertEqual(without_machine(result.json), without_machine(told))
                self.assertEqual((result.load, result.seed, result.cycles), (0.3, 7, 3000))
                self.assertEqual((result.status, result.json["schema"]), ("done", "leat.sim/1"))
                assert result.latency_cycles
                self.assertEqual(result.latency_cycles.mean, told["latency_cycles"]["mean"])
                self.assertEqual(result.certificate, told["certificate"])

    def test_one_buffer_carries_a_flit_per_round_trip(self) -> None:
        """On the wire, in the router, the credit, on the wire back, and one cycle to send the next."""
        for pipeline, wire, credit in ((3, 1, 1), (1, 1, 1), (2, 4, 3)):
            fabric = f"line:2/vcs=1/buffer=1/pipeline={pipeline}/wire={wire}/credit={credit}"
            result = leat.sim(fabric, load=1, traffic="neighbour", cycles=7000)
            assert result.throughput
            self.assertAlmostEqual(result.throughput * (pipeline + 2 * wire + credit + 1), 1, delta=0.01)
            self.assertTrue(result.saturated)

    def test_a_deadlock_is_a_result_with_a_warning(self) -> None:
        with self.assertWarnsRegex(leat.LeatWarning, "deadlock"):
            result = leat.sim("ring:8/vcs=1/routing=dor/buffer=1", load=1, flits=16, unsafe=True, traffic="tornado")
        self.assertEqual(result.status, "deadlock")
        self.assertTrue(result.deadlock)

    def test_an_interrupt_ends_the_child_and_keeps_the_figures(self) -> None:
        self.interrupt_what_computes()
        with self.assertRaises(KeyboardInterrupt) as caught:
            leat.sim("mesh:4,4", cycles=1e12)
        result = caught.exception.result  # type: ignore[attr-defined]
        self.assertEqual(result.status, "interrupted")
        self.assertTrue(0 < result.cycles < 1e12)
        self.no_child_is_left()


class Sweep(InFolder):
    def test_points_are_means_of_what_sqlite_finds_in_the_store(self) -> None:
        store, seen = self.folder / "s.sqlite", []
        result = leat.sweep(["mesh:4,4", "ring8"], loads=[0.1, 0.1 + 0.2], seeds=3, cycles=2000, store=store,
                            traffic=["uniform", "permutation"], callback=seen.append)
        self.assertEqual((len(result), result.store), (8, store))
        database = sqlite3.connect(store)
        for point in result:
            rows = [json.loads(row[0]) for row in database.execute(
                "SELECT result FROM run WHERE fabric = ? AND traffic = ? AND abs(load - ?) < 1e-9",
                (point.fabric, point.traffic, point.load))]
            self.assertEqual((len(rows), point.runs), (3, 3))
            for got, values in ((point.throughput, [row["throughput"] for row in rows]),
                                (point.latency_cycles.mean, [row["latency_cycles"]["mean"] for row in rows]),
                                (point.latency_cycles.p99, [row["latency_cycles"]["p99"] for row in rows])):
                self.assertAlmostEqual(got, statistics.mean(values), delta=0.001)
            self.assertEqual(point.certificates, {str(row["seed"]): row["certificate"] for row in rows})
        database.close()
        keys = [(run.fabric, run.traffic, run.load, run.seed) for run in seen]
        self.assertEqual(len(set(keys)), 24)
        self.assertEqual(len(keys), 24)
        self.assertEqual([point.load for point in result.curve("ring8", "uniform")], [0.1, 0.3])
        with self.assertRaisesRegex(ValueError, r"no points of ring9, expected one of .*ring8 \(uniform\)"):
            result.curve("ring9")
        with self.assertRaisesRegex(ValueError, r"no points of ring8 \(hotspot\), expected"):
            result.curve("ring8", "hotspot")

    def test_the_store_has_the_figures_that_leat_report_writes(self) -> None:
        store = self.folder / "s.sqlite"
        leat.sweep("mesh:4,4", "0.1:0.3:0.1", seeds="3,8", cycles=1000, store=store)
        leat.sweep("mesh:4,4", 0.1, seeds=1, cycles=2000, store=store)
        read = leat.Store(store)
        self.assertEqual([(sweep.id, sweep.starts) for sweep in read.sweeps()], [(1, 1), (2, 1)])
        self.assertIn("--cycles 2000", read.sweeps()[1].options)
        self.assertEqual([(run.load, run.seed) for run in read.runs(sweep=1)],
                         [(load, seed) for load in (0.1, 0.2, 0.3) for seed in (3, 8)])
        self.assertEqual(list(read.programs()), [])
        try:
            import pandas
        except ImportError:
            return
        frame = read.frame()
        written = pandas.read_csv(io.StringIO(said("report", str(store), "--csv", "-")))
        self.assertEqual(len(frame), 7)
        derived = {column for column in written.columns if column == "schema" or "_ns" in column}
        self.assertEqual(set(written.columns) - set(frame.columns) - derived, set())
        for column in ("load", "seed", "throughput", "latency_cycles.mean", "certificate"):
            self.assertEqual(list(frame[column]), list(written[column]), column)

    def test_an_interrupted_sweep_keeps_what_is_finished_and_goes_on(self) -> None:
        store = self.folder / "s.sqlite"
        ask: dict[str, Any] = dict(fabrics="mesh:8,8", loads=0.2, seeds=40, cycles=30000, store=store, jobs=1)

        def stop(run: leat.StoredRun) -> None:
            raise KeyboardInterrupt
        with self.assertRaises(leat.Interrupted) as caught:
            leat.sweep(**ask, callback=stop)
        self.no_child_is_left()
        stored = len(list(leat.Store(store).runs()))
        self.assertTrue(0 < stored < 40, stored)
        self.assertEqual([point.runs for point in caught.exception.result], [stored])
        seen: list[leat.StoredRun] = []
        ask |= {"seeds": stored + 2}
        result = leat.sweep(**ask, callback=seen.append)
        self.assertEqual((result[0].runs, len(seen)), (stored + 2, stored + 2))

    def test_an_error_of_a_callback_ends_the_child(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            leat.sweep("mesh:8,8", 0.2, seeds=40, cycles=30000, jobs=1, callback=lambda run: 1 / 0)
        self.no_child_is_left()

    def test_progress_is_a_line_that_ends_empty(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as err, \
                unittest.mock.patch.object(progress, "SHOW_AFTER_SECONDS", 0):
            leat.sweep("mesh:4,4", [0.1, 0.2], seeds=[4, 5], cycles=1000, progress=True)
        self.assertIn("\r4 of 4 runs", err.getvalue())
        self.assertTrue(err.getvalue().endswith(" \r"))

    def test_progress_in_a_notebook_is_a_bar_if_there_are_widgets(self) -> None:
        shell = type("ZMQInteractiveShell", (), {})()
        widgets, ipython = unittest.mock.MagicMock(), unittest.mock.MagicMock(get_ipython=lambda: shell)
        fakes = {"ipywidgets": widgets, "IPython": ipython, "IPython.display": ipython.display}
        with unittest.mock.patch.dict(sys.modules, fakes), contextlib.redirect_stderr(io.StringIO()) as err, \
                unittest.mock.patch.object(progress, "SHOW_AFTER_SECONDS", 0):
            leat.sweep("mesh:4,4", [0.1, 0.2], seeds=[4, 5], cycles=1000)
        bar, text = widgets.IntProgress.return_value, widgets.Label.return_value
        self.assertEqual((widgets.IntProgress.call_args.kwargs["max"], bar.value, text.value), (4, 4, "4 of 4 runs"))
        self.assertEqual((bar.layout.display, err.getvalue()), ("none", ""))

    def test_a_store_without_version_2_or_none_at_all_is_an_error(self) -> None:
        path = self.folder / "s.sqlite"
        with self.assertRaisesRegex(leat.LeatError, "unable to open"):
            leat.Store(path)
        path.write_text("no store at all" * 100)
        with self.assertRaisesRegex(leat.LeatError, "not a database"):
            leat.Store(path)
        for version, text in ((1, "upgrades it"), (3, "newer leat")):
            path.unlink()
            database = sqlite3.connect(path)
            database.execute(f"PRAGMA application_id = {0x4c454154}")
            database.execute(f"PRAGMA user_version = {version}")
            database.close()
            with self.assertRaisesRegex(leat.LeatError, text):
                leat.Store(path)


@unittest.skipUnless(shutil.which("mpicc"), "no mpicc")
class Run(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.program = self.folder / "rounds"
        subprocess.run(["mpicc", "-o", self.program, ROOT / "share/programs/rounds.c"], check=True)

    def test_results_are_those_of_the_command(self) -> None:
        store, told = self.folder / "s.sqlite", self.folder / "told.json"
        names = ["mesh:2,2", "clos444"]
        found = leat.run([self.program, "2"], fabrics=names, tasks=4, contention=True, store=store)
        for name, result in zip(names, found):
            text = said("run", "--fabric", name, "-n", "4", "--contention", "--json", str(told), "--",
                        str(self.program), "2")
            self.assertEqual(without_machine(result.json), without_machine(json.loads(told.read_text())))
            self.assertEqual((result.fabric, result.status, result.tasks), (name, "done", 4))
            self.assertEqual(result.stdout.split(), text.split())
            assert result.profile and result.per_task and result.timeline
            self.assertEqual(sum(map(sum, result.matrix())), result.bytes)
            self.assertEqual(sum(map(sum, result.matrix("messages"))), result.messages)
            self.assertEqual([sum(row) for row in result.matrix()], [task.bytes_sent for task in result.per_task])
        stored = list(leat.Store(store).programs())
        self.assertEqual([(each.fabric, each.tasks) for each in stored], [(name, 4) for name in names])
        self.assertEqual([each.result.certificate for each in stored], [each.certificate for each in found])

    def test_a_recording_has_the_messages_of_the_run(self) -> None:
        path = self.folder / "r.leatrec"
        result = leat.run(self.program, fabric="mesh:2,2", record=path)
        recording = leat.Recording(path)
        sent: dict[tuple[int, int], list[int]] = {}
        for message in recording.messages():
            assert message.receiver and message.arrived_ps is not None and message.length is not None
            self.assertGreaterEqual(message.arrived_ps, message.left_ps)
            ends = (int(message.sender.split()[-1]), int(message.receiver.split()[-1]))
            sent.setdefault(ends, []).append(message.length)
        assert result.pairs and result.per_task
        self.assertEqual({(pair.sender, pair.receiver): (pair.messages, pair.bytes) for pair in result.pairs},
                         {ends: (len(lengths), sum(lengths)) for ends, lengths in sent.items()})
        lines = said("export", str(path), "--csv", "-").splitlines()
        self.assertEqual(sum(1 for _ in recording), len(lines) - 1)
        waiting = [0] * 4
        for span in recording.spans():
            if span.name != "computing" and span.track.startswith("program.rank "):
                waiting[int(span.track.split()[-1])] += span.end_ps - span.begin_ps
        for task, got in zip(result.per_task, waiting):
            assert task.waiting_seconds is not None
            self.assertAlmostEqual(got / 1e12, task.waiting_seconds, delta=1e-11)

    def test_a_reader_may_leave_and_a_damaged_recording_is_an_error(self) -> None:
        path = self.folder / "r.leatrec"
        leat.run(self.program, fabric="mesh:2,2", record=path)
        for event in leat.Recording(path):
            self.assertEqual(event.time_ps, 0)
            break
        self.no_child_is_left()
        path.write_bytes(path.read_bytes()[:-5])
        with self.assertRaisesRegex(leat.LeatError, "octet [0-9]+"):
            list(leat.Recording(path))

    def test_a_program_that_fails_is_a_result_with_a_warning(self) -> None:
        source = self.folder / "three.c"
        source.write_text("""#include <mpi.h>
            #include <stdio.h>
            int main(int argc, char **argv)
            { MPI_Init(&argc, &argv); puts("out"); MPI_Finalize(); return 3; }""")
        subprocess.run(["mpicc", "-o", self.folder / "three", source], check=True)
        with self.assertWarnsRegex(leat.LeatWarning, "mesh:2,2: exit"):
            result = leat.run(self.folder / "three", fabric="mesh:2,2", tasks=1)
        self.assertEqual((result.status, result.exit_code, result.stdout), ("exit", 3, "out\n"))

    def test_an_interrupted_run_keeps_the_fabrics_that_are_finished(self) -> None:
        self.interrupt_what_computes()
        with self.assertRaises(leat.Interrupted) as caught:
            leat.run([self.program, "1000000"], fabrics=["mesh:2,2", "torus:2,2"])
        self.assertEqual([each.status for each in caught.exception.result], ["interrupted"])
        self.no_child_is_left()


class Formats(unittest.TestCase):
    def test_packets_come_back_as_they_were_made(self) -> None:
        draw = random.Random(1)
        for _ in range(5):
            fields = {"opcode": "COUNT", "compValTag": draw.getrandbits(60), "thresh": draw.getrandbits(60)}
            packet, = leat.decode(leat.encode("esp", fields, flags="X"), "esp")
            self.assertEqual(fields | packet["fields"], packet["fields"])
        self.assertEqual(leat.encode("esp", opcode="COUNT", compValTag=1, thresh=3, flags="X").hex(),
                         said("encode", "esp", "opcode=COUNT", "compValTag=1", "thresh=3", "flags=X").strip())
        with self.assertRaisesRegex(leat.LeatError, "opcod"):
            leat.encode("esp", opcod=1)

    def test_fabrics_are_listed(self) -> None:
        names = {fabric.name: fabric for fabric in leat.fabrics()}
        self.assertEqual(names["clos444"].kind, "atm")
        self.assertTrue(any(fabric.parameter for fabric in names.values()))


if __name__ == "__main__":
    unittest.main()
