#include "net_esp_test.h"
#include "esp_query.h"
#include "leat_bytes.h"
#include "net_esp.h"
#include "net_esp_parts.h"

/* ---- time ------------------------------------------------------------------------------------ */

/* From the hand-over on, for a sum of two members at the ends of a line of 2 d routers. */
static uint64_t cycles_of(const struct lab *lab, uint32_t d, uint32_t words)
{
    const uint64_t pipeline = lab->plan.net.pipeline, wire = lab->plan.shape.wire_cycles;
    const uint64_t esp = lab->plan.esp.cycles;
    const uint64_t c = leat_net_port_flits(&lab->config, leat_esp_packet_len(LEAT_ESP_COLLECT));
    const uint64_t k = leat_net_port_flits(&lab->config, leat_esp_cast_len(8 * words));
    const uint64_t first = 2 + pipeline + 1 - 1, hop = 2 + pipeline + wire + pipeline + 1 - 1;
    return first + c + d * (esp + hop + c) + esp + d * (hop + k + esp) + first + k;
}

static uint64_t measure(const char *name, uint32_t d, uint32_t words, uint32_t flit_octets)
{
    struct lab lab;
    const uint32_t ends[] = { 0, 2 * d - 1 };
    lab_build(&lab, name);
    lab.config.flit_octets = flit_octets;
    lab_start(&lab);
    const struct leat_port_part what = deed_fold(deed_group(&lab, ends, 2), LEAT_PORT_SUM, words);
    OK(deed_do(&lab, &what, 0));
    EQ(deed_cycles(&lab), cycles_of(&lab, d, words));
    const uint64_t cycles = deed_cycles(&lab);
    lab_close(&lab);
    return cycles;
}

static void a_sum_takes_what_the_closed_form_says(void)
{
    char name[64];
    for (uint32_t d = 1; d <= 4; d++)
        for (uint32_t pipeline = 1; pipeline <= 4; pipeline++)
            for (uint32_t wire = 1; wire <= 9; wire += 4) {
                snprintf(name, sizeof name, "line:%u/buffer=64/pipeline=%u/wire=%u/esp=%u", 2 * d,
                         pipeline, wire, 1 + d * pipeline * wire);
                measure(name, d, 1, 16);
                measure(name, d, 0, 4);
            }
}

static void an_instruction_costs_its_cycles_at_each_router(void)
{
    const uint64_t quick = measure("line:6/esp=1", 3, 1, 16);
    EQ(measure("line:6/esp=101", 3, 1, 16), quick + 7 * 100);
}

/* A part that is already there costs nothing: only the last one's way counts. */
static void packets_travel_before_the_operation_is_complete(void)
{
    struct lab lab;
    const uint32_t ends[] = { 0, 3 };
    lab_open(&lab, "line:4/esp=20");
    const uint32_t group = deed_group(&lab, ends, 2);
    deed.part = deed_fold(group, LEAT_PORT_SUM, 1);
    deed_prepare(0);
    deed_prepare(1);
    deed_hand_over(&lab, 1); /* the far one */
    EQ(lab.port.base.in_flight, 0);
    EQ(leat_port_run(&lab.port.base, LEAT_NEVER), 0);
    EQ(leat_port_run(&lab.port.base, 1000000), 1000000);
    deed.at[0] = 1000000;
    deed_hand_over(&lab, 0);
    while (lab.port.base.in_flight)
        leat_port_run(&lab.port.base, LEAT_NEVER);
    EQ(deed.done, 2);
    EQ(deed.wrong, 0);
    const uint64_t c = leat_net_port_flits(&lab.config, leat_esp_packet_len(LEAT_ESP_COLLECT));
    const uint64_t hop_up = 2 + 3 + 1 + 3 + 1 + c - 1;
    EQ((deed.over_at[1] - 1000000) / 1000, cycles_of(&lab, 2, 1) - hop_up - 20);
    lab_close(&lab);
}

static void casts_of_all_lengths_arrive_at_all_members(void)
{
    static const uint64_t len[] = { 0, 1, 191, 192, 193, 4000, LEAT_NET_ESP_OCTETS_MAX };
    static const char *const name[] = { "torus:4,4/esp=20", "fattree:4,2/esp=20",
                                        "clos:4,4,4/switch=vc/esp=20" };
    for (size_t n = 0; n < sizeof name / sizeof *name; n++) {
        struct lab lab;
        lab_open(&lab, name[n]);
        const uint32_t group = deed_group(&lab, NULL, 16);
        for (size_t i = 0; i < sizeof len / sizeof *len; i++) {
            const struct leat_port_part what = deed_cast(group, (uint32_t)(7 * i % 16), len[i]);
            OK(deed_do(&lab, &what, 100000));
        }
        lab_close(&lab);
    }
}

/* Measured, not derived: they show when something changes. All members hand over at once. */
static void figures_of_idle_networks_stay_as_they_are(void)
{
    static const struct {
        const char *name;
        uint64_t barrier, word, words, cast, long_cast;
    } row[] = {
        { "torus:4,4/esp=20", 302, 307, 7869, 176, 27474 },
        { "fattree:4,2/esp=20", 266, 274, 6574, 133, 22024 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lab lab;
        uint64_t cycles[5];
        lab_open(&lab, row[i].name);
        const uint32_t group = deed_group(&lab, NULL, 16);
        const struct leat_port_part what[] = {
            deed_fold(group, LEAT_PORT_SUM, 0),  deed_fold(group, LEAT_PORT_SUM, 1),
            deed_fold(group, LEAT_PORT_SUM, 64), deed_cast(group, 0, 4),
            deed_cast(group, 0, 65536),
        };
        for (size_t k = 0; k < 5; k++) {
            OK(deed_do(&lab, &what[k], 0));
            cycles[k] = deed_cycles(&lab);
            leat_port_run(&lab.port.base, lab.port.base.now + 1000000);
        }
        EQ(cycles[0], row[i].barrier);
        EQ(cycles[1], row[i].word);
        EQ(cycles[2], row[i].words);
        EQ(cycles[3], row[i].cast);
        EQ(cycles[4], row[i].long_cast);
        lab_close(&lab);
    }
}

/* ---- what is not ESP ------------------------------------------------------------------------- */

static uint64_t certificate_of(const char *name, bool has_esp)
{
    struct lab lab;
    struct leat_random random;
    static uint8_t octets[1000];
    lab_build(&lab, name);
    if (!has_esp) {
        lab.config.esp.cycles = 0;
        lab.config.topology = &lab.plain;
        free(lab.memory[2]);
        void *memory = lab_take(&lab, 2, leat_net_routing_footprint(&lab.plain, &lab.plan.routing));
        lab.config.routing = leat_net_routing_init(&lab.plain, &lab.plan.routing, memory);
    }
    lab_start(&lab);
    OK((lab.port.base.means != NULL) == has_esp);
    EQ(lab.port.base.ports, lab.plain.terminals);
    lab.port.base.observer =
        (struct leat_port_observer){ .sent = deed_sent, .arrived = deed_sent, .lost = deed_lost };
    leat_random_seed(&random, tap_seed());
    for (uint64_t i = 0; i < 500; i++) {
        const uint64_t from = leat_random_below(&random, lab.port.base.ports);
        const uint64_t to = leat_random_below(&random, lab.port.base.ports);
        const struct leat_port_message message = {
            .from = (uint32_t)from,
            .to = (uint32_t)to,
            .id = i,
            .octets = octets,
            .len = leat_random_below(&random, sizeof octets),
        };
        if (!leat_port_send(&lab.port.base, &message, lab.port.base.now))
            leat_port_run(&lab.port.base, LEAT_NEVER);
    }
    while (lab.port.base.in_flight)
        leat_port_run(&lab.port.base, LEAT_NEVER);
    const uint64_t certificate = lab.port.base.certificate;
    lab_close(&lab);
    return certificate;
}

/* Messages arrive at the same times as in a network without ESP. */
static void processors_that_do_nothing_disturb_nobody(void)
{
    static const char *const name[] = {
        "torus:4,4/esp",
        "mesh:3,3/routing=adaptive/esp",
        "torus:4,4/routing=valiant/esp",
        "fattree:2,3/esp",
        "dragonfly:2,2,1/esp",
        "benes:8/esp",
        "clos:3,3,3/switch=vc/esp",
    };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        EQ(certificate_of(name[i], true), certificate_of(name[i], false));
}

static void packets_have_the_flits_of_their_pieces(void)
{
    struct lab lab;
    lab_open(&lab, "mesh:2,2/esp");
    for (uint64_t len = 0; len < 2000; len += 13) {
        uint64_t flits = 0;
        for (uint64_t i = 0; i < leat_net_port_packets(&lab.config, len); i++)
            flits += leat_net_port_piece_flits(&lab.config, len, i);
        EQ(flits, leat_net_port_flits(&lab.config, len));
    }
    lab_close(&lab);
}

static void the_length_of_a_cast_is_that_of_the_room(void)
{
    static const uint8_t key[LEAT_ESP_KEY_LEN] = { 1 };
    static struct leat_esp_management m = { .opcode = LEAT_ESP_CAST };
    static uint8_t octets[4096];
    for (uint32_t payload = 0; payload <= LEAT_ESP_PAYLOAD_LEN_MAX; payload += 7) {
        size_t len = 0;
        m.cast = (struct leat_esp_cast){ .group = 1, .serial = 1, .hops = 1 };
        m.cast.payload_len = (uint16_t)payload;
        OK(!leat_esp_management_encode(&m, key, octets, sizeof octets, &len));
        EQ(leat_esp_cast_len(payload), len);
    }
}

static leat_err check_refusal(const char *name, struct leat_net_esp_config config,
                              const char *expected)
{
    static uint8_t memory[1 << 20];
    struct leat_text why = LEAT_TEXT(512);
    struct leat_net_topology topology;
    struct leat_net_plan plan;
    OK(!leat_net_plan_parse(name, &plan, &why));
    OK(leat_net_topology_footprint(&plan.shape) <= sizeof memory);
    OK(!leat_net_topology_build(&topology, &plan.shape, memory, &why));
    const leat_err err = leat_net_esp_check(&topology, &config, &why);
    why.buf[why.len] = '\0';
    if (!strstr(why.buf, expected)) printf("# %s\n", why.buf);
    OK(strstr(why.buf, expected) != NULL);
    return err;
}

static void networks_that_cannot_have_esp_are_refused(void)
{
    static const struct leat_net_esp_config one = { .cycles = 1 };
    EQ(check_refusal("mesh:2,2", one, ""), LEAT_ERR_OK);
    EQ(check_refusal("fly:2,3", one, "another topology"), LEAT_ERR_RANGE);
    EQ(check_refusal("ring:4097", one, "expected 1 to 4096"), LEAT_ERR_RANGE);
    EQ(check_refusal("crossbar:1024", one, "expected 1 to 1024"), LEAT_ERR_RANGE);
    EQ(check_refusal("mesh:2,2", (struct leat_net_esp_config){ 0 }, "expected 1 to 1048576"),
       LEAT_ERR_RANGE);
    EQ(check_refusal("mesh:2,2", (struct leat_net_esp_config){ .cycles = 1, .slots = 1u << 31 },
                     "expected 0 to 16777216"),
       LEAT_ERR_RANGE);
}

static void there_are_so_many_groups(void)
{
    struct lab lab;
    lab_open(&lab, "mesh:2,2/esp");
    for (uint32_t i = 0; i < LEAT_NET_ESP_GROUPS_MAX; i++)
        EQ(deed_group(&lab, NULL, 2), i + 1);
    EQ(leat_port_group(&lab.port.base, deed.port, 2), 0);
    leat_port_disband(&lab.port.base, 5);
    EQ(deed_group(&lab, NULL, 4), 5);
    const struct leat_port_part what = deed_fold(5, LEAT_PORT_MIN, 3);
    OK(deed_do(&lab, &what, 0));
    lab_close(&lab);
}

/* ---- packets, as observers see them ---------------------------------------------------------- */

static struct {
    uint32_t in, out, wrong;
    uint32_t collects, casts; /* that enter or leave at hosts */
    uint64_t octets;          /* that casts have brought to port 0 */
    leat_time last_at;
} shown;

static void see_cast(const struct leat_port_packet *p)
{
    struct leat_esp_management m;
    shown.casts++;
    if (leat_esp_management_decode(p->octets, p->len, NULL, &m, NULL) ||
        m.opcode != LEAT_ESP_CAST) {
        shown.wrong++;
        return;
    }
    if (deed.part.kind == LEAT_PORT_FOLD) {
        shown.wrong += m.cast.payload_len != 8 ||
                       leat_get_be64(m.cast.payload) != deed.expected[(uint32_t)m.cast.serial];
        return;
    }
    for (uint32_t i = 0; p->place == 0 && i < m.cast.payload_len; i++)
        shown.wrong += m.cast.payload[i] != deed_octet(shown.octets++);
}

static void see_packet(void *context, const struct leat_port_packet *p, leat_time at)
{
    const struct lab *lab = context;
    struct leat_esp_packet packet;
    struct leat_port_place place;
    *(p->is_out ? &shown.out : &shown.in) += 1;
    shown.wrong += at < shown.last_at || at < lab->port.base.now ||
                   !leat_port_place(&lab->port.base, p->place, &place);
    shown.last_at = at;
    if (p->place >= lab->port.base.ports) return;
    if (leat_esp_packet_decode(p->octets, p->len, &packet, NULL))
        see_cast(p);
    else
        shown.collects++;
}

static uint64_t show_all(const char *name, bool is_watched)
{
    struct lab lab;
    lab_open(&lab, name);
    const uint32_t group = deed_group(&lab, NULL, 4);
    const struct leat_port_part fold = deed_fold(group, LEAT_PORT_SUM, 3),
                                cast = deed_cast(group, 1, 3000);
    memset(&shown, 0, sizeof shown);
    if (is_watched) lab.port.base.observer.packet = see_packet;
    OK(deed_do(&lab, &fold, 0));
    if (is_watched) EQ(shown.collects, 3 * 4);
    if (is_watched) EQ(shown.casts, 3 * 4);
    OK(deed_do(&lab, &cast, 0));
    const uint64_t certificate = leat_port_certificate(&lab.port.base);
    lab_close(&lab);
    return certificate;
}

static void observers_see_all_packets_and_change_nothing(void)
{
    static const char *const name[] = { "torus:2,2/esp=5", "fattree:2,2/esp=5", "benes:8/esp=5" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const uint64_t alone = show_all(name[i], false);
        EQ(shown.in, 0);
        EQ(show_all(name[i], true), alone);
        EQ(shown.wrong, 0);
        EQ(shown.in, shown.out); /* nothing is lost */
        EQ(shown.octets, 3000);
    }
}

static void ports_and_routers_are_places(void)
{
    struct lab lab;
    struct leat_port_place place;
    lab_open(&lab, "mesh:2,3/esp");
    OK(leat_port_place(&lab.port.base, 5, &place) && !strcmp(place.what, "port"));
    OK(leat_port_place(&lab.port.base, 6, &place) && !strcmp(place.what, "router"));
    EQ(place.number, 0);
    EQ(place.link_type, 149);
    OK(!leat_port_place(&lab.port.base, 12, &place));
    lab_close(&lab);
}

TAP_MAIN(T(a_sum_takes_what_the_closed_form_says),
         T(an_instruction_costs_its_cycles_at_each_router),
         T(packets_travel_before_the_operation_is_complete),
         T(casts_of_all_lengths_arrive_at_all_members),
         T(figures_of_idle_networks_stay_as_they_are), T(processors_that_do_nothing_disturb_nobody),
         T(packets_have_the_flits_of_their_pieces), T(the_length_of_a_cast_is_that_of_the_room),
         T(networks_that_cannot_have_esp_are_refused), T(there_are_so_many_groups),
         T(observers_see_all_packets_and_change_nothing), T(ports_and_routers_are_places))
