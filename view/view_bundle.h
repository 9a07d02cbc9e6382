/*
 * Modules of JavaScript, joined to one script without imports: for a page in one file. The same
 * files give the same octets.
 *
 *     import { a, b as c } from "./x.js";     const { a, b: c } = modules["x.js"];
 *     import * as x from "./x.js";            const x = modules["x.js"];
 *     export function f() {}                  function f() {}       and, at the end, return { f };
 *
 * The modules keep to this: imports and exports begin a line; what is exported is one function,
 * const or class; names of modules are "./NAME.js", and no two import each other.
 */
#ifndef VIEW_BUNDLE_H
#define VIEW_BUNDLE_H

#include "leat_text.h"
#include "view_file.h"

enum { VIEW_MODULES_MAX = 64 };

/* False: `why` says which line of which module was expected to be otherwise. */
bool view_bundle(const struct view_files *files, const char *entry, struct leat_text *out,
                 struct leat_text *why);

#endif
