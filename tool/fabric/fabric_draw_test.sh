#!/bin/sh
# leat fabric draw: pictures of all kinds of networks: sound XML, every router, wire and terminal in it once.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"

# counts FILE: "routers wires terminals" as drawn; says so if a router has no number or a wire no
# title, if a place is outside the picture, or if anything outside the file is needed.
counts() {
    python3 - "$1" <<'PYTHON'
import re, sys
import xml.etree.ElementTree as tree
SVG = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
part = {g.get("class"): g for g in root.iter(SVG + "g") if g.get("class")}
wires = [p for p in part["wires"].iter(SVG + "path") if p.get("class") == "line"]
routers = part["routers"].findall(SVG + "g")
numbers = sorted(int(r.find(SVG + "text").text) for r in routers)
left, top, width, height = map(float, root.get("viewBox").split())
dots = list(root.iter(SVG + "circle"))
if root.tag != SVG + "svg": print("no picture", end=" ")
if numbers != list(range(len(routers))): print("router numbers", end=" ")
if not all(re.search(r"\d > \d", w.find(SVG + "title").text) for w in wires): print("titles", end=" ")
if not all(left < float(c.get("cx")) < left + width and top < float(c.get("cy")) < top + height for c in dots):
    print("outside", end=" ")
places = [(r.find(SVG + "circle").get("cx"), r.find(SVG + "circle").get("cy")) for r in routers]
if len(set(places)) != len(places): print("two routers in one place", end=" ")
if any("href" in name or "url(" in value for e in root.iter() for name, value in e.attrib.items()):
    print("needs another file", end=" ")
print(len(routers), len(wires), len(part["terminals"].findall(SVG + "g")))
PYTHON
}

# ---- each kind: routers, wires (both directions are one), dots (two where terminals have two sides)
while read -r name numbers; do
    exits 0 "" "$leat" fabric draw "$name" -o "$folder/$name.svg"
    same "drawing of $name" "$(counts "$folder/$name.svg")" "$numbers"
done <<'END'
line:5 5 4 5
line:40 40 39 40
ring:2 2 1 2
ring:9 9 9 9
mesh:4,3 12 17 12
mesh:3,3,3 27 54 27
torus:4,3 12 24 12
torus:2,5 10 15 10
torus:3,2,3,2 36 108 36
hypercube:5 32 80 32
hyperx:4,3 12 30 12
crossbar:16 1 0 16
grid:4 16 24 8
fly:2,3 12 16 16
benes:8 20 32 16
clos:3,5,4 13 40 24
clos444 12 32 32
fattree:2,3 12 16 8
dragonfly:2,3,1 12 18 24
END

# ---- limits ---------------------------------------------------------------------------------------
exits 0 "" "$leat" fabric draw torus:64,64 -o "$folder/large.svg"
same "the largest" "$(counts "$folder/large.svg")" "4096 8192 4096"
exits 2 "4160 routers, expected at most 4096" "$leat" fabric draw torus:65,64 -o "$folder/larger.svg"
exits 2 "192512 wires, expected at most 131072" "$leat" fabric draw hyperx:64,32 -o "$folder/larger.svg"
[ ! -e "$folder/larger.svg" ] || fail "a refused drawing leaves a file"

# ---- the same picture every time ------------------------------------------------------------------
"$leat" fabric draw torus:64,64 -o "$folder/again.svg"
cmp -s "$folder/large.svg" "$folder/again.svg" || fail "two drawings of one network differ"

# ---- bad input --------------------------------------------------------------------------------------
exits 2 "nosuch" "$leat" fabric draw nosuch -o "$folder/bad.svg"
exits 2 "expected a power of two, 2 to 65536" "$leat" fabric draw benes:12 -o "$folder/bad.svg"
[ ! -e "$folder/bad.svg" ] || fail "bad input leaves a file"
exits 1 "$folder/none/x.svg" "$leat" fabric draw ring:4 -o "$folder/none/x.svg"
no_part "drawing"
finish
