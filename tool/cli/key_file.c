#include "live_system.h"
#include "tool.h"

bool key_file_read(const char *path, struct leat_keys *keys)
{
    char why[LIVE_WHY_LEN];
    return live_key_read(path, keys, why) || complain("%s", why);
}
