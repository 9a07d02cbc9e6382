#include "atm_clos.h"
#include "leat_tree.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { MODEL_SIZE_MAX = 8 }; /* e, m and r of the networks that are tested exhaustively */
enum {
    MODEL_PORTS_MAX = MODEL_SIZE_MAX * MODEL_SIZE_MAX,
    MODEL_UNITS_MAX = 3 * MODEL_PORTS_MAX,
    MODEL_ENTRIES_MAX = (MODEL_SIZE_MAX + 1) * MODEL_PORTS_MAX,
};

static struct leat_atm_clos clos(uint32_t e, uint32_t m, uint32_t r,
                                 enum leat_atm_clos_switching switching)
{
    struct leat_atm_clos c = { 0 };
    const struct leat_atm_clos_config config = {
        .stages = 3, .e = e, .m = m, .r = r, .switching = switching
    };
    EQ(leat_atm_clos_init(&c, &config, NULL), LEAT_ERR_OK);
    return c;
}

static struct leat_atm_clos lone(uint32_t k)
{
    struct leat_atm_clos c = { 0 };
    const struct leat_atm_clos_config config = { .stages = 1, .e = k };
    EQ(leat_atm_clos_init(&c, &config, NULL), LEAT_ERR_OK);
    return c;
}

static uint32_t below(struct leat_random *random, uint32_t bound)
{
    return (uint32_t)leat_random_below(random, bound);
}

/* ---- the published network ---------------------------------------------------------------- */

static struct leat_tree *golden(void)
{
    static char text[1 << 18], memory[1 << 24];
    struct leat_arena arena;
    struct leat_tree *root = NULL;
    size_t fault_at;
    FILE *file = fopen(LEAT_SOURCE_DIR "/proto/atm/vectors/clos444.vpi.json", "rb");
    OK(file != NULL);
    if (!file) return NULL;
    const size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    leat_arena_init(&arena, memory, sizeof memory);
    EQ(leat_tree_parse_json(&arena, text, len, &root, &fault_at), LEAT_ERR_OK);
    return root;
}

static uint32_t key_number(const struct leat_tree *node)
{
    uint64_t number = UINT64_MAX;
    OK(leat_tree_number(node->key, node->key_len, &number));
    return (uint32_t)number;
}

static uint32_t number(const struct leat_tree *object, const char *key)
{
    const struct leat_tree *node = leat_tree_find(object, key);
    OK(node && node->kind == LEAT_TREE_NUMBER);
    return node ? (uint32_t)node->number : UINT32_MAX;
}

static void the_links_and_ports_are_the_published_ones(void)
{
    const struct leat_atm_clos c = clos(4, 4, 4, LEAT_ATM_CLOS_AUTO);
    const struct leat_tree *root = golden();
    int links = 0, inputs = 0, outputs = 0;
    if (!root) return;
    for (const struct leat_tree *n = leat_tree_find(root, "spd_to_ppd")->child; n; n = n->next) {
        EQ(leat_atm_clos_link(&c, key_number(n)), n->number);
        EQ(leat_atm_clos_feeder(&c, (uint32_t)n->number), key_number(n));
        links++;
    }
    for (const struct leat_tree *n = leat_tree_find(root, "input_ports")->child; n; n = n->next) {
        EQ(leat_atm_clos_input_ppd(&c, key_number(n)), n->number);
        EQ(leat_atm_clos_feeder(&c, (uint32_t)n->number), LEAT_ATM_CLOS_NONE);
        inputs++;
    }
    for (const struct leat_tree *n = leat_tree_find(root, "output_ports")->child; n; n = n->next) {
        EQ(leat_atm_clos_output_spd(&c, key_number(n)), n->number);
        EQ(leat_atm_clos_link(&c, (uint32_t)n->number), LEAT_ATM_CLOS_NONE);
        outputs++;
    }
    EQ(links, 32);
    EQ(inputs, 16);
    EQ(outputs, 16);
    EQ(c.ppd_count, 48);
    EQ(c.spd_count, 48);
    EQ(c.switch_count, 12);
}

static void all_1024_connections_are_the_published_ones(void)
{
    const struct leat_atm_clos c = clos(4, 4, 4, LEAT_ATM_CLOS_AUTO);
    const struct leat_tree *root = golden();
    int rows = 0;
    if (!root) return;
    for (const struct leat_tree *row = leat_tree_find(root, "p2p")->child; row; row = row->next) {
        uint32_t want[12] = { 0 };
        size_t n = 0;
        for (const struct leat_tree *cell = row->child; cell && n < 12; cell = cell->next)
            want[n++] = (uint32_t)cell->number;
        struct leat_atm_clos_hop hop[3];
        leat_atm_clos_path(&c, want[0], want[1], want[2], false, hop);
        const uint32_t got[] = { hop[0].label, hop[1].label, hop[2].label, hop[0].ppd, hop[0].spd,
                                 hop[1].ppd,   hop[1].spd,   hop[2].ppd,   hop[2].spd };
        EQ(leat_atm_clos_access(&c, want[1], want[2]), want[3]);
        OK(n == 12 && memcmp(got, want + 3, sizeof got) == 0);
        rows++;
    }
    EQ(rows, 1024);
}

static void all_64_broadcasts_are_the_published_ones(void)
{
    const struct leat_atm_clos c = clos(4, 4, 4, LEAT_ATM_CLOS_AUTO);
    const struct leat_tree *root = golden();
    int rows = 0;
    if (!root) return;
    for (const struct leat_tree *row = leat_tree_find(root, "broadcast")->child; row;
         row = row->next) {
        const uint32_t src = number(row, "src"), k = number(row, "k");
        const struct leat_tree *label = leat_tree_find(row, "vpi_mid_out")->child;
        const struct leat_tree *spd = leat_tree_find(row, "mid_spd")->child;
        const struct leat_tree *ppd = leat_tree_find(row, "out_ppd")->child;
        uint32_t dst = 0;
        for (; dst < 16 && label && spd && ppd; dst += 4) {
            struct leat_atm_clos_hop hop[3];
            leat_atm_clos_path(&c, src, dst, k, true, hop);
            EQ(leat_atm_clos_access(&c, 16, k), number(row, "access_vpi"));
            EQ(hop[0].label, number(row, "access_vpi"));
            EQ(hop[0].ppd, number(row, "in_ppd"));
            EQ(hop[0].spd, number(row, "in_spd"));
            EQ(hop[1].label, number(row, "vpi_in_mid"));
            EQ(hop[1].ppd, number(row, "mid_ppd"));
            EQ(hop[1].spd, spd->number);
            EQ(hop[2].label, label->number);
            EQ(hop[2].ppd, ppd->number);
            label = label->next, spd = spd->next, ppd = ppd->next;
        }
        EQ(dst, 16);
        rows++;
    }
    EQ(rows, 64);
}

static void the_tables_are_the_published_ones_octet_by_octet(void)
{
    const struct leat_atm_clos c = clos(4, 4, 4, LEAT_ATM_CLOS_AUTO);
    const struct leat_tree *root = golden();
    int tables = 0;
    if (!root) return;
    const struct leat_tree *used = leat_tree_find(root, "entries_used_per_ppd")->child;
    for (const struct leat_tree *table = leat_tree_find(root, "tables")->child; table && used;
         table = table->next, used = used->next) {
        const uint32_t ppd = key_number(table);
        uint32_t entries = 0;
        for (const struct leat_tree *n = table->child; n; n = n->next, entries++) {
            struct leat_atm_route route = { 0 };
            uint8_t entry[LEAT_ATM_ROUTE_ENTRY_LEN_MAX];
            OK(leat_atm_clos_route(&c, ppd, key_number(n), &route));
            leat_atm_route_pack(&route, 4, entry);
            struct leat_text text = LEAT_TEXT(LEAT_TEXT_CAP_MIN);
            leat_text_hex(&text, entry, leat_atm_route_entry_len(4));
            OK(text.len == n->text_len && memcmp(text.buf, n->text, text.len) == 0);
        }
        const uint32_t stage = leat_atm_clos_ppd_place(&c, ppd).stage;
        EQ(entries, used->number);
        EQ(entries, c.stage[stage].entries);
        tables++;
    }
    EQ(tables, 48);
}

/* Note, 4.6 */
static void the_worked_example_goes_from_5_to_14_through_17_and_44(void)
{
    const struct leat_atm_clos c = clos(4, 4, 4, LEAT_ATM_CLOS_AUTO);
    struct leat_atm_clos_hop hop[3];
    leat_atm_clos_path(&c, 5, 14, 0, false, hop);
    EQ(hop[0].label, 56);
    EQ(hop[1].label, 31);
    EQ(hop[2].label, 27);
    EQ(hop[0].ppd, 5);
    EQ(hop[1].ppd, 17);
    EQ(hop[2].ppd, 44);
    EQ(hop[2].spd, 46);
    leat_atm_clos_path(&c, 5, 14, 3, true, hop);
    EQ(hop[0].label, 67);
    EQ(hop[1].label, 33);
    EQ(hop[2].label, 29);
}

/* ---- the plain model: wires drawn one by one, labels counted as in appendix C.2 ------------- */

struct model {
    uint32_t e, m, r, n;
    uint32_t to[MODEL_UNITS_MAX]; /* PPD that an SPD feeds */
    uint32_t ppds, spds;
    uint32_t used[MODEL_UNITS_MAX]; /* appendix C.2: ppdcnxnum */
    struct leat_atm_route table[MODEL_UNITS_MAX][MODEL_ENTRIES_MAX];
};

static void draw_wires(struct model *w)
{
    static uint32_t input[3][MODEL_SIZE_MAX][MODEL_SIZE_MAX]; /* stage, switch, port: PPD */
    const uint32_t count[] = { w->r, w->m, w->r }, inputs[] = { w->e, w->r, w->m },
                   outputs[] = { w->m, w->r, w->e };
    w->ppds = w->spds = 0;
    for (int s = 0; s < 3; s++)
        for (uint32_t k = 0; k < count[s]; k++)
            for (uint32_t p = 0; p < inputs[s]; p++)
                input[s][k][p] = w->ppds++;
    for (int s = 0; s < 3; s++)
        for (uint32_t k = 0; k < count[s]; k++)
            for (uint32_t p = 0; p < outputs[s]; p++)
                w->to[w->spds++] = s < 2 ? input[s + 1][p][k] : LEAT_ATM_CLOS_NONE;
}

static uint32_t reserve(struct model *w, uint32_t ppd, uint64_t select, uint32_t label)
{
    w->table[ppd][w->used[ppd]] = (struct leat_atm_route){ select, label };
    return w->used[ppd]++;
}

/* One connection through middle switch k; dst = n: to all. */
static void establish(struct model *w, uint32_t src, uint32_t dst, uint32_t k)
{
    const uint32_t middle = w->to[w->m * (src / w->e) + k];
    uint64_t outputs = 0;
    uint32_t a = 0;
    for (uint32_t j = 0; j < w->r; j++) {
        if (dst < w->n && j != dst / w->e) continue;
        const uint32_t ppd = w->to[w->m * w->r + w->r * k + j];
        uint64_t ports = 0;
        for (uint32_t q = 0; q < w->e; q++)
            if (dst == w->n || q == dst % w->e) ports |= UINT64_C(1) << q;
        a = reserve(w, ppd, ports, 0); /* the same at all: the counters agree */
        outputs |= UINT64_C(1) << j;
    }
    const uint32_t b = reserve(w, middle, outputs, a);
    reserve(w, src, UINT64_C(1) << k, b);
}

static void model_init(struct model *w, uint32_t e, uint32_t m, uint32_t r)
{
    w->e = e, w->m = m, w->r = r, w->n = e * r;
    memset(w->used, 0, sizeof w->used);
    draw_wires(w);
    for (uint32_t src = 0; src < w->n; src++)
        for (uint32_t dst = 0; dst <= w->n; dst++)
            for (uint32_t k = 0; k < m; k++)
                establish(w, src, dst, k);
}

static void compare_links(const struct leat_atm_clos *c, const struct model *w)
{
    EQ(c->ppd_count, w->ppds);
    EQ(c->spd_count, w->spds);
    uint32_t fed = 0;
    for (uint32_t spd = 0; spd < w->spds; spd++) {
        const uint32_t ppd = leat_atm_clos_link(c, spd);
        EQ(ppd, w->to[spd]);
        if (ppd == LEAT_ATM_CLOS_NONE) continue;
        EQ(leat_atm_clos_feeder(c, ppd), spd);
        fed++;
    }
    EQ(fed + c->ports, w->ppds);
}

/* Without divisions, every label of a PPD has the route of its table. */
static uint32_t count_wrong_selects(const struct leat_atm_clos *c, uint32_t ppd)
{
    struct leat_atm_clos_table table;
    struct leat_atm_route first, want;
    uint32_t wrong = 0;
    leat_atm_clos_table_init(&table, c, leat_atm_clos_ppd_place(c, ppd).stage);
    OK(leat_atm_clos_route(c, ppd, 0, &first));
    for (uint32_t label = 0; label < table.entries; label++) {
        uint32_t got = label;
        wrong += !leat_atm_clos_route(c, ppd, label, &want);
        wrong += leat_atm_clos_table_select(&table, &got) != want.select;
        wrong += got + first.label != want.label;
    }
    return wrong;
}

static void the_largest_network_needs_no_divisions(void)
{
    const struct leat_atm_clos_config config = { .stages = 3, .e = 64, .m = 64, .r = 64 };
    struct leat_atm_clos c;
    EQ(leat_atm_clos_init(&c, &config, NULL), LEAT_ERR_OK);
    for (uint32_t i = 0; i < c.stages; i++) {
        EQ(count_wrong_selects(&c, c.stage[i].ppd_first), 0);
        EQ(count_wrong_selects(&c, c.stage[i].ppd_first + 4095), 0);
    }
}

/* Wrong ones are counted, so that one mistake does not print a million lines. */
static void compare_tables(const struct leat_atm_clos *c, const struct model *w)
{
    uint32_t wrong = 0;
    for (uint32_t ppd = 0; ppd < w->ppds; ppd++) {
        struct leat_atm_route got = { 5, 5 };
        EQ(c->stage[leat_atm_clos_ppd_place(c, ppd).stage].entries, w->used[ppd]);
        wrong += leat_atm_clos_route(c, ppd, w->used[ppd], &got);
        wrong += leat_atm_clos_route(c, ppd, UINT32_MAX, &got);
        wrong += got.select != 5 || got.label != 5; /* untouched */
        wrong += count_wrong_selects(c, ppd);
        for (uint32_t label = 0; label < w->used[ppd]; label++) {
            const struct leat_atm_route *want = &w->table[ppd][label];
            wrong += !leat_atm_clos_route(c, ppd, label, &got);
            wrong += got.select != want->select || got.label != want->label;
        }
    }
    EQ(wrong, 0);
}

static void random_networks_have_the_wires_and_tables_of_the_thesis_algorithm(void)
{
    static struct model w;
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (int round = 0; round < 20 + LEAT_ROUNDS / 10000; round++) {
        const uint32_t e = 1 + below(&random, MODEL_SIZE_MAX),
                       m = 1 + below(&random, MODEL_SIZE_MAX),
                       r = 1 + below(&random, MODEL_SIZE_MAX);
        const struct leat_atm_clos c = clos(e, m, r,
                                            round % 2 ? LEAT_ATM_CLOS_VC : LEAT_ATM_CLOS_AUTO);
        model_init(&w, e, m, r);
        compare_links(&c, &w);
        compare_tables(&c, &w);
    }
}

/* ---- routing cells -------------------------------------------------------------------------- */

enum { GROUP_WORDS = LEAT_ATM_CLOS_FAN_OUT_MAX };
static uint64_t members[GROUP_WORDS]; /* of the group that is set up */
static uint32_t group_set_up = LEAT_ATM_CLOS_NONE;

static bool find_entry(const struct leat_atm_clos *c, uint32_t ppd, uint32_t label,
                       struct leat_atm_route *out)
{
    const uint32_t group = leat_atm_clos_group(c, ppd, label);
    if (group == LEAT_ATM_CLOS_NONE) return leat_atm_clos_route(c, ppd, label, out);
    if (group != group_set_up) return false;
    leat_atm_clos_group_route(c, ppd, label, members, out);
    return true;
}

/* Routes a cell through tables and links alone; counts its arrivals at each port. */
static uint32_t walk(const struct leat_atm_clos *c, uint32_t ppd, uint32_t label, uint8_t *arrivals)
{
    struct leat_atm_route route;
    if (!find_entry(c, ppd, label, &route)) return 1;
    const struct leat_atm_clos_place at = leat_atm_clos_ppd_place(c, ppd);
    const struct leat_atm_clos_stage *stage = &c->stage[at.stage];
    uint32_t wrong = stage->outputs < 64 && route.select >> stage->outputs != 0;
    for (uint32_t u = 0; u < stage->outputs; u++) {
        if (!(route.select >> u & 1)) continue;
        const uint32_t spd = stage->spd_first + stage->outputs * at.unit + u;
        const struct leat_atm_clos_place out = leat_atm_clos_spd_place(c, spd);
        wrong += out.stage != at.stage || out.unit != at.unit || out.port != u;
        const uint32_t next = leat_atm_clos_link(c, spd);
        if (next != LEAT_ATM_CLOS_NONE) {
            wrong += walk(c, next, route.label, arrivals);
            continue;
        }
        uint32_t port = 0;
        while (port < c->ports && leat_atm_clos_output_spd(c, port) != spd)
            port++;
        wrong += port == c->ports || route.label != 0;
        if (port < c->ports) arrivals[port]++;
    }
    return wrong;
}

static bool is_member(uint32_t port)
{
    return members[port / 64] >> port % 64 & 1;
}

/* dst = ports: everywhere once; beyond: at the members; else at dst once and nowhere else. */
static uint32_t delivers_wrongly(const struct leat_atm_clos *c, uint32_t src, uint32_t dst,
                                 uint32_t path)
{
    static uint8_t arrivals[LEAT_ATM_CLOS_FAN_OUT_MAX * LEAT_ATM_CLOS_FAN_OUT_MAX];
    memset(arrivals, 0, c->ports);
    uint32_t wrong = walk(c, leat_atm_clos_input_ppd(c, src), leat_atm_clos_access(c, dst, path),
                          arrivals);
    for (uint32_t port = 0; port < c->ports; port++)
        wrong += arrivals[port] !=
                 (dst > c->ports ? is_member(port) : dst == c->ports || dst == port);
    return wrong;
}

static void every_connection_arrives_at_its_ports_and_nowhere_else(void)
{
    static const uint32_t sizes[][3] = { { 4, 4, 4 }, { 1, 1, 1 }, { 5, 1, 3 },
                                         { 2, 7, 1 }, { 1, 3, 6 }, { 3, 5, 4 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct leat_atm_clos c = clos(sizes[i][0], sizes[i][1], sizes[i][2],
                                            LEAT_ATM_CLOS_AUTO);
        uint32_t wrong = 0;
        for (uint32_t src = 0; src < c.ports; src++)
            for (uint32_t dst = 0; dst <= c.ports; dst++)
                for (uint32_t path = 0; path < c.paths; path++)
                    wrong += delivers_wrongly(&c, src, dst, path);
        EQ(wrong, 0);
    }
}

static struct leat_atm_clos any_clos(struct leat_random *random)
{
    const uint32_t e = 1 + below(random, 64), m = 1 + below(random, 64), r = 1 + below(random, 64);
    return clos(e, m, r, LEAT_ATM_CLOS_AUTO);
}

static void connections_of_the_largest_networks_arrive(void)
{
    struct leat_random random;
    leat_random_seed(&random, tap_seed());
    for (int round = 0; round < 10 + LEAT_ROUNDS / 2000; round++) {
        const uint32_t e = 64 - below(&random, 30), m = 64 - below(&random, 30),
                       r = 64 - below(&random, 30);
        const struct leat_atm_clos c = clos(e, m, r, LEAT_ATM_CLOS_AUTO);
        EQ(c.header_octets, LEAT_ATM_VC_HEADER);
        const uint32_t src = below(&random, c.ports), dst = below(&random, c.ports);
        EQ(delivers_wrongly(&c, src, dst, below(&random, m)), 0);
        if (round % 50) continue;
        const uint32_t to_all = below(&random, c.ports);
        EQ(delivers_wrongly(&c, to_all, c.ports, below(&random, m)), 0);
    }
}

static uint32_t hops_wrongly(const struct leat_atm_clos *c, const struct leat_atm_clos_hop *hop,
                             uint32_t src, uint32_t dst, uint32_t path)
{
    uint32_t wrong = hop[0].ppd != leat_atm_clos_input_ppd(c, src);
    wrong += hop[c->stages - 1].spd != leat_atm_clos_output_spd(c, dst);
    if (c->stages == 3) wrong += leat_atm_clos_ppd_place(c, hop[1].ppd).unit != path;
    for (uint32_t s = 0; s < c->stages; s++) {
        struct leat_atm_route route = { 0 };
        const struct leat_atm_clos_place in = leat_atm_clos_ppd_place(c, hop[s].ppd),
                                         out = leat_atm_clos_spd_place(c, hop[s].spd);
        wrong += in.stage != s || out.stage != s || in.unit != out.unit;
        wrong += !leat_atm_clos_route(c, hop[s].ppd, hop[s].label, &route);
        wrong += !(route.select >> out.port & 1);
        if (s + 1 == c->stages)
            wrong += route.label != 0;
        else
            wrong += leat_atm_clos_link(c, hop[s].spd) != hop[s + 1].ppd ||
                     route.label != hop[s + 1].label;
    }
    return wrong;
}

static void a_path_is_what_links_and_tables_make_of_it(void)
{
    struct leat_random random;
    uint32_t wrong = 0;
    leat_random_seed(&random, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS; round++) {
        const bool single = round % 8 == 0, broadcast = below(&random, 2);
        const struct leat_atm_clos c = single ? lone(2 + below(&random, 63)) : any_clos(&random);
        const uint32_t src = below(&random, c.ports), dst = below(&random, c.ports),
                       path = below(&random, c.paths);
        struct leat_atm_clos_hop hop[3];
        leat_atm_clos_path(&c, src, dst, path, broadcast, hop);
        wrong += hop[0].label != leat_atm_clos_access(&c, broadcast ? c.ports : dst, path);
        wrong += hops_wrongly(&c, hop, src, dst, path);
    }
    EQ(wrong, 0);
}

static void a_single_switch_sends_label_k_to_all_and_others_to_their_port(void)
{
    for (uint32_t k = 2; k <= 64; k++) {
        const struct leat_atm_clos c = lone(k);
        struct leat_atm_route route = { 0 };
        uint32_t wrong = 0;
        EQ(c.stages, 1);
        EQ(c.switch_count, 1);
        EQ(c.ports, k);
        EQ(c.paths, 1);
        EQ(c.header_octets, k <= 16 ? 2 : 4);
        EQ(c.table_depth, k <= 16 ? 256 : 0);
        EQ(leat_atm_clos_access(&c, k, 0), k);
        EQ(leat_atm_clos_classify(&c), LEAT_ATM_CLOS_NONBLOCKING);
        for (uint32_t src = 0; src < k; src++)
            for (uint32_t dst = 0; dst <= k; dst++)
                wrong += delivers_wrongly(&c, src, dst, 0);
        EQ(wrong, 0);
        OK(!leat_atm_clos_route(&c, k - 1, k + 1, &route));
        EQ(leat_atm_clos_link(&c, 0), LEAT_ATM_CLOS_NONE);
        EQ(leat_atm_clos_feeder(&c, k - 1), LEAT_ATM_CLOS_NONE);
    }
}

/* ---- multicast groups ----------------------------------------------------------------------- */

/* All ports, many or few of them. */
static void draw_members(struct leat_random *random, uint32_t ports)
{
    const uint32_t one_in = 1 + below(random, 6);
    memset(members, 0, sizeof members);
    for (uint32_t port = 0; port < ports; port++)
        members[port / 64] |= (uint64_t)!below(random, one_in) << port % 64;
}

static struct leat_atm_clos small_clos(struct leat_random *random)
{
    const uint32_t e = 1 + below(random, MODEL_SIZE_MAX), m = 1 + below(random, MODEL_SIZE_MAX),
                   r = 1 + below(random, MODEL_SIZE_MAX);
    return clos(e, m, r, LEAT_ATM_CLOS_AUTO);
}

/* A cell from anywhere by any path: is it delivered otherwise than to dst? */
static uint32_t goes_wrong(struct leat_random *random, const struct leat_atm_clos *c, uint32_t dst)
{
    const uint32_t src = below(random, c->ports), path = below(random, c->paths);
    return delivers_wrongly(c, src, dst, path);
}

static void a_multicast_arrives_at_the_members_of_its_group_and_nowhere_else(void)
{
    struct leat_random random;
    uint32_t wrong = 0, groups = 0;
    leat_random_seed(&random, tap_seed());
    for (int round = 0; round < LEAT_ROUNDS / 10; round++) {
        const struct leat_atm_clos c = round % 4 == 0   ? lone(2 + below(&random, 63))
                                       : round % 4 == 1 ? any_clos(&random)
                                                        : small_clos(&random);
        const uint32_t room = leat_atm_clos_groups(&c);
        if (!room) continue;
        groups++;
        group_set_up = round % 3 ? below(&random, room) : room - 1;
        draw_members(&random, c.ports);
        wrong += goes_wrong(&random, &c, c.ports + 1 + group_set_up);
        const uint32_t other = below(&random, c.ports + 1);
        wrong += goes_wrong(&random, &c, other);
    }
    group_set_up = LEAT_ATM_CLOS_NONE;
    OK(groups > LEAT_ROUNDS / 30);
    EQ(wrong, 0);
}

/* Labels of groups lie behind all others, and within the tables. */
static void tables_have_room_for_so_many_groups(void)
{
    const struct leat_atm_clos_config shallow = {
        .stages = 3, .e = 8, .m = 8, .r = 8, .table_depth = 576
    };
    const struct leat_atm_clos thesis = clos(4, 4, 4, LEAT_ATM_CLOS_AUTO), single = lone(16),
                               larger = clos(8, 8, 8, LEAT_ATM_CLOS_AUTO),
                               largest = clos(16, 16, 15, LEAT_ATM_CLOS_AUTO),
                               channels = clos(16, 16, 16, LEAT_ATM_CLOS_AUTO);
    struct leat_atm_clos c = { 0 };
    EQ(leat_atm_clos_init(&c, &shallow, NULL), LEAT_ERR_OK);
    EQ(leat_atm_clos_groups(&thesis), 47);
    EQ(leat_atm_clos_groups(&single), 256 - 17);
    EQ(larger.table_depth, 8 * (64 + 1 + LEAT_ATM_CLOS_GROUPS));
    EQ(leat_atm_clos_groups(&larger), LEAT_ATM_CLOS_GROUPS);
    EQ(leat_atm_clos_groups(&largest), (4096 - 16 * 241) / 16);
    EQ(leat_atm_clos_groups(&c), 0); /* the output stage needs all 576 labels */
    OK(leat_atm_clos_groups(&channels) > 1000000);
    EQ(leat_atm_clos_access(&thesis, 17 + 46, 3), 255);
    EQ(leat_atm_clos_group(&thesis, 0, 67), LEAT_ATM_CLOS_NONE);
    EQ(leat_atm_clos_group(&thesis, 0, 68), 0);
    EQ(leat_atm_clos_group(&thesis, 0, 255), 46);
    EQ(leat_atm_clos_group(&thesis, 0, 256), LEAT_ATM_CLOS_NONE);
    EQ(leat_atm_clos_group(&thesis, 20, 68 + 46), 46);
    EQ(leat_atm_clos_group(&thesis, 20, 68 + 47), LEAT_ATM_CLOS_NONE);
    EQ(leat_atm_clos_group(&thesis, 40, 80 + 3), 3);
}

/* ---- limits --------------------------------------------------------------------------------- */

static void impossible_networks_are_refused_with_the_limit(void)
{
    static const struct {
        struct leat_atm_clos_config config;
        enum leat_atm_clos_reason reason;
        const char *text;
    } bad[] = {
        { { .stages = 3, .e = 0, .m = 4, .r = 4 }, LEAT_ATM_CLOS_SIZE, "e is 0, expected 1 to 64" },
        { { .stages = 3, .e = 4, .m = 0, .r = 4 }, LEAT_ATM_CLOS_SIZE, "m is 0, expected 1 to 64" },
        { { .stages = 3, .e = 4, .m = 4, .r = 65 },
          LEAT_ATM_CLOS_SIZE,
          "r is 65, expected 1 to 64" },
        { { .stages = 3, .e = UINT32_MAX, .m = 4, .r = 4 },
          LEAT_ATM_CLOS_SIZE,
          "e is 4294967295, expected 1 to 64" },
        { { .stages = 1, .e = 0 }, LEAT_ATM_CLOS_SIZE, "e is 0, expected 2 to 64" },
        { { .stages = 1, .e = 1 }, LEAT_ATM_CLOS_SIZE, "e is 1, expected 2 to 64" },
        { { .stages = 1, .e = 65 }, LEAT_ATM_CLOS_SIZE, "e is 65, expected 2 to 64" },
        { { .stages = 3, .e = 64, .m = 64, .r = 64, .switching = LEAT_ATM_CLOS_VP },
          LEAT_ATM_CLOS_VPI_RANGE,
          "a routing table needs 266240 VPIs, their range has 4096" },
        { { .stages = 3, .e = 16, .m = 16, .r = 16, .switching = LEAT_ATM_CLOS_VP },
          LEAT_ATM_CLOS_VPI_RANGE,
          "a routing table needs 4352 VPIs, their range has 4096" },
        { { .stages = 3, .e = 2, .m = 17, .r = 2, .switching = LEAT_ATM_CLOS_VP },
          LEAT_ATM_CLOS_FAN_OUT,
          "m is 17, expected 1 to 16, the fan-out of VP switching" },
        { { .stages = 1, .e = 17, .switching = LEAT_ATM_CLOS_VP },
          LEAT_ATM_CLOS_FAN_OUT,
          "e is 17, expected 1 to 16, the fan-out of VP switching" },
        { { .stages = 3, .e = 4, .m = 4, .r = 4, .table_depth = 255 },
          LEAT_ATM_CLOS_DEPTH,
          "table depth is 255, expected 256 to 4096" },
        { { .stages = 3, .e = 4, .m = 4, .r = 4, .table_depth = 4097 },
          LEAT_ATM_CLOS_DEPTH,
          "table depth is 4097, expected 256 to 4096" },
        { { .stages = 3, .e = 4, .m = 4, .r = 16, .table_depth = 319 },
          LEAT_ATM_CLOS_DEPTH,
          "table depth is 319, expected 320 to 4096" },
        { { .stages = 3, .e = 16, .m = 16, .r = 16, .table_depth = 4096 },
          LEAT_ATM_CLOS_SPARSE,
          "table depth is 4096, expected none: the tables of VC switching are sparse" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct leat_atm_clos c = { .e = 77 };
        struct leat_atm_clos_fault fault = { 0 };
        EQ(leat_atm_clos_init(&c, &bad[i].config, &fault), LEAT_ERR_RANGE);
        EQ(leat_atm_clos_init(&c, &bad[i].config, NULL), LEAT_ERR_RANGE);
        EQ(c.e, 77);
        EQ(fault.reason, bad[i].reason);
        struct leat_text text = LEAT_TEXT(128);
        leat_atm_clos_fault_text(&fault, &text);
        OK(text.len == strlen(bad[i].text) && memcmp(text.buf, bad[i].text, text.len) == 0);
    }
}

static void paths_are_switched_where_the_vpi_range_suffices_and_channels_beyond(void)
{
    const struct leat_atm_clos thesis = clos(4, 4, 4, LEAT_ATM_CLOS_AUTO);
    EQ(thesis.header_octets, 2);
    EQ(thesis.table_depth, 256);
    const struct leat_atm_clos forced = clos(4, 4, 4, LEAT_ATM_CLOS_VC);
    EQ(forced.header_octets, 4);
    EQ(forced.table_depth, 0);
    const struct leat_atm_clos deeper = clos(4, 4, 16, LEAT_ATM_CLOS_VP); /* 5 * 64 */
    EQ(deeper.header_octets, 2);
    EQ(deeper.table_depth, 4 * (64 + 1 + LEAT_ATM_CLOS_GROUPS));
    /* Where the VPIs or the fan-out end. */
    EQ(clos(15, 16, 17, LEAT_ATM_CLOS_AUTO).header_octets, 4);
    EQ(clos(15, 16, 16, LEAT_ATM_CLOS_AUTO).table_depth, 4096); /* it needs 3856 */
    EQ(clos(16, 16, 15, LEAT_ATM_CLOS_AUTO).table_depth, 4096);
    EQ(clos(16, 16, 16, LEAT_ATM_CLOS_AUTO).header_octets, 4);
    EQ(clos(16, 17, 1, LEAT_ATM_CLOS_AUTO).header_octets, 4);
    for (uint32_t depth = 320; depth <= LEAT_ATM_CLOS_DEPTH_MAX; depth += 118) {
        const struct leat_atm_clos_config config = {
            .stages = 3, .e = 4, .m = 4, .r = 16, .table_depth = depth
        };
        struct leat_atm_clos wanted = { 0 };
        EQ(leat_atm_clos_init(&wanted, &config, NULL), LEAT_ERR_OK);
        EQ(wanted.table_depth, depth);
    }
}

static void networks_are_classed_by_their_middle_switches(void)
{
    static const struct {
        uint32_t e, m;
        const char *name;
    } each[] = { { 4, 4, "rearrangeable" }, { 4, 6, "rearrangeable" }, { 4, 7, "non-blocking" },
                 { 4, 3, "blocking" },      { 1, 1, "non-blocking" },  { 2, 3, "non-blocking" },
                 { 2, 2, "rearrangeable" }, { 64, 1, "blocking" } };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        const struct leat_atm_clos c = clos(each[i].e, each[i].m, 3, LEAT_ATM_CLOS_AUTO);
        EQ(strcmp(leat_atm_clos_class_name(leat_atm_clos_classify(&c)), each[i].name), 0);
    }
}

static void an_idle_network_takes_6_cycles_a_stage_and_2_more_with_channels(void)
{
    const struct leat_atm_clos paths = clos(4, 4, 4, LEAT_ATM_CLOS_VP);
    const struct leat_atm_clos channels = clos(4, 4, 4, LEAT_ATM_CLOS_VC);
    const struct leat_atm_clos single = lone(4);
    EQ(leat_atm_clos_idle_cycles(&paths), 18);
    EQ(leat_atm_clos_idle_cycles(&channels), 24);
    EQ(leat_atm_clos_idle_cycles(&single), 6);
}

TAP_MAIN(T(the_links_and_ports_are_the_published_ones),
         T(all_1024_connections_are_the_published_ones),
         T(all_64_broadcasts_are_the_published_ones),
         T(the_tables_are_the_published_ones_octet_by_octet),
         T(the_worked_example_goes_from_5_to_14_through_17_and_44),
         T(random_networks_have_the_wires_and_tables_of_the_thesis_algorithm),
         T(the_largest_network_needs_no_divisions),
         T(every_connection_arrives_at_its_ports_and_nowhere_else),
         T(connections_of_the_largest_networks_arrive),
         T(a_path_is_what_links_and_tables_make_of_it),
         T(a_single_switch_sends_label_k_to_all_and_others_to_their_port),
         T(a_multicast_arrives_at_the_members_of_its_group_and_nowhere_else),
         T(tables_have_room_for_so_many_groups), T(impossible_networks_are_refused_with_the_limit),
         T(paths_are_switched_where_the_vpi_range_suffices_and_channels_beyond),
         T(networks_are_classed_by_their_middle_switches),
         T(an_idle_network_takes_6_cycles_a_stage_and_2_more_with_channels))
