#include "leat_bytes.h"
#include "leat_text.h"
#include "leat_tree.h"
#include "sim_atm_aal_bench.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { PORTS = 16, CELL_LEN = LEAT_ATM_CELL_LEN, NEWS_MAX = 4096, TEXT_MAX = 1 << 17 };

/* ---- a bench with an ear ------------------------------------------------------------------- */

static struct leat_sim_atm_aal_bench bench;
static struct leat_sim_atm_aal_schedule schedules[PORTS];
static struct leat_sim_atm_aal_news news[NEWS_MAX];
static uint8_t news_octets[NEWS_MAX][16]; /* the first few of each */
static size_t news_count;
static void *bench_memory;

static leat_sim_atm_aal_on_event record;

static void record(void *context, const struct leat_sim_atm_aal_news *n)
{
    (void)context;
    OK(news_count < NEWS_MAX);
    if (news_count == NEWS_MAX) return;
    memset(news_octets[news_count], 0, sizeof *news_octets);
    if (n->len)
        memcpy(news_octets[news_count], n->octets, n->len < sizeof *news_octets ? n->len : 16);
    news[news_count++] = *n;
}

/* The thesis' network and units; tests change the rest before `start`. */
static struct leat_sim_atm_aal_bench_config config_of(const char *fabric)
{
    struct leat_sim_atm_aal_bench_config config = { .schedules = schedules, .on_event = record };
    struct leat_text why = LEAT_TEXT(200);
    EQ(leat_sim_atm_fabric_parse(fabric, &config.fabric, &why), LEAT_ERR_OK);
    leat_atm_aal_config_default(&config.aal, 0, PORTS, 4);
    memset(schedules, 0, sizeof schedules);
    return config;
}

static void start(const struct leat_sim_atm_aal_bench_config *config)
{
    free(bench_memory);
    bench_memory = calloc(1, leat_sim_atm_aal_bench_footprint(config));
    if (!bench_memory) abort();
    news_count = 0;
    leat_sim_atm_aal_bench_init(&bench, config, bench_memory);
}

static void run_to(uint64_t cycle)
{
    while (leat_sim_atm_aal_bench_now(&bench) < cycle)
        leat_sim_atm_aal_bench_step(&bench);
}

/* Until everything is done, at most so many cycles. */
static void run_to_rest(uint64_t cycles)
{
    while (!leat_sim_atm_aal_bench_at_rest(&bench) && leat_sim_atm_aal_bench_now(&bench) < cycles)
        leat_sim_atm_aal_bench_step(&bench);
    OK(leat_sim_atm_aal_bench_at_rest(&bench));
}

static int64_t value(uint32_t unit, int signal)
{
    int64_t out[LEAT_SIM_ATM_AAL_SIGNALS];
    leat_sim_atm_aal_bench_inspect(&bench, unit, out);
    return out[signal];
}

static int64_t block_value(uint32_t unit, uint16_t block, int signal)
{
    int64_t out[LEAT_SIM_ATM_AAL_BLOCK_SIGNALS];
    leat_sim_atm_aal_bench_inspect_block(&bench, unit, block, out);
    return out[signal];
}

/* The first cycle up to `limit` after the present one in which a register has that value. */
static uint64_t when(uint32_t unit, int signal, int64_t wanted, uint64_t limit)
{
    while (leat_sim_atm_aal_bench_now(&bench) < limit) {
        leat_sim_atm_aal_bench_step(&bench);
        if (value(unit, signal) == wanted) return leat_sim_atm_aal_bench_now(&bench);
    }
    return LEAT_NEVER;
}

static void schedule(uint32_t unit, const struct leat_sim_atm_aal_order *orders, size_t count)
{
    schedules[unit] = (struct leat_sim_atm_aal_schedule){ orders, count };
}
#define SCHEDULE(unit, orders) schedule(unit, orders, sizeof orders / sizeof *orders)

/* Orders, short to write. */
#define TASK(inst, number)              \
    {                                   \
        { 't', 's', 'k' }, inst, number \
    }
#define INIT(cycle)                                               \
    {                                                             \
        .command = { LEAT_ATM_AAL_INITSEND, .not_before = cycle } \
    }
#define PUT(cycle, from, size)                                                            \
    {                                                                                     \
        .command = { LEAT_ATM_AAL_PUT, .not_before = cycle, .octets = from, .len = size } \
    }
#define TO(cycle, port)                                                                   \
    {                                                                                     \
        .command = { LEAT_ATM_AAL_DESTINATION, .not_before = cycle, .destination = port } \
    }
#define SND(cycle, inst, number)                                                             \
    {                                                                                        \
        .command = { LEAT_ATM_AAL_SEND, .not_before = cycle, .message = TASK(inst, number) } \
    }
#define RCV(cycle, inst, number)                                                                \
    {                                                                                           \
        .command = { LEAT_ATM_AAL_RECEIVE, .not_before = cycle, .message = TASK(inst, number) } \
    }
#define POLL(cycle, inst, number)                                                                \
    {                                                                                            \
        .command = { LEAT_ATM_AAL_RECEIVE, .not_before = cycle, .message = TASK(inst, number) }, \
        .poll = true                                                                             \
    }
#define GET(size)                                    \
    {                                                \
        .command = { LEAT_ATM_AAL_GET, .len = size } \
    }
#define GET_STRING                                              \
    {                                                           \
        .command = { .verb = LEAT_ATM_AAL_GET }, .string = true \
    }

/* ---- the published test -------------------------------------------------------------------- */

static void start_two_messages(void)
{
    struct leat_sim_atm_aal_bench_config config = config_of("clos444");
    EQ(LEAT_SIM_ATM_AAL_TWO_MESSAGES_PORTS, PORTS);
    config.schedules = leat_sim_atm_aal_two_messages();
    start(&config);
}

static const char *read_text(const char *name)
{
    static char text[TEXT_MAX];
    char path[512];
    snprintf(path, sizeof path, "%s/proto/atm/vectors/aal/%s", LEAT_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    OK(file != NULL);
    const size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    OK(len > 0 && len < sizeof text - 1);
    text[len] = '\0';
    return text;
}

/* A register by its printed name, "aal34[5].blkinmsg[1]". False: there is none of this name. */
static bool value_by_name(const char *name, int64_t *out)
{
    char field[32];
    unsigned unit, index = 0;
    const int parts = sscanf(name, "aal34[%u].%31[a-z0-9][%u]", &unit, field, &index);
    if (parts < 2 || unit >= PORTS) return false;
    for (int i = 0; parts == 2 && i < LEAT_SIM_ATM_AAL_SIGNALS; i++)
        if (strcmp(field, leat_sim_atm_aal_signals[i].name) == 0) {
            *out = value(unit, i);
            return true;
        }
    for (int i = 0; parts == 3 && i < LEAT_SIM_ATM_AAL_BLOCK_SIGNALS; i++)
        if (strcmp(field, leat_sim_atm_aal_block_signals[i].name) == 0) {
            *out = block_value(unit, (uint16_t)index, i);
            return true;
        }
    if (parts == 3 && strcmp(field, "msgnumfrm") == 0) {
        *out = leat_sim_atm_aal_bench_messages(&bench, unit, index);
        return true;
    }
    return false;
}

/* The signals of one line of the trace: "name": value, ... How many were compared? */
static int compare_signals(const char *at, const char *end, long cycle)
{
    int compared = 0;
    while ((at = memchr(at, '"', (size_t)(end - at)))) {
        char name[64];
        long want;
        int len = 0;
        int64_t got = 0;
        if (sscanf(at, "\"%63[^\"]\": %ld%n", name, &want, &len) != 2) break;
        at += len;
        const bool found = value_by_name(name, &got);
        if (!found || got != want)
            printf("# cycle %ld, %s: got %ld, want %ld\n", cycle, name, (long)got, want);
        OK(found && got == want);
        compared++;
    }
    return compared;
}

static void every_published_value_of_the_two_messages_is_shown(void)
{
    const char *line = read_text("aal_J.trace.jsonl");
    int lines = 0, compared = 0;
    start_two_messages();
    while (*line) {
        const char *end = strchr(line, '\n'), *signals = strstr(line, "\"signals\": {");
        long cycle = -1;
        OK(end && signals && sscanf(line, "{\"cycle\": %ld", &cycle) == 1);
        if (!end || !signals) return;
        run_to((uint64_t)cycle);
        EQ(leat_sim_atm_aal_bench_now(&bench), cycle);
        compared += compare_signals(signals + strlen("\"signals\": {"), end, cycle);
        line = end + 1;
        lines++;
    }
    EQ(lines, 44);
    EQ(compared, 2085); /* all of them */
}

/* Note, 5.5: rows that a register shows for the first time after the row above it. */
static void the_timeline_of_the_two_messages_is_the_published_one(void)
{
    start_two_messages();
    EQ(when(1, LEAT_SIM_ATM_AAL_OGBBLKNUM, 1, 10), 3);
    EQ(when(1, LEAT_SIM_ATM_AAL_OGMSGNUM, 1, 100), 60);
    EQ(when(1, LEAT_SIM_ATM_AAL_STATE5, 5, 100), 62);
    EQ(when(1, LEAT_SIM_ATM_AAL_BUFI, 1, 100), 63);
    EQ(when(1, LEAT_SIM_ATM_AAL_OGBBLKNUM, 2, 100), 72); /* segmentation of message 2: 64 to 75 */
    EQ(when(5, LEAT_SIM_ATM_AAL_ICBYTEI, 1, 100), 81);
    EQ(when(1, LEAT_SIM_ATM_AAL_BUFI, 0, 200), 116);    /* the last byte was in 115 */
    EQ(when(5, LEAT_SIM_ATM_AAL_ICBYTEI, 0, 200), 134); /* in 133 */
    EQ(when(1, LEAT_SIM_ATM_AAL_OGMSGNUM, 2, 200), 148);
    EQ(when(5, LEAT_SIM_ATM_AAL_STATE5, 2, 200), 149); /* acknowledgements begin */
    EQ(when(1, LEAT_SIM_ATM_AAL_STATE5, 2, 200), 150);
    EQ(value(5, LEAT_SIM_ATM_AAL_BUFI), 1);
    EQ(value(1, LEAT_SIM_ATM_AAL_BUFI), 0);
    EQ(when(5, LEAT_SIM_ATM_AAL_ICBLKINMSGNUM, 1, 200), 157);
    EQ(when(5, LEAT_SIM_ATM_AAL_STATE5, 3, 300), 202); /* with the last byte */
    EQ(when(1, LEAT_SIM_ATM_AAL_STATE5, 3, 300), 203);
    EQ(when(1, LEAT_SIM_ATM_AAL_STATE5, 5, 300), 206);
    EQ(when(1, LEAT_SIM_ATM_AAL_BUFI, 1, 300), 207);
    EQ(when(5, LEAT_SIM_ATM_AAL_ICBYTEI, 1, 300), 225);
    EQ(when(1, LEAT_SIM_ATM_AAL_STATE5, 6, 300), 259);
    EQ(when(5, LEAT_SIM_ATM_AAL_ICBYTEI, 0, 300), 278);
    EQ(when(5, LEAT_SIM_ATM_AAL_STATE5, 2, 300), 295);
    EQ(when(5, LEAT_SIM_ATM_AAL_ICBLKINMSGNUM, 2, 400), 303);
    EQ(when(5, LEAT_SIM_ATM_AAL_STATE5, 3, 400), 348);
    run_to(390);
    EQ(block_value(1, 1, LEAT_SIM_ATM_AAL_ACKNUM), 1);
    run_to(391);
    EQ(block_value(1, 1, LEAT_SIM_ATM_AAL_ACKNUM), 0);
    run_to(393);
    EQ(block_value(1, 1, LEAT_SIM_ATM_AAL_OGBLKTOFR), 0);
    run_to(394);
    EQ(block_value(1, 1, LEAT_SIM_ATM_AAL_OGBLKTOFR), 1);
    EQ(when(1, LEAT_SIM_ATM_AAL_OGBBLKNUM, 1, 400), 396);
    run_to(1056);
    EQ(block_value(1, 0, LEAT_SIM_ATM_AAL_ACKNUM), 1);
}

static void the_receiver_gets_what_the_thesis_prints(void)
{
    start_two_messages();
    run_to_rest(5000);
    size_t got = 0;
    for (size_t i = 0; i < news_count; i++) {
        static const uint32_t want[] = { 285, 544, 0x44a22e98 };
        if (news[i].event != LEAT_SIM_ATM_AAL_GOT || got == 3) continue;
        EQ(news[i].unit, 5);
        EQ(news[i].len, 4);
        EQ(leat_get_be32(news_octets[i]), want[got]);
        got++;
    }
    EQ(got, 3);
    EQ(block_value(1, 0, LEAT_SIM_ATM_AAL_ACKNUM), 0); /* all sixteen have acknowledged */
    EQ(value(1, LEAT_SIM_ATM_AAL_OGMSGNUM), 0);
}

/* A polling reader asks every 81 cycles (note, 5.3). */
static void state_8_goes_round_sixteen_sources_while_it_finds_nothing(void)
{
    static const int of_source[] = { 2, 3, 13, 14 };
    start_two_messages();
    for (uint64_t cycle = 1; cycle <= 162; cycle++) {
        const uint64_t place = (cycle - 1) % 81;
        const int want = place < 14    ? 0
                         : place == 14 ? 1
                         : place == 79 ? 15
                         : place == 80 ? 0
                                       : of_source[(place - 15) % 4];
        run_to(cycle);
        EQ(value(5, LEAT_SIM_ATM_AAL_STATE8), want);
        EQ(value(1, LEAT_SIM_ATM_AAL_STATE8), 0);
    }
    static const int of_found[] = {
        1, 2, 3, 4, 5, 6, 7, 0
    }; /* our numbers of a search that finds */
    for (size_t i = 0; i < sizeof of_found / sizeof *of_found; i++) {
        run_to(163 + 14 + i);
        EQ(value(5, LEAT_SIM_ATM_AAL_STATE8), of_found[i]);
    }
}

/* ---- the published cells -------------------------------------------------------------------- */

/* CRC-16 of the note, bit by bit. */
static uint16_t crc_of(const uint8_t *octets, size_t len)
{
    unsigned crc = 0;
    for (size_t bit = 0; bit < 8 * len; bit++) {
        const unsigned in = octets[bit / 8] >> (7 - bit % 8) & 1, out = crc >> 15 & 1;
        crc = (crc << 1 & 0xffff) ^ (in != out ? 0x1021 : 0);
    }
    return (uint16_t)crc;
}

/* The cell on this signal in the 53 cycles from the present one on, valid all the time. */
static void take_cell(uint32_t unit, int octet, int valid, uint8_t *cell)
{
    for (int i = 0; i < CELL_LEN; i++, leat_sim_atm_aal_bench_step(&bench)) {
        EQ(value(unit, valid), 1);
        cell[i] = (uint8_t)value(unit, octet);
    }
    EQ(value(unit, valid), 0);
}

static void example(const struct leat_tree *root, int index, uint8_t *cell, unsigned *crc)
{
    const struct leat_tree *e = leat_tree_find(root, "examples")->child;
    while (index--)
        e = e->next;
    const struct leat_tree *hex = leat_tree_find(e, "cell_hex"), *c = leat_tree_find(e, "crc");
    OK(hex && hex->text_len == 2 * CELL_LEN && c);
    for (size_t i = 0; i < CELL_LEN; i++) {
        unsigned octet = 0;
        EQ(sscanf(hex->text + 2 * i, "%2x", &octet), 1);
        cell[i] = (uint8_t)octet;
    }
    EQ(sscanf(c->text, "%4x", crc), 1);
}

static const struct leat_tree *examples(void)
{
    static uint8_t memory[1 << 16];
    struct leat_arena arena;
    struct leat_tree *root = NULL;
    size_t fault_at = 0;
    const char *text = read_text("crc_examples.json");
    leat_arena_init(&arena, memory, sizeof memory);
    EQ(leat_tree_parse_json(&arena, text, strlen(text), &root, &fault_at), LEAT_ERR_OK);
    return root;
}

static void the_published_cells_and_their_crcs_are_on_the_wire(void)
{
    static const struct {
        uint64_t buf_at, ic_at; /* when the cell begins, and arrives at unit 5 */
        unsigned crc;
    } cells[] = { { 63, 81, 0x4a78 }, { 207, 225, 0xdfbd }, { 151, 0, 0xbe22 } };
    const struct leat_tree *root = examples();
    if (!root) return;
    for (int i = 0; i < 3; i++) {
        uint8_t want[CELL_LEN], got[CELL_LEN];
        unsigned crc = 0;
        example(root, i, want, &crc);
        EQ(crc, cells[i].crc);
        start_two_messages();
        run_to(cells[i].buf_at);
        take_cell(1, LEAT_SIM_ATM_AAL_BUF, LEAT_SIM_ATM_AAL_BUFI, got);
        OK(memcmp(got, want, CELL_LEN) == 0);
        EQ(leat_get_be16(got + 51), cells[i].crc);
        EQ(crc_of(got + 5, 46), cells[i].crc);
        start_two_messages();
        run_to(cells[i].buf_at + 1);
        take_cell(1, LEAT_SIM_ATM_AAL_OGBYTE, LEAT_SIM_ATM_AAL_OGBYTEI, got);
        OK(memcmp(got, want, CELL_LEN) == 0);
        if (!cells[i].ic_at) continue; /* this one is unit 1's to itself, among many others */
        start_two_messages();
        run_to(cells[i].ic_at);
        take_cell(5, LEAT_SIM_ATM_AAL_ICBYTE, LEAT_SIM_ATM_AAL_ICBYTEI, got);
        EQ(leat_get_be16(got), 0); /* the last switch gives it VPI 0 */
        OK(memcmp(got + 2, want + 2, CELL_LEN - 2) == 0);
    }
}

/* ---- published stages ----------------------------------------------------------------------- */

/* A number in timing.json, which has characters that our JSON reader rejects. */
static uint64_t stage(const char *text, const char *object, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(text, object);
    at = at ? strstr(at, quoted) : NULL;
    OK(at != NULL);
    return at ? strtoull(at + strlen(quoted), NULL, 10) : 0;
}

static void one_message(uint32_t len, uint64_t ask_at)
{
    static uint8_t octets[64];
    const struct leat_sim_atm_aal_order snd[] = { INIT(1), PUT(1, octets, len), TO(1, 5),
                                                  SND(1, 1, 7) };
    const struct leat_sim_atm_aal_order rcv[] = { RCV(ask_at, 1, 7), GET(len) };
    static struct leat_sim_atm_aal_order kept[2][4];
    const struct leat_sim_atm_aal_bench_config config = config_of("clos444");
    memcpy(kept[0], snd, sizeof snd);
    memcpy(kept[1], rcv, sizeof rcv);
    schedule(1, kept[0], 4);
    schedule(5, kept[1], 2);
    start(&config);
}

static void one_way_delays_have_the_published_stages(void)
{
    static const struct {
        const char *stages;
        uint32_t len;
        uint64_t total;
    } rows[] = { { "stages_N4", 4, 193 }, { "stages_N8", 8, 231 } };
    const char *text = read_text("timing.json");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
#define STAGE(key) stage(text, rows[i].stages, key)
        EQ(STAGE("N"), rows[i].len);
        EQ(STAGE("total"), rows[i].total);
        one_message(rows[i].len, STAGE("ready") + 1);
        uint64_t at = STAGE("state0_initsend");
        EQ(when(1, LEAT_SIM_ATM_AAL_OGBBLKNUM, 1, 1000), at);
        at += STAGE("state0_put") + STAGE("state0_snd") + STAGE("state1") + STAGE("trio234");
        EQ(when(1, LEAT_SIM_ATM_AAL_OGMSGNUM, 1, 1000), at);
        EQ(when(1, LEAT_SIM_ATM_AAL_BUFI, 1, 1000), at + STAGE("state5_start"));
        EQ(leat_sim_atm_aal_bench_now(&bench), STAGE("first_byte_tx"));
        EQ(when(5, LEAT_SIM_ATM_AAL_ICBYTEI, 1, 1000), STAGE("first_byte_rx"));
        EQ(when(5, LEAT_SIM_ATM_AAL_ICBLKINMSGNUM, 1, 1000), STAGE("ready"));
        run_to_rest(5000);
        EQ(news_count, 3); /* written, found, got */
        EQ(news[1].event, LEAT_SIM_ATM_AAL_FOUND);
        EQ(news[1].at, STAGE("ready") + STAGE("rcv"));
        EQ(news[2].event, LEAT_SIM_ATM_AAL_GOT);
        EQ(news[2].at, STAGE("ready") + STAGE("rcv") + STAGE("get"));
        EQ(news[2].at, rows[i].total);
#undef STAGE
    }
}

/* ---- hosts ---------------------------------------------------------------------------------- */

static void orders_fit_only_in_their_phase(void)
{
    static const struct {
        enum leat_atm_aal_verb verb;
        bool between, writing, reading;
        enum leat_sim_atm_aal_phase then;
    } rows[] = {
        { LEAT_ATM_AAL_INITSEND, true, false, true, LEAT_SIM_ATM_AAL_WRITING },
        { LEAT_ATM_AAL_PUT, false, true, false, LEAT_SIM_ATM_AAL_WRITING },
        { LEAT_ATM_AAL_DESTINATION, false, true, false, LEAT_SIM_ATM_AAL_WRITING },
        { LEAT_ATM_AAL_SEND, false, true, false, LEAT_SIM_ATM_AAL_BETWEEN },
        { LEAT_ATM_AAL_RECEIVE, true, false, true, LEAT_SIM_ATM_AAL_READING },
        { LEAT_ATM_AAL_GET, false, false, true, LEAT_SIM_ATM_AAL_READING },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool want[] = { rows[i].between, rows[i].writing, rows[i].reading };
        for (int p = 0; p < 3; p++) {
            enum leat_sim_atm_aal_phase phase = (enum leat_sim_atm_aal_phase)p;
            EQ(leat_sim_atm_aal_order_fits(rows[i].verb, &phase), want[p]);
            EQ(phase, want[p] ? (int)rows[i].then : p);
        }
    }
}

static void a_denied_receive_passes_its_gets_over(void)
{
    static const uint8_t octets[4] = { 1, 2, 3, 4 };
    static const struct leat_sim_atm_aal_order orders[] = {
        RCV(10, 1, 7), GET(4),       GET(4),        INIT(0), PUT(0, octets, 4),
        TO(0, 2),      SND(0, 1, 7), POLL(0, 1, 7), GET(4),
    };
    const struct leat_sim_atm_aal_bench_config config = config_of("clos444");
    SCHEDULE(2, orders);
    start(&config);
    run_to_rest(5000);
    EQ(news_count, 4);
    EQ(news[0].event, LEAT_SIM_ATM_AAL_DENIED);
    EQ(news[0].order, 0);
    EQ(news[0].at, 10 + 15 + 66 - 1);
    EQ(news[1].event, LEAT_SIM_ATM_AAL_WRITTEN);
    EQ(news[1].at, 90 + 3 + 19 + 3 + 15 + 9 + 6); /* begins in the cycle after the answer */
    EQ(news[2].event, LEAT_SIM_ATM_AAL_FOUND);
    EQ(news[2].order, 7);
    EQ(news[3].event, LEAT_SIM_ATM_AAL_GOT);
    EQ(news[3].order, 8);
    OK(memcmp(news_octets[3], octets, 4) == 0);
    EQ(leat_sim_atm_aal_bench_messages(&bench, 2, 2), 1);
    EQ(leat_sim_atm_aal_bench_messages(&bench, 2, 1), 0);
}

static void a_string_ends_with_its_zero_and_a_message_with_its_last_cell(void)
{
    static const uint8_t text[] = "interconnect";
    static const struct leat_sim_atm_aal_order snd[] = { INIT(1), PUT(1, text, sizeof text),
                                                         PUT(1, text + 8, 2), TO(1, 3),
                                                         SND(1, 1, 1) };
    static const struct leat_sim_atm_aal_order rcv[] = { POLL(1, 1, 1), GET_STRING, GET(2),
                                                         GET(4) };
    const struct leat_sim_atm_aal_bench_config config = config_of("clos444");
    SCHEDULE(0, snd);
    SCHEDULE(3, rcv);
    start(&config);
    run_to_rest(5000);
    EQ(news_count, 5);
    EQ(news[2].len, sizeof text);
    OK(memcmp(news_octets[2], text, sizeof text) == 0);
    EQ(news[3].at - news[2].at, 11); /* two octets */
    OK(memcmp(news_octets[3], "ne", 2) == 0);
    EQ(news[4].event, LEAT_SIM_ATM_AAL_SHORT); /* a cell has room for 16 octets of data */
    EQ(news[4].len, 16 - sizeof text - 2);
}

/* More orders than a unit queues, and a message of many cells. */
static void many_orders_follow_without_a_gap(void)
{
    enum { PUTS = 100 };
    static const uint8_t octets[4] = { 9, 8, 7, 6 };
    static struct leat_sim_atm_aal_order orders[PUTS + 3] = { INIT(1) };
    const struct leat_sim_atm_aal_order ends[] = { TO(1, 4), SND(1, 1, 1) };
    const struct leat_sim_atm_aal_bench_config config = config_of("clos444");
    for (size_t i = 0; i < PUTS; i++)
        orders[1 + i] = (struct leat_sim_atm_aal_order)PUT(1, octets, 4);
    memcpy(orders + 1 + PUTS, ends, sizeof ends);
    SCHEDULE(0, orders);
    start(&config);
    run_to_rest(20000);
    EQ(news_count, 1);
    const uint64_t cells = (4 * PUTS + 20 + 35) / 36;
    EQ(news[0].at, 3 + 19 * PUTS + 3 + 15 + 5 + 4 * cells + 6 * cells);
}

static void a_message_that_does_not_fit_is_passed_over_to_its_send(void)
{
    static const uint8_t octets[200];
    static const struct leat_sim_atm_aal_order orders[] = {
        INIT(1),      PUT(1, octets, 53), PUT(1, octets, 1), TO(1, 4),
        SND(1, 1, 1),                                                      /* 54: too long */
        INIT(1),      PUT(1, octets, 52), TO(1, 4),          SND(1, 1, 1), /* just fits */
        INIT(1),      PUT(1, octets, 12), TO(1, 4),          SND(1, 1, 1), /* must wait */
    };
    struct leat_sim_atm_aal_bench_config config = config_of("clos444");
    config.aal.send_blocks = 2;
    SCHEDULE(0, orders);
    start(&config);
    run_to_rest(20000);
    static const enum leat_sim_atm_aal_event want[] = {
        LEAT_SIM_ATM_AAL_TOO_LONG, LEAT_SIM_ATM_AAL_EXIT,      LEAT_SIM_ATM_AAL_TOO_LONG,
        LEAT_SIM_ATM_AAL_WRITTEN,  LEAT_SIM_ATM_AAL_NO_MEMORY, LEAT_SIM_ATM_AAL_WRITTEN,
    };
    EQ(news_count, sizeof want / sizeof *want);
    for (size_t i = 0; i < news_count && i < sizeof want / sizeof *want; i++)
        EQ(news[i].event, want[i]);
    EQ(leat_sim_atm_aal_bench_messages(&bench, 4, 0), 2);
}

static void who_never_acknowledges_in_time_is_undeliverable(void)
{
    static const uint8_t octets[4];
    static const struct leat_sim_atm_aal_order orders[] = { INIT(1), PUT(1, octets, 4), TO(1, 9),
                                                            SND(1, 1, 1) };
    struct leat_sim_atm_aal_bench_config config = config_of("clos444");
    config.aal.retransmit_cycles = 40; /* an acknowledgement takes longer */
    config.aal.transmissions_max = 1;
    SCHEDULE(0, orders);
    start(&config);
    run_to_rest(5000);
    EQ(news_count, 2);
    EQ(news[1].event, LEAT_SIM_ATM_AAL_UNDELIVERABLE);
    EQ(news[1].destination, 9);
    EQ(news[1].at, 58 + 53 + 39);
}

/* ---- suspensions ---------------------------------------------------------------------------- */

/* All write to unit 0, with the smallest possible buffer and network. */
static void suspensions_show_at_both_ends_of_the_network(void)
{
    static const uint8_t octets[340];
    static struct leat_sim_atm_aal_order orders[PORTS][4];
    struct leat_sim_atm_aal_bench_config config = config_of("clos444/buffer=1");
    config.aal.receive_blocks = 12;
    for (uint32_t unit = 1; unit < PORTS; unit++) {
        const struct leat_sim_atm_aal_order of_unit[] = { INIT(1), PUT(1, octets, sizeof octets),
                                                          TO(1, 0), SND(1, 1, 1) };
        memcpy(orders[unit], of_unit, sizeof of_unit);
        schedule(unit, orders[unit], 4);
    }
    start(&config);
    int out = 0, in = 0;
    struct leat_sim_atm_wires wires[PORTS];
    for (int64_t before[PORTS] = { 0 }, before_in = 0;
         leat_sim_atm_aal_bench_now(&bench) < 20000;) {
        for (uint32_t unit = 0; unit < PORTS; unit++)
            leat_sim_atm_wires(&bench.sim, unit, &wires[unit]);
        leat_sim_atm_aal_bench_step(&bench);
        for (uint32_t unit = 0; unit < PORTS; unit++) { /* note, R3 */
            const int64_t suspended = value(unit, LEAT_SIM_ATM_AAL_OGSUSPEND);
            if (before[unit] == 1) EQ(value(unit, LEAT_SIM_ATM_AAL_BUFI), 0);
            if (before[unit] == 2) EQ(value(unit, LEAT_SIM_ATM_AAL_BUFI), 1);
            out += suspended != 0;
            before[unit] = suspended ? 1 : before[unit] == 1 ? 2 : 0;
            EQ(bench.sim.port[unit].icbyte, wires[unit].icbyte);
            EQ(bench.sim.port[unit].icbytei, wires[unit].icbytei);
            EQ(bench.sim.port[unit].ogsuspend, wires[unit].ogsuspend);
        }
        const int64_t suspends = value(0, LEAT_SIM_ATM_AAL_ICSUSPEND);
        if (suspends) EQ(value(0, LEAT_SIM_ATM_AAL_COUNT), 4); /* note, R5 */
        if (before_in) EQ(value(0, LEAT_SIM_ATM_AAL_COUNT), 0);
        if (suspends) EQ(value(0, LEAT_SIM_ATM_AAL_ICBBLKNUM), 12);
        in += suspends != 0;
        before_in = suspends;
    }
    OK(out > 100);
    OK(in > 100);
}

/* ---- a random campaign ----------------------------------------------------------------------- */

enum { MESSAGES = 24, LEN_MAX = 90, ORDERS_MAX = MESSAGES * 6 };

static struct {
    uint32_t from, to, len; /* to PORTS: all */
    uint8_t octets[LEN_MAX];
} sent[MESSAGES];
static struct leat_sim_atm_aal_order random_orders[PORTS][ORDERS_MAX];

static void add(uint32_t unit, struct leat_sim_atm_aal_order order)
{
    OK(schedules[unit].count < ORDERS_MAX);
    schedules[unit].orders = random_orders[unit];
    random_orders[unit][schedules[unit].count++] = order;
}

static uint32_t below(struct leat_random *random, uint32_t bound)
{
    return (uint32_t)leat_random_below(random, bound);
}

/* All write, then all read: message i has the id i; its reader is identified by its own number. */
static void draw_schedules(struct leat_random *random)
{
    for (uint32_t i = 0; i < MESSAGES; i++) {
        sent[i].from = below(random, PORTS);
        sent[i].to = below(random, 5) ? below(random, PORTS) : PORTS;
        sent[i].len = 1 + below(random, LEN_MAX);
        for (uint32_t k = 0; k < sent[i].len; k++)
            sent[i].octets[k] = (uint8_t)below(random, 256);
        const bool all = sent[i].to == PORTS;
        const uint32_t from = sent[i].from, first = 1 + below(random, sent[i].len);
        const uint16_t to = (uint16_t)(all ? LEAT_ATM_TASK_BROADCAST : sent[i].to);
        add(from, (struct leat_sim_atm_aal_order)INIT(below(random, 3000)));
        add(from, (struct leat_sim_atm_aal_order)PUT(0, sent[i].octets, first));
        if (first < sent[i].len)
            add(from,
                (struct leat_sim_atm_aal_order)PUT(0, sent[i].octets + first, sent[i].len - first));
        add(from, (struct leat_sim_atm_aal_order)TO(0, to));
        add(from, (struct leat_sim_atm_aal_order)SND(0, all ? UINT32_MAX : sent[i].to, i));
    }
    for (uint32_t i = 0; i < MESSAGES; i++)
        for (uint32_t unit = 0; unit < PORTS; unit++) {
            if (sent[i].to != unit && sent[i].to != PORTS) continue;
            add(unit, (struct leat_sim_atm_aal_order)POLL(below(random, 3000), unit, i));
            add(unit, (struct leat_sim_atm_aal_order)GET(sent[i].len));
        }
}

/* State of a plain observer of the wires of one unit. */
struct observer {
    int64_t before[LEAT_SIM_ATM_AAL_SIGNALS], blktime;
    int64_t state0_before; /* two cycles ago */
    int64_t count;         /* octets of the cell that comes in */
    uint8_t cell[CELL_LEN];
    int sent; /* octets of the cell that goes out */
    uint64_t cells_in;
};

static void observe_line(struct observer *o, const int64_t *now)
{
    EQ(now[LEAT_SIM_ATM_AAL_OGBYTE], o->before[LEAT_SIM_ATM_AAL_BUF]);
    EQ(now[LEAT_SIM_ATM_AAL_OGBYTEI], o->before[LEAT_SIM_ATM_AAL_BUFI]);
    if (!now[LEAT_SIM_ATM_AAL_BUFI]) {
        OK(o->sent == 0 || o->before[LEAT_SIM_ATM_AAL_OGSUSPEND]);
        o->sent = 0;
        return;
    }
    OK(now[LEAT_SIM_ATM_AAL_STATE5] != 0);
    o->cell[o->sent++] = (uint8_t)now[LEAT_SIM_ATM_AAL_BUF];
    if (o->sent < CELL_LEN) return;
    EQ(crc_of(o->cell + 5, 46), leat_get_be16(o->cell + 51));
    o->sent = 0;
}

/* State numbers go with what they stand for (note, 5.3). */
static void observe_states(struct observer *o, const int64_t *now)
{
    const int64_t *before = o->before;
    const bool packs = now[LEAT_SIM_ATM_AAL_STATE1] || now[LEAT_SIM_ATM_AAL_STATE2];
    const bool begins = now[LEAT_SIM_ATM_AAL_STATE1] == 5 && !before[LEAT_SIM_ATM_AAL_STATE1];
    if (packs) EQ(now[LEAT_SIM_ATM_AAL_STATE0], 0);
    if (begins) EQ(before[LEAT_SIM_ATM_AAL_STATE0], 0);
    if (begins) EQ(o->state0_before, 8); /* the fifth word of snd */
    if (now[LEAT_SIM_ATM_AAL_STATE8] == 1) {
        EQ(now[LEAT_SIM_ATM_AAL_STATE0], 0);
        EQ(before[LEAT_SIM_ATM_AAL_STATE0], 24); /* of rcv */
    }
    if (now[LEAT_SIM_ATM_AAL_OGMSGNUM] > before[LEAT_SIM_ATM_AAL_OGMSGNUM])
        EQ(before[LEAT_SIM_ATM_AAL_STATE2], 5);
    if (now[LEAT_SIM_ATM_AAL_ICBLKINMSGNUM] > before[LEAT_SIM_ATM_AAL_ICBLKINMSGNUM])
        EQ(now[LEAT_SIM_ATM_AAL_STATE7], 45);
    EQ(now[LEAT_SIM_ATM_AAL_STATE6], now[LEAT_SIM_ATM_AAL_ICSUSPEND]);
    EQ(now[LEAT_SIM_ATM_AAL_STATE9], 0);
    o->state0_before = before[LEAT_SIM_ATM_AAL_STATE0];
}

static void observe(struct observer *o, uint32_t unit)
{
    int64_t now[LEAT_SIM_ATM_AAL_SIGNALS];
    leat_sim_atm_aal_bench_inspect(&bench, unit, now);
    observe_line(o, now);
    observe_states(o, now);
    o->count += o->before[LEAT_SIM_ATM_AAL_ICBYTEI];
    if (o->count == CELL_LEN) o->cells_in++;
    o->count %= CELL_LEN;
    EQ(now[LEAT_SIM_ATM_AAL_COUNT], o->count);
    OK(now[LEAT_SIM_ATM_AAL_ICBLKINMSGNUM] <= now[LEAT_SIM_ATM_AAL_ICBBLKNUM]);
    const int64_t blktime = block_value(unit, 0, LEAT_SIM_ATM_AAL_BLKTIME);
    if (o->blktime > 0 && blktime > 0) EQ(blktime, o->blktime - 1);
    OK(blktime >= -1 && blktime < LEAT_ATM_AAL_RETRANSMIT);
    o->blktime = blktime;
    memcpy(o->before, now, sizeof now);
}

static void check_news(void)
{
    uint64_t got = 0, wanted = 0;
    for (uint32_t i = 0; i < MESSAGES; i++)
        wanted += sent[i].to == PORTS ? PORTS : 1;
    for (size_t i = 0; i < news_count; i++) {
        if (news[i].event != LEAT_SIM_ATM_AAL_GOT) continue;
        const struct leat_sim_atm_aal_order *receive =
            &schedules[news[i].unit].orders[news[i].order - 1];
        const uint32_t id = receive->command.message.id;
        const uint32_t seen = sent[id].len < 16 ? sent[id].len : 16;
        EQ(news[i].len, sent[id].len);
        OK(memcmp(news_octets[i], sent[id].octets, seen) == 0);
        got++;
    }
    EQ(got, wanted);
}

static void random_schedules_deliver_what_was_written_and_wires_agree(void)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    /* A round is a cycle; a schedule takes some ten thousand of them. */
    for (uint64_t cycles = 0; cycles < LEAT_ROUNDS; cycles += leat_sim_atm_aal_bench_now(&bench)) {
        static struct observer observers[PORTS];
        struct leat_sim_atm_aal_bench_config config = config_of("clos444");
        config.aal.obsolete_cycles = 1000000; /* no message expires unread */
        memset(observers, 0, sizeof observers);
        draw_schedules(&random);
        start(&config);
        while (!leat_sim_atm_aal_bench_at_rest(&bench) &&
               leat_sim_atm_aal_bench_now(&bench) < 200000) {
            leat_sim_atm_aal_bench_step(&bench);
            for (uint32_t unit = 0; unit < PORTS; unit++)
                observe(&observers[unit], unit);
        }
        OK(leat_sim_atm_aal_bench_at_rest(&bench));
        check_news();
        uint64_t cells_in = 0;
        for (uint32_t unit = 0; unit < PORTS; unit++)
            cells_in += observers[unit].cells_in;
        EQ(cells_in, bench.sim.counts.cells_out);
        if (tap_checks_failed) return;
    }
}

TAP_MAIN(T(every_published_value_of_the_two_messages_is_shown),
         T(the_timeline_of_the_two_messages_is_the_published_one),
         T(the_receiver_gets_what_the_thesis_prints),
         T(state_8_goes_round_sixteen_sources_while_it_finds_nothing),
         T(the_published_cells_and_their_crcs_are_on_the_wire),
         T(one_way_delays_have_the_published_stages), T(orders_fit_only_in_their_phase),
         T(a_denied_receive_passes_its_gets_over),
         T(a_string_ends_with_its_zero_and_a_message_with_its_last_cell),
         T(many_orders_follow_without_a_gap),
         T(a_message_that_does_not_fit_is_passed_over_to_its_send),
         T(who_never_acknowledges_in_time_is_undeliverable),
         T(suspensions_show_at_both_ends_of_the_network),
         T(random_schedules_deliver_what_was_written_and_wires_agree))
