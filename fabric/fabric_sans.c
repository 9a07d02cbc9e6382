/*
 * PacketWay networks described in YAML:
 *
 *   sans:
 *     - {name: ring, fabric: ring8, bias: 0x100, mtu: 512, quality: 20}
 *     - {name: clos, fabric: clos444, bias: 0x200}
 *   routers:
 *     - {name: west, at: [ring.7, clos.0]}
 *   hosts:
 *     - {name: crunch, at: [ring.0, clos.3], capabilities: [7, 9], logical: [0xe00005]}
 *   forwarding: planned
 *   cut_through: yes
 *   buffer: 16
 *   host_ns: 500
 */
#include "fabric_packetway.h"
#include "fabric_word_parts.h"
#include <string.h>

#ifndef HAVE_CYAML

bool leat_fabric_read_sans(struct leat_fabric_sans *design, bool (*interrupted)(void),
                           struct leat_fabric_error *error)
{
    (void)interrupted;
    return leat_fabric_no_yaml(design->file, error);
}

#else

#include "fabric_tree_parts.h"
#include "leat_tree.h"

enum { FILE_LEN_MAX = 1 << 20, QUALITY_DEFAULT = 10 };

/* ---- the schema ----------------------------------------------------------------------------- */

struct san {
    char *name, *fabric, *bias;
    uint32_t mtu, quality;
};

struct router {
    char *name;
    char **at;
    unsigned at_count;
};

struct host {
    char *name;
    char **at;
    unsigned at_count;
    char **capabilities;
    unsigned capabilities_count;
    char **logical;
    unsigned logical_count;
};

struct description {
    struct san *sans;
    unsigned sans_count;
    struct router *routers;
    unsigned routers_count;
    struct host *hosts;
    unsigned hosts_count;
    char *forwarding;
    bool *cut_through; /* NULL: not given */
    uint32_t buffer, host_ns, planned_ns, address_ns, link_ns;
};

#define WORD(type, member, most) \
    CYAML_FIELD_STRING_PTR(#member, CYAML_FLAG_POINTER, struct type, member, 1, most)
#define NUMBER(type, member) CYAML_FIELD_UINT(#member, CYAML_FLAG_OPTIONAL, struct type, member)

static const cyaml_schema_field_t san_fields[] = {
    WORD(san, name, LEAT_SIM_PACKETWAY_NAME_LEN_MAX),
    WORD(san, fabric, LEAT_FABRIC_SAN_CAP - 1),
    WORD(san, bias, 16),
    NUMBER(san, mtu),
    NUMBER(san, quality),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t san_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct san,
                                                                    san_fields) };

static const cyaml_schema_value_t end_value = { CYAML_VALUE_STRING(
    CYAML_FLAG_POINTER, char, 1, LEAT_SIM_PACKETWAY_NAME_LEN_MAX + 8) };
static const cyaml_schema_field_t router_fields[] = {
    WORD(router, name, LEAT_SIM_PACKETWAY_NAME_LEN_MAX),
    CYAML_FIELD_SEQUENCE("at", CYAML_FLAG_POINTER, struct router, at, &end_value, 2,
                         LEAT_SIM_PACKETWAY_ENDS_MAX),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t router_value = { CYAML_VALUE_MAPPING(
    CYAML_FLAG_DEFAULT, struct router, router_fields) };

static const cyaml_schema_value_t number_value = { CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1,
                                                                      16) };
static const cyaml_schema_field_t host_fields[] = {
    WORD(host, name, LEAT_SIM_PACKETWAY_NAME_LEN_MAX),
    CYAML_FIELD_SEQUENCE("at", CYAML_FLAG_POINTER, struct host, at, &end_value, 1,
                         LEAT_SIM_PACKETWAY_ENDS_MAX),
    CYAML_FIELD_SEQUENCE("capabilities", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct host,
                         capabilities, &number_value, 1, LEAT_SIM_PACKETWAY_TRAITS_MAX),
    CYAML_FIELD_SEQUENCE("logical", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct host, logical,
                         &number_value, 1, LEAT_SIM_PACKETWAY_TRAITS_MAX),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t host_value = { CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT,
                                                                     struct host, host_fields) };

static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_SEQUENCE("sans", CYAML_FLAG_POINTER, struct description, sans, &san_value, 1,
                         LEAT_SIM_PACKETWAY_SANS_MAX),
    CYAML_FIELD_SEQUENCE("routers", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct description,
                         routers, &router_value, 0, LEAT_SIM_PACKETWAY_ROUTERS_MAX),
    CYAML_FIELD_SEQUENCE("hosts", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct description,
                         hosts, &host_value, 0, LEAT_SIM_PACKETWAY_HOMES_MAX),
    CYAML_FIELD_STRING_PTR("forwarding", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                           struct description, forwarding, 1, 16),
    CYAML_FIELD_BOOL_PTR("cut_through", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                         struct description, cut_through),
    NUMBER(description, buffer),
    NUMBER(description, host_ns),
    NUMBER(description, planned_ns),
    NUMBER(description, address_ns),
    NUMBER(description, link_ns),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t schema = { CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER,
                                                                 struct description, fields) };

/* ---- from description to design ------------------------------------------------------------- */

struct reader {
    struct leat_fabric_tree tree;
    struct leat_fabric_sans *design;
};

static const yaml_node_t *entry_of(struct reader *r, const char *list, uint32_t index)
{
    return leat_fabric_tree_entry(
        &r->tree, leat_fabric_tree_value(&r->tree, leat_fabric_tree_root(&r->tree), list), index);
}

/* The line of a key of an entry of a list, or of the entry if it has no such key. */
static uint32_t line_of(struct reader *r, const char *list, uint32_t index, const char *key)
{
    const yaml_node_t *entry = entry_of(r, list, index);
    const yaml_node_t *value = leat_fabric_tree_value(&r->tree, entry, key);
    return leat_fabric_tree_line(value ? value : entry);
}

/* From now on errors refer to this line. */
static void at_line(struct reader *r, uint32_t line)
{
    r->tree.place.line = line;
}

/* Names are part of SAN.PORT and of faults, so they have no character that ends them there. */
static bool check_name(struct reader *r, const char *name, uint32_t line)
{
    at_line(r, line);
    if (!name[strcspn(name, ". ,:@/")]) return true;
    return leat_fabric_wrong(&r->tree.place, "name: '%s', expected no blank and none of . , : @ /",
                             name);
}

/* It differs from another one, in this line. */
static bool check_other(const struct reader *r, const char *name, const char *other, uint32_t line)
{
    return strcmp(name, other) != 0 ||
           leat_fabric_wrong(&r->tree.place, "name: '%s' is that of line %u, expected another",
                             name, line);
}

/* A number of a mapping, if it is given. */
static bool take_number(struct reader *r, const yaml_node_t *mapping, const char *key,
                        uint32_t value, uint32_t least, uint32_t most, uint32_t *out)
{
    const yaml_node_t *node = leat_fabric_tree_value(&r->tree, mapping, key);
    if (!node) return true;
    at_line(r, leat_fabric_tree_line(node));
    if (value < least || value > most)
        return leat_fabric_wrong(&r->tree.place, "%s: %u, expected %u to %u", key, value, least,
                                 most);
    *out = value;
    return true;
}

static bool take_san(struct reader *r, const struct san *y, uint32_t index)
{
    struct leat_fabric_sans *d = r->design;
    struct leat_fabric_san *s = &d->san[index];
    uint64_t bias;
    *s = (struct leat_fabric_san){ .q = QUALITY_DEFAULT,
                                   .line = line_of(r, "sans", index, "name"),
                                   .bias_line = line_of(r, "sans", index, "bias"),
                                   .fabric_line = line_of(r, "sans", index, "fabric"),
                                   .mtu_line = line_of(r, "sans", index, "mtu") };
    snprintf(s->name, sizeof s->name, "%s", y->name);
    snprintf(s->fabric, sizeof s->fabric, "%s", y->fabric);
    if (!check_name(r, s->name, s->line)) return false;
    for (uint32_t i = 0; i < index; i++)
        if (!check_other(r, s->name, d->san[i].name, d->san[i].line)) return false;
    at_line(r, s->bias_line);
    if (!leat_tree_number(y->bias, strlen(y->bias), &bias) || bias > LEAT_PACKETWAY_ADDRESS_MAX)
        return leat_fabric_wrong(&r->tree.place, "bias: '%s', expected 0 to 0x7ffffd", y->bias);
    s->bias = (uint32_t)bias;
    const yaml_node_t *san = entry_of(r, "sans", index);
    return take_number(r, san, "mtu", y->mtu, LEAT_SIM_PACKETWAY_MTU_MIN,
                       LEAT_SIM_PACKETWAY_MTU_MAX, &s->mtu_words) &&
           take_number(r, san, "quality", y->quality, 1, UINT16_MAX, &s->q);
}

/* SAN.PORT; whether the SAN has that port is known once it is built. */
static bool take_end(struct reader *r, const char *text, struct leat_sim_packetway_end *out)
{
    const struct leat_fabric_sans *d = r->design;
    const char *point = strrchr(text, '.');
    const size_t len = point ? (size_t)(point - text) : 0;
    uint64_t port = 0;
    for (uint32_t i = 0; i < d->sans && point; i++) {
        if (strlen(d->san[i].name) != len || strncmp(d->san[i].name, text, len) != 0) continue;
        if (!leat_tree_number(point + 1, strlen(point + 1), &port) || port > UINT16_MAX) break;
        *out = (struct leat_sim_packetway_end){ i, (uint32_t)port };
        return true;
    }
    return leat_fabric_wrong(&r->tree.place,
                             "at: '%s', expected the name of a SAN, a point and a port", text);
}

static bool take_router(struct reader *r, const struct router *y, uint32_t index)
{
    struct leat_fabric_sans *d = r->design;
    struct leat_fabric_router *router = &d->router[index];
    router->line = line_of(r, "routers", index, "name");
    router->ends = y->at_count;
    snprintf(router->name, sizeof router->name, "%s", y->name);
    if (!check_name(r, router->name, router->line)) return false;
    for (uint32_t i = 0; i < index; i++)
        if (!check_other(r, router->name, d->router[i].name, d->router[i].line)) return false;
    for (uint32_t i = 0; i < y->at_count; i++) {
        router->end_line[i] = line_of(r, "routers", index, "at");
        at_line(r, router->end_line[i]);
        if (!take_end(r, y->at[i], &router->end[i])) return false;
    }
    return true;
}

/* Its name is neither another host's nor a router's: TELL would find both. */
static bool check_host_name(struct reader *r, uint32_t index)
{
    const struct leat_fabric_sans *d = r->design;
    const struct leat_fabric_host *h = &d->host[index];
    if (!check_name(r, h->name, h->line)) return false;
    for (uint32_t i = 0; i < d->routers; i++)
        if (!check_other(r, h->name, d->router[i].name, d->router[i].line)) return false;
    for (uint32_t i = 0; i < index; i++)
        if (!check_other(r, h->name, d->host[i].name, d->host[i].line)) return false;
    return true;
}

static bool take_traits(struct reader *r, const struct host *y, struct leat_fabric_host *h)
{
    struct leat_sim_packetway_home *home = &h->home;
    uint64_t number;
    at_line(r, h->capability_line);
    for (; home->capabilities < y->capabilities_count; home->capabilities++) {
        const char *text = y->capabilities[home->capabilities];
        if (!leat_tree_number(text, strlen(text), &number) || !number || number > UINT8_MAX ||
            number == LEAT_PACKETWAY_CC_ROUTER)
            return leat_fabric_wrong(
                &r->tree.place, "capabilities: '%s', expected 1 to 255 and not 2 (router)", text);
        home->capability[home->capabilities] = (uint8_t)number;
    }
    at_line(r, h->logical_line);
    for (; home->logicals < y->logical_count; home->logicals++) {
        const char *text = y->logical[home->logicals];
        if (!leat_tree_number(text, strlen(text), &number) || number > UINT32_MAX ||
            leat_packetway_class_of((uint32_t)number) != LEAT_PACKETWAY_CLASS_LOGICAL)
            return leat_fabric_wrong(
                &r->tree.place, "logical: '%s', expected an address of 0xe00000 to 0xefffff", text);
        home->logical[home->logicals] = (uint32_t)number;
    }
    return true;
}

static bool take_host(struct reader *r, const struct host *y, uint32_t index)
{
    struct leat_fabric_host *h = &r->design->host[index];
    *h = (struct leat_fabric_host){ .line = line_of(r, "hosts", index, "name"),
                                    .at_line = line_of(r, "hosts", index, "at"),
                                    .capability_line = line_of(r, "hosts", index, "capabilities"),
                                    .logical_line = line_of(r, "hosts", index, "logical"),
                                    .home.ends = y->at_count };
    snprintf(h->name, sizeof h->name, "%s", y->name);
    if (!check_host_name(r, index)) return false;
    at_line(r, h->at_line);
    for (uint32_t i = 0; i < y->at_count; i++)
        if (!take_end(r, y->at[i], &h->home.end[i])) return false;
    return take_traits(r, y, h);
}

static bool take_whole(struct reader *r, const struct description *y)
{
    static const uint32_t second = 1000000000;
    const yaml_node_t *root = leat_fabric_tree_root(&r->tree);
    struct leat_fabric_sans *d = r->design;
    if (y->forwarding) {
        at_line(r, leat_fabric_tree_line(leat_fabric_tree_value(&r->tree, root, "forwarding")));
        d->by_address = strcmp(y->forwarding, "address") == 0;
        if (!d->by_address && strcmp(y->forwarding, "planned") != 0)
            return leat_fabric_wrong(
                &r->tree.place, "forwarding: '%s', expected planned or address", y->forwarding);
    }
    if (y->cut_through) d->cut_through = *y->cut_through;
    return take_number(r, root, "buffer", y->buffer, 1, LEAT_SIM_PACKETWAY_BUFFER_MAX,
                       &d->buffer) &&
           take_number(r, root, "host_ns", y->host_ns, 1, second, &d->host_ns) &&
           take_number(r, root, "planned_ns", y->planned_ns, 1, second, &d->planned_ns) &&
           take_number(r, root, "address_ns", y->address_ns, 1, second, &d->address_ns) &&
           take_number(r, root, "link_ns", y->link_ns, 1, second, &d->link_ns);
}

static bool take_all(struct reader *r, const struct description *y)
{
    r->design->sans = y->sans_count;
    r->design->routers = y->routers_count;
    r->design->hosts = y->hosts_count;
    for (uint32_t i = 0; i < y->sans_count; i++)
        if (!take_san(r, &y->sans[i], i)) return false;
    for (uint32_t i = 0; i < y->routers_count; i++)
        if (!take_router(r, &y->routers[i], i)) return false;
    for (uint32_t i = 0; i < y->hosts_count; i++)
        if (!take_host(r, &y->hosts[i], i)) return false;
    return take_whole(r, y);
}

/* ---- the file ------------------------------------------------------------------------------- */

static bool load(void *context, struct leat_fabric_tree *tree, const uint8_t *octets, size_t len)
{
    struct reader r = { .tree = *tree, .design = context };
    struct description *y = leat_fabric_tree_load(&r.tree, octets, len, &schema, "sans");
    if (!y) return false;
    const bool good = take_all(&r, y);
    leat_fabric_tree_unload(&schema, y);
    return good;
}

bool leat_fabric_read_sans(struct leat_fabric_sans *design, bool (*interrupted)(void),
                           struct leat_fabric_error *error)
{
    const struct leat_fabric_place place = { design->file, 1, error, interrupted };
    return leat_fabric_tree_file(&place, FILE_LEN_MAX, load, design);
}

#endif
