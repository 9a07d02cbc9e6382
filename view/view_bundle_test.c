/* Modules that become one script. */
#include "tap.h"
#include "view_bundle.h"
#include <string.h>

static char script[4096], why_text[256];

/* Modules by name and text, in pairs that end with NULL. */
static const char *bundle(const char *const *pairs, const char *entry)
{
    static struct view_file file[VIEW_MODULES_MAX + 2];
    struct view_files files = { .file = file };
    for (size_t i = 0; pairs[i]; i += 2)
        file[files.count++] = (struct view_file){ pairs[i], (const uint8_t *)pairs[i + 1],
                                                  strlen(pairs[i + 1]) };
    struct leat_text out, why;
    memset(script, 0, sizeof script);
    memset(why_text, 0, sizeof why_text);
    leat_text_init(&out, script, sizeof script - 1, NULL, NULL);
    leat_text_init(&why, why_text, sizeof why_text - 1, NULL, NULL);
    return view_bundle(&files, entry, &out, &why) ? script : NULL;
}
#define BUNDLE(...) bundle((const char *const[]){ __VA_ARGS__, NULL }, "main.js")

static bool is(const char *got, const char *want)
{
    if (got && strcmp(got, want) == 0) return true;
    printf("# got %s\n# %s\n", got ? got : "nothing", why_text);
    return false;
}

static bool is_refused(const char *got, const char *want)
{
    if (!got && strcmp(why_text, want) == 0) return true;
    printf("# got %s\n# %s\n", got ? got : "nothing", why_text);
    return false;
}

#define HEAD "\"use strict\";\nconst modules = {};\n"

static void a_module_becomes_a_function_that_is_called_at_once(void)
{
    OK(is(BUNDLE("main.js", "go();\n"),
          HEAD "modules[\"main.js\"] = (() => {\ngo();\nreturn {};\n})();\n"));
}

static void what_is_imported_stands_before_it_and_only_once(void)
{
    OK(is(
        BUNDLE("main.js",
               "import { a,\n  b as c } from \"./x.js\";\nimport * as y from \"./y.js\";\na(c);\n",
               "x.js",
               "import { Y } from \"./y.js\";\nexport const a = 1;\nexport async function b() {}\n",
               "y.js", "export class Y {}\nexport function* f() {}\n"),
        HEAD "modules[\"y.js\"] = (() => {\nclass Y {}\nfunction* f() {}\nreturn { Y, f };\n})();\n"
             "modules[\"x.js\"] = (() => {\nconst { Y } = modules[\"y.js\"];\nconst a = 1;\n"
             "async function b() {}\nreturn { a, b };\n})();\n"
             "modules[\"main.js\"] = (() => {\nconst { a, b: c } = modules[\"x.js\"];\n"
             "const y = modules[\"y.js\"];\na(c);\nreturn {};\n})();\n"));
}

static void a_module_may_be_imported_for_what_it_does(void)
{
    OK(is(BUNDLE("main.js", "import \"./x.js\";\n", "x.js", "go();"),
          HEAD "modules[\"x.js\"] = (() => {\ngo();\nreturn {};\n})();\n"
               "modules[\"main.js\"] = (() => {\nreturn {};\n})();\n"));
}

static void words_that_only_look_like_imports_and_exports_stay(void)
{
    const char text[] = "  import { x } from \"./x.js\";\nimports();\nimport(\"a\");\n"
                        "import.meta;\n// export y\nexported();\n";
    static char want[1024];
    snprintf(want, sizeof want, HEAD "modules[\"main.js\"] = (() => {\n%sreturn {};\n})();\n",
             text);
    OK(is(BUNDLE("main.js", text), want));
}

static void what_cannot_be_joined_is_refused_with_its_line(void)
{
    const char *syntax = "main.js:2: expected import { NAME, NAME as NAME } from \"./MODULE.js\";";
    const char *names = "main.js:1: expected export function, const or class with a name";
    OK(is_refused(BUNDLE("main.js", "\nimport x from \"./x.js\";\n", "x.js", ""), syntax));
    OK(is_refused(BUNDLE("main.js", "\nimport { x } from \"x.js\";\n", "x.js", ""), syntax));
    OK(is_refused(BUNDLE("main.js", "\nimport { x } from \"./nosuch.js\";\n"), syntax));
    OK(is_refused(BUNDLE("main.js", "\nimport { x } from \"./x.js\"\n", "x.js", ""), syntax));
    OK(is_refused(BUNDLE("main.js", "\nimport { x "), syntax));
    OK(is_refused(BUNDLE("main.js", "export default 1;\n"), names));
    OK(is_refused(BUNDLE("main.js", "export { a };\n"), names));
    OK(is_refused(BUNDLE("main.js", "export const { a } = b;\n"), names));
    OK(is_refused(BUNDLE("main.js", "import { x } from \"./x.js\";\n", "x.js", "const x = 1;\n"),
                  "main.js:1: imports what the other module does not export"));
    OK(is_refused(
        BUNDLE("main.js", "import { x y } from \"./x.js\";\n", "x.js", "export const x = 1;\n"),
        "main.js:1: expected names separated by commas"));
    OK(is_refused(BUNDLE("x.js", ""), "main.js: no such module"));
}

static void modules_that_import_each_other_are_refused(void)
{
    OK(is_refused(BUNDLE("main.js", "import { x } from \"./x.js\";\nexport const m = 1;\n", "x.js",
                         "import { m } from \"./main.js\";\nexport const x = 1;\n"),
                  "x.js:1: imports a module that imports it, expected no circle"));
    OK(is_refused(BUNDLE("main.js", "import \"./main.js\";\n"),
                  "main.js:1: imports a module that imports it, expected no circle"));
}

static void more_modules_than_the_bound_are_refused(void)
{
    enum { LAST = VIEW_MODULES_MAX };
    static char name[LAST + 1][16], text[LAST + 1][40];
    const char *pairs[2 * (LAST + 1) + 1] = { NULL };
    for (int i = 0; i <= LAST; i++) {
        snprintf(name[i], sizeof name[i], i ? "m%d.js" : "main.js", i);
        snprintf(text[i], sizeof text[i], i < LAST ? "import \"./m%d.js\";\n" : "\n", i + 1);
        pairs[2 * i] = name[i];
        pairs[2 * i + 1] = text[i];
    }
    OK(is_refused(bundle(pairs, "main.js"), "m64.js:1: is one module too many"));
    OK(bundle(pairs, "m1.js"));
}

TAP_MAIN(T(a_module_becomes_a_function_that_is_called_at_once),
         T(what_is_imported_stands_before_it_and_only_once),
         T(a_module_may_be_imported_for_what_it_does),
         T(words_that_only_look_like_imports_and_exports_stay),
         T(what_cannot_be_joined_is_refused_with_its_line),
         T(modules_that_import_each_other_are_refused), T(more_modules_than_the_bound_are_refused))
