#!/bin/sh
# leat graph check and info: every kind of mistake with its line, in each dialect; what is shown.
set -u
leat=$(realpath "$1")
. "$(dirname "$0")/../../test/lib.sh"
schema=https://poets-project.org/schemas/virtual-graph-schema-v

# ---- sound files -------------------------------------------------------------------------------
cat > "$folder/v4.xml" <<XML
<?xml version="1.0"?>
<Graphs xmlns="${schema}4" formatMinorVersion="0">
<GraphType id="g">
<Properties>uint32_t most; float f[2];</Properties>
<SharedCode/>
<MessageTypes>
<MessageType id="m"><Message>uint32_t t; float v;</Message></MessageType>
<MessageType id="e"/>
</MessageTypes>
<DeviceTypes>
<DeviceType id="cell">
<Properties><![CDATA[ uint8_t x; struct { int16_t y; } s; ]]></Properties>
<State> float v; </State>
<InputPin name="in" messageTypeId="m"><Properties>float w;</Properties><OnReceive/></InputPin>
<InputPin name="done" messageTypeId="e"><OnReceive/></InputPin>
<OutputPin name="out" messageTypeId="m"><OnSend/></OutputPin>
<OutputPin name="pick" messageTypeId="m" indexed="true"><OnSend/></OutputPin>
<ReadyToSend/>
</DeviceType>
<ExternalType id="ext"><InputPin name="in" messageTypeId="m"/></ExternalType>
<SupervisorType id=""><Code/><SupervisorInPin id="" messageTypeId="m"><OnReceive/></SupervisorInPin></SupervisorType>
</DeviceTypes>
</GraphType>
<GraphInstance id="i" graphTypeId="g" P="{5,{1.5}}">
<DeviceInstances>
<DevI id="a" type="cell" P="{200,{-5}}" S="{0.5}"/>
<DevI id="b" type="cell"><Metadata key="k" value="v"/></DevI>
<ExtI id="x" type="ext"/>
</DeviceInstances>
<EdgeInstances>
<EdgeI path="b:in-a:out" P="{0.25}"/>
<EdgeI path="a:in-b:out"/>
<EdgeI path="x:in-a:out"/>
<EdgeI path="b:in-a:pick" sendIndex="1"/>
<EdgeI path="a:in-a:pick" sendIndex="0"/>
</EdgeInstances>
</GraphInstance>
</Graphs>
XML
cat > "$folder/v3.xml" <<XML
<Graphs xmlns="${schema}3">
<GraphType id="g">
<Documentation>any <b>thing</b></Documentation>
<Types><TypeDef id="pair"><Tuple name="_"><Scalar name="p" type="uint8_t" default="3"/><Scalar name="q" type="double"/></Tuple></TypeDef></Types>
<Properties><Scalar name="most" type="uint32_t" default="7"/></Properties>
<SharedCode/>
<SharedCode/>
<MessageTypes><MessageType id="m"><Message><Scalar name="t" type="uint32_t"/></Message></MessageType></MessageTypes>
<DeviceTypes>
<DeviceType id="cell">
<State><Scalar name="one" type="pair"/><Array name="many" length="2" type="pair"/><Array name="grid" length="2"><Array name="_" length="3" type="uint16_t"/></Array></State>
<InputPin name="in" messageTypeId="m"><Properties><Scalar name="w" type="float"/></Properties><OnReceive/></InputPin>
<OutputPin name="out" messageTypeId="m"><OnSend/></OutputPin>
<ReadyToSend/>
</DeviceType>
</DeviceTypes>
</GraphType>
<GraphInstance id="i" graphTypeId="g">
<Properties>"most":9</Properties>
<DeviceInstances sorted="1">
<DevI id="a" type="cell"><S>"one":{"q":0.5},"grid":[[1,2,3],{"2":6}]</S><M>"x":1</M></DevI>
</DeviceInstances>
<EdgeInstances sorted="1">
<EdgeI path="a:in-a:out"><P>"w":0.5</P></EdgeI>
</EdgeInstances>
</GraphInstance>
</Graphs>
XML
cat > "$folder/orch.xml" <<'XML'
<Graphs xmlns="" appname="app">
<GraphType id="g">
<Properties>uint32_t a = 5, b; std::vector&lt;int&gt; c;</Properties>
<MessageTypes><MessageType id="m"><Message>long t;</Message></MessageType></MessageTypes>
<DeviceTypes>
<DeviceType id="d">
<Properties>int x = 3; bool y;</Properties>
<InputPin name="in" messageTypeId="m"><OnReceive/></InputPin>
<OutputPin name="out" messageTypeId="m"><OnSend/></OutputPin>
<SupervisorOutPin messageTypeId="m"><OnSend/></SupervisorOutPin>
</DeviceType>
</DeviceTypes>
</GraphType>
<GraphInstance id="i" graphTypeId="g" P="{WHAT + 1}">
<DeviceInstances><DevI id="0" type="d" P="5"/></DeviceInstances>
<EdgeInstances>
<EdgeI path="0 : in - 0 : out"/>
</EdgeInstances>
</GraphInstance>
</Graphs>
XML
for dialect in v4 v3 orch; do
    exits 0 "" "$leat" graph check --no-handlers "$folder/$dialect.xml"
    has "$dialect is sound" "$(cat "$folder/stdout")" "sound: "
done
has "a wide member" "$(cat "$folder/stderr")" "orch.xml:4:44: warning: W_PORT: 'long' in a message"
same "only that" "$(wc -l < "$folder/stderr")" 1
input="$folder/v4.xml" exits 0 "" "$leat" graph check --no-handlers -

# ---- every mistake has its place ---------------------------------------------------------------
# bad DIALECT SED PLACE:CODE [TEXT]: the file, changed, is refused there
bad() {
    sed "$2" "$folder/$1.xml" > "$folder/bad.xml"
    ! cmp -s "$folder/$1.xml" "$folder/bad.xml" || fail "$1 is as before: $2"
    exits 2 "$folder/bad.xml:$3" "$leat" graph check --no-handlers "$folder/bad.xml"
    [ $# -lt 4 ] || has "$1 $2" "$(cat "$folder/stderr")" "$4"
    same "nothing shown: $2" "$(cat "$folder/stdout")" ""
}
# warns DIALECT SED PLACE:CODE
warns() {
    sed "$2" "$folder/$1.xml" > "$folder/bad.xml"
    exits 0 "$folder/bad.xml:$3" "$leat" graph check --no-handlers "$folder/bad.xml"
}
bad v4 '26s/<Dev/<![[CDATA[<Dev/' '26:' "E_XML"
bad v4 '30,$d' '30:1: E_XML'
bad v4 '1s/$/<!DOCTYPE x>/' '1:33: E_XML' "DOCTYPE, expected none"
bad v4 '13s/float/\&nbsp;/' '13:' "E_XML"
bad v4 '2s/v4/v2/' '2:1: E_NS' "version 2"
bad v4 '2s,https.*v4,urn:x,' '2:1: E_NS' "namespace urn:x"
bad v4 '11s/DeviceType/deviceType/' '11:' "E_"
bad v4 '18s/ReadyToSend/ReadyToGo/' '18:1: E_ELEM' "ReadyToGo in DeviceType, expected Properties, State"
bad v4 '25s/$/words/' '25:' "E_ELEM: text in DeviceInstances"
bad v4 '13s/$/<State\/>/' '13:26: E_CARD' "a second State in DeviceType"
bad v4 '16s/<OnSend.>//' '16:1: E_CARD' "OutputPin without OnSend"
bad v4 '10s/DeviceTypes/Metadata key="" value=""/; 22s/DeviceTypes/Metadata/' '3:1: E_CARD' "GraphType without DeviceTypes"
bad v4 '26s/id/name/' '26:1: E_ATTR' "DevI without id"
bad v4 '26s/id=/kind="x" id=/' '26:1: E_ATTR' "attribute kind of DevI, expected id type P? S?"
bad v4 '26s/id=/id="x" id=/' '26:' "E_ATTR: duplicate attribute"
bad v4 '16s/indexed.*"/x/; 17s/true/often/' '17:1: E_ATTR' "expected true or false"
bad v4 '26s/id="a"/id="a.b"/' '26:1: E_IDENT' "DevI 'a.b'"
bad v4 '16s/name="out"/name=""/' '16:1: E_IDENT'
bad v4 '8s/"e"/"m"/' '8:1: E_DUP' "a second message type 'm'"
bad v4 '20s/"ext"/"cell"/' '20:1: E_DUP' "a second device type"
bad v4 '15s/"done"/"in"/' '15:1: E_DUP' "a second pin"
bad v4 '27s/"b"/"a"/' '27:1: E_DUP' "a second device 'a'"
bad v4 '31p' '32:1: E_DUP' "a second edge"
bad v4 '24s/"g"/"h"/' '24:1: E_REF' "graphTypeId 'h', expected 'g'"
bad v4 '27s/cell/sell/' '27:1: E_REF' "type 'sell', expected the id of a DeviceType"
bad v4 '28s/"ext"/"cell"/' '28:1: E_REF' "an ExternalType"
bad v4 '31s/-a:/-c:/' '31:1: E_REF' "device 'c'"
bad v4 '16s/"m"/"n"/' '16:1: E_REF' "message type 'n'"
bad v4 '31s/b:in-/b:in:/' '31:1: E_PATH' "the destination first"
bad v4 '31s/b:in-a:out/:-:/' '31:1: E_PATH' "supervisor to supervisor"
bad v4 '31s/:out/:put/' '31:1: E_PIN' "pin 'put', expected an output pin of cell"
bad v4 '31s/b:in-a:out/a:out-b:in/' '31:1: E_DIR' "expected TO:INPUT-FROM:OUTPUT"
bad v4 '32s/a:in/a:done/' '32:1: E_MSGTYPE' "done carries 'e' and out 'm'"
bad v4 '13s/float v/int v/' '13:' "E_STRUCT: 'int v; '"
bad v4 '12s/uint8_t x/\n\nuint8_t x[-1]/' '14: E_STRUCT'
bad v4 '26s/{200,/{300,/' '26:1: E_VALUE' "a number that fits uint8_t x"
bad v4 '26s/{-5}/-5/' '26:1: E_VALUE' "'{' before the members"
bad v4 '26s/{-5}}/{-5},1}/' '26:1: E_VALUE' "no more values"
bad v4 '32s/out"/out" S="{1}"/' '32:1: E_VALUE' "the type has none"
bad v4 '31s/-a:out/-:/' '31:1: E_VALUE' "supervisor"
bad v4 '35s/ sendIndex="0"//' '35:1: E_INDEX' "expected one as on other edges"
bad v4 '35s/"0"/"2"/' '35:1: E_INDEX' "expected 0 to 1"
bad v4 '35s/"0"/"1"/' '35:1: E_INDEX' "there already"
bad v4 '35s/"0"/"-1"/' '35:1: E_INDEX' "sendIndex '-1'"
bad v4 '31s/out"/out" sendIndex="0"/' '31:1: E_INDEX' "is not indexed"
bad v4 '7s/float v/double v[7]/' '7:1: E_LIMIT' "60 octets, expected at most 56"
bad v4 '21s/<Code.>/<InputPin name="x"\/>/' '21:' "E_UNSUP"
bad v3 '4s/Tuple/Union/g' '4:' "E_UNSUP: Union"
bad v3 '8s/uint32_t/half/' '8:' "E_UNSUP"
bad v3 '10s/$/<OnThreadIdle\/>/' '10:' "E_UNSUP: OnThreadIdle"
bad v3 '8s/uint32_t/quad/' '8:' "E_REF: type 'quad'"
bad v3 '4s/uint8_t/pair/' '4:' "nested too deep"
bad v3 '11s/length="3"/length="0"/' '11:' "E_STRUCT: length '0'"
bad v3 '11s/ type="uint16_t"//' '11:' "E_STRUCT: Array without type"
bad v3 '11s/"many"/"one"/' '11:' "E_DUP: a second member 'one'"
bad v3 '14d' '10:1: E_CARD' "DeviceType without ReadyToSend"
bad v3 '21s/"q"/"r"/' '21:1: E_VALUE' "the name of a member"
bad v3 '21s/"2":6/"3":6/' '21:1: E_VALUE' "an index below 3"
bad v3 '19s/9/x/' '18:1: E_VALUE'
bad v3 '24s/0.5/true+/' '24:1: E_VALUE'
warns v3 '18s/"g"/"h"/' '18:1: warning: E_REF'
warns orch '9s/"m"/"n"/; 8s/"m"/"n"/' '8:1: warning: E_REF'
warns orch '17p' '18:1: warning: E_DUP'
warns orch '17s/0 : in/:/' '17:1: warning: E_PATH'
warns orch '8s/"in"/"tinselIn"/; 17s/ in / tinselIn /' '8:1: warning: W_NAME'
bad orch '9s/"out"/"in"/' '9:1: E_DUP'

# All mistakes, in their order, and no more than 64.
sed '26,27s/cell/none/; 32s/:out/:x/; 8s/"e"/"m"/' "$folder/v4.xml" > "$folder/bad.xml"
exits 2 "" "$leat" graph check --no-handlers "$folder/bad.xml"
same "several" "$(sed 's/.*xml:\([0-9]*\):.* \(E_[A-Z]*\): .*/\1\2/' "$folder/stderr" | paste -sd' ')" "8E_DUP 15E_REF 26E_REF 27E_REF"
awk 'NR == 31 { for (i = 0; i < 100; i++) print "<EdgeI path=\"q:in-a:out\"/>" } { print }' "$folder/v4.xml" > "$folder/bad.xml"
exits 2 "and 36 more" "$leat" graph check "$folder/bad.xml"
exits 2 "$folder/none.xml: E_XML: cannot be opened" "$leat" graph check "$folder/none.xml"
exits 2 "E_XML" "$leat" graph check /dev/null
exits 2 "cannot be read" "$leat" graph check "$folder"
# Each line taken away, each file cut anywhere: an answer, never a crash.
for dialect in v4 v3 orch; do
    lines=$(wc -l < "$folder/$dialect.xml")
    i=1
    while [ $i -le "$lines" ]; do
        sed "${i}d" "$folder/$dialect.xml" > "$folder/bad.xml"
        "$leat" graph check --no-handlers "$folder/bad.xml" > /dev/null 2> "$folder/stderr"
        [ $? -le 2 ] || fail "$dialect without line $i: $(cat "$folder/stderr")"
        i=$((i + 1))
    done
done

# ---- references, and what is shown -------------------------------------------------------------
{ echo "<Graphs xmlns=\"${schema}3\"><GraphTypeReference id=\"g\" src=\"v3.xml\"/>"; sed -n '18,$p' "$folder/v3.xml"; } > "$folder/referring.xml"
exits 0 "" "$leat" graph info "$folder/referring.xml" --json
same "a type of another file" "$(jq -c '[.graph_type, .edges, .device_types[0].state_bytes]' "$folder/stdout")" '["g",1,39]'
sed -i 's/id="g" src/id="k" src/' "$folder/referring.xml"
exits 2 "referring.xml:1:75: E_REF: graph type 'g' in that file, expected 'k'" "$leat" graph check "$folder/referring.xml"
sed -i 's/src="[^"]*"/src="no.xml"/' "$folder/referring.xml"
exits 2 "referring.xml:1:75: E_XML" "$leat" graph check "$folder/referring.xml"
exits 0 "" "$leat" graph info "$folder/v4.xml" --json
same "info" "$(jq -c '[.dialect, .instance, .devices, .externals, .edges, .message_types[0].bytes, .message_types[1].bytes, [.device_types[] | .devices], .device_types[0].properties_bytes, [.device_types[0].outputs[] | .edges], .in_degree.most, .out_degree.histogram]' "$folder/stdout")" '["v4","i",2,1,5,8,0,[2,1,0],3,[3,2],2,[{"from":0,"to":0,"devices":1},{"from":1,"to":1,"devices":1},{"from":4,"to":7,"devices":1}]]'
exits 0 "" "$leat" graph info "$folder/v4.xml"
has "text" "$(cat "$folder/stdout")" "i of g (v4): 2 devices, 1 externals, 5 edges"
same "a compiler's size is not guessed" "$("$leat" graph info "$folder/orch.xml" --json 2> /dev/null | jq .message_types[0].bytes)" null
{ sed -n '1,37p' "$folder/v4.xml"; sed -n '24,37p' "$folder/v4.xml" | sed 's/id="i"/id="j"/'; echo '</Graphs>'; } > "$folder/two.xml"
exits 2 "E_NOINST: several graph instances, expected --instance with one of i j" "$leat" graph info "$folder/two.xml"
exits 0 "" "$leat" graph info "$folder/two.xml" --instance j
exits 2 "E_NOINST: no graph instance k" "$leat" graph info "$folder/two.xml" --instance k
sed '24,37d' "$folder/v4.xml" > "$folder/type.xml"
exits 2 "E_NOINST: no GraphInstance" "$leat" graph info "$folder/type.xml"
exits 0 "" "$leat" graph check "$folder/type.xml"

# ---- handlers ----------------------------------------------------------------------------------
export XDG_CACHE_HOME="$folder/cache"
sed '18s@<ReadyToSend/>@<ReadyToSend><![CDATA[ if (deviceState->v > graphProperties->most) *readyToSend = RTS_FLAG_out | RTS_FLAG_pick; ]]></ReadyToSend><OnInit>assert(true); handler_log(1, "%d", 5); return DEVICEPROPERTIES(s.y);</OnInit>@; 14s@<OnReceive/>@<OnReceive>deviceState->v += edgeProperties->w * message->v; return;</OnReceive>@' "$folder/v4.xml" > "$folder/handlers.xml"
mv "$folder/handlers.xml" "$folder/v4.xml"
exits 0 "" "$leat" graph check "$folder/v4.xml"
same "two objects are kept" "$(find "$folder/cache" -name '*.so' | wc -l)" 2
before=$(find "$folder/cache" -name '*.so' -printf '%f %i\n' | sort)
exits 0 "" "$leat" graph check "$folder/v4.xml"
same "and used again" "$(find "$folder/cache" -name '*.so' -printf '%f %i\n' | sort)" "$before"
# Mistakes of handlers have the lines of the file, also behind comments; each type has its own.
sed '21s,<Code/>,<Code>nonsense</Code>,; 18s/RTS_FLAG_pick/RTS_FLAG_none/; 18s/deviceState->v >/(deviceState->v = 1) >/
17s,<OnSend/>,<OnSend>\n\n<!-- a\ncomment -->\n x = 5;</OnSend>,' "$folder/v4.xml" > "$folder/bad.xml"
exits 2 "bad.xml:22:" "$leat" graph check "$folder/bad.xml"
said=$(cat "$folder/stderr")
has "a flag" "$said" "E_CC: 'RTS_FLAG_none' was not declared"
has "a constant" "$said" "E_CC: assignment of member"
has "after a comment" "$said" "bad.xml:21:2: E_CC: 'x' was not declared"
has "the supervisor" "$said" "bad.xml:25:1: E_CC: 'nonsense' does not name a type"
sed '5s,<SharedCode/>,<SharedCode>\nint f( { }</SharedCode>,' "$folder/v4.xml" > "$folder/bad.xml"
exits 2 "bad.xml:6:11: E_CC: expected" "$leat" graph check "$folder/bad.xml"
! grep -q leat_ "$folder/stderr" || fail "what follows is told: $(cat "$folder/stderr")"
exits 2 "E_CC: c++ does not run, expected a C++ compiler" env PATH="$folder" "$leat" graph check "$folder/v4.xml"
find "$folder/cache" -name '*.[0-9]*.*' | grep -q . && fail "traces of compilers"
# Mistakes of handlers are told beside those of devices and edges, once.
sed '14s/deviceState->v +=/deviceState->none +=/; 27s/cell/none/; 31s/-a:out/-c:out/; 17s,<OnSend/>,<OnSend>x = 1;</OnSend>,' "$folder/v4.xml" > "$folder/bad.xml"
exits 2 "" "$leat" graph check "$folder/bad.xml"
same "all in one pass" "$(sed 's/.*xml:\([0-9]*\):.* \(E_[A-Z]*\): .*/\1\2/' "$folder/stderr" | paste -sd' ')" "14E_CC 17E_CC 27E_REF 31E_REF"
sed '14s/deviceState->v +=/deviceState->none +=/; 31s/-a:out/-c:out/; 36s/<.*>/<EdgeI path="a"\/>&/' "$folder/v4.xml" > "$folder/bad.xml"
exits 2 "" "$leat" graph check "$folder/bad.xml"
same "with edges" "$(sed 's/.*xml:\([0-9]*\):.* \(E_[A-Z]*\): .*/\1\2/' "$folder/stderr" | paste -sd' ')" "14E_CC 31E_REF 36E_PATH"
# A pin that is left out has no flag, which is no mistake of its own; other types are compiled.
sed '16s/<OutputPin/<OutputPin x="y"/; 21s,<Code/>,<Code>nonsense</Code>,' "$folder/v4.xml" > "$folder/bad.xml"
exits 2 "" "$leat" graph check "$folder/bad.xml"
same "no mistakes that follow" "$(sed 's/.*xml:\([0-9]*\):.* \(E_[A-Z]*\): .*/\1\2/' "$folder/stderr" | sort -u | paste -sd' ')" "16E_ATTR 21E_CC 31E_PIN 32E_PIN 33E_PIN"
exits 2 "" "$leat" graph check "$folder/bad.xml" --no-handlers
! grep -q E_CC "$folder/stderr" || fail "--no-handlers compiles"
if [ "$(id -u)" -ne 0 ]; then XDG_CACHE_HOME=/proc/nothing exits 2 "cannot be made" "$leat" graph check "$folder/v4.xml"; fi

# ---- the command line --------------------------------------------------------------------------
exits 2 "expected one of check info run" "$leat" graph
exits 2 "'chek', did you mean check? expected one of check info run" "$leat" graph chek
exits 0 "" "$leat" graph run --help
has "help of a subverb" "$(cat "$folder/stdout")" "leat graph run: run an application"
exits 2 "check: expected one file" "$leat" graph check
exits 2 "--dialect 'v5', expected one of orch v4 v3" "$leat" graph check --dialect v5 "$folder/v4.xml"
exits 2 "--seed does not go with check, expected one of --dialect" "$leat" graph check --seed 1 "$folder/v4.xml"
finish
