#include "leat_device.h"
#include "tap.h"

static void bits_are_numbered_from_the_lowest(void)
{
    for (uint32_t i = 0; i < 32; i++) {
        EQ(leat_device_lowest(UINT32_C(1) << i), i);
        EQ(leat_device_lowest(UINT32_MAX << i), i);
    }
    for (uint32_t i = 0; i < 64; i++) {
        EQ(leat_device_highest(UINT64_C(1) << i), i);
        EQ(leat_device_highest(UINT64_MAX >> (63 - i)), i);
    }
}

static void words_are_changed_as_devices_do(void)
{
    uint32_t word = 5;
    EQ(leat_device_add(&word, 3), 5);
    EQ(LEAT_DEVICE_ADD(&word, 1), 8);
    leat_device_max(&word, 4);
    EQ(word, 9);
    LEAT_DEVICE_MAX(&word, 12);
    LEAT_DEVICE_AND(&word, 8);
    LEAT_DEVICE_OR(&word, 3);
    EQ(word, 11);
}

TAP_MAIN(T(bits_are_numbered_from_the_lowest), T(words_are_changed_as_devices_do))
