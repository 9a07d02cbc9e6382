/*
 * A YAML file as libyaml's tree, held against a schema of libcyaml before libcyaml reads it: what
 * is wrong is told in our words, with its line. Only where there is libcyaml.
 */
#ifndef LEAT_NET_TREE_H
#define LEAT_NET_TREE_H

#include "place.h"
#include <cyaml/cyaml.h>
#include <yaml.h>

struct net_tree {
    struct place place; /* what complaints are about */
    yaml_document_t document;
};

/* One document without deep nesting, in time linear in `len`. False after a complaint; then there
 * is nothing to free. */
bool net_tree_read(struct net_tree *tree, const uint8_t *octets, size_t len);
void net_tree_free(struct net_tree *tree);

/* Does a value fit? `name` is what complaints call it. Words, whole numbers, truth, lists and
 * mappings are known; what the schema ignores fits. False after a complaint. */
bool net_tree_check(struct net_tree *tree, const char *name, const yaml_node_t *node,
                    const cyaml_schema_value_t *schema);

/* NULL: a file with nothing in it. */
yaml_node_t *net_tree_root(struct net_tree *tree);

/* The whole file as the schema's struct, to be freed by net_tree_unload; NULL after a complaint.
 * `first` is the key that it must have at least. */
void *net_tree_load(struct net_tree *tree, const uint8_t *octets, size_t len,
                    const cyaml_schema_value_t *schema, const char *first);
void net_tree_unload(const cyaml_schema_value_t *schema, void *data);

/* The value of a key of a mapping, an entry of a list; NULL: it is not there. */
yaml_node_t *net_tree_value(struct net_tree *tree, const yaml_node_t *mapping, const char *key);
yaml_node_t *net_tree_entry(struct net_tree *tree, const yaml_node_t *list, uint32_t index);

uint32_t net_tree_line(const yaml_node_t *node);

#endif
