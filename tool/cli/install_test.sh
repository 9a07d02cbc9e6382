#!/bin/sh
# What `make install` installs can be used: the command, the manual, and the libraries by pkg-config,
# from C and from C++.
set -u
build=$1
. "$(dirname "$0")/../../test/lib.sh"
case $build in */debug) sanitize="-fsanitize=address,undefined" ;; *) sanitize= ;; esac

DESTDIR="$folder/tree" cmake --install "$build" --prefix /usr > "$folder/log" 2>&1 || fail "install: $(tail -n 3 "$folder/log")"
tree=$folder/tree/usr
for file in bin/leat share/man/man1/leat.1 share/man/man1/leat-decode.1 share/man/man1/leat-encode.1 \
    share/man/man3/leat_esp.3 share/man/man3/leat_esp_packet_decode.3 \
    share/bash-completion/completions/leat share/leat/wireshark/leat.lua share/leat/schema/keys.json include/leat/api.h; do
    [ -e "$tree/$file" ] || fail "$file is not installed"
done
library=$(dirname "$(find "$tree" -name 'libleat.so.1' | head -n 1)")
[ -e "$library/libleat.a" ] || fail "no static library"
has "soname" "$(readelf -d "$library/libleat.so" | grep SONAME)" "libleat.so.1"
same "public headers, installed" "$(cd "$tree/include" && find . -type f | sort)" "$(cd include && find . -name '*.h' | sort)"

PKG_CONFIG_PATH=$library/pkgconfig LD_LIBRARY_PATH=$library
export PKG_CONFIG_PATH LD_LIBRARY_PATH

# both PROGRAM PACKAGE OUTPUT: PROGRAM.c, as C and as C++, says OUTPUT.
both() {
    warnings="-Wall -Wextra -Wpedantic -Werror"
    flags=$(pkg-config --cflags --libs "$2") || fail "pkg-config $2"
    # shellcheck disable=SC2086
    cc -std=c17 $warnings $sanitize "$folder/$1.c" $flags -o "$folder/$1" || fail "$1 does not build as C"
    same "$1 in C" "$("$folder/$1" 2>&1)" "$3"
    # shellcheck disable=SC2086
    c++ -std=c++17 $warnings $sanitize -x c++ "$folder/$1.c" -x none $flags -o "$folder/$1++" || fail "$1 does not build as C++"
    same "$1 in C++" "$("$folder/$1++" 2>&1)" "$3"
}

# Every header by itself.
for header in "$tree"/include/leat/*.h; do
    printf '#include <leat/%s>\nint main(void) { return 0; }\n' "$(basename "$header")" > "$folder/alone.c"
    cc -std=c17 -Wall -Wextra -Wpedantic -Werror -I"$tree/include" -fsyntax-only "$folder/alone.c" || fail "$header in C"
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -I"$tree/include" -fsyntax-only -x c++ "$folder/alone.c" || fail "$header in C++"
done

# Packets: a struct to octets, octets to JSON, a capture of them written and read.
cat > "$folder/packets.c" <<'C'
#include <leat/capture.h>
#include <leat/crc.h>
#include <leat/esp.h>
#include <leat/format.h>
#include <stdio.h>
#include <string.h>

static uint8_t file[1024];
static struct leat_capture capture;

static size_t write_capture(const uint8_t *packet, size_t len)
{
    size_t at = leat_capture_put_section(file, sizeof file);
    at += leat_capture_put_interface(file + at, sizeof file - at, LEAT_ESP_LINK_TYPE, "esp");
    return at + leat_capture_put_packet(file + at, sizeof file - at, 0, 1, packet, len);
}

static bool read_packet(size_t file_len, struct leat_capture_packet *packet)
{
    bool found = false;
    size_t at = 0, used, wanted;
    leat_capture_init(&capture);
    while (!found && at < file_len) {
        if (leat_capture_next(&capture, file + at, file_len - at, packet, &found, &used, &wanted)) return false;
        at += used;
    }
    return found;
}

int main(void)
{
    struct leat_esp_packet packet;
    struct leat_capture_packet captured;
    uint8_t octets[LEAT_ESP_PACKET_LEN_MAX];
    char json[1000];
    size_t len, fault_at;
    memset(&packet, 0, sizeof packet);
    packet.opcode = LEAT_ESP_COUNT;
    packet.compValTag = 1;
    packet.thresh = 3;
    if (leat_esp_packet_encode(&packet, octets, sizeof octets, &len)) return 1;
    if (!read_packet(write_capture(octets, len), &captured)) return 1;
    if (leat_format_decode(leat_format_find("esp"), captured.octets, captured.len, json, sizeof json, NULL)) return 1;
    puts(json);
    octets[len - 1] ^= 1;
    const leat_err err = leat_format_decode(leat_format_find("esp"), octets, len, json, sizeof json, &fault_at);
    printf("%s at %u, CRC %08x\n", leat_err_name(err), (unsigned)fault_at, (unsigned)leat_crc32(0, "123456789", 9));
    return 0;
}
C
json=$("$tree/bin/leat" encode esp opcode=COUNT flags= computationId=0 compValTag=1 thresh=3 | "$tree/bin/leat" decode --format esp --json |
    python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["fields"], separators=(",", ":")))')
both packets leat "$json
CHECKSUM at 28, CRC cbf43926"
# shellcheck disable=SC2086
cc -std=c17 $sanitize "$folder/packets.c" -I"$tree/include" "$library/libleat.a" -o "$folder/packets" || fail "static"
has "packets, static" "$("$folder/packets")" "CRC cbf43926"

# A cell with an AAL5 PDU in it.
cat > "$folder/cells.c" <<'C'
#include <leat/atm.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    static const uint8_t text[] = "a short message";
    struct leat_atm_aal5_sender sender;
    struct leat_atm_aal5_pdu pdu;
    struct leat_atm_cell cell;
    uint8_t octets[LEAT_ATM_CELL_LEN];
    memset(&cell, 0, sizeof cell);
    memset(&pdu, 0, sizeof pdu);
    cell.vci = 42;
    pdu.payload = text;
    pdu.payload_len = sizeof text;
    if (leat_atm_aal5_sender_init(&sender, &cell) || leat_atm_aal5_sender_begin(&sender, &pdu)) return 1;
    const size_t cells = leat_atm_aal5_sender_cells(&sender, octets, 1);
    if (leat_atm_cell_decode(octets, sizeof octets, LEAT_ATM_UNI, &cell, NULL)) return 1;
    if (leat_atm_aal5_pdu_decode(cell.payload, sizeof cell.payload, &pdu, NULL)) return 1;
    printf("%u cell of channel %u: %s\n", (unsigned)cells, cell.vci, (const char *)pdu.payload);
    return 0;
}
C
both cells leat "1 cell of channel 42: a short message"

# A message over a simulated fabric: the time that the command tells.
cp "$tree/share/leat/programs/fabric_message.c" "$folder/message.c"
both message leat-fabric "torus:4,4: 1000 octets from port 0 to port 15 in 0.081000 microseconds"
for fabric in torus:4,4 clos444 ring16 ether8; do
    time=$("$tree/bin/leat" fabric time $fabric --bytes 1000 --json | sed 's/.*"time_us":\([0-9.]*\),.*/\1/')
    has "a message over $fabric" "$(LD_LIBRARY_PATH=$library "$folder/message" $fabric 1000)" "in $time microseconds"
done
exits 1 "mesh:4,4/vcs=99: '99' is out of range, expected 1 to 32" env LD_LIBRARY_PATH="$library" "$folder/message" mesh:4,4/vcs=99

# A program on the live ring, by the header's old name: without a station it is told so.
cat > "$folder/ring.c" <<'C'
#include <leat/ring.h>
#include <stdio.h>
int main(void)
{
    char why[LEAT_ATON_HOST_WHY_LEN];
    struct leat_aton_host *station;
    const enum leat_aton_host_end end = leat_aton_host_open("no-such-device", &station, why);
    puts(why);
    leat_aton_host_close(station);
    return end != LEAT_ATON_HOST_WRONG;
}
C
both ring leat-ring "no network device 'no-such-device'"

# A member of an ESP group: without an address of the root it is told so.
cat > "$folder/esp.c" <<'C'
#include <leat/esp.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    char why[LEAT_ESP_HOST_WHY_LEN];
    struct leat_esp_host_config config;
    memset(&config, 0, sizeof config);
    config.group = 7;
    config.root = "nowhere";
    struct leat_esp_host_member *member;
    const enum leat_esp_host_end end = leat_esp_host_member_open(&config, &member, why);
    puts(why);
    leat_esp_host_member_close(member);
    return end != LEAT_ESP_HOST_WRONG;
}
C
both esp leat-esp "--root 'nowhere', expected ADDRESS or ADDRESS:PORT"

# A node of PacketWay, by the header's old name: without a network it is told so. Its message has a CRC.
cat > "$folder/node.c" <<'C'
#include <leat/pktway.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    static struct leat_packetway_message message, back;
    char why[LEAT_PACKETWAY_NODE_WHY_LEN];
    uint8_t octets[256];
    size_t len;
    struct leat_packetway_node_config config;
    struct leat_packetway_node *node = NULL;
    memset(&config, 0, sizeof config);
    config.san = "no-such-device,bias=0x100,address=0x101";
    if (leat_packetway_node_open(&config, &node, why) == LEAT_PACKETWAY_NODE_OK) return 1;
    puts(why);
    message.header.dt = 0x201;
    message.header.sa = 0x101;
    message.header.pt = LEAT_PACKETWAY_PT_PVM;
    message.data = (const uint8_t *)"HELLO";
    message.data_len = 5;
    message.oh_count = 1;
    message.oh[0].type = LEAT_PACKETWAY_OH_CRC32_HERE;
    message.oh[0].len = 4;
    if (leat_packetway_message_encode(&message, octets, sizeof octets, &len)) return 1;
    if (leat_packetway_message_decode(octets, len, LEAT_PACKETWAY_STRICT, LEAT_PACKETWAY_DESTINATION, &back, NULL)) return 1;
    printf("%u octets to %x: %.5s\n", (unsigned)len, (unsigned)back.header.dt, (const char *)back.data);
    return 0;
}
C
both node leat-pktway "no network device 'no-such-device', expected one, or udp:ADDRESS[:PORT]
40 octets to 201: HELLO"

# A task of the thesis' calls, outside of a run.
cat > "$folder/task.c" <<'C'
#include <leat/atm_task.h>
#include <stdio.h>
int main(void)
{
    struct shmst *dev;
    struct prcsdescstr *prcstab;
    printf("%d\n", atmjoin(&dev, &prcstab));
    return 0;
}
C
old=$sanitize sanitize= # the library has none
both task leat-atm 'leat: LEAT_RUN is not set: this program was not started by `leat run`
-1'
sanitize=$old

# A POETS graph in C: a number goes round, each device adds one.
cat > "$folder/poets.c" <<'C'
#include <leat/poets.h>
#include <stdio.h>
static uint64_t ready(const struct leat_poets_device *d)
{
    return *(uint32_t *)d->state % 2;
}
static void receive(struct leat_poets_device *d, const void *message)
{
    *(uint32_t *)d->state += 1;
    if (*(const uint32_t *)message == 8) leat_poets_exit(d, 0);
}
static bool send(struct leat_poets_device *d, void *message)
{
    *(uint32_t *)d->state += 1;
    *(uint32_t *)message = *(uint32_t *)d->state;
    return true;
}
static void init(struct leat_poets_device *d)
{
    *(uint32_t *)d->state = d->number == 0;
}
int main(void)
{
    static struct leat_poets_device_type station;
    station.name = "station";
    station.state_len = 4;
    station.ready = ready;
    station.init = init;
    station.input[0].name = "in";
    station.input[0].message_len = 4;
    station.input[0].receive = receive;
    station.output[0].name = "out";
    station.output[0].message_len = 4;
    station.output[0].send = send;
    struct leat_poets_graph *g = leat_poets_graph_open("ring", NULL, 0);
    struct leat_poets_result r;
    for (uint32_t i = 0; i < 3; i++) leat_poets_graph_device(g, &station, NULL, NULL);
    for (uint32_t i = 0; i < 3; i++) leat_poets_graph_edge(g, (i + 1) % 3, 0, i, 0, NULL);
    if (!leat_poets_graph_run(g, NULL, &r)) return puts(leat_poets_graph_why(g)), 1;
    puts(r.reason_name);
    leat_poets_graph_close(g);
    return 0;
}
C
both poets leat-poets success
finish
