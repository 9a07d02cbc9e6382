/*
 * A YAML file as libyaml's tree, checked against a libcyaml schema before libcyaml reads it. So
 * errors are in our words, with a line. Only if libcyaml is available.
 */
#ifndef LEAT_FABRIC_TREE_PARTS_H
#define LEAT_FABRIC_TREE_PARTS_H

#include "fabric_error.h"
#include <cyaml/cyaml.h>
#include <yaml.h>

struct leat_fabric_tree {
    struct leat_fabric_place place; /* for errors */
    yaml_document_t document;
};

/* A file of at most so many octets, one document without deep nesting, in time linear in its
 * length; `load` gets the tree and the octets. False with an error. */
typedef bool leat_fabric_tree_fn(void *context, struct leat_fabric_tree *tree,
                                 const uint8_t *octets, size_t len);
bool leat_fabric_tree_file(const struct leat_fabric_place *place, size_t most,
                           leat_fabric_tree_fn *load, void *context);

/* Does a value match the schema? Errors call it `name`. Strings, integers, booleans, lists and
 * mappings are supported; values that the schema ignores match. False with an error. */
bool leat_fabric_tree_check(struct leat_fabric_tree *tree, const char *name,
                            const yaml_node_t *node, const cyaml_schema_value_t *schema);

/* NULL: the file is empty. */
yaml_node_t *leat_fabric_tree_root(struct leat_fabric_tree *tree);

/* The whole file as the schema's struct, to be freed by leat_fabric_tree_unload; NULL with an
 * error. `first` is the key that is required. */
void *leat_fabric_tree_load(struct leat_fabric_tree *tree, const uint8_t *octets, size_t len,
                            const cyaml_schema_value_t *schema, const char *first);
void leat_fabric_tree_unload(const cyaml_schema_value_t *schema, void *data);

/* The value of a key of a mapping, or an entry of a list; NULL: it is missing. */
yaml_node_t *leat_fabric_tree_value(struct leat_fabric_tree *tree, const yaml_node_t *mapping,
                                    const char *key);
yaml_node_t *leat_fabric_tree_entry(struct leat_fabric_tree *tree, const yaml_node_t *list,
                                    uint32_t index);

uint32_t leat_fabric_tree_line(const yaml_node_t *node);

#endif
