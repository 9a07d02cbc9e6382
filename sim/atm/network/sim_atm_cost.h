/* What the switches of an ATM fabric are made of: sim/net/engine/net_cost.h, with cells in place of
 * flits and cell times in place of cycles. A bus matrix has a crosspoint memory at each of its
 * inputs x outputs crosspoints, which takes a cell and gives one. */
#ifndef LEAT_SIM_ATM_COST_H
#define LEAT_SIM_ATM_COST_H

#include "net_cost.h"
#include "sim_atm_fabric.h"

struct leat_net_cost leat_sim_atm_cost(const struct leat_sim_atm_fabric *fabric);

#endif
