"""Small commands of every verb, for the campaigns that break what is around them.

In a word, IN/ is a folder of inputs that prepare() makes, OUT/ an empty one for results, SHARE/ that of the tree.
"""
import os
import shutil
import subprocess

from campaign import ROOT, run

SHARE = os.path.join(ROOT, "share")

PLAIN = """
help decode
help --man sim
help --completion bash
formats
formats esp
encode esp opcode=COUNT thresh=3
encode esp opcode=COUNT --pcapng OUT/esp.pcapng
encode --from-json IN/packets.json --pcapng OUT/esp.pcapng
decode --format esp IN/packets.hex
decode --format esp IN/packets.hex --json=OUT/packets.json
decode --json IN/aal5.pcapng
fabric list
fabric lines
fabric show clos444 --json
fabric show hypercube:3/cells --multicast 1,5,7
fabric check SHARE/fabrics/campus.yaml
fabric check SHARE/fabrics/campus.edges
fabric check SHARE/fabrics/twosan.yaml
fabric draw torus:4,4 -o OUT/torus.svg
fabric time clos444 --bytes 4,100
sim mesh:4,4 --cycles 2000 --json=OUT/sim.json
sim mesh:4,4 --cycles 2000 --threads 2 --json
sim mesh:4,4 --traffic trace --trace IN/packets.trace
sim SHARE/fabrics/campus.yaml --cycles 2000 --fault link:0-1@100..200 --links --json
sim clos444 --cycles 3000 --record OUT/cells.leatrec
sim clos444 --cycles 3000 --model rtl
sim clos444 --cycles 3000 --contracts SHARE/contracts/office.contracts
sim clos444 --cycles 3000 --calls SHARE/contracts/day.calls --json
sim clos444 --cycles 3000 --circuits SHARE/circuits/exchange.circuits --load 0.3
sim clos444 --cycles 3000 --oam cc,pm=128 --load 0.3 --fault-file IN/faults
sim ring16 --cycles 20000
sim ether16 --cycles 20000
sim twosan --cycles 20000
atm ping 5 --load 0.1
export IN/cells.leatrec --csv OUT/cells.csv --vcd OUT/cells.vcd
export IN/cells.leatrec --pcapng OUT/cells.pcapng --perfetto OUT/cells.json
export IN/cells.leatrec --otf2 OUT/cells.otf2
sweep mesh:2,2 --load 0.1,0.2 --seeds 1 --cycles 1000 -j 1 --store OUT/runs.sqlite
sweep mesh:2,2 clos444 --load 0.1 --seeds 2 --cycles 1000 -j 2 --store OUT/runs.sqlite --json=OUT/runs.json
report IN/runs.sqlite -o OUT/runs.html --csv OUT/runs.csv
unit ppd IN/ppd.stimuli --cycles 30 --vcd OUT/ppd.vcd -o OUT/ppd.jsonl
unit aal --cycles 100 --format thesis
ring sim --stations 8 --command min --model bit --vcd OUT/ring.vcd
ring majority --stations 4 --operands IN/votes.txt --json
esp sim --tree 2,2 --members 4 --service tree --dot OUT/tree.dot
esp sim --fabric mesh:3,3 --members 4 --service robust-sum --loss 0.1
esp exec SHARE/esp/census.esp --tree 2,2 --members 4 --json
pktway ping clos.15 --fabric twosan
pktway tell capability=2 --fabric threesan --json
experiment circuit --blocks 20 --cell-loss 0.01
experiment echo --bytes 4 -o OUT/echo.html
graph check SHARE/poets/ring.xml --no-handlers
graph info SHARE/poets/smooth.xml --json
""".strip().splitlines()

# With processes of their own.
LONGER = """
graph run SHARE/poets/ring.xml --schedule fifo --record OUT/ring.pcapng --snapshot OUT/ring.xml
graph run SHARE/poets/ring.xml --fabric mesh:2,2 --json=OUT/ring.json
experiment linear --json
run --fabric mesh:2,2 -n 2 --json=OUT/run.json --store OUT/runs.sqlite -- IN/rounds
run --fabric clos444 -n 2 --record OUT/run.leatrec --profile -- IN/rounds
""".strip().splitlines()


def words_of(line, folder):
    places = {"IN/": f"{folder}/in/", "OUT/": f"{folder}/out/", "SHARE/": f"{SHARE}/"}
    words = []
    for word in line.split():
        for place, path in places.items():
            word = word.replace(place, path)
        words.append(word)
    return words


def prepare(leat, folder):
    """Makes IN/."""
    os.makedirs(f"{folder}/in")
    os.makedirs(f"{folder}/out")

    def make(line, text=None):
        done = subprocess.run([leat, *words_of(line.replace("OUT/", "IN/"), folder)], input=text, capture_output=True, check=True)
        return done.stdout

    def put(name, text):
        with open(f"{folder}/in/{name}", "wb") as file:
            file.write(text)

    packets = make("encode esp opcode=COUNT thresh=3") + make("encode esp opcode=COLLECT")
    put("packets.hex", packets)
    put("packets.json", make("decode --format esp --json", packets))
    put("packets.trace", b"0 0 5 2\n3 1 4 1\n9 2 7\n20 15 0 4\n")
    put("faults", b"link:0-4@100..900\nport:3@5..90\n")
    put("votes.txt", b"7 7 3 7\n")
    make("encode aal5 --pcapng OUT/aal5.pcapng")
    make("sim bmx:2 --cycles 600 --record OUT/cells.leatrec")
    make("sweep mesh:2,2 --load 0.1,0.2 --seeds 2 --cycles 1000 --store OUT/runs.sqlite")
    shutil.copy(os.path.join(ROOT, "proto/atm/vectors/unit/ppd_success.stimuli"), f"{folder}/in/ppd.stimuli")
    if shutil.which("mpicc"):
        subprocess.run(["mpicc", "-O1", "-o", f"{folder}/in/rounds", f"{SHARE}/programs/rounds.c"], check=True)


def lines(leat, folder, longer):
    """The commands that work here at all."""
    for line in PLAIN + (LONGER if longer else []):
        if "IN/rounds" in line and not os.path.exists(f"{folder}/in/rounds"):
            continue
        done = run([leat, *words_of(line, folder)])
        empty(f"{folder}/out")
        if done.code == 0:
            yield line
        else:
            print(f"left out, exit code {done.code}: {line}: {done.err.decode(errors='replace').strip()}", flush=True)


def empty(folder):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.remove(path)
