/*
 * Speed of the codecs and CRCs. Every figure is the best of several short runs; what can be a ratio
 * is one, taken in turns within the same run, since machines are noisy.
 *
 *   bench_wire [--json FILE]
 */
#include "aton_wire.h"
#include "figures.h"
#include "packetway_header.h"
#include "poets_wire.h"
#include <leat/atm.h>
#include <leat/crc.h>
#include <leat/esp.h>
#include <leat/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ISAL
#include <isa-l/crc.h>
#endif

enum {
    REPEATS = 15,
    ROUNDS = 200000, /* of a small thing */
    LONG_LEN = 65536,
    LONG_ROUNDS = 300,
    PDU_LEN = 65528, /* with its trailer 64 KiB less a little: whole cells */
    SET_LEN = 64 << 20,
};

static uint8_t octets[LONG_LEN];
static volatile uint64_t sink; /* keeps results from being optimised away */

/* ns per call of `body`, `rounds` times, the best of REPEATS. */
#define BEST_NS(rounds, body)                                    \
    __extension__({                                              \
        double best_ = 1e18;                                     \
        for (int k_ = 0; k_ < REPEATS; k_++) {                   \
            const double start_ = now_ns();                      \
            for (int i = 0; i < (rounds); i++) {                 \
                body;                                            \
            }                                                    \
            const double took_ = (now_ns() - start_) / (rounds); \
            if (took_ < best_) best_ = took_;                    \
        }                                                        \
        best_;                                                   \
    })

static void note_codec(const char *name, double ns)
{
    note(name, ns, "ns", "at most 40 ns", ns <= 40);
}

/* The timed work must succeed. */
static void must(leat_err err)
{
    if (err) abort();
}

static void codecs(void)
{
    uint8_t buf[128];
    size_t len = 0;

    struct leat_esp_packet esp = { .opcode = LEAT_ESP_COUNT,
                                   .flags = LEAT_ESP_FLAG_X,
                                   .computationId = 7,
                                   .compValTag = 1,
                                   .thresh = 3 };
    note_codec("esp encode",
               BEST_NS(ROUNDS, esp.thresh = (uint64_t)i;
                       leat_esp_packet_encode(&esp, buf, sizeof buf, &len); sink += buf[27]));
    note_codec("esp decode",
               BEST_NS(ROUNDS, sink += leat_esp_packet_decode(buf, len, &esp, NULL) + esp.thresh));

    must(leat_esp_packet_decode(buf, len, &esp, NULL));

    esp = (struct leat_esp_packet){ .opcode = LEAT_ESP_RCOLLECT,
                                    .op = LEAT_ESP_FOLD_ADD,
                                    .pktId = 1,
                                    .sibCntTag = 2,
                                    .compIdTag = 3,
                                    .collectFwdTag = 4 };
    note_codec("esp encode, the longest instruction",
               BEST_NS(ROUNDS, esp.val = (uint64_t)i;
                       leat_esp_packet_encode(&esp, buf, sizeof buf, &len); sink += buf[27]));
    note_codec("esp decode, the longest instruction",
               BEST_NS(ROUNDS, sink += leat_esp_packet_decode(buf, len, &esp, NULL) + esp.val));
    must(leat_esp_packet_decode(buf, len, &esp, NULL));

    struct leat_poets_packet poets = { .packet_class = LEAT_POETS_CLASS_DEV,
                                       .task = 3,
                                       .device = 513,
                                       .pin = 2,
                                       .edge = 259,
                                       .payload_len = 8 };
    note_codec("poets encode",
               BEST_NS(ROUNDS, poets.device = (uint16_t)i;
                       leat_poets_packet_encode(&poets, buf, sizeof buf, &len); sink += buf[0]));
    note_codec(
        "poets decode",
        BEST_NS(ROUNDS, sink += leat_poets_packet_decode(buf, len, &poets, NULL) + poets.device));

    must(leat_poets_packet_decode(buf, len, &poets, NULL));

    struct leat_packetway_header ph = { .dt = 0x201, .sa = 0x101, .pt = 82, .dl = 2, .pl = 3 };
    note_codec("packetway encode",
               BEST_NS(ROUNDS, ph.sa = (uint32_t)i & 0xffff;
                       leat_packetway_header_encode(&ph, buf, sizeof buf); sink += buf[15]));
    note_codec("packetway decode",
               BEST_NS(ROUNDS, sink += leat_packetway_header_decode(buf, 16, LEAT_PACKETWAY_STRICT,
                                                                    &ph, NULL) +
                                       ph.sa));

    must(leat_packetway_header_decode(buf, 16, LEAT_PACKETWAY_STRICT, &ph, NULL));

    struct leat_aton_packet aton = { .active = 1,
                                     .opcode = LEAT_ATON_MIN,
                                     .width_bits = 32,
                                     .da = LEAT_ATON_DA_ALL,
                                     .sa = 1,
                                     .counter = 1 };
    note_codec("aton encode",
               BEST_NS(ROUNDS, aton.variable1 = (uint32_t)i;
                       leat_aton_packet_encode(&aton, buf, sizeof buf, &len); sink += buf[20]));
    note_codec(
        "aton decode",
        BEST_NS(ROUNDS, sink += leat_aton_packet_decode(buf, len, &aton, NULL) + aton.variable1));
    must(leat_aton_packet_decode(buf, len, &aton, NULL));
}

static void crcs(void)
{
    struct leat_random r;
    leat_random_seed(&r, 1);
    leat_random_fill(&r, octets, sizeof octets);
    printf("(crc engine: %s)\n", leat_crc_engine());
    const double cell10 = BEST_NS(ROUNDS, sink += leat_crc10(0, octets + (i & 63), 48));
    note("crc-10 of one cell", cell10, "ns", "at most 30 ns", cell10 <= 30);
    const double cell16 = BEST_NS(ROUNDS, sink += leat_crc16(0, octets + (i & 63), 46));
    note("crc-16 of one cell", cell16, "ns", "at most 30 ns", cell16 <= 30);
    const double hec = BEST_NS(ROUNDS, sink += leat_crc_hec(octets + (i & 63)));
    note("hec", hec, "ns", "by table", true);
#ifdef HAVE_ISAL
    static const struct {
        int len, rounds;
        const char *lsb, *msb;
    } sizes[] = {
        { 48, ROUNDS, "crc-32 / libisal, 48 octets", "crc-32 msb / libisal, 48 octets" },
        { LONG_LEN, LONG_ROUNDS, "crc-32 / libisal, 64 KiB", "crc-32 msb / libisal, 64 KiB" },
    };
    for (int s = 0; s < 2; s++) {
        const size_t len = (size_t)sizes[s].len;
        const int rounds = sizes[s].rounds;
        const double isal = BEST_NS(rounds, sink += crc32_ieee(0, octets, len));
        const double msb = BEST_NS(rounds, sink += leat_crc32_msb(0, octets, len));
        const double lsb = BEST_NS(rounds, sink += leat_crc32(0, octets, len));
        note(sizes[s].msb, isal / msb, "x", "at least 0.8", isal / msb >= 0.8);
        note(sizes[s].lsb, isal / lsb, "x", "at least 0.8", isal / lsb >= 0.8);
    }
#else
    puts("(libisal is not there: no ratios of the 32-bit CRCs)");
#endif
}

/* PDUs of 64 KiB through cells: segment with HEC and CRC-32, reassemble with both checked. */
static double aal5_set_ns(struct leat_atm_aal5 *a, struct leat_atm_aal5_sender *s,
                          const uint8_t *set, uint8_t *cells)
{
    enum { CELLS = 1366 };
    size_t delivered = 0;
    const double start = now_ns();
    for (size_t at = 0; at + PDU_LEN <= SET_LEN; at += PDU_LEN) {
        struct leat_atm_aal5_out out;
        leat_atm_aal5_sender_begin(
            s, &(struct leat_atm_aal5_pdu){ .payload = set + at, .payload_len = PDU_LEN });
        const size_t count = leat_atm_aal5_sender_cells(s, cells, CELLS);
        leat_atm_aal5_step_cells(a, 0, cells, count, &out);
        delivered += out.what == LEAT_ATM_AAL5_DELIVER;
    }
    if (delivered != SET_LEN / PDU_LEN) abort();
    return now_ns() - start;
}

static void aal5(void)
{
    static uint8_t cells[1366 * LEAT_ATM_CELL_LEN];
    const struct leat_atm_aal5_config config = { .pdu_len_max = 65535, .gap_ps_max = 1 };
    const struct leat_atm_cell like = { .interface = LEAT_ATM_UNI, .vci = 32 };
    struct leat_atm_aal5 *a = NULL;
    struct leat_atm_aal5_sender s;
    const size_t need = leat_atm_aal5_footprint(&config);
    uint8_t *set = malloc(SET_LEN), *copy = malloc(SET_LEN);
    void *memory = malloc(need);
    if (!set || !copy || !memory || leat_atm_aal5_init(memory, need, &config, &a) ||
        leat_atm_aal5_sender_init(&s, &like))
        abort();
    memset(set, 0x5a, SET_LEN);
    memset(copy, 0, SET_LEN);
    double best_copy = 1e18, best_aal = 1e18;
    for (int k = 0; k < 7; k++) {
        const double start = now_ns();
        memcpy(copy, set, SET_LEN);
        const double copied = now_ns() - start;
        sink += copy[k];
        if (copied < best_copy) best_copy = copied;
        const double through = aal5_set_ns(a, &s, set, cells);
        if (through < best_aal) best_aal = through;
    }
    note("aal5 there and back / memcpy, 64 MiB", best_copy / best_aal, "x", "at least 0.2",
         best_copy / best_aal >= 0.2);
    note("aal5 there and back", SET_LEN / best_aal, "GB/s", "", true);
    free(set);
    free(copy);
    free(memory);
}

int main(int argc, char **argv)
{
    codecs();
    crcs();
    aal5();
    if (argc == 3 && strcmp(argv[1], "--json") == 0) return write_json(argv[2]);
    return 0;
}
