/* The token ring as a fabric, for leat sim and leat ring, which drive its stations themselves. */
#ifndef LEAT_FABRIC_ATON_H
#define LEAT_FABRIC_ATON_H

#include "fabric_kind.h"
#include "sim_aton_port.h"

struct leat_fabric_aton {
    struct leat_fabric base;
    struct leat_sim_aton_port_config config;
    struct leat_sim_aton_port port;
};

extern const struct leat_fabric_kind leat_fabric_kind_aton;

/* NULL: it is of another kind. */
struct leat_fabric_aton *leat_fabric_as_aton(struct leat_fabric *fabric);

#endif
