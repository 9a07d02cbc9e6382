/* <leat/fabric.h>, as a program uses it. */
#include "tap.h"
#include <leat/fabric.h>
#include <string.h>

static char why[LEAT_FABRIC_WHY_LEN];

static void messages_arrive_with_their_octets_and_ids(void)
{
    struct leat_fabric_delivery d;
    struct leat_fabric_net *net = leat_fabric_net_open("torus:4,4", why);
    uint64_t ids = 0, last = 0;
    OK(net);
    EQ(leat_fabric_net_ports(net), 16);
    OK(strcmp(leat_fabric_net_name(net), "torus:4,4") == 0);
    for (uint32_t i = 0; i < 16; i++)
        OK(leat_fabric_net_send(net, i, 15 - i, "hello", 5, UINT64_C(1) << i));
    while (leat_fabric_net_run(net, &d)) {
        OK(!d.lost && d.len == 5 && memcmp(d.octets, "hello", 5) == 0);
        EQ(d.to, 15 - d.from);
        EQ(d.id, UINT64_C(1) << d.from);
        OK(d.at_ps >= last && d.at_ps <= leat_fabric_net_now_ps(net));
        last = d.at_ps;
        ids |= d.id;
    }
    EQ(ids, 0xffff);
    leat_fabric_net_close(net);
}

static void errors_are_reported(void)
{
    OK(!leat_fabric_net_open("mesh:4,4/vcs=99", why));
    OK(strstr(why, "mesh:4,4/vcs=99: '99' is out of range, expected 1 to 32"));
    struct leat_fabric_net *net = leat_fabric_net_open("ether2", why);
    OK(net);
    OK(!leat_fabric_net_send(net, 0, 2, "x", 1, 0));
    OK(!leat_fabric_net_send(net, 2, 0, "x", 1, 0));
    leat_fabric_net_close(net);
    leat_fabric_net_close(NULL);
}

/* Messages in flight, or reported last, do not leak. */
static void a_net_may_be_closed_at_any_time(void)
{
    struct leat_fabric_delivery d;
    struct leat_fabric_net *net = leat_fabric_net_open("ring4", why);
    OK(net);
    for (uint32_t i = 0; i < 8; i++)
        OK(leat_fabric_net_send(net, i % 4, (i + 1) % 4, "", 0, i));
    OK(leat_fabric_net_run(net, &d));
    OK(leat_fabric_net_run(net, &d));
    leat_fabric_net_close(net);
}

TAP_MAIN(T(messages_arrive_with_their_octets_and_ids), T(errors_are_reported),
         T(a_net_may_be_closed_at_any_time))
