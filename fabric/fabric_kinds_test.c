/* Names of all kinds: what they open, errors and their places, and that no user input does harm. */
#include "fabric_atm.h"
#include "fabric_aton.h"
#include "fabric_flits.h"
#include "fabric_packetway.h"
#include "tap.h"
#include <leat/fabric.h>
#include <leat/random.h>
#include <string.h>

static struct leat_fabric_error error;

/* Reads a word, which must be of this kind. */
static struct leat_fabric *read_as(const char *word, const char *kind)
{
    struct leat_fabric *f = leat_fabric_read(word, NULL, &error);
    if (!f) printf("# %s: %s\n", word, error.text);
    OK(f && strcmp(f->kind->id, kind) == 0);
    return f;
}

static void a_word_means_the_kind_that_it_always_meant(void)
{
    static const char *const words[][3] = {
        { "clos444", "atm", "clos444" },
        { "clos:4,4,4", "atm", "clos444" },
        { "bmx:8/buffer=4", "atm", "bmx:8/buffer=4" },
        { "clos:4,4,4/switch=vc", "flits", "clos:4,4,4/switch=vc" },
        { "ring:16", "flits", "ring:16" },
        { "mesh4x4", "flits", "mesh:4,4" },
        { "tinsel:2,1", "flits", "mesh:8,4/vcs=2/board=4/board-wire=100/pipeline=2/clock=240MHz" },
        { "hypercube:4/cells", "atm", "hypercube:4/cells" },
        { "mesh4x4/vcs=1/cells/clock=20ns", "atm", "mesh:4,4/cells/vcs=1/clock=20ns" },
        { "torus:4,4/cells/switch=output/full=drop", "atm", "torus:4,4/cells/switch=output" },
        { "crossbar:8/cells/switch=voq/full=wait", "atm", "crossbar:8/cells/switch=voq/full=wait" },
        { "clos:4,4,4/cells/pipeline=3", "atm", "clos:4,4,4/cells/switch=vc/pipeline=3" },
        { "ring16", "aton", "ring16/propagation=0/packet=4096/clock=1ns/model=word" },
        { "ether8", "ether", "ether8/rate=100/frame=1500/buffer=64" },
        { "ether8/esp", "ether", "ether8/rate=100/frame=1500/buffer=64/esp=20" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct leat_fabric *f = read_as(words[i][0], words[i][1]);
        if (f && strcmp(f->name, words[i][2]) != 0) printf("# %s is %s\n", words[i][0], f->name);
        OK(f && strcmp(f->name, words[i][2]) == 0);
        leat_fabric_close(f);
    }
    OK(!leat_fabric_kind_of("nonsense"));
    OK(!leat_fabric_kind_of(""));
}

static void a_kind_before_a_name_leaves_no_doubt(void)
{
    static const char *const words[][3] = {
        { "atm:clos:4,4,4", "atm", "clos444" },
        { "flits:clos:4,4,4", "flits", "clos:4,4,4/switch=vc" },
        { "flits:ring16", "flits", "ring:16" },
        { "aton:ring16/packet=64", "aton", "ring16/propagation=0/packet=64/clock=1ns/model=word" },
        { "ether:ether2", "ether", "ether2/rate=100/frame=1500/buffer=64" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct leat_fabric *f = read_as(words[i][0], words[i][1]);
        OK(f && strcmp(f->name, words[i][2]) == 0);
        leat_fabric_close(f);
    }
    OK(!leat_fabric_read("ether:clos444", NULL, &error));
    EQ(error.code, LEAT_FABRIC_NAME);
    EQ(error.offset, 6);
    EQ(error.len, 7);
    OK(!leat_fabric_read("aton:", NULL, &error));
    OK(!leat_fabric_read("packetway:clos444", NULL, &error));
}

/* ---- errors --------------------------------------------------------------------------------- */

static void what_is_wrong_with_a_name_has_its_place(void)
{
    static const struct {
        const char *word, *piece, *expected;
    } wrongs[] = {
        { "clos:4,4", "clos:4,4", "expected E,M,R" },
        { "clos444/buffer=8/clock=never", "clock=never", "expected" },
        { "bmx:8/nothing=1", "nothing=1", "expected one of /buffer=CELLS" },
        { "clos:0,4,4", "clos:0,4,4", "expected" },
        { "mesh:4,x", "mesh:4,x", "expected" },
        { "mesh:4,4/vcs=2/flow=fast/buffer=8", "flow=fast", "expected wormhole" },
        { "mesh:4,4/vcs=2/vcs=4", "vcs=4", "expected it once" },
        { "torus:4,4/esp=x/vcs=2", "esp=x", "expected 1 to 1048576 cycles per instruction" },
        { "torus:4,4/esp=0", "esp=0", "expected 1 to 1048576 cycles per instruction" },
        { "torus:4,4/esp=9999999", "esp=9999999", "expected 1 to 1048576" },
        { "clos444/esp=20", "esp=20", "expected one of /buffer=CELLS" },
        { "torus:4,4/cells/bufer=3/clock=20ns", "bufer=3", "expected one of" },
        { "torus:4,4/clock=x/cells", "clock=x", "is no clock" },
        { "torus:4,4/cells/cells", "cells", "expected it once" },
        { "moon:4/cells/buffer=3", "moon:4", "is no topology, expected line, ring" },
        { "ring99999", "99999", "expected 1 to 65534" },
        { "ring16/packet=64/x=3", "x=3", "expected propagation=" },
        { "ether0", "0", "expected 1 to 4096" },
        { "ether8/rate=0/frame=1500", "rate=0", "expected rate=1..1000000" },
        { "ether8/esp=0", "esp=0", "esp=1..1048576" },
        { "ether8/esp/frame=64", "ether8/esp/frame=64", "expected at least 128" },
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        const char *word = wrongs[i].word;
        OK(!leat_fabric_read(word, NULL, &error));
        EQ(error.code, LEAT_FABRIC_NAME);
        const bool here = error.len == strlen(wrongs[i].piece) &&
                          strncmp(word + error.offset, wrongs[i].piece, error.len) == 0;
        if (!here) printf("# %s: %.*s\n", word, (int)error.len, word + error.offset);
        OK(here);
        OK(strstr(error.text, wrongs[i].expected));
    }
}

static void the_text_of_an_error_begins_with_its_place(void)
{
    char text[LEAT_FABRIC_TEXT_CAP];
    OK(!leat_fabric_read("ether0", NULL, &error));
    leat_fabric_error_text(&error, "ether0", text, sizeof text);
    OK(strcmp(text, "ether0: '0' stations, expected 1 to 4096") == 0);
    OK(!leat_fabric_read("mash:4,4/x=1", NULL, &error));
    EQ(error.code, LEAT_FABRIC_UNKNOWN);
    EQ(error.len, strlen("mash:4,4"));
    leat_fabric_error_text(&error, "mash:4,4/x=1", text, sizeof text);
    OK(strncmp(text, "unknown fabric 'mash:4,4', expected one of clos444, ", 52) == 0);
    OK(!leat_fabric_wrong(&(struct leat_fabric_place){ "my.yaml", 7, &error, NULL }, "%d", 3));
    leat_fabric_error_text(&error, "my.yaml", text, sizeof text);
    OK(strcmp(text, "my.yaml:7: 3") == 0);
    OK(!leat_fabric_refuse(&error, LEAT_FABRIC_UNSOUND, "mesh:2,2", "what"));
    leat_fabric_error_text(&error, "mesh2x2", text, sizeof text);
    OK(strcmp(text, "mesh:2,2: what") == 0);
    OK(!leat_fabric_no_memory(&error, 2e6));
    leat_fabric_error_text(&error, "any", text, sizeof text);
    OK(strcmp(text, "no memory: the fabric needs 2.0 MB more") == 0);
    OK(!leat_fabric_wrong_name(&error, 1, 2, "x"));
    EQ(error.code, LEAT_FABRIC_NAME);
}

/* Text decides nothing: with another text the error has the same code and place. */
static void codes_and_places_do_not_depend_on_texts(void)
{
    OK(!leat_fabric_read("nothing:1", NULL, &error));
    error.text[0] = '\0';
    EQ(error.code, LEAT_FABRIC_UNKNOWN);
    struct leat_fabric *f = read_as("ring:8/vcs=1", "flits");
    OK(!leat_fabric_open(f, &(struct leat_fabric_config){ 0 }, &error));
    EQ(error.code, LEAT_FABRIC_UNSAFE);
    OK(strstr(error.expected, "--unsafe"));
    leat_fabric_close(f);
    f = read_as("mesh:4,4/routing=tag", "flits");
    OK(!leat_fabric_check(f, stdout, &error));
    EQ(error.code, LEAT_FABRIC_UNSOUND);
    leat_fabric_close(f);
    f = read_as("fly:2,3/esp", "flits");
    OK(!leat_fabric_check(f, stdout, &error));
    EQ(error.code, LEAT_FABRIC_UNSOUND);
    OK(strstr(error.text, "expected another topology"));
    leat_fabric_close(f);
}

/* With ESP routers a network computes, unless it is contention-free; its ports are the same. */
static void esp_routers_bring_means(void)
{
    static const struct {
        const char *word;
        bool contention_free, has_means;
    } row[] = { { "torus:4,4", false, false },
                { "torus:4,4/esp=20", false, true },
                { "torus:4,4/esp=20", true, false },
                { "fattree:4,2/esp", false, true } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct leat_fabric *f = read_as(row[i].word, "flits");
        const struct leat_fabric_config config = { .contention_free = row[i].contention_free };
        OK(leat_fabric_open(f, &config, &error));
        EQ(f->net->ports, 16);
        OK((f->net->means != NULL) == row[i].has_means);
        leat_fabric_close(f);
    }
}

static void a_word_is_not_too_long(void)
{
    char word[LEAT_FABRIC_NAME_CAP + 20] = "mesh:4,4/vcs=";
    memset(word + strlen(word), '1', sizeof word - strlen(word) - 1);
    word[sizeof word - 1] = '\0';
    OK(!leat_fabric_read(word, NULL, &error));
    OK(strstr(error.text, "expected at most 511"));
}

/* ---- what can be written -------------------------------------------------------------------- */

/* An example of each spelling; parameters follow a name that has them. */
static const struct {
    const char *spelling, *example;
} examples[] = {
    { "clos444", "clos444" },
    { "clos:E,M,R", "clos:2,3,4" },
    { "bmx:K", "bmx:4" },
    { "atm/buffer=CELLS", "bmx:4/buffer=2" },
    { "atm/clock=PERIOD", "bmx:4/clock=20MHz" },
    { "atm/switching=WHAT", "bmx:4/switching=vc" },
    { "atm/table=DEPTH", "bmx:4/table=512" },
    { "atm/cells", "hypercube:3/cells" },
    { "flits/line=NAME", "hypercube:3/cells/line=e3" },
    { "line:N", "line:3" },
    { "ring:N", "ring:5" },
    { "crossbar:N", "crossbar:4" },
    { "grid:N", "grid:3" },
    { "mesh:K1,K2,...", "mesh:3,2" },
    { "torus:K1,K2,...", "torus:4,4" },
    { "hypercube:D", "hypercube:3" },
    { "fly:K,N", "fly:2,3" },
    { "benes:N", "benes:8" },
    { "clos:E,M,R/switch=...", "clos:2,2,2/switch=voq" },
    { "fattree:K,N", "fattree:2,3" },
    { "dragonfly:P,A,H", "dragonfly:1,2,1" },
    { "hyperx:S1,S2,...", "hyperx:3,3" },
    { "tinsel:X,Y", "tinsel:1,1" },
    { "FILE.edges", LEAT_SOURCE_DIR "/share/fabrics/campus.edges" },
    { "FILE.yaml", LEAT_SOURCE_DIR "/share/fabrics/campus.yaml" },
    { "flits/switch=WHAT", "mesh:2,2/switch=fifo/routing=dor" },
    { "flits/vcs=N", "mesh:2,2/vcs=2" },
    { "flits/buffer=FLITS", "mesh:2,2/buffer=4" },
    { "flits/flow=WHAT", "mesh:2,2/flow=cut-through/buffer=32" },
    { "flits/full=WHAT", "mesh:2,2/full=drop/buffer=32" },
    { "flits/routing=WHAT", "mesh:2,2/routing=adaptive" },
    { "flits/terminals=N", "mesh:2,2/terminals=2" },
    { "flits/wire=CYCLES", "mesh:2,2/wire=3" },
    { "flits/board=N", "mesh:4,4/board=2" },
    { "flits/board-wire=CYCLES", "mesh:4,4/board=2/board-wire=9" },
    { "flits/pipeline=CYCLES", "mesh:2,2/pipeline=1" },
    { "flits/credit=CYCLES", "mesh:2,2/credit=2" },
    { "flits/iterations=N", "crossbar:4/switch=voq/iterations=2" },
    { "flits/esp=CYCLES", "mesh:2,2/esp=20" },
    { "flits/clock=PERIOD", "mesh:2,2/clock=2ns" },
    { "ringN", "ring4" },
    { "aton/propagation=BITS", "ring4/propagation=5" },
    { "aton/packet=OCTETS", "ring4/packet=100" },
    { "aton/clock=PERIOD", "ring4/clock=4MHz" },
    { "aton/model=WHAT", "ring4/model=bit" },
    { "aton/priority=PORT:P,...", "ring4/priority=0:7,1-2:3" },
    { "etherN", "ether4" },
    { "ether/rate=MBITS", "ether4/rate=1000" },
    { "ether/frame=OCTETS", "ether4/frame=9000" },
    { "ether/buffer=FRAMES", "ether4/buffer=2" },
    { "ether/esp=BITS", "ether4/esp=7" },
    { "twosan", LEAT_SOURCE_DIR "/share/fabrics/twosan.yaml" },
    { "threesan", LEAT_SOURCE_DIR "/share/fabrics/threesan.yaml" },
};

static const char *example_of(const struct leat_fabric_kind *kind, const char *spelling)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", spelling[0] == '/' ? kind->id : "", spelling);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (strcmp(examples[i].spelling, name) == 0) return examples[i].example;
    printf("# no example of %s\n", name);
    return NULL;
}

/* Opens it, and sends a message from its first port to its last. */
static void carries_a_message(const char *word)
{
    static const uint8_t octets[100];
    struct leat_fabric_delivery d = { .lost = "not sent" };
    char why[LEAT_FABRIC_WHY_LEN] = "";
#ifndef HAVE_CYAML
    if (strstr(word, ".yaml")) return;
#endif
    struct leat_fabric_net *net = leat_fabric_net_open(word, why);
    if (!net) printf("# %s: %s\n", word, why);
    OK(net);
    if (!net) return;
    const uint32_t last = leat_fabric_net_ports(net) - 1;
    OK(leat_fabric_net_send(net, 0, last, octets, sizeof octets, 0));
    OK(leat_fabric_net_run(net, &d));
    OK(!d.lost && d.at_ps > 0);
    leat_fabric_net_close(net);
}

static void every_spelling_opens_and_carries_a_message(void)
{
    const struct leat_fabric_kind *kind;
    struct leat_fabric_spelling each;
    for (size_t k = 0; (kind = leat_fabric_kind_at(k)); k++)
        for (size_t i = 0; kind->list(i, &each); i++) {
            const char *example = example_of(kind, each.name);
            OK(example);
            if (example) carries_a_message(example);
        }
}

/* Of a switched Ethernet of 100 Mbit/s: preamble, header, our 7 octets, data, FCS, twice. */
static void an_ethernet_takes_the_time_of_its_frames(void)
{
    static const uint8_t octets[1000];
    struct leat_fabric_delivery d = { .lost = "not sent" };
    char why[LEAT_FABRIC_WHY_LEN];
    struct leat_fabric_net *net = leat_fabric_net_open("ether4", why);
    OK(leat_fabric_net_send(net, 1, 2, octets, sizeof octets, 0));
    OK(leat_fabric_net_run(net, &d));
    EQ(d.at_ps, 2 * 8 * (8 + 14 + 7 + 1000 + 4) * 10000);
    leat_fabric_net_close(net);
    OK(leat_fabric_ns(&(struct leat_sim_clock){ 10000, 1 }, 3) == 30.0);
}

/* ---- kinds ---------------------------------------------------------------------------------- */

static void a_fabric_is_of_one_kind(void)
{
    static const char *const words[] = { "bmx:4", "mesh:2,2", "ring4", "ether4" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct leat_fabric *f = leat_fabric_read(words[i], NULL, &error);
        EQ(leat_fabric_as_atm(f) != NULL, i == 0);
        EQ(leat_fabric_as_flits(f) != NULL, i == 1);
        EQ(leat_fabric_as_aton(f) != NULL, i == 2);
        OK(!leat_fabric_as_packetway(f));
        leat_fabric_close(f);
    }
    leat_fabric_close(NULL);
}

static void every_kind_has_what_it_must_have(void)
{
    const struct leat_fabric_kind *kind;
    for (size_t i = 0; (kind = leat_fabric_kind_at(i)); i++) {
        OK(kind->id && kind->what && kind->size >= sizeof(struct leat_fabric));
        OK(kind->list && kind->matches && kind->read && kind->open);
    }
}

static void a_kind_describes_itself(void)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct leat_fabric *f = read_as("ring4", "aton");
    OK(f->kind->describe(f, true, out, &error));
    OK(leat_fabric_check(f, out, &error));
    fclose(out);
    OK(strstr(text, "\"stations\":4,"));
    OK(strstr(text, "ring4: sound: 4 ports\n"));
    free(text);
    leat_fabric_close(f);
}

static void a_clock_is_a_fraction_of_picoseconds(void)
{
    const struct leat_sim_clock thirds = { .num = 10000, .den = 3 };
    struct json_out object;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    leat_fabric_clock_json(json_open(&object, out), "bit_ps", &thirds);
    json_close(&object, "done");
    fclose(out);
    OK(strcmp(text, "{\"bit_ps\":{\"num\":10000,\"den\":3}}\n") == 0);
    free(text);
}

/* ---- chance --------------------------------------------------------------------------------- */

/* Pieces of names in any order, some with an octet changed. */
static void put_random_name(struct leat_random *r, char *out, size_t cap)
{
    static const char *const pieces[] = {
        "clos", "bmx",     "mesh", "torus",      "ring",   "ether",   "tinsel", "flits",
        "atm",  "aton",    ":",    "/",          ",",      "x",       "4",      "16",
        "0",    "999999",  "=",    "/vcs=",      "/rate=", "/clock=", "1ns",    "/switch=",
        "voq",  "/model=", "bit",  "/priority=", "-",      "444",     "/cells"
    };
    const uint64_t count = leat_random_below(r, 9);
    out[0] = '\0';
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t piece = leat_random_below(r, sizeof pieces / sizeof *pieces);
        snprintf(out + strlen(out), cap - strlen(out), "%s", pieces[piece]);
    }
    if (!*out || leat_random_below(r, 4)) return;
    const uint64_t at = leat_random_below(r, strlen(out));
    const uint64_t octet = leat_random_below(r, 255);
    out[at] = (char)(octet + 1);
}

static void any_name_is_read_or_refused_with_a_place_in_it(void)
{
    struct leat_random r;
    leat_random_seed(&r, tap_seed());
    for (long i = 0; i < LEAT_ROUNDS / 20; i++) {
        char word[128];
        put_random_name(&r, word, sizeof word);
        if (strchr(word, '.')) continue; /* files have tests of their own */
        struct leat_fabric *f = leat_fabric_read(word, NULL, &error);
        if (f) {
            struct leat_fabric *again = leat_fabric_read(f->name, NULL, &error);
            OK(again && again->kind == f->kind && strcmp(again->name, f->name) == 0);
            leat_fabric_close(again);
        } else {
            OK(error.code == LEAT_FABRIC_UNKNOWN || error.code == LEAT_FABRIC_NAME ||
               strstr(word, "/cells")); /* which are built when they are read */
            OK(error.offset + error.len <= strlen(word));
            OK(error.text[0]);
        }
        leat_fabric_close(f);
    }
}

TAP_MAIN(T(a_word_means_the_kind_that_it_always_meant), T(a_kind_before_a_name_leaves_no_doubt),
         T(what_is_wrong_with_a_name_has_its_place), T(the_text_of_an_error_begins_with_its_place),
         T(codes_and_places_do_not_depend_on_texts), T(esp_routers_bring_means),
         T(a_word_is_not_too_long), T(every_spelling_opens_and_carries_a_message),
         T(an_ethernet_takes_the_time_of_its_frames), T(a_fabric_is_of_one_kind),
         T(every_kind_has_what_it_must_have), T(a_kind_describes_itself),
         T(a_clock_is_a_fraction_of_picoseconds), T(any_name_is_read_or_refused_with_a_place_in_it))
