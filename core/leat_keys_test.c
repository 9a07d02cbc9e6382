/* Keys that change while packets pass. */
#include "leat_keys.h"
#include "tap.h"
#include <string.h>

static const uint8_t old[LEAT_SIP_KEY_LEN] = "the old key....",
                     next[LEAT_SIP_KEY_LEN] = "the next key...";

static void a_key_and_another_are_one_set(void)
{
    struct leat_keys keys = leat_keys_of(NULL, NULL);
    EQ(keys.count, 0);
    keys = leat_keys_of(NULL, next);
    EQ(keys.count, 0);
    keys = leat_keys_of(old, NULL);
    EQ(keys.count, 1);
    OK(memcmp(keys.key[0], old, sizeof old) == 0 && !leat_keys_other(&keys));
    keys = leat_keys_of(old, next);
    EQ(keys.count, 2);
    OK(memcmp(keys.key[0], old, sizeof old) == 0);
    OK(leat_keys_other(&keys) == keys.key[1] && memcmp(keys.key[1], next, sizeof next) == 0);
}

/* Who has taken its turn before a change finds the keys of that turn as they were. */
static void a_change_leaves_the_keys_of_the_packet_that_passes(void)
{
    const struct leat_keys step[] = { leat_keys_of(old, NULL), leat_keys_of(old, next),
                                      leat_keys_of(next, old), leat_keys_of(next, NULL) };
    struct leat_key_ring ring = { 0 };
    EQ(ring.of_turn[leat_key_ring_turn(&ring)].count, 0);
    for (int i = 0; i < 4; i++) {
        const uint32_t turn = leat_key_ring_turn(&ring);
        const struct leat_keys before = ring.of_turn[turn];
        leat_key_ring_set(&ring, &step[i]);
        OK(memcmp(&ring.of_turn[turn], &before, sizeof before) == 0);
        OK(memcmp(&ring.of_turn[leat_key_ring_turn(&ring)], &step[i], sizeof step[i]) == 0);
    }
}

TAP_MAIN(T(a_key_and_another_are_one_set), T(a_change_leaves_the_keys_of_the_packet_that_passes))
