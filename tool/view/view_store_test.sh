#!/bin/sh
# usage: view_store_test.sh LEAT: leat view of stores: the figures of leat report, a store that grows, hostile and damaged ones, pages in one file.
set -u
leat=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../test/lib.sh"
needs curl jq python3
"$leat" report "$folder/nosuch" -o "$folder/x" 2>&1 | grep -q "without SQLite" && { echo "skipped: a leat without SQLite"; exit 77; }

pid=
sweep=
tear_down() { for one in $pid $sweep; do kill -9 "$one" 2> /dev/null; done; }
# serve ARGUMENT...: $page is its address
serve() {
    : > "$folder/address"
    : > "$folder/talk"
    "$leat" view "$@" > "$folder/address" 2> "$folder/talk" &
    pid=$!
    wait_until grep -q . "$folder/address" || fail "view $*: no address: $(cat "$folder/talk")"
    page=$(cat "$folder/address")
}
stop() {
    kill -s INT "$pid"
    got=0
    wait "$pid" || got=$?
    pid=
    same "exit code after INT" "$got" 130
    ! grep -q 'runtime error\|Sanitizer:' "$folder/talk" || fail "sanitizer: $(cat "$folder/talk")"
}
# listen SOURCE: the events of a source to $folder/events
listen() {
    : > "$folder/events"
    curl -s -N "${page}live/$1" > "$folder/events" &
    listener=$!
}
# told: the JSON of the last event that is complete
told() { sed -n 's/^data: {"is_written/{"is_written/p' "$folder/events" | tail -n 1; }
# tells FILTER: the last event satisfies it
tells() { told | jq -es "length > 0 and (.[0] | $1)" > /dev/null 2>&1; }

store=$folder/runs.sqlite
"$leat" sweep mesh:3,3/buffer=1 mesh:3,3/buffer=4 ring:6 --load 0.1,0.3,0.8 --traffic uniform,tornado --seeds 3 --cycles 2000 --store "$store" > /dev/null 2> "$folder/stderr" || fail "no sweep: $(cat "$folder/stderr")"
"$leat" sweep mesh:3,3/buffer=4 --flits 3 --load 0.1,0.3 --seeds 2 --cycles 2000 --store "$store" > /dev/null 2>&1 || fail "no second sweep"

# ---- the figures of leat report

before=$(sha256sum < "$store")
serve "$store"
curl -s "${page}sources.json" > "$folder/sources"
same "the source" "$(jq -c '.sources | map([.kind, .name, .url])' "$folder/sources")" '[["store","runs.sqlite","/live/0"]]'
listen 0
wait_until tells '.report.runs > 0' || fail "nothing is told: $(cat "$folder/events")"
told > "$folder/told"
python3 "$here/view_store_check.py" "$leat" "$store" "$folder/told" > "$folder/stdout" || fail "other figures than leat report"
same "points" "$(cat "$folder/stdout")" "20 points"
same "lines that differ in numbers" "$(jq -c '.report.families[0].keys | map(.text)' "$folder/told")" '["buffer, flits","flits"]'
same "their numbers" "$(jq -c '.report.lines | map(.values)' "$folder/told")" '[[1,1],[4,1],null,[4,3]]'
same "nobody writes" "$(jq .is_written "$folder/told")" false
kill "$listener"
stop
same "the store after it was shown" "$(sha256sum < "$store")" "$before"

exits 0 "" "$leat" view "$store" --where 'fabric=ring*' --where 'load<=0.3' -o "$folder/page.html"
python3 - "$folder/page.html" > "$folder/part" << 'END' || fail "no JSON in the page"
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
print(re.search('<script type="application/json" id="source-0" data-name="runs.sqlite">(.*?)</script>', text, re.S)[1])
END
same "what --where leaves" "$(jq -c '.report | [.lines[].name, (.points | length)]' "$folder/part")" '["ring:6",4]'
exits 0 "" "$leat" view "$store" -o "$folder/page.html"
exits 0 "" "$leat" view "$store" -o "$folder/again.html"
cmp -s "$folder/page.html" "$folder/again.html" || fail "two pages of the same store differ"
python3 - "$folder/page.html" > "$folder/part" << 'END' || fail "no JSON in the page"
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
print(re.search('<script type="application/json" id="source-0" data-name="runs.sqlite">(.*?)</script>', text, re.S)[1])
END
same "a page in one file" "$(jq -cS . "$folder/part")" "$(jq -cS . "$folder/told")"
cp "$store" "$folder/other.sqlite"
serve "$store" "$folder/other.sqlite"
same "two stores" "$(curl -s "${page}sources.json" | jq -c '.sources | map(.name)')" '["runs.sqlite","other.sqlite"]'
listen 1
wait_until tells '.report.runs == 58' || fail "the second store: $(told)"
kill "$listener"
stop

# ---- a store that grows

grow=$folder/grow.sqlite
cp "$store" "$grow"
serve "$grow"
listen 0
wait_until tells '.report.runs == 58' || fail "before it grows: $(told)"
"$leat" sweep mesh:8,8 --load 0.05:0.95:0.01 --seeds 50 --cycles 2000 -j 1 --store "$grow" > /dev/null 2> "$folder/stderr" &
sweep=$!
wait_until tells '.is_written and .report.runs > 60' || fail "it does not grow: $(told | cut -c 1-200)"
seen=$(told | jq .report.runs)
wait_until tells ".report.runs > $seen" || fail "it does not go on growing"
kill -s INT $sweep
wait $sweep
sweep=
wait_until tells '.is_written == false' || fail "its end is not told"
told > "$folder/told"
python3 "$here/view_store_check.py" "$leat" "$grow" "$folder/told" > /dev/null || fail "other figures than leat report at the end"
rm "$grow"
wait_until grep -q '^event: end' "$folder/events" || fail "that it is gone is not told"
wait "$listener"
has "what leat says" "$(cat "$folder/talk")" "grow.sqlite: cannot be read any more"
stop

# ---- stores that are not as they should be

python3 - "$store" "$folder" << 'END' || fail "no half-written store"
import shutil, sqlite3, sys
store, folder = sys.argv[1:]
shutil.copy(store, folder + "/work.sqlite")
db = sqlite3.connect(folder + "/work.sqlite", isolation_level=None)
db.execute("PRAGMA cache_size = 1")
db.execute("PRAGMA cache_spill = 1")
db.execute("BEGIN IMMEDIATE")
db.execute("UPDATE run SET result = json_set(result, '$.more', hex(zeroblob(20000)))")
for end in ("", "-journal"):
    shutil.copy(folder + "/work.sqlite" + end, folder + "/half.sqlite" + end)
END
exits 2 "half-written by a leat that was killed? leat report repairs it" "$leat" view "$folder/half.sqlite" -o "$folder/x.html"
[ -s "$folder/half.sqlite-journal" ] || fail "the journal is gone: the store was written"
"$leat" report "$folder/half.sqlite" --csv - > /dev/null || fail "leat report does not repair it"
exits 0 "" "$leat" view "$folder/half.sqlite" -o "$folder/x.html"

cp "$store" "$folder/bad.sqlite"
python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("PRAGMA user_version = 1"); db.commit()' "$folder/bad.sqlite"
exits 2 "a store of version 1, expected one of version 2: leat report upgrades it" "$leat" view "$folder/bad.sqlite"
python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("PRAGMA user_version = 9"); db.commit()' "$folder/bad.sqlite"
exits 2 "a store of version 9, expected at most 2" "$leat" view "$folder/bad.sqlite"
python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("PRAGMA application_id = 7"); db.commit()' "$folder/bad.sqlite"
exits 2 "no store of leat sweep or leat run" "$leat" view "$folder/bad.sqlite"
cp "$store" "$folder/bad.sqlite"
head -c 9000 "$store" > "$folder/bad.sqlite"
exits 2 "damaged" "$leat" view "$folder/bad.sqlite"
# Text of others is text: no tag of it ends the data of a page.
cp "$store" "$folder/hostile.sqlite"
python3 - "$folder/hostile.sqlite" << 'END' || fail "no hostile store"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE run SET fabric = '</script><script>alert(1)</script>', traffic = traffic || '\"<!--' WHERE fabric = 'ring:6'")
db.execute("UPDATE sweep SET options = options || ' <img src=x>'")
db.commit()
END
exits 0 "" "$leat" view "$folder/hostile.sqlite" -o "$folder/hostile.html"
grep -q 'u003c/script>' "$folder/hostile.html" || fail "the hostile name is not there"
same "scripts of the page" "$(grep -c '<script>alert\|<img src=x>' "$folder/hostile.html")" 0

# ---- command lines

"$leat" sim clos444 --load 0.1 --cycles 500 --record "$folder/run.leatrec" > /dev/null
exits 2 "expected two recordings or two stores, not one of each" "$leat" view "$store" "$folder/run.leatrec"
exits 2 "--where goes with stores" "$leat" view "$folder/run.leatrec" --where load=0.1
exits 2 "--fabric goes with recordings" "$leat" view "$store" --fabric mesh:2,2
exits 2 "--where nonsense: expected KEY=VALUE" "$leat" view "$store" --where nonsense
exits 2 "expected two" "$leat" view "$store" -o "$store"
no_part "a page"
finish
