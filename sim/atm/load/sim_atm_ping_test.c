/* Loopback cells: their octets on the line, when they are back, and both models. */
#include "leat_bytes.h"
#include "sim_atm_ping.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 40, APART = 500 };

static struct leat_sim_atm_ping ping;
static struct leat_sim_atm_ping_request request[REQUESTS];
static void *memory;

static void begin(const char *name, enum leat_sim_atm_model model, uint32_t load_ppm)
{
    struct leat_text why = LEAT_TEXT(256);
    struct leat_sim_atm_ping_config config = { .model = model,
                                               .from = 3,
                                               .requests = REQUESTS,
                                               .request = request,
                                               .first_at = 100,
                                               .apart = APART,
                                               .load_ppm = load_ppm,
                                               .seed = 5 };
    EQ(leat_sim_atm_fabric_parse(name, &config.fabric, &why), LEAT_ERR_OK);
    for (uint32_t i = 0; i < REQUESTS; i++)
        request[i] = (struct leat_sim_atm_ping_request){
            .to = i % config.fabric.net.ports,
            .path = i % config.fabric.net.paths,
            .back = i / 3 % config.fabric.net.paths,
        };
    memory = calloc(1, leat_sim_atm_ping_footprint(&config));
    if (!memory) abort();
    leat_sim_atm_ping_init(&ping, &config, memory);
}

/* Each way: through the network, and 53 octets; the answer begins a cycle after the request. */
static void in_an_idle_network_cells_are_back_after_twice_the_way(void)
{
    static const char *const names[] = { "clos444", "bmx:8", "clos:3,4,3/switching=vc" };
    for (int i = 0; i < 6; i++) {
        begin(names[i / 2], i % 2 ? LEAT_SIM_ATM_RTL : LEAT_SIM_ATM_CELL, 0);
        const uint64_t way = leat_atm_clos_idle_cycles(&ping.sim.fabric.net) + LEAT_ATM_CELL_LEN;
        leat_sim_atm_ping_run(&ping, (REQUESTS + 2) * APART);
        EQ(ping.answered, REQUESTS);
        for (uint32_t k = 0; k < REQUESTS; k++) {
            EQ(request[k].sent_at, 100 + k * APART);
            EQ(request[k].answered_at - request[k].sent_at, 2 * way + 1);
        }
        free(memory);
    }
}

static void among_other_cells_both_models_have_the_same_times(void)
{
    struct leat_sim_atm_ping_request cells[REQUESTS];
    uint64_t users[2], waited = 0;
    for (int i = 0; i < 2; i++) {
        begin("clos444/buffer=2", i ? LEAT_SIM_ATM_RTL : LEAT_SIM_ATM_CELL, 600000);
        leat_sim_atm_ping_run(&ping, (REQUESTS + 20) * APART);
        EQ(ping.answered, REQUESTS);
        users[i] = ping.users_received;
        OK(users[i] > 1000 && users[i] + 16 * 12 * 2 > ping.users_sent);
        if (!i) memcpy(cells, request, sizeof cells);
        for (uint32_t k = 0; k < REQUESTS; k++)
            waited += request[k].answered_at - request[k].sent_at > 143;
        free(memory);
    }
    EQ(users[0], users[1]);
    EQ(memcmp(cells, request, sizeof cells), 0);
    OK(waited > REQUESTS);
}

/* F4: the VPI is the label, the VCI 4. F5: PT 5. By hand. */
static void cells_are_those_of_their_flow(void)
{
    static const uint8_t f4[4] = { 13 * 4 >> 4, 13 * 4 << 4 & 0xff, 0, 4 << 4 };
    struct leat_atm_oam oam;
    struct leat_atm_oam_loopback loopback;
    begin("clos444", LEAT_SIM_ATM_CELL, 0);
    request[0].to = 13;
    request[0].back = 2;
    leat_sim_atm_ping_run(&ping, 110);
    const uint8_t *cell = leat_sim_atm_sent(&ping.sim, 3);
    EQ(memcmp(cell, f4, sizeof f4), 0);
    EQ(leat_atm_oam_decode(cell + 5, LEAT_ATM_PAYLOAD_LEN, &oam, NULL), LEAT_ERR_OK);
    OK(leat_atm_oam_loopback_get(&oam, &loopback) && loopback.goes_back && loopback.tag == 0);
    OK(leat_sim_atm_ping_is_loopback(cell, 2) && !leat_sim_atm_ping_is_loopback(cell, 4));
    uint8_t place[LEAT_ATM_OAM_PLACE_LEN];
    leat_sim_atm_ping_place(3, 2, place);
    EQ(memcmp(place, loopback.source, sizeof place), 0);
    EQ(loopback.place[0] & loopback.place[15], 0xff);
    EQ(leat_get_be32(loopback.source + 8), 2);
    EQ(leat_get_be32(loopback.source + 12), 3);
    free(memory);
    begin("clos444/switching=vc", LEAT_SIM_ATM_CELL, 0);
    request[0].to = 13;
    leat_sim_atm_ping_run(&ping, 110);
    EQ(leat_get_be32(leat_sim_atm_sent(&ping.sim, 3)), 13 * 4 << 4 | 5 << 1);
    free(memory);
}

TAP_MAIN(T(in_an_idle_network_cells_are_back_after_twice_the_way),
         T(among_other_cells_both_models_have_the_same_times), T(cells_are_those_of_their_flow))
