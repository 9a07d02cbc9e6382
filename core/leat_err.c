#include "leat_err.h"

const char *leat_err_name(leat_err err)
{
    static const char *const name[LEAT_ERR_COUNT] = {
#define X(id, n, t) [LEAT_ERR_##id] = n,
        LEAT_ERR_LIST(X)
#undef X
    };
    return (unsigned)err < LEAT_ERR_COUNT ? name[err] : "UNKNOWN";
}

const char *leat_err_text(leat_err err)
{
    static const char *const text[LEAT_ERR_COUNT] = {
#define X(id, n, t) [LEAT_ERR_##id] = t,
        LEAT_ERR_LIST(X)
#undef X
    };
    return (unsigned)err < LEAT_ERR_COUNT ? text[err] : "unknown error";
}
