/* leat sweep: the fabrics. A parameter of a network may have several values, as in
 * mesh:8,8/buffer=2,4,8: such a word is a fabric for each of them. */
#include "net_plan.h"
#include "sweep.h"
#include <stdlib.h>
#include <string.h>

enum { KEY_CAP = 32 };

/* Is it "KEY=VALUES", of a parameter that is a number? Other values may have commas themselves. */
static bool is_number(const char *piece, size_t key_len)
{
    struct leat_net_plan plan;
    uint32_t number;
    char key[KEY_CAP];
    if (piece[key_len] != '=' || key_len >= KEY_CAP) return false;
    memcpy(key, piece, key_len);
    key[key_len] = '\0';
    leat_net_plan_default(LEAT_NET_MESH, false, &plan);
    return leat_net_plan_number(&plan, key, &number);
}

/* The values of the first parameter that has several; NULL: there is none. */
static const char *find_list(const char *word)
{
    for (const char *at = strchr(word, '/'); at; at = strchr(at, '/')) {
        const size_t key_len = strcspn(++at, "=/");
        const char *values = at + key_len + 1;
        if (is_number(at, key_len) && values[strcspn(values, ",/")] == ',') return values;
    }
    return NULL;
}

static bool add(struct sweep_plan *plan, const char *word)
{
    if (plan->fabrics == SWEEP_FABRICS_MAX)
        return misused(plan->args->verb, "expected at most %d fabrics", SWEEP_FABRICS_MAX);
    for (uint32_t i = 0; i < plan->fabrics; i++)
        if (strcmp(plan->fabric[i], word) == 0)
            return misused(plan->args->verb, "fabric '%s' is given twice, expected each once",
                           word);
    plan->fabric[plan->fabrics] = strdup(word);
    return plan->fabric[plan->fabrics] ? plan->fabrics++ < SWEEP_FABRICS_MAX
                                       : complain("no memory");
}

static bool expand(struct sweep_plan *plan, const char *word)
{
    const char *value = find_list(word), *first = value;
    if (!value) return add(plan, word);
    const char *rest = value + strcspn(value, "/");
    char *one = malloc(strlen(word) + 1);
    bool good = one || complain("no memory");
    while (good && value <= rest) {
        const size_t len = strcspn(value, ",/");
        sprintf(one, "%.*s%.*s%s", (int)(first - word), word, (int)len, value, rest);
        good = expand(plan, one);
        value += len + 1;
    }
    free(one);
    return good;
}

bool sweep_fabrics_read(struct sweep_plan *plan)
{
    const struct arguments *args = plan->args;
    bool good = args->operand_count > 0 ||
                misused(args->verb,
                        "expected a fabric, as in leat sweep clos444 --load 0.1:0.9:0.1");
    for (int i = 0; i < args->operand_count && good; i++)
        good = expand(plan, args->operand[i]);
    return good;
}
