"""Discovery in large PacketWay networks: trees of SANs, up to 65,536 ports in 1,024 SANs with 1,023 routers.

usage: bench_pktway_sizes.py LEAT [JSON] [--most SANS]
A whole command: the SANs are built, half-routers exchange their tables, a host plans a route to the farthest SAN. Then the same, and
a host asks for a node by its name. SANS (1024) is the most in one network. Seconds, those of the processor, and memory at its highest.
"""
import argparse
import json
import pathlib
import resource
import tempfile

from processes import run

BRANCHES = 3  # SANs below each one
HOSTS = 64
SIZES = [  # SANs, their fabric, ports of each
    (2, "torus:32,32,32", 32768),
    (4, "torus:21,21,21", 9261),
    (16, "ether4096", 4096),
    (64, f"ether{HOSTS}", HOSTS),
    (256, f"ether{HOSTS}", HOSTS),
    (1024, f"ether{HOSTS}", HOSTS),
]


def describe(sans, fabric, ports):
    """SAN i hangs below SAN (i - 1) / BRANCHES; its port 0 is a half-router, as are those for the SANs below it."""
    lines, used = ["sans:"], [0] * sans
    lines += [f"  - {{name: s{i}, fabric: '{fabric}', bias: {0x100 + i * (ports + 8)}}}" for i in range(sans)]
    lines.append("routers:")
    for i in range(1, sans):
        above = (i - 1) // BRANCHES
        lines.append(f"  - {{name: r{i}, at: [s{above}.{used[above]}, s{i}.{used[i]}]}}")
        used[above] += 1
        used[i] += 1
    return "\n".join(lines) + "\n"


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat")
    parser.add_argument("json", nargs="?")
    parser.add_argument("--most", type=int, default=1024)
    return parser.parse_args()


def main():
    asked = arguments()
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for sans, fabric, ports in SIZES:
            if sans > asked.most:
                continue
            path = pathlib.Path(folder) / "net.yaml"
            path.write_text(describe(sans, fabric, ports))
            target = f"s{sans - 1}.{ports - 1}"
            for what, word in (("plan", target), ("tell", f"name={target}")):
                before = processor_seconds()
                seconds, kib = run([asked.leat, "pktway", what, word, "--fabric", str(path)])
                processor = processor_seconds() - before
                name = f"pktway {what}, {sans} SANs of {fabric}"
                print(f"{name:<45} {sans * ports:>6} ports  {seconds:7.1f} s, {processor:5.1f} s of the processor  {kib / 1024:7.0f} MiB", flush=True)
                figures.append({"name": f"{name}, time", "value": round(seconds, 1), "unit": "s", "target": ""})
                figures.append({"name": f"{name}, processor time", "value": round(processor, 1), "unit": "s", "target": ""})
                figures.append({"name": f"{name}, peak memory", "value": kib, "unit": "KiB", "target": ""})
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
