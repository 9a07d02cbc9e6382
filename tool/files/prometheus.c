#include "prometheus.h"
#include "leat_tree.h"
#include "markup.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LEN = 96, LABELS_LEN = 256 };

struct sample {
    char name[NAME_LEN], labels[LABELS_LEN];
    uint64_t value;
};

struct samples {
    struct sample *at;
    size_t count;
    bool is_full;
};

/* Where a value is: the beginning of its metric's name, and its labels so far. */
struct place {
    char name[NAME_LEN], labels[LABELS_LEN];
    bool is_count; /* members are reasons, values counts that only grow */
};

/* A name of Prometheus has letters, digits and '_'. */
static void extend(char name[NAME_LEN], const char *more, size_t len)
{
    size_t used = strlen(name);
    if (used && used < NAME_LEN - 1) name[used++] = '_';
    for (size_t i = 0; i < len && used < NAME_LEN - 1; i++) {
        const char c = more[i];
        const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9');
        name[used++] = fits ? c : '_';
    }
    name[used] = '\0';
}

static void label(struct place *p, const char *name, size_t name_len, const char *value, size_t len)
{
    size_t used = strlen(p->labels);
    used += (size_t)snprintf(p->labels + used, LABELS_LEN - used, "%s%.*s=\"", used ? "," : "",
                             (int)name_len, name);
    for (size_t i = 0; i < len && used < LABELS_LEN - 4; i++) {
        const char c = value[i];
        if (c == '"' || c == '\\' || c == '\n') p->labels[used++] = '\\';
        p->labels[used++] = c == '\n' ? 'n' : c;
    }
    if (used < LABELS_LEN - 1) snprintf(p->labels + used, LABELS_LEN - used, "\"");
}

static void add(struct samples *all, const struct place *p, uint64_t value)
{
    all->is_full |= all->count == PROMETHEUS_SAMPLES_MAX;
    if (all->is_full) return;
    struct sample *s = &all->at[all->count++];
    snprintf(s->name, sizeof s->name, "%.80s%s", p->name, p->is_count ? "_total" : "");
    memcpy(s->labels, p->labels, sizeof s->labels);
    s->value = value;
}

static void walk(struct samples *all, const struct place *at, const struct leat_tree *node);

/* A list called "stores": each element by its member "store", or by its number. */
static void walk_list(struct samples *all, const struct place *at, const struct leat_tree *list)
{
    const size_t len = list->key_len && list->key[list->key_len - 1] == 's' ? list->key_len - 1
                                                                            : list->key_len;
    char key[NAME_LEN], number[24];
    uint64_t i = 0;
    snprintf(key, sizeof key, "%.*s", (int)len, list->key);
    for (const struct leat_tree *e = list->child; e; e = e->next, i++) {
        struct place p = *at;
        const struct leat_tree *name = e->kind == LEAT_TREE_OBJECT ? leat_tree_find(e, key) : NULL;
        snprintf(number, sizeof number, "%" PRIu64, i);
        if (name && name->kind == LEAT_TREE_STRING)
            label(&p, key, len, name->text, name->text_len);
        else
            label(&p, key, len, number, strlen(number));
        walk(all, &p, e);
    }
}

static void walk_member(struct samples *all, const struct place *at, const struct leat_tree *m)
{
    static const char *const counts[] = { "counts", "instructions", "reasons" };
    struct place p = *at;
    bool begins = false;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        begins |= strlen(counts[i]) == m->key_len && memcmp(counts[i], m->key, m->key_len) == 0;
    if (begins && at->is_count) /* within counts: a table of its own, beside them */
        *strrchr(p.name, '_') = '\0';
    if (begins || !at->is_count)
        extend(p.name, m->key, m->key_len);
    else
        label(&p, m->kind == LEAT_TREE_OBJECT ? "instruction" : "reason",
              m->kind == LEAT_TREE_OBJECT ? 11 : 6, m->key, m->key_len);
    p.is_count |= begins;
    if (m->kind == LEAT_TREE_LIST)
        walk_list(all, &p, m);
    else
        walk(all, &p, m);
}

/* Texts and nulls are no samples. */
static void walk(struct samples *all, const struct place *at, const struct leat_tree *node)
{
    if (node->kind == LEAT_TREE_NUMBER || node->kind == LEAT_TREE_BOOL) add(all, at, node->number);
    for (const struct leat_tree *m = node->child; m && node->kind == LEAT_TREE_OBJECT; m = m->next)
        walk_member(all, at, m);
}

/* The first so many of these members that are texts, as labels. */
static void add_labels(struct place *p, const char *names, const struct leat_tree *root,
                       unsigned most)
{
    for (const char *at = names; *at && most; at += strspn(at, " ")) {
        char name[NAME_LEN];
        const size_t len = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        at += len;
        const struct leat_tree *m = leat_tree_find(root, name);
        if (!m || m->kind != LEAT_TREE_STRING) continue;
        label(p, name, len, m->text, m->text_len);
        most--;
    }
}

/* One sample whose labels say what it is. */
static void add_info(struct samples *all, const char *verb, const struct leat_tree *root)
{
    struct place p = { .name = "leat" };
    extend(p.name, verb, strlen(verb));
    extend(p.name, "info", 4);
    add_labels(&p, "name device node driver", root, 4);
    add(all, &p, 1);
}

static int by_name(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->labels, y->labels);
}

static void print(const struct samples *all, struct leat_text *out)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct sample *s = &all->at[i];
        const size_t len = strlen(s->name);
        const bool counts = len > 6 && strcmp(s->name + len - 6, "_total") == 0;
        if (!i || strcmp(s->name, s[-1].name) != 0)
            text_format(out, "# TYPE %s %s\n", s->name, counts ? "counter" : "gauge");
        text_format(out, *s->labels ? "%s{%s} %" PRIu64 "\n" : "%s%s %" PRIu64 "\n", s->name,
                    s->labels, s->value);
    }
}

bool prometheus_put(const char *verb, const char *json, size_t len, struct leat_text *out)
{
    struct place p = { .name = "leat" };
    struct samples all = { 0 };
    struct leat_arena arena;
    struct leat_tree *root;
    size_t at;
    const size_t memory_len = 4096 + 256 * len;
    void *memory = malloc(memory_len);
    all.at = malloc(PROMETHEUS_SAMPLES_MAX * sizeof *all.at);
    bool good = memory && all.at;
    if (good) leat_arena_init(&arena, memory, memory_len);
    good = good && !leat_tree_parse_json(&arena, json, len, &root, &at) &&
           root->kind == LEAT_TREE_OBJECT;
    if (good) {
        extend(p.name, verb, strlen(verb));
        add_labels(&p, "name device node", root, 1); /* a host may have several */
        add_info(&all, verb, root);
        walk(&all, &p, root);
        qsort(all.at, all.count, sizeof *all.at, by_name);
        print(&all, out);
    }
    free(all.at);
    free(memory);
    return good && !all.is_full;
}
