/* Matching compared with a plain list of receives and one of messages, searched from the front. */
#include "fi_match.h"
#include "tap.h"
#include <leat/random.h>
#include <string.h>

enum { MODEL_CAP = 4096 };

struct model {
    struct leat_fi_match_receive *posted[MODEL_CAP];
    struct leat_fi_match_message *kept[MODEL_CAP];
    size_t posted_count, kept_count;
};

static bool wanted(const struct leat_fi_match_receive *r, const struct leat_fi_match_message *m)
{
    return (r->from == LEAT_FI_MATCH_ANY || r->from == m->from) &&
           !((r->tag ^ m->tag) & ~r->ignore);
}

static void drop(void *list, size_t *count, size_t at)
{
    void **items = list;
    memmove(items + at, items + at + 1, (--*count - at) * sizeof *items);
}

static struct leat_fi_match_receive *model_arrive(struct model *model,
                                                  struct leat_fi_match_message *m)
{
    for (size_t i = 0; i < model->posted_count; i++)
        if (wanted(model->posted[i], m)) {
            struct leat_fi_match_receive *r = model->posted[i];
            drop(model->posted, &model->posted_count, i);
            return r;
        }
    model->kept[model->kept_count++] = m;
    return NULL;
}

static struct leat_fi_match_message *model_find(const struct model *model,
                                                const struct leat_fi_match_receive *r, size_t *at)
{
    for (*at = 0; *at < model->kept_count; ++*at)
        if (wanted(r, model->kept[*at])) return model->kept[*at];
    return NULL;
}

static struct leat_fi_match_message *model_post(struct model *model,
                                                struct leat_fi_match_receive *r)
{
    size_t at;
    struct leat_fi_match_message *m = model_find(model, r, &at);
    if (m)
        drop(model->kept, &model->kept_count, at);
    else
        model->posted[model->posted_count++] = r;
    return m;
}

static struct leat_fi_match_receive *arrive(struct leat_fi_match *match,
                                            struct leat_fi_match_message *m)
{
    struct leat_fi_match_receive *r = leat_fi_match_offer(match, m);
    if (!r) leat_fi_match_keep(match, m);
    return r;
}

/* ---- random campaigns ------------------------------------------------------------------------ */

static void draw_receive(struct leat_random *random, uint64_t masks,
                         struct leat_fi_match_receive *r)
{
    static const uint64_t mask[] = { 0x3000, 0x3fff, 0, 0xff, 0xf, 0xf0, 0xf000, 0x3, UINT64_MAX };
    r->from = leat_random_below(random, 3) ? leat_random_below(random, 5) : LEAT_FI_MATCH_ANY;
    r->tag = leat_random_below(random, 6);
    r->ignore = mask[leat_random_below(random, masks)];
}

static struct leat_fi_match_message *new_message(struct leat_random *random)
{
    struct leat_fi_match_message *m = malloc(sizeof *m);
    m->from = leat_random_below(random, 5);
    m->tag = leat_random_below(random, 6);
    m->tag |= leat_random_below(random, 2) << 12;
    return m;
}

static void one_step(struct leat_random *random, uint64_t masks, struct leat_fi_match *match,
                     struct model *model)
{
    struct leat_fi_match_receive probe, *r;
    struct leat_fi_match_message *m;
    size_t at;
    switch (leat_random_below(random, 8)) {
    case 0: /* peek, and take what was found */
        draw_receive(random, masks, &probe);
        m = leat_fi_match_peek(match, probe.from, probe.tag, probe.ignore);
        OK(m == model_find(model, &probe, &at));
        if (!m || leat_random_below(random, 2)) break;
        leat_fi_match_take(match, m);
        drop(model->kept, &model->kept_count, at);
        free(m);
        break;
    case 1: /* take a receive back */
        if (!model->posted_count) break;
        at = leat_random_below(random, model->posted_count);
        leat_fi_match_withdraw(match, model->posted[at]);
        free(model->posted[at]);
        drop(model->posted, &model->posted_count, at);
        break;
    case 2:
    case 3:
    case 4:
        if (model->kept_count == MODEL_CAP) break;
        m = new_message(random);
        r = arrive(match, m);
        OK(r == model_arrive(model, m));
        if (r) free(m);
        free(r);
        break;
    default:
        if (model->posted_count == MODEL_CAP) break;
        r = malloc(sizeof *r);
        draw_receive(random, masks, r);
        m = leat_fi_match_post(match, r);
        OK(m == model_post(model, r));
        if (m) free(r);
        free(m);
        break;
    }
}

static void campaign(uint64_t masks)
{
    static struct model model;
    struct leat_random random;
    struct leat_fi_match match;
    leat_random_seed_entity(&random, tap_seed(), masks);
    leat_fi_match_init(&match);
    memset(&model, 0, sizeof model);
    for (long i = 0; i < LEAT_ROUNDS && !tap_checks_failed; i++)
        one_step(&random, masks, &match, &model);
    OK(leat_fi_match_first(&match) == (model.kept_count ? model.kept[0] : NULL));
    for (size_t i = 0; i < model.kept_count; i++)
        free(model.kept[i]);
    for (size_t i = 0; i < model.posted_count; i++)
        free(model.posted[i]);
    leat_fi_match_free(&match);
    OK(!leat_fi_match_first(&match));
}

static void as_the_plain_lists_with_the_masks_of_mpi(void)
{
    campaign(2);
}

static void as_the_plain_lists_with_more_masks_than_classes(void)
{
    campaign(9);
}

/* ---- many ------------------------------------------------------------------------------------ */

enum { MANY = 100000 };

/* All are posted, then all arrive in reverse; with a linear search this would take minutes. */
static void many_receives_with_different_tags(void)
{
    struct leat_fi_match match;
    struct leat_fi_match_receive *r = calloc(MANY, sizeof *r);
    leat_fi_match_init(&match);
    for (uint64_t i = 0; i < MANY; i++) {
        r[i] = (struct leat_fi_match_receive){ .from = i % 7, .tag = i };
        OK(!leat_fi_match_post(&match, &r[i]));
    }
    for (uint64_t i = MANY; i-- > 0;) {
        struct leat_fi_match_message m = { .from = i % 7, .tag = i };
        OK(arrive(&match, &m) == &r[i]);
    }
    leat_fi_match_free(&match);
    free(r);
}

static void many_messages_with_one_tag_and_one_with_another(void)
{
    struct leat_fi_match match;
    struct leat_fi_match_message *m = calloc(MANY + 1, sizeof *m);
    leat_fi_match_init(&match);
    for (uint64_t i = 0; i <= MANY; i++) {
        m[i] = (struct leat_fi_match_message){ .from = 3, .tag = i == MANY ? 9 : 7 };
        OK(!arrive(&match, &m[i]));
    }
    for (uint64_t i = 0; i < MANY; i++) {
        struct leat_fi_match_receive r = { .from = i % 2 ? 3 : LEAT_FI_MATCH_ANY, .tag = 7 };
        OK(leat_fi_match_peek(&match, 3, 9, 0) == &m[MANY]);
        OK(leat_fi_match_post(&match, &r) == &m[i]);
    }
    leat_fi_match_free(&match);
    free(m);
}

TAP_MAIN(T(as_the_plain_lists_with_the_masks_of_mpi),
         T(as_the_plain_lists_with_more_masks_than_classes), T(many_receives_with_different_tags),
         T(many_messages_with_one_tag_and_one_with_another))
