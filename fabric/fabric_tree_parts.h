/*
 * A YAML file as libyaml's tree, held against a schema of libcyaml before libcyaml reads it: what
 * is wrong is told in our words, with its line. Only where there is libcyaml.
 */
#ifndef LEAT_FABRIC_TREE_PARTS_H
#define LEAT_FABRIC_TREE_PARTS_H

#include "fabric_error.h"
#include <cyaml/cyaml.h>
#include <yaml.h>

struct leat_fabric_tree {
    struct leat_fabric_place place; /* what complaints are about */
    yaml_document_t document;
};

/* A file of at most so many octets, one document without deep nesting, in time linear in its
 * length; `load` gets the tree and the octets. False with an error. */
typedef bool leat_fabric_tree_fn(void *context, struct leat_fabric_tree *tree,
                                 const uint8_t *octets, size_t len);
bool leat_fabric_tree_file(const struct leat_fabric_place *place, size_t most,
                           leat_fabric_tree_fn *load, void *context);

/* Does a value fit? `name` is what complaints call it. Words, whole numbers, truth, lists and
 * mappings are known; what the schema ignores fits. False with an error. */
bool leat_fabric_tree_check(struct leat_fabric_tree *tree, const char *name,
                            const yaml_node_t *node, const cyaml_schema_value_t *schema);

/* NULL: a file with nothing in it. */
yaml_node_t *leat_fabric_tree_root(struct leat_fabric_tree *tree);

/* The whole file as the schema's struct, to be freed by leat_fabric_tree_unload; NULL with an
 * error. `first` is the key that it must have at least. */
void *leat_fabric_tree_load(struct leat_fabric_tree *tree, const uint8_t *octets, size_t len,
                            const cyaml_schema_value_t *schema, const char *first);
void leat_fabric_tree_unload(const cyaml_schema_value_t *schema, void *data);

/* The value of a key of a mapping, an entry of a list; NULL: it is not there. */
yaml_node_t *leat_fabric_tree_value(struct leat_fabric_tree *tree, const yaml_node_t *mapping,
                                    const char *key);
yaml_node_t *leat_fabric_tree_entry(struct leat_fabric_tree *tree, const yaml_node_t *list,
                                    uint32_t index);

uint32_t leat_fabric_tree_line(const yaml_node_t *node);

#endif
