#include "leat_err.h"

const char *leat_err_name(int err)
{
    static const char *const name[LEAT_ERR_COUNT] = {
#define X(id, n, t) [LEAT_ERR_##id] = n,
        LEAT_ERR_LIST(X)
#undef X
    };
    return (err >= 0 && err < LEAT_ERR_COUNT) ? name[err] : "UNKNOWN";
}

const char *leat_err_text(int err)
{
    static const char *const text[LEAT_ERR_COUNT] = {
#define X(id, n, t) [LEAT_ERR_##id] = t,
        LEAT_ERR_LIST(X)
#undef X
    };
    return (err >= 0 && err < LEAT_ERR_COUNT) ? text[err] : "unknown error";
}
