#include "live_system.h"
#include "tool.h"

_Static_assert((int)LIVE_KEY_LEN == (int)LEAT_SIP_KEY_LEN, "one kind of key");

bool key_file_read(const char *path, uint8_t key[LEAT_SIP_KEY_LEN])
{
    char why[LIVE_WHY_LEN];
    return live_key_read(path, key, why) || complain("%s", why);
}
