#!/bin/sh
# leat view as browsers and others meet it: good requests, hostile ones, recordings that are damaged
# or change, pages in one file. All on loopback.
set -u
leat=$1
. "$(dirname "$0")/../../test/lib.sh"
needs curl jq python3

pid=
tear_down() { [ -z "$pid" ] || kill -9 "$pid" 2> /dev/null; }

# serve ARGUMENT...: $page is its address, $port its port
serve() {
    : > "$folder/address"
    "$leat" view "$@" > "$folder/address" 2> "$folder/talk" &
    pid=$!
    wait_until grep -q . "$folder/address" || fail "view $*: no address: $(cat "$folder/talk")"
    page=$(cat "$folder/address")
    port=$(echo "$page" | sed 's/.*:\([0-9]*\)\/.*/\1/')
}
# stop SIGNAL CODE
stop() {
    kill -s "$1" "$pid"
    got=0
    wait "$pid" || got=$?
    pid=
    same "exit code after $1" "$got" "$2"
    ! grep -q 'runtime error\|Sanitizer:' "$folder/talk" || fail "sanitizer: $(cat "$folder/talk")"
}
# asks STATUS WHAT [CURL ARGUMENT...] URL: the answer is in body, its head in head
asks() {
    want=$1 what=$2
    shift 2
    got=$(curl -s --globoff --path-as-is --max-time 60 -o "$folder/body" -D "$folder/head" -w '%{http_code}' "$@") || :
    same "$what" "$got" "$want"
}
is_alive() { asks 200 "a good request after $1" "$page"; }

"$leat" sim clos444 --load 0.3 --cycles 2000 --record "$folder/run.leatrec" > /dev/null || fail "no recording"
"$leat" sim clos444 --load 0.5 --cycles 3000 --record "$folder/<b>&\".leatrec" > /dev/null || fail "no recording"
run=$folder/run.leatrec
octets=$(wc -c < "$run")

# ---- good requests

serve "$run" "$folder/<b>&\".leatrec" --fabric mesh:2,2
same "lines on standard output" "$(wc -l < "$folder/address")" 1
has "the address" "$page" "http://127.0.0.1:"
asks 200 "the page" "$page"
cmp -s "$folder/body" view/page/index.html || fail "the page is not index.html"
for line in "Cache-Control: no-store" "X-Content-Type-Options: nosniff" "Content-Security-Policy: default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"; do
    grep -qF "$line" "$folder/head" || fail "no header $line"
done
for file in view/page/*; do
    name=$(basename "$file")
    case $name in
    *.test.js) asks 404 "$name" "${page}page/$name" ;;
    *.html | *.css | *.js | *.svg)
        asks 200 "$name" "${page}page/$name"
        cmp -s "$folder/body" "$file" || fail "$name is not what is in view/page"
        ;;
    esac
done
asks 200 "a module" "${page}page/main.js"
grep -qi "^content-type: text/javascript; charset=utf-8" "$folder/head" || fail "the type of a module"
asks 200 "sources.json" "${page}sources.json"
same "kinds" "$(jq -r '[.sources[].kind] | join(" ")' "$folder/body")" "recording recording"
same "names" "$(jq -r '[.sources[].name] | join(" ")' "$folder/body")" 'run.leatrec <b>&".leatrec'
same "octets" "$(jq -r '.sources[0].octets' "$folder/body")" "$octets"
same "addresses" "$(jq -r '[.sources[].url] | join(" ")' "$folder/body")" "/source/0 /source/1"
same "the routers of --fabric" "$(jq -r '.sources[0].fabric | fromjson | .routers | length / 2' "$folder/body")" 4
asks 200 "a recording" "${page}source/0"
cmp -s "$folder/body" "$run" || fail "the recording is not what it is"
asks 200 "another" "${page}source/1"
cmp -s "$folder/body" "$folder/<b>&\".leatrec" || fail "the other recording is not what it is"

packet=$("$leat" encode esp opcode=COUNT thresh=7)
echo "$packet" | "$leat" decode --format esp --json - > "$folder/want"
echo "$packet" | python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' > "$folder/packet"
asks 200 "a packet" --data-binary "@$folder/packet" "${page}decode?link=149"
same "its fields" "$(jq -S . "$folder/body")" "$(jq -S . "$folder/want")"
printf '\001\002\003' > "$folder/packet"
asks 200 "a damaged packet" --data-binary "@$folder/packet" "${page}decode?link=149"
same "its error" "$(jq -r .status "$folder/body")" damaged
asks 200 "a packet of no format" --data-binary "@$folder/packet" "${page}decode?link=9"
has "its error" "$(jq -r .error "$folder/body")" "no format"
head -c 65535 /dev/zero > "$folder/packet"
asks 200 "the longest packet" --data-binary "@$folder/packet" "${page}decode?link=149"
jq . "$folder/body" > /dev/null || fail "the longest packet is no JSON"
asks 200 "the longest packet in chunks" -H "Transfer-Encoding: chunked" --data-binary "@$folder/packet" "${page}decode?link=149"

# ---- the network that a recording names

# asks_drawing FILE: what sources.json has of its drawing is in drawing
asks_drawing() {
    stop INT 130
    serve "$1"
    asks 200 "sources.json of $1" "${page}sources.json"
    jq -r '.sources[0].fabric' "$folder/body" > "$folder/drawing"
}
counts='[(.routers | length / 2), (.terminals | length / 3), (.senders | length / 3), (.wires | length / 4)] | join(" ")'
asks_drawing "$run"
same "the network of the recording" "$(jq -r "$counts" "$folder/drawing")" "12 16 16 32"
"$leat" sim mesh:3,3 --cycles 500 --record "$folder/mesh.leatrec" > /dev/null || fail "no recording"
asks_drawing "$folder/mesh.leatrec"
same "another one" "$(jq -r "$counts" "$folder/drawing")" "9 9 0 12"
# Names come from strangers: files are not opened, and what is no network or too large is not drawn.
echo 'not: [a network' > "$folder/secret.yaml"
for name in "$folder/secret.yaml" ../secret.yaml /etc/passwd "mesh:4000,4000" nonsense ring9 twosan; do
    python3 -c 'import sys
name = sys.argv[1].encode()
records = [b"\x03\0\0\0\x06fabric", b"\x05" + bytes([len(name)]) + name, b"\x16\x01\x01"]
sys.stdout.buffer.write(b"LEATREC\x02" + b"".join(records) + b"\x1f\x03")' "$name" > "$folder/named.leatrec"
    asks_drawing "$folder/named.leatrec"
    same "no drawing of $name" "$(cat "$folder/drawing")" null
    ! grep -q "not: \[\|root:" "$folder/talk" || fail "$name: its contents are told: $(cat "$folder/talk")"
done
stop INT 130
serve "$run" "$folder/<b>&\".leatrec"

# ---- parts of a recording

# part RANGE FIRST COUNT
part() {
    asks 206 "$1" -H "Range: bytes=$1" "${page}source/0"
    tail -c +$(($2 + 1)) "$run" | head -c "$3" | cmp -s - "$folder/body" || fail "the octets of $1"
    grep -qi "^content-range: bytes $2-$(($2 + $3 - 1))/$octets" "$folder/head" || fail "Content-Range of $1"
}
part 0-7 0 8
part 100-199 100 100
part 100- 100 $((octets - 100))
part -10 $((octets - 10)) 10
part $((octets - 1))-999999999 $((octets - 1)) 1
asks 416 "behind the end" -H "Range: bytes=$octets-" "${page}source/0"
asks 416 "none of the end" -H "Range: bytes=-0" "${page}source/0"
for range in bytes=9-3 bytes=0-1,5-6 bytes=x lines=0-1; do
    asks 200 "$range" -H "Range: $range" "${page}source/0"
    cmp -s "$folder/body" "$run" || fail "$range is not all"
done

# ---- other hosts, origins, methods and paths

for host in "localhost:$port" "LOCALHOST:$port" "[::1]:$port" "127.0.0.1:$port"; do
    asks 200 "Host: $host" -H "Host: $host" "$page"
done
for host in localhost 127.0.0.1 "127.0.0.1:1" example.org "example.org:$port" "127.0.0.1.example.org:$port" "127.1:$port" "0.0.0.0:$port" "a@127.0.0.1:$port" "127.0.0.1:$port,x" "[::1]"; do
    for path in "" sources.json source/0 page/main.js; do
        asks 403 "Host: $host, $path" -H "Host: $host" "$page$path"
    done
done
for origin in http://example.org null "http://127.0.0.1" "http://127.0.0.1:1" "https://127.0.0.1:$port" "http://127.0.0.1:$port.example.org"; do
    asks 403 "Origin: $origin" -H "Origin: $origin" "${page}sources.json"
    asks 403 "POST, Origin: $origin" -H "Origin: $origin" --data-binary x "${page}decode?link=149"
done
asks 200 "its own origin" -H "Origin: http://127.0.0.1:$port" -H "Sec-Fetch-Site: same-origin" "${page}sources.json"
asks 200 "a typed address" -H "Sec-Fetch-Site: none" "$page"
for site in cross-site same-site x; do
    asks 403 "Sec-Fetch-Site: $site" -H "Sec-Fetch-Site: $site" "$page"
done
for method in HEAD PUT DELETE POST OPTIONS TRACE PATCH CONNECT X; do
    [ $method = HEAD ] && only=--head || only=
    # shellcheck disable=SC2086
    asks 405 "$method" $only -X $method "$page"
done
asks 405 "GET /decode" "${page}decode?link=149"
for path in page/ page/x page/../page/main.js page/..%2fmain.js page/%2e%2e/main.js page/%6dain.js ../etc/passwd ..%2f..%2fetc/passwd %2e%2e/%2e%2e/etc/passwd \
    page/..\\main.js page//etc/passwd /etc/passwd source/ source/2 source/9 source/00 source/0/ source/../source/0 source/-1 live/0 index.html page/main.js%00 page/main.js/ \
    page/MAIN.JS page/lanes.test.js sources.json/ favicon.ico; do
    asks 404 "$path" "$page$path"
done
for link in "" "?link=" "?link=-1" "?link=65536" "?link=1x" "?link=0x95" "?links=1"; do
    asks 400 "decode$link" --data-binary x "${page}decode$link"
done

# ---- too much, too slow, too many

head -c 65536 /dev/zero > "$folder/packet"
asks 413 "a packet that is too long" --data-binary "@$folder/packet" "${page}decode?link=149"
asks 413 "the same in chunks" -H "Transfer-Encoding: chunked" --data-binary "@$folder/packet" "${page}decode?link=149"
long=$(head -c 40000 /dev/zero | tr '\0' a)
asks 431 "a header of 40000 octets" -H "X: $long" "$page"
asks 414 "a path of 40000 octets" "$page$long"
python3 - "$port" << 'END' || fail "hostile connections"
import select, socket, sys, time
port = int(sys.argv[1])


def connect():
    s = socket.create_connection(("127.0.0.1", port))
    s.settimeout(120)
    return s


def answer(octets):
    """What is answered until the connection ends; it ends."""
    s = connect()
    got = b""
    try:
        s.sendall(octets)
        while piece := s.recv(65536):
            got += piece
    except (ConnectionResetError, BrokenPipeError):
        pass
    s.close()
    return got


host = b"Host: 127.0.0.1:%d\r\n" % port
assert answer(b"GET / HTTP/1.1\r\n" + host + b"\r\n").startswith(b"HTTP/1.1 200 ")
assert b" 403 " in answer(b"GET / HTTP/1.1\r\n" + host + host + b"\r\n")
assert b" 400 " in answer(b"GET / HTTP/1.1\r\n\r\n")
assert b" 403 " in answer(b"GET / HTTP/1.0\r\n\r\n")
for octets in (b"\r\n\r\n", b"\0" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n" * 9):
    assert b" 200 " not in answer(octets), octets
# A body that is never complete, and one that never ends.
assert b" 200 " not in answer(b"POST /decode?link=149 HTTP/1.1\r\n" + host + b"Content-Length: 100\r\n\r\nabc")
assert b" 200 " not in answer(b"POST /decode?link=149 HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + bytes(65536) + b"\r\n" * 1 + (b"10000\r\n" + bytes(65536) + b"\r\n") * 40)
# An octet now and then: the connection is ended.
s = connect()
try:
    while True:
        s.sendall(b"G")
        if select.select([s], [], [], 1)[0] and not s.recv(100):
            break
except OSError:
    pass
s.close()
# 200 at once: those who wait are answered after all.
many = [socket.socket() for _ in range(200)]
for s in many:
    s.setblocking(False)
    try:
        s.connect(("127.0.0.1", port))
    except BlockingIOError:
        pass
good = connect()
good.sendall(b"GET / HTTP/1.1\r\n" + host + b"\r\n")
assert good.recv(100).startswith(b"HTTP/1.1 200 ")
for s in many:
    s.close()
END
is_alive "hostile connections"

# Two whole recordings at once, and one that is not read to its end.
curl -s -N "${page}source/1" 2> /dev/null | head -c 100 > /dev/null
curl -s -o "$folder/one" "${page}source/0" & one=$!
curl -s -o "$folder/two" "${page}source/1"
wait $one
cmp -s "$folder/one" "$run" && cmp -s "$folder/two" "$folder/<b>&\".leatrec" || fail "two recordings at once"

for kind in "Host: not the address" "Origin, Sec-Fetch-Site" "method: expected GET" "path: nothing of this name" "body: too long" "Range: behind the end" "link: expected a link type" "request: not understood" "request: not complete"; do
    same "lines about '$kind'" "$(grep -c "refused: $kind" "$folder/talk")" 1
done
stop INT 130
has "the number of refused requests" "$(cat "$folder/talk")" "leat: requests refused: "

# ---- the token

token=0123456789abcdef-_XYZ
echo "$token" > "$folder/token"
chmod 600 "$folder/token"
serve "$run" --token-file "$folder/token"
same "the address has the token" "${page#*\?token=}" "$token"
at=${page%%\?*}
asks 200 "the token in the query" "$page"
asks 200 "the token in a header" -H "X-Leat-Token: $token" "${at}sources.json"
asks 200 "a file of the page" "${at}page/main.js"
for path in "" sources.json source/0 nosuch; do
    asks 403 "no token for /$path" "$at$path"
    asks 403 "another token for /$path" "$at$path?token=${token}x"
done
asks 403 "no token for a packet" --data-binary x "${at}decode?link=149"
wrong=
for letter in $(echo "${token}aaa" | sed 's/./& /g'); do # every beginning, and longer ones
    wrong=$wrong$letter
    [ "$wrong" != "$token" ] || continue
    asks 403 "the token $wrong" "${at}sources.json?token=$wrong"
    asks 403 "the token $wrong in a header" -H "X-Leat-Token: $wrong" "${at}sources.json"
done
asks 403 "an escaped token" "${at}sources.json?token=%30123456789abcdef-_XYZ"
asks 403 "a wrong header beside the right query" -H "X-Leat-Token: x" "${at}sources.json?token=$token"
asks 403 "two headers" -H "X-Leat-Token: $token" -H "X-Leat-Token: $token" "${at}sources.json"
asks 403 "another Host with the token" -H "Host: example.org:$port" "$page"
stop TERM 143
chmod 640 "$folder/token"
exits 2 "others may read or write the token (mode 640)" "$leat" view "$run" --token-file "$folder/token"
chmod 600 "$folder/token"
for bad in "" short "0123456789abcdef 0" "0123456789abcdef&a=b" "$long"; do
    echo "$bad" > "$folder/token"
    exits 2 "no token, expected one line of 16 to 128 letters, digits, - and _" "$leat" view "$run" --token-file "$folder/token"
done
exits 2 "No such file" "$leat" view "$run" --token-file "$folder/nosuch"
exits 2 "not a regular file" "$leat" view "$run" --token-file "$folder"
# All addresses: a token is drawn.
serve "$run" --listen 0.0.0.0:0
drawn=${page#*\?token=}
same "digits of a drawn token" "$(printf %s "$drawn" | tr -d '0-9a-f' | wc -c) $(printf %s "$drawn" | wc -c)" "0 32"
has "what is said of it" "$(cat "$folder/talk")" "it is not encrypted"
asks 200 "a request with it" "http://127.0.0.1:$port/?token=$drawn"
asks 403 "a request without it" "http://127.0.0.1:$port/"
asks 403 "another name" -H "Host: example.org:$port" "http://127.0.0.1:$port/?token=$drawn"
stop TERM 143

# ---- recordings that are damaged, or change

head -c $((octets / 2)) "$run" > "$folder/cut.leatrec"
serve "$folder/cut.leatrec"
wait_until grep -q . "$folder/talk"
has "what is said of a cut recording" "$(cat "$folder/talk")" "octet $((octets / 2)): the recording ends here (SHORT), expected records up to a CLOSE; the page shows what is before"
asks 200 "a cut recording" "${page}source/0"
cmp -s "$folder/body" "$folder/cut.leatrec" || fail "a cut recording is not what it is"
cp "$run" "$folder/cut.new"
mv "$folder/cut.new" "$folder/cut.leatrec"
asks 410 "a recording that was replaced" "${page}source/0"
is_alive "it was replaced"
stop TERM 143
cp "$run" "$folder/changes.leatrec"
serve "$folder/changes.leatrec"
asks 200 "a recording" "${page}source/0"
: > "$folder/changes.leatrec"
asks 410 "a recording that was truncated" "${page}source/0"
rm "$folder/changes.leatrec"
asks 410 "a recording that is gone" "${page}source/0"
is_alive "it was removed"
has "what is said of it" "$(cat "$folder/talk")" "has changed since leat view has opened it"
stop TERM 143
# While it is read: less octets come than promised.
truncate -s 64M "$folder/large.leatrec"
dd if="$run" of="$folder/large.leatrec" conv=notrunc 2> /dev/null
serve "$folder/large.leatrec"
python3 - "$port" "$folder/large.leatrec" << 'END' || fail "a recording that is truncated while it is read"
import os, socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.settimeout(120)
s.sendall(b"GET /source/0 HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n" % sys.argv[1].encode())
got = len(s.recv(1000))
os.truncate(sys.argv[2], 100)
try:
    while piece := s.recv(1 << 20):
        got += len(piece)
except ConnectionResetError:
    pass
assert got < 64 << 20, got
END
is_alive "it was truncated"
stop TERM 143

# ---- a page in one file

exits 0 "" "$leat" view "$run" "$folder/<b>&\".leatrec" -o "$folder/page.html"
cp "$folder/page.html" "$folder/first.html"
exits 0 "" "$leat" view "$run" "$folder/<b>&\".leatrec" -o "$folder/page.html"
cmp -s "$folder/page.html" "$folder/first.html" || fail "two pages of the same recordings differ"
python3 - "$leat" "$folder/page.html" "$run" "$folder/<b>&\".leatrec" << 'END' || fail "a page in one file"
import base64, hashlib, html.parser, json, subprocess, sys
leat, path, *recordings = sys.argv[1:]
text = open(path, encoding="utf-8", newline="").read()


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.policy, self.parts, self.open = None, [], None

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        if of.get("http-equiv") == "Content-Security-Policy":
            assert not self.parts, "the policy comes first"
            self.policy = of["content"]
        assert "src" not in of and not of.get("href", "data:").startswith(("http", "page")), attributes
        if tag in ("script", "style"):
            self.open = (tag, of)
            self.parts.append([tag, of, ""])

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open:
            self.parts[-1][2] += data


page = Page()
page.feed(text)
page.close()
rules = {rule.split()[0]: rule.split()[1:] for rule in page.policy.split(";")}


def hashes(of):
    return ["'sha256-%s'" % base64.b64encode(hashlib.sha256(part[2].encode()).digest()).decode() for part in page.parts if of(part)]


assert rules["default-src"] == ["'none'"] and rules["base-uri"] == ["'none'"] and rules["form-action"] == ["'none'"]
assert rules["worker-src"] == ["blob:"] and rules["img-src"] == ["data:"]
assert rules["script-src"] == hashes(lambda part: part[1].get("type") == "module") and len(rules["script-src"]) == 1
assert rules["style-src"] == hashes(lambda part: part[0] == "style") and len(rules["style-src"]) == 1
by_id = {part[1]["id"]: part for part in page.parts if "id" in part[1]}
for i, recording in enumerate(recordings):
    part = by_id["source-%d" % i]
    assert part[1]["data-name"] == recording.rsplit("/", 1)[1], part[1]
    assert base64.b64decode(part[2], validate=True) == open(recording, "rb").read()
sources = json.loads(by_id["sources"][2])["sources"]
assert [s["name"] for s in sources] == [recording.rsplit("/", 1)[1] for recording in recordings]
assert "import " not in by_id["worker"][2].split("\n")[0]
decoded = json.loads(by_id["decoded"][2])
assert 100 < len(decoded) <= 4096, len(decoded)
for key in list(decoded)[:3]:
    link, octets = key.split(":")
    assert link == "147"
    told = subprocess.run([leat, "decode", "--format", decoded[key]["format"], "--json", "-"], input=octets, text=True, capture_output=True, check=True)
    assert json.loads(told.stdout) == decoded[key], key
END
if command -v node > /dev/null; then
    python3 - "$folder/page.html" "$folder" << 'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
for name, begin in (("main", '<script type="module">'), ("worker", '<script type="text/plain" id="worker">')):
    open("%s/%s.js" % (sys.argv[2], name), "w", encoding="utf-8").write(re.search(re.escape(begin) + "(.*?)</script>", text, re.S)[1])
END
    for name in main worker; do
        node --check "$folder/$name.js" 2> "$folder/stderr" || fail "the joined $name: $(cat "$folder/stderr")"
    done
fi
head -c $((octets / 2)) "$run" > "$folder/cut.leatrec"
exits 2 "octet $((octets / 2)): the recording ends here" "$leat" view "$folder/cut.leatrec" -o "$folder/cut.html"
grep -q 'id="source-0"' "$folder/cut.html" || fail "no page of what can be read"
exits 2 "expected two" "$leat" view "$run" -o "$run"
exits 1 "No such file" "$leat" view "$run" -o "$folder/nosuch/page.html"
truncate -s 300M "$folder/large.leatrec"
dd if="$run" of="$folder/large.leatrec" conv=notrunc 2> /dev/null
exits 2 "has more than 256 MiB" "$leat" view "$folder/large.leatrec" -o "$folder/large.html"
[ ! -e "$folder/large.html" ] || fail "half a page was left behind"
no_part "a page"

# ---- a live part

if "$leat" esp route --driver udp --listen 127.0.0.1:14253 --next-hop 127.0.0.1 --name "view$$" > "$folder/stdout" 2> "$folder/stderr"; then
    serve esp "view$$"
    asks 200 "sources" "${page}sources.json"
    same "a live source" "$(jq -c '.sources[0] | [.kind, .name, .url]' "$folder/body")" "[\"live\",\"esp view$$\",\"/live/0\"]"
    asks 404 "a recording of it" "${page}source/0"
    curl -s -N "${page}live/0" > "$folder/events" & listens=$!
    wait_until sh -c "[ \$(grep -c '^event: status' '$folder/events') -ge 3 ]" || fail "no three events"
    "$leat" esp stop --name "view$$" > /dev/null || fail "the router does not stop"
    wait_until grep -q '^event: end' "$folder/events" || fail "its end is not told"
    wait $listens || fail "the events do not end"
    same "what is told" "$(sed -n 's/^data: //p' "$folder/events" | jq -r '.schema // "end"' | sort | uniq | paste -sd ' ')" "end leat.esp.status/1"
    wait_until grep -q "has ended" "$folder/talk" || fail "leat does not say that it has ended"
    asks 200 "who comes later" "${page}live/0"
    has "hears of the end" "$(cat "$folder/body")" "event: end"
    has "with what was told last" "$(head -n 1 "$folder/body")" "event: status"
    stop INT 130
else
    echo "skipped: a live part: $(cat "$folder/stderr")"
fi
exits 2 "expected one from leat esp route" "$leat" view esp nosuch
exits 2 "lo: no station here" "$leat" view ring lo

# ---- command lines

exits 2 "expected a recording or a store, two of a kind, or one of esp pktway ring" "$leat" view
exits 2 "expected a recording or a store, two of a kind, or one of" "$leat" view a b c
exits 2 "esp: expected the name of a part of this host (./esp is a file)" "$leat" view esp
exits 2 "ring: expected the device of a part" "$leat" view ring
exits 2 "No such file" "$leat" view "$folder/nosuch"
exits 2 "is no regular file" "$leat" view "$folder"
echo "LEATREC" > "$folder/other"
exits 2 "is no recording, expected a file that starts with LEATREC and version 2" "$leat" view "$folder/other"
exits 2 "-o serves nothing, expected no --listen" "$leat" view "$run" -o "$folder/x.html" --listen 127.0.0.1:0
exits 2 "esp: -o goes with recordings and stores" "$leat" view esp x -o "$folder/x.html"
exits 2 "esp: --fabric goes with recordings" "$leat" view esp x --fabric mesh:2,2
exits 2 "--where goes with stores" "$leat" view esp x --where load=0.1
exits 2 "unknown fabric 'msh:2,2'" "$leat" view "$run" --fabric msh:2,2
for address in "" : :80 127.0.0.1:65536 127.0.0.1:x ::1; do
    exits 2 "expected ADDRESS or ADDRESS:PORT" "$leat" view "$run" --listen "$address"
done
exits 2 "expected an address of this host in numbers, or localhost" "$leat" view "$run" --listen example.org:0
exits 2 "192.0.2.1:0: Cannot assign requested address" "$leat" view "$run" --listen 192.0.2.1:0
serve "$run" --listen localhost:0
exits 2 "127.0.0.1:$port: Address already in use" "$leat" view "$run" --listen "127.0.0.1:$port"
stop TERM 143
if "$leat" view "$run" > /dev/full 2> "$folder/stderr"; then fail "a full standard output"; fi
has "a full standard output" "$(cat "$folder/stderr")" "standard output: cannot write"
finish
