#!/bin/sh
# Networks from files: what users write first, and their mistakes, each with its line and what was
# expected.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"

# good NAME TEXT: a file of this text (\n between lines) is a network
good() {
    printf '%b\n' "$2" > "$folder/$1"
    exits 0 "" "$leat" fabric check "$folder/$1"
}

# refused NAME "LINE: WHAT, expected ...": the file is, with this text
refused() {
    exits 2 "$folder/$1:$2" "$leat" fabric check "$folder/$1"
    has "what is said of $1" "$(cat "$folder/stderr")" "expected"
}

# bad TEXT "LINE: ...", bad_edges TEXT "LINE: ...": a file of this text is refused
bad() {
    printf '%b\n' "$1" > "$folder/bad.yaml"
    refused bad.yaml "$2"
}
bad_edges() {
    printf '%b\n' "$1" > "$folder/bad.edges"
    refused bad.edges "$2"
}

# ---- what is good ----------------------------------------------------------------------------
good number.yaml 'topology: ring\nsize: 8'
good document.yaml '---\n# one document\ntopology: mesh\nsize:\n- 2\n- 3\n...'
good json.yaml '{"topology": "torus", "size": [4, 4], "vcs": 2}'
good alias.yaml 'topology: mesh\nsize: [&n 3, *n]'
good graph.yaml 'topology: graph\nrouting: table\nhosts: [0, 2]\nedges:
  - {a: 0, b: 1, cycles: 2, one_way: true}
  - {a: 1, b: 0, one_way: yes}
  - {a: 1, b: 2, one_way: false}'
exits 0 "" "$leat" fabric show "$folder/graph.yaml" --json
same "wires, two in one direction" "$(jq -c '[.routers, .terminals, .wires]' "$folder/stdout")" "[3,2,4]"
exits 0 "" "$leat" fabric show "$folder/number.yaml" --json
same "a number as size" "$(jq .routers "$folder/stdout")" 8
exits 0 "" "$leat" fabric show "$folder/alias.yaml" --json
same "an alias in size" "$(jq .routers "$folder/stdout")" 9
printf '0>1\n1 >2 3\n2> 0\n0 > 2\n' > "$folder/arrows.edges"
exits 0 "" "$leat" fabric show "$folder/arrows.edges/routing=table" --json
same "four wires in one direction" "$(jq .wires "$folder/stdout")" 4

# ---- no YAML, too much of it -------------------------------------------------------------------
: > "$folder/empty.yaml"
refused empty.yaml "1: nothing in it, expected at least topology:"
bad '# nothing' "1: nothing in it"
bad '\ttopology: mesh' "1: "
bad 'topology: mesh\nsize: [8, 8' "3: "
bad 'topology: mesh\nsize: [2, 2]\n# \0377' "3: "
bad 'topology: ring\nsize: 4\n---\ntopology: ring' "3: a second document, expected the end of the file"
bad 'topology: ring\nsize: *n' "2: "
bad '- topology' "1: the description: a list, expected the keys topology, size"
bad 'mesh' "1: the description: 'mesh', expected the keys topology, size"
deep=$(printf '%0100000d' 0)
{ printf 'topology: mesh\nsize: ' && echo "$deep" | tr 0 '['; } > "$folder/deep.yaml"
refused deep.yaml "2: nested too deep, expected at most 16 levels"
{ printf 'topology: mesh\nsize:\n' && echo "$deep" | sed 's/0/- /g'; } > "$folder/dashes.yaml"
refused dashes.yaml "3: nested too deep, expected at most 16 levels"
{ printf 'topology: graph\nhosts:\n' && seq 1000 | sed 's/.*/- \&n& 0/'; } > "$folder/anchors.yaml"
refused anchors.yaml "259: one anchor (&) too many, expected at most 256"

# ---- keys and what they take --------------------------------------------------------------------
bad 'size: [8, 8]' "1: no topology, expected topology: and one of line, ring"
bad 'topology: mush' "1: topology 'mush', did you mean mesh? expected one of line"
bad 'topology: {a: b}' "1: topology: keys and values, expected a word"
bad 'topology: mesh\nsize: [8, x]' "2: size: 'x', expected a whole number"
bad 'topology: mesh\nsize:\n  - 8\n  - -4' "4: size: '-4', expected a whole number"
bad 'topology: ring\nsize: eight' "2: size: 'eight', expected a whole number"
bad 'topology: ring\nsize: 4294967296' "2: size: '4294967296', expected a whole number of at most 4294967295"
bad 'topology: ring\nsize: 010' "2: size: '010', expected a whole number"
bad 'topology: ring\nsize:' "2: size: nothing, expected a whole number"
bad 'topology: ring\nsize: {a: 1}' "2: size: keys and values, expected a list"
bad 'topology: mesh\nsize: [[2], 2]' "2: size: a list, expected a whole number"
bad 'topology: mesh\nsize: [1,1,1,1,1,1,1,1,1]' "2: size: a list of 9, expected at most 8"
bad 'topology: mesh\nsize: []' "2: size: a list of 0, expected at least 1"
bad 'topology: mesh\nvcs: 4' "1: 0 numbers, expected"
bad 'topology: mesh\nsize: [8, 8]\nvsc: 4' "3: unknown key 'vsc', did you mean vcs? expected one of topology, size"
bad 'topology: mesh\nsize: [8, 8]\n[a]: 4' "3: unknown key '', expected one of topology, size"
bad 'topology: mesh\nvcs: 2\nvcs: 3\nsize: [2, 2]' "3: 'vcs' is there twice, expected it once"
bad 'topology: mesh\nvcs: 0\nsize: [8, 8]' "2: vcs: '0' is out of range, expected 1 to 32"
bad 'topology: mesh\nsize: [8, 8]\nvcs: 2.5' "3: vcs: '2.5', expected a whole number"
bad 'topology: mesh\nsize: [8, 8]\nbuffer:' "3: buffer: nothing, expected a whole number"
bad 'topology: mesh\nsize: [8, 8]\nvcs: [4]' "3: vcs: a list, expected a word"
bad 'topology: mesh\nsize: [8, 8]\nswitch: "v\\0c"' "3: switch: 'v?c', expected a word"
bad 'topology: mesh\nsize: [8, 8]\nflow: "\\e[31mred"' "3: flow: '?[31mred', expected a word"
{ printf 'topology: mesh\nsize: [2, 2]\nswitch: ' && echo "$deep"; } > "$folder/word.yaml"
refused word.yaml "3: switch: '0000000000000000000000000000000000000000...', expected a word of at most 64 plain characters"

# ---- graphs ------------------------------------------------------------------------------------
graph='topology: graph\nedges:\n  - {a: 0, b: 1}\n'
bad 'topology: graph\nedges: none' "2: edges: 'none', expected a list"
bad 'topology: graph\nedges: [1]' "2: edges: '1', expected the keys a, b, cycles, one_way"
bad "$graph  - {a: 2, b: 3}" "3: no route from router"
bad "$graph  - {a: 1, c: 2}" "4: unknown key 'c', expected one of a, b"
bad "$graph  - {a: 1}" "4: no b, expected the keys a, b"
bad "$graph  - {a: 1, b: two}" "4: b: 'two', expected a whole number"
bad "$graph  - {a: 1, b: 1}" "4: a: 1, b: 1, expected two different routers"
bad "$graph  - {a: 1, b: 9}\nrouters: 4" "4: a: 1, b: 9, expected two different routers of 0 to 3"
bad "$graph  - {a: 1, b: 2, cycles: 0}" "4: cycles: 0, expected 1 to"
bad "$graph  - {a: 1, b: 2, cycles: 100000}" "4: cycles: 100000, expected 1 to"
bad "$graph  - {a: 1, b: 2, one_way: maybe}" "4: one_way: 'maybe', expected true or false"
bad "${graph}routers: 0" "4: routers: 0, expected 1 to"
bad "${graph}routers: -1" "4: routers: '-1', expected a whole number"
bad "${graph}size: 2" "4: size, expected edges with topology: graph"
bad "${graph}hosts: [7]" "4: host at router 7, expected 0 to 1"
bad "${graph}hosts: []" "4: hosts: a list of 0, expected at least 1"
bad "${graph}terminals: 2\nhosts: [0, 1]" "4: terminals beside hosts, expected one of the two"
bad 'topology: ring\nsize: 4\nhosts: [0]' "3: hosts, expected them with topology: graph only"
bad 'topology: ring\nsize: 4\nedges: []' "3: edges, expected them with topology: graph only"
bad 'topology: ring\nsize: 4\nrouters: 0' "3: routers, expected them with topology: graph only"

# ---- keys against each other ---------------------------------------------------------------------
mesh='topology: mesh\nsize: [4, 4]\n'
bad "${mesh}switch: fifo\nbuffer: 8\nvcs: 4" "5: virtual channels 4, expected 1"
bad "${mesh}vcs: 1\nflow: cut-through\nswitch: fifo" "4: cut-through flow, expected"
bad 'topology: torus\nvcs: 32\nbuffer: 4096\nsize: [512, 512]' "3: flits in all buffers"
bad "${mesh}routing: tag" "3: routing tag does not lead through a mesh, expected one of dor"
bad "${mesh}routing: adaptive\nvcs: 1" "3: 1 virtual channels with routing adaptive"
bad "${graph}table:\n  - {at: 0, to: 1, by: 1}" "5: a table, expected it with routing: table only"
bad "$graph  - {a: 1, b: 2, one_way: true}\n  - {a: 2, b: 0, one_way: true}\nrouting: updown" \
    "4: routing updown: there is a wire from router 1 to 2 and none back"
bad 'topology: ring\nvcs: 1\nsize: 8' "3: packets can wait for each other in a cycle"
triangle='topology: graph\nedges: [{a: 0, b: 1}, {a: 1, b: 2}, {a: 2, b: 3}, {a: 0, b: 2}]\nrouting: table\ntable:\n'
bad "$triangle  - {at: 0, to: 3, by: 3}" "5: at 0 by 3: expected a router that a wire of 0 leads to"
bad "$triangle  - {at: 0, to: 9, by: 1}" "5: at 0, to 9, by 1: expected routers of 0 to 3"
bad "$triangle  - {at: 0, to: 3, by: 1}\n  - {at: 2, to: 0, by: 0}\n  - {at: 0, to: 3, by: 2}" "7: entry 3 of the table"
printf '%b\n' "$triangle  - {at: 2, to: 1, by: 0}\n  - {at: 0, to: 3, by: 1}\n  - {at: 1, to: 3, by: 0}" > "$folder/circle.yaml"
refused circle.yaml "6: entry 2 of the table (at router 0 to 3 by router 1) leads in a cycle, expected a route to its destination"
# What is written behind the file is not in it.
exits 2 "number.yaml/routing=tag: routing tag does not lead" "$leat" fabric check "$folder/number.yaml/routing=tag"
exits 2 "number.yaml/switch=fifo/vcs=2: virtual channels 2" "$leat" fabric check "$folder/number.yaml/switch=fifo/vcs=2"

# ---- edges ---------------------------------------------------------------------------------------
bad_edges '0 1\n1 two' "2: '1 two', expected A B"
bad_edges '0 1\n1>two' "2: '1 > two', expected A B or A > B"
bad_edges '0 1\n1>' "2: '1 > ', expected A B or A > B"
bad_edges '0 1\n>1 2' "2: '> 1', expected A B or A > B"
bad_edges '0 1\n0>1>2' "2: '>2', expected the cycles"
bad_edges '0 1\n1 1' "2: a wire from router 1 to itself"
bad_edges '0 1 0' "1: '0', expected the cycles"
bad_edges '# nothing' "1: no edge"
bad_edges '0 1\n2 3' "2: no route from router"
bad_edges '0 1\n\n1 > 2\n2 0\n3 0' "3: routing updown: there is a wire from router 1 to 2 and none back"

# A file that never ends, and has nothing but comments, can be interrupted.
mkfifo "$folder/endless"
yes '#' > "$folder/endless" 2> /dev/null &
interrupted INT "$leat" sim mesh:4,4 --trace "$folder/endless"
same "the exit code of an interrupted reader" $got 130

# A name of which a terminal obeys nothing: as UTF-8 where it is, with CSI (U+009B) and quotes escaped.
name=$(printf 'caf\303\251 "\302\233')
printf '0 1\n1 2\n' > "$folder/$name.edges"
exits 0 "" "$leat" sim "$folder/$name.edges" --cycles 200 --json
same "a name in JSON" "$(grep -o 'caf.*\.edges' "$folder/stdout")" "$(printf 'caf\303\251 \\"\\u009b.edges')"
same "the name is whole" "$(jq -r .fabric "$folder/stdout")" "$folder/$name.edges"
finish
