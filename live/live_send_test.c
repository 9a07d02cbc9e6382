/* Which devices can be trusted to send what native XDP passes to them, case by case. */
#include "live_xdp.h"
#include "tap.h"
#include <net/if.h>
#include <string.h>

static bool sends(bool veth, bool reported, uint64_t features, enum live_xdp_path path)
{
    const struct live_xdp_device d = { .veth = veth, .reported = reported, .features = features };
    return live_xdp_sends(&d, path);
}

static void a_veth_sends_only_where_the_kernel_says_so(void)
{
    for (int path = LIVE_XDP_OVER; path <= LIVE_XDP_OUT; path++) {
        OK(sends(true, true, LIVE_XDP_SENDS, (enum live_xdp_path)path));
        OK(!sends(true, true, 3, (enum live_xdp_path)path));
        OK(!sends(true, false, 0, (enum live_xdp_path)path)); /* before Linux 6.3 */
    }
}

static void a_veth_is_never_trusted_to_send_back(void)
{
    OK(!sends(true, true, LIVE_XDP_SENDS, LIVE_XDP_BACK));
    OK(!sends(true, false, 0, LIVE_XDP_BACK));
}

static void a_card_sends_back_what_its_driver_takes_in(void)
{
    OK(sends(false, true, 1, LIVE_XDP_BACK));
    OK(sends(false, false, 0, LIVE_XDP_BACK));
}

static void a_card_takes_from_others_what_the_kernel_says_or_where_it_has_our_program(void)
{
    OK(sends(false, true, LIVE_XDP_SENDS, LIVE_XDP_OVER));
    OK(sends(false, true, LIVE_XDP_SENDS, LIVE_XDP_OUT));
    OK(!sends(false, true, 3, LIVE_XDP_OVER));
    OK(!sends(false, true, 3, LIVE_XDP_OUT));
    OK(sends(false, false, 0, LIVE_XDP_OVER));
    OK(!sends(false, false, 0, LIVE_XDP_OUT));
}

/* The loopback has no XDP of its own, on any kernel. */
static void a_device_that_cannot_is_named(void)
{
    char why[LIVE_WHY_LEN];
    OK(!live_xdp_can_send(if_nametoindex("lo"), LIVE_XDP_OUT, why));
    OK(strstr(why, "lo ") != NULL);
}

static void the_mode_is_reported_with_its_reason(void)
{
    char text[LIVE_WHY_LEN], why[LIVE_WHY_LEN];
    EQ(live_xdp_mode(false, "", text), -1);
    OK(strcmp(text, ", in the driver (native mode)") == 0);
    const int at = live_xdp_mode(true, "a reason", text);
    OK(at > 0 && strcmp(text + at, "slower: a reason") == 0);
    OK(strcmp(text, ", behind the driver (generic mode), slower: a reason") == 0);
    live_xdp_mode(true, "", text);
    OK(strstr(text, "slower: a driver knows no XDP") != NULL);
    OK(!live_because(why, "%0400d", 1));
    EQ(strlen(why), LIVE_WHY_LEN - 1);
}

TAP_MAIN(T(a_veth_sends_only_where_the_kernel_says_so), T(a_veth_is_never_trusted_to_send_back),
         T(a_card_sends_back_what_its_driver_takes_in),
         T(a_card_takes_from_others_what_the_kernel_says_or_where_it_has_our_program),
         T(a_device_that_cannot_is_named), T(the_mode_is_reported_with_its_reason))
