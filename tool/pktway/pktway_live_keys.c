/* The keys of SANs: --key-file, and other keys for a process that runs. */
#include "pktway_live_parts.h"
#include <limits.h>
#include <string.h>

static uint32_t key_files(const struct arguments *args)
{
    uint32_t files = 0;
    size_t len;
    while (pktway_value_at(args, "--key-file", files, &len))
        files++;
    return files;
}

/* The index-th file; "none" is no key. */
static bool read_file(const struct arguments *args, uint32_t index, struct leat_keys *keys,
                      char *why)
{
    char path[PATH_MAX];
    size_t len;
    const char *text = pktway_value_at(args, "--key-file", index, &len);
    if (len >= sizeof path)
        return live_because(why, "--key-file of more than %d characters", PATH_MAX - 1);
    memcpy(path, text, len);
    path[len] = 0;
    return strcmp(path, "none") == 0 || key_file_read(path, keys);
}

bool pktway_keys_at(const struct arguments *args, uint32_t index, uint32_t sans,
                    struct leat_keys *keys, char *why)
{
    const uint32_t files = key_files(args);
    *keys = (struct leat_keys){ 0 };
    if (!files) return true;
    if (files != 1 && files != sans)
        return live_because(why, "%u of --key-file, expected one, or one for each of %u SANs",
                            files, sans);
    return read_file(args, files == 1 ? 0 : index, keys, why);
}

/* ---- of a process that runs ------------------------------------------------------------------ */

bool pktway_keys_ask(const struct arguments *args, struct packetway_request *q, char *why)
{
    struct leat_keys keys;
    const uint32_t files = key_files(args);
    if (files > PACKETWAY_SANS_MAX)
        return live_because(why, "more than %d of --key-file", PACKETWAY_SANS_MAX);
    for (uint32_t i = 0; i < files; i++) {
        keys = (struct leat_keys){ 0 };
        if (!read_file(args, i, &keys, why)) return false;
        memcpy(q->data + q->data_len, &keys, sizeof keys);
        q->data_len += (uint32_t)sizeof keys;
    }
    return true;
}

static struct leat_keys keys_of(const struct packetway_request *q, uint32_t san)
{
    struct leat_keys keys = { 0 };
    const uint32_t files = q->data_len / (uint32_t)sizeof keys;
    if (files) memcpy(&keys, q->data + (files == 1 ? 0 : san) * sizeof keys, sizeof keys);
    return keys;
}

/* Of a router the half-routers' SANs, of a host its nodes'. */
static uint32_t sans_of(const struct packetway_router *router, const struct pktway_homes *homes)
{
    return router ? router->count : homes->count;
}

/* With a key control messages are longer, so that the MTU is another one. */
static bool are_alike(const struct packetway_request *q, const struct packetway_router *router,
                      const struct pktway_homes *homes, FILE *error)
{
    for (uint32_t i = 0; i < sans_of(router, homes); i++) {
        const bool has = router ? packetway_san_is_keyed(&router->half[i].san)
                                : leat_packetway_node_is_keyed(homes->node[i]);
        if (has == (keys_of(q, i).count != 0)) continue;
        fprintf(error, "leat: SAN %u %s, expected %s, or a new start to change that\n", i + 1,
                has ? "has a key" : "has no key",
                has ? "--key-file with one key or two" : "none for it");
        return false;
    }
    return true;
}

int pktway_keys_change(const struct packetway_request *q, struct packetway_router *router,
                       const struct pktway_homes *homes, FILE *error)
{
    const uint32_t files = q->data_len / (uint32_t)sizeof(struct leat_keys);
    const uint32_t sans = sans_of(router, homes);
    if (files > 1 && files != sans) {
        fprintf(error, "leat: %u of --key-file, expected one, or one for each of %u SANs\n", files,
                sans);
        return WRONG;
    }
    if (!are_alike(q, router, homes, error)) return WRONG;
    for (uint32_t i = 0; i < sans; i++) {
        const struct leat_keys keys = keys_of(q, i);
        if (router)
            packetway_san_change_keys(&router->half[i].san, &keys);
        else if (keys.count)
            leat_packetway_node_change_keys(homes->node[i], keys.key[0], leat_keys_other(&keys));
    }
    return DONE;
}
