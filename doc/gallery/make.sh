#!/bin/sh
# usage: make.sh LEAT FOLDER [PICTURE...]   from the root of the project
# Makes the pictures of the gallery in FOLDER, each from what leat writes: wires, curves, timeline, view, view_store, allreduce, dissector, plate.
# All are the same on every machine; curves.png, view.png and view_store.png also depend on the fonts.
set -eu
leat=$1 folder=$2
shift 2
[ $# -gt 0 ] || set -- wires curves timeline view view_store allreduce dissector plate
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
draw="python3 doc/gallery/draw.py"
mkdir -p "$folder"

wires() {
    "$leat" sweep mesh:8,8 --load 0.4 --seeds 4 --cycles 4000 --links --store "$work/wires.sqlite" > /dev/null
    "$leat" report "$work/wires.sqlite" -o "$work/wires.html" > /dev/null
    $draw wires "$work/wires.html" mesh:8,8
}

curves() {
    "$leat" sweep mesh:8,8 torus:8,8 --load 0.1:0.9:0.1 --seeds 4 --cycles 4000 --store "$work/curves.sqlite" > /dev/null
    "$leat" report "$work/curves.sqlite" --png "$work/curves.png" > /dev/null
    cat "$work/curves.png"
}

timeline() {
    mpicc -o "$work/rounds" share/programs/rounds.c
    "$leat" run --fabric mesh:4,4 -n 16 --record "$work/run.leatrec" -- "$work/rounds" > /dev/null 2>&1
    "$leat" export "$work/run.leatrec" --csv "$work/run.csv" > /dev/null
    $draw timeline "$work/run.csv" "16 ranks of share/programs/rounds.c on mesh:4,4"
}

# In Chromium, by playwright-core of npm.
view() {
    mpicc -o "$work/rounds" share/programs/rounds.c
    "$leat" run --fabric mesh:4,4 -n 16 --record "$work/run.leatrec" -- "$work/rounds" > /dev/null 2>&1
    mkdir "$work/screen"
    RECORDING=$work/run.leatrec LEAT_SCREENSHOTS=$work/screen sh tool/view/view_browser_test.sh "$leat" "$work" picture >&2
    cat "$work/screen/view.png"
}

view_store() {
    "$leat" sweep mesh:4,4/buffer=1,2,4 torus:4,4 --load 0.05:0.7:0.05 --seeds 3 --cycles 4000 --store "$work/viewed.sqlite" > /dev/null
    mkdir "$work/store"
    STORE=$work/viewed.sqlite LEAT_SCREENSHOTS=$work/store sh tool/view/view_browser_test.sh "$leat" "$work" picture_store >&2
    cat "$work/store/view_store.png"
}

allreduce() {
    mpicc -o "$work/allreduce" share/programs/allreduce.c
    for who in host network; do
        "$leat" run --fabric ring8 --collectives $who --record "$work/$who.leatrec" -- "$work/allreduce" > /dev/null 2>&1
        "$leat" export "$work/$who.leatrec" --csv "$work/$who.csv" --pcapng "$work/$who.pcapng" > /dev/null
        "$leat" decode --json "$work/$who.pcapng" > "$work/$who.json"
    done
    $draw allreduce "One MPI_Allreduce of 8 ranks on ring8" "by hosts" "$work/host.csv" "$work/host.json" \
        "in the network" "$work/network.csv" "$work/network.json"
}

dissector() {
    "$leat" encode esp opcode=COLLECT compValTag=1 val=17 chldCntTag=2 op=ADD flags=X --pcapng "$work/collect.pcapng" > /dev/null
    tshark -X lua_script:share/wireshark/leat.lua -O leat_esp -r "$work/collect.pcapng" 2> /dev/null |
        $draw text "tshark -X lua_script:share/wireshark/leat.lua -O leat_esp -r collect.pcapng"
}

# A rim of four temperatures around a plate that starts at random ones.
plate() {
    python3 share/poets/make.py heat 64 40 600 |
        sed -E '/id="c_/ { s/(id="c_0_[0-9]+".*P=")\{[0-9]+/\1{1310720/; s/(id="c_63_[0-9]+".*P=")\{[0-9]+/\1{3932160/
            s/(id="c_[0-9]+_0".*P=")\{[0-9]+/\1{6553600/; s/(id="c_[0-9]+_39".*P=")\{[0-9]+/\1{0/; }' > "$work/plate.xml"
    "$leat" graph run "$work/plate.xml" --schedule fifo --snapshot "$work/end.xml" > /dev/null 2>&1
    $draw plate "$work/end.xml" "share/poets/heat_plate, 64 x 40 devices, degrees after 600 steps"
}

for picture; do
    case $picture in curves | view | view_store) name=$picture.png ;; *) name=$picture.svg ;; esac
    $picture > "$work/$name"
    mv "$work/$name" "$folder/$name"
done
