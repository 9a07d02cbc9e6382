#!/bin/sh
# The JSON objects of all verbs, held to the schemas in share/schema; --json FILE.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
share=$(cd "$(dirname "$0")/../../share" && pwd)
schema=$share/schema

# ---- the schemas themselves: each key has one type and unit, wherever it stands

python3 - "$schema" << 'END' || fail "schemas"
import json, pathlib, sys
import jsonschema
folder = pathlib.Path(sys.argv[1])
keys = json.loads((folder / "keys.json").read_text())["$defs"]
used = {"schema"}


def refer(properties, path):
    for name, what in properties.items():
        if name == "schema" and "enum" in what:
            continue
        assert what["$ref"].endswith("#/$defs/" + name) and name in keys, (path, name)
        used.add(name)


for path in folder.glob("leat.*.json"):
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    refer(schema["properties"], path.name)
    assert schema["additionalProperties"] is False, path.name
for name, what in keys.items():
    jsonschema.Draft202012Validator.check_schema(what)
    for part in (what, what.get("items", {})):
        refer(part.get("properties", {}), name)
assert used == set(keys), sorted(set(keys) ^ used)
END

# ---- what commands print

# All objects of a command go through its schema; some were printed.
prints() {
    code=$1
    shift
    exits "$code" "" "$leat" "$@" --json
    python3 "$schema/check.py" "$folder/stdout" > "$folder/said" 2>&1 || fail "$*: $(head -n 3 "$folder/said")"
}
prints 0 sim clos444 --cycles 20000 --load 0.3 --bit-errors 1e-5 --loss 1e-3
prints 0 sim clos444 --traffic W --load 0.1 --cycles 2000 --fault ber:1e-4
prints 0 sim clos444 --calls "$share/contracts/day.calls" --cycles 400000
prints 0 sim clos444 --oam cc,pm=16 --load 0.5 --cycles 60000 --fault link:0-4@10000..30000
prints 0 sim clos444 --circuits "$share/circuits/exchange.circuits" --load 0.3 --cycles 2e5
prints 0 atm ping 9 --paths --fault link:0-5
prints 0 sim clos444 --contracts "$share/contracts/office.contracts" --cycles 20000
prints 0 sim mesh:4,4 --cycles 2000 --load 0.2 --links
prints 0 sim mesh:4,4 --load 0.2 --precision 0.05
prints 0 sim mesh:4,4 --traffic allreduce --rounds 2
prints 0 sim crossbar:4/switch=voq --cycles 2000
prints 1 sim ring:8/vcs=1 --unsafe --load 0.9 --cycles 30000
same "a deadlock" "$(jq -r .status "$folder/stdout")" deadlock
prints 0 sim torus:4,4/routing=updown --fault link:1-2@100..300 --cycles 2000
prints 0 sim ring8/priority=0:7 --idle min@1000 --cycles 50000
prints 0 sim ether8 --cycles 50000
prints 0 sim twosan --cycles 500000
prints 0 sweep mesh:4,4 bmx:4 --load 0.1,0.2 --seeds 2 --cycles 1000 --store "$folder/runs.sqlite"
prints 0 sweep mesh:4,4 --load 0.1 --cycles 500 --store "$folder/one.sqlite"
for fabric in clos444 bmx:4 mesh:3,3 tinsel:2,2 benes:8 ring8 ether8 twosan; do
    prints 0 fabric show $fabric
done
prints 0 fabric list
prints 0 fabric lines
prints 0 fabric time clos444 --bytes 4,1000
prints 0 formats
prints 0 formats esp
prints 0 graph info "$share/poets/ring.xml"
prints 0 graph run "$share/poets/smooth.xml" --until idle
prints 0 ring sim --stations 8 --command min
for algorithm in sort majority least-loaded tree average gvt barrier elect work; do
    prints 0 ring $algorithm --stations 8
done
prints 0 esp sim --tree 3,2 --members 20 --service census --multicast
prints 0 esp sim --tree 3,2 --members 20 --service robust-sum --loss 0.05
prints 0 esp send thresh=9 'flags=X|R' --count 3 --tree 3,2
prints 0 esp exec "$share/esp/census.esp" --tree 2,2 --members 4
prints 0 pktway trace mesh.8 --fabric threesan
prints 0 pktway plan mesh.8 --fabric threesan
prints 0 pktway tables --fabric threesan
prints 0 pktway ping mesh.8 --fabric threesan
prints 0 pktway tell name=mesh.8 --fabric threesan
prints 0 pktway read mesh.8 0 16 --fabric threesan
prints 0 pktway write mesh.8 0 text=hello --fabric threesan
prints 0 experiment echo --bytes 4,1000
prints 0 experiment matrix
printf '2 1 3\n1 2 3\n' > "$folder/system.in"
prints 0 experiment linear "$folder/system.in"
prints 0 experiment compare --fabrics bmx:16,ring:4/cells -n 2
prints 0 experiment circuit --line all --blocks 1 --ber 1e-4
prints 0 unit aal --cycles 20
for bench in ppd spd; do
    prints 0 unit $bench "$share/../proto/atm/vectors/unit/${bench}_suspend.stimuli"
done
prints 0 graph check "$share/poets/ring.xml" --no-handlers
same "a sound graph" "$(jq -c '[.mistake_count, .device_type_count > 0, .instance_count > 0, .status]' "$folder/stdout")" '[0,true,true,"done"]'
sed 's/<DeviceType id/<DeviceTipe id/' "$share/poets/ring.xml" > "$folder/broken.xml"
prints 2 graph check "$folder/broken.xml" --no-handlers
same "an unsound graph" "$(jq -r '.status, (.mistake_count == (.mistakes | length)), (.mistakes[0] | .line > 0 and (.warning | not))' "$folder/stdout" | tr '\n' ' ')" "unsound true true "
same "mistakes of text and JSON" "$(jq -r '.mistakes[] | "\(.file):\(.line):\(.column): \(if .warning then "warning: " else "" end)\(.code): \(.text)"' "$folder/stdout" | sed 's/:0:/:/g')" "$(grep "^$folder/broken.xml:" "$folder/stderr")"
"$leat" encode esp > "$folder/esp.hex"
echo 00 >> "$folder/esp.hex"
prints 2 decode --format esp "$folder/esp.hex"
same "a damaged packet" "$(jq -r .status "$folder/stdout" | tr '\n' ' ')" "done damaged "

# A wrong object is found.
echo '{"schema":"leat.fabric.time/1","status":"done","bytes":"4","microseconds":1}' > "$folder/wrong"
python3 "$schema/check.py" "$folder/wrong" > /dev/null 2> "$folder/said" && fail "a wrong object passes"
has "why" "$(cat "$folder/said")" "'4' is not of type 'integer'"

# ---- --json FILE

cd "$folder" || exit 1
exits 0 "" "$leat" fabric time clos444 --bytes 4 --json
cp stdout time.txt
exits 0 "" "$leat" fabric time clos444 --bytes 4 --json time.json
same "nothing is printed" "$(wc -c < stdout)" 0
cmp -s time.txt time.json || fail "the file has something else"
exits 0 "" "$leat" fabric --json=other time clos444 --bytes 4
cmp -s time.txt other || fail "--json=FILE"
exits 0 "" "$leat" sim mesh:2,2 --json lines.jsonl --cycles 100
same "a name for lines" "$(jq .cycles lines.jsonl)" 100
exits 0 "" "$leat" sim --json mesh:2,2 --cycles 100
same "a fabric is no file" "$(jq -r .fabric stdout)" mesh:2,2
exits 1 "deadlock" "$leat" sim ring:8/vcs=1 --unsafe --load 0.9 --cycles 30000 --json dead.json
same "a failure is written, too" "$(jq -r .status dead.json)" deadlock
exits 2 "unknown" "$leat" sim mash:2,2 --json none.json
[ ! -e none.json ] || fail "a refused command leaves a file"
exits 2 "No such file" "$leat" sim mesh:2,2 --json=nowhere/x.json
cp esp.hex in.json
exits 2 "--json and the input name one file" "$leat" decode --format esp in.json --json in.json
cmp -s esp.hex in.json || fail "the input is overwritten"
no_part "--json FILE"
finish
