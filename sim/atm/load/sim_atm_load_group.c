#include "sim_atm_load_group.h"
#include <assert.h>

enum { PORTS_MAX = LEAT_ATM_CLOS_FAN_OUT_MAX * LEAT_ATM_CLOS_FAN_OUT_MAX };

void leat_sim_atm_load_set_group(struct leat_sim_atm_load *load, uint32_t group,
                                 const uint64_t *members)
{
    const uint32_t ports = load->config.fabric.net.ports;
    uint32_t number[PORTS_MAX];
    assert(leat_sim_atm_load_group_is_quiet(load, group));
    leat_sim_atm_set_group(&load->sim, group, members);
    for (uint32_t port = 0; port < ports; port++)
        number[port] = load->host[port].unit.group[group].number;
    for (uint32_t port = 0; port < ports; port++)
        leat_atm_aal_unit_set_group(&load->host[port].unit, group,
                                    leat_sim_atm_group(&load->sim, group), number);
}

bool leat_sim_atm_load_group_is_quiet(const struct leat_sim_atm_load *load, uint32_t group)
{
    for (uint32_t port = 0; port < load->config.fabric.net.ports; port++)
        if (!leat_atm_aal_unit_group_is_quiet(&load->host[port].unit, group)) return false;
    return true;
}

bool leat_sim_atm_load_reaches(const struct leat_sim_atm_load *load, uint32_t to, uint32_t port)
{
    if (!leat_sim_atm_traffic_is_to_many(to)) return to == port;
    if (to == LEAT_SIM_ATM_TRAFFIC_ALL) return true;
    const uint64_t *members = leat_sim_atm_group(&load->sim, LEAT_SIM_ATM_TRAFFIC_GROUP - to);
    return members[port / 64] >> port % 64 & 1;
}

uint32_t leat_sim_atm_load_copies(const struct leat_sim_atm_load *load, uint32_t to)
{
    uint32_t copies = 0;
    if (!leat_sim_atm_traffic_is_to_many(to)) return 1;
    for (uint32_t port = 0; port < load->config.fabric.net.ports; port++)
        copies += leat_sim_atm_load_reaches(load, to, port);
    return copies;
}
