#!/bin/sh
# What `make install` puts down can be used: the command, the library by pkg-config, the manual.
set -u
build=$1
. "$(dirname "$0")/../../test/lib.sh"
case $build in */debug) sanitize="-fsanitize=address,undefined" ;; *) sanitize= ;; esac

DESTDIR="$folder/tree" cmake --install "$build" --prefix /usr > "$folder/log" 2>&1 || fail "install: $(tail -n 3 "$folder/log")"
tree=$folder/tree/usr
for file in bin/leat share/man/man1/leat.1 share/man/man1/leat-decode.1 share/man/man1/leat-encode.1 \
    share/bash-completion/completions/leat share/leat/wireshark/leat.lua include/leat/esp_wire.h; do
    [ -e "$tree/$file" ] || fail "$file is not installed"
done
library=$(dirname "$(find "$tree" -name 'libleat.so.0' | head -n 1)")
[ -e "$library/libleat.a" ] || fail "no static library"
has "soname" "$(readelf -d "$library/libleat.so" | grep SONAME)" "libleat.so.0"
[ -z "$(find "$tree/include" -name '*tables.h')" ] || fail "tables are no public header"

cat > "$folder/user.c" <<'C'
#include <esp_wire.h>
#include <leat_crc.h>
#include <leat_formats.h>
#include <stdio.h>
int main(void)
{
    uint8_t buf[LEAT_ESP_PACKET_LEN_MAX];
    size_t len;
    struct leat_esp_packet p = { .opcode = LEAT_ESP_COUNT, .compValTag = 1, .thresh = 3 };
    if (leat_esp_packet_encode(&p, buf, sizeof buf, &len)) return 1;
    printf("%zu %s\n", len, leat_format_find("esp")->name);
    return 0;
}
C
PKG_CONFIG_PATH=$library/pkgconfig
export PKG_CONFIG_PATH
flags="-I$tree/include/leat -L$library -lleat"
if command -v pkg-config > /dev/null; then flags=$(pkg-config --cflags --libs leat); fi
# shellcheck disable=SC2086
cc -std=c17 $sanitize "$folder/user.c" $flags -o "$folder/user" || fail "a user's program does not build"
same "a user's program, shared" "$(LD_LIBRARY_PATH=$library "$folder/user")" "32 esp"
# shellcheck disable=SC2086
cc -std=c17 $sanitize "$folder/user.c" -I"$tree/include/leat" "$library/libleat.a" -o "$folder/user" || fail "static"
same "a user's program, static" "$("$folder/user")" "32 esp"

# A program on the live ring: without a station it is told so.
cat > "$folder/ring.c" <<'C'
#include <ring.h>
#include <stdio.h>
int main(void)
{
    char why[LEAT_ATON_HOST_WHY_LEN];
    struct leat_aton_host *station = leat_aton_host_open("no-such-device", why);
    puts(why);
    leat_aton_host_close(station);
    return station != NULL;
}
C
# shellcheck disable=SC2086
cc -std=c17 $sanitize "$folder/ring.c" -lleat_ring $flags -L"$library" -o "$folder/ring" || fail "a program for the live ring does not build"
same "a program for the live ring" "$(LD_LIBRARY_PATH=$library "$folder/ring")" "no network device 'no-such-device'"

# A member of an ESP group: without an address of the root it is told so.
cat > "$folder/esp.c" <<'C'
#include <leat/esp.h>
#include <stdio.h>
int main(void)
{
    char why[LEAT_ESP_HOST_WHY_LEN];
    const struct leat_esp_host_config config = { .group = 7, .root = "nowhere" };
    struct leat_esp_host_member *member = leat_esp_host_member_open(&config, why);
    puts(why);
    leat_esp_host_member_close(member);
    return member != NULL;
}
C
live_flags="-I$tree/include -lleat_esp $flags -L$library"
if command -v pkg-config > /dev/null; then live_flags=$(pkg-config --cflags --libs leat-esp); fi
# shellcheck disable=SC2086
cc -std=c17 $sanitize "$folder/esp.c" $live_flags -o "$folder/esp" || fail "a program for live ESP does not build"
same "a program for live ESP" "$(LD_LIBRARY_PATH=$library "$folder/esp")" "--root 'nowhere', expected ADDRESS or ADDRESS:PORT"

# A POETS graph in C: a number goes round, each device adds one.
cat > "$folder/poets.c" <<'C'
#include <poets.h>
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
    static const struct leat_poets_device_type station = {
        .name = "station", .state_len = 4, .ready = ready, .init = init,
        .input = { { "in", 4, .receive = receive } }, .output = { { "out", 4, .send = send } } };
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
poets_flags="-lleat_poets $flags"
if command -v pkg-config > /dev/null; then poets_flags=$(pkg-config --cflags --libs leat-poets); fi
# shellcheck disable=SC2086
cc -std=c17 $sanitize "$folder/poets.c" $poets_flags -L"$library" -o "$folder/poets" || fail "a POETS graph in C does not build"
same "a POETS graph in C" "$(LD_LIBRARY_PATH=$library "$folder/poets")" success
finish
