/* JSON objects of all verbs: the name of their schema, and the file they go to. */
#include "json_out.h"
#include "result_file.h"
#include <string.h>
#include <unistd.h>

static struct result_file file;

static const char *schema_of(const struct arguments *args)
{
    static char name[64];
    const char *subverb = args->subverb ? args->subverb->name : NULL;
    snprintf(name, sizeof name, "leat.%s%s%s/1", args->verb->name, subverb ? "." : "",
             subverb ? subverb : "");
    return name;
}

static bool redirect(const struct arguments *args, const char *path)
{
    const struct result_name name = { "--json", path };
    for (int i = 0; i < args->operand_count; i++)
        if (!result_names_apart(args->verb, &name, 1, args->operand[i])) return false;
    if (!result_apart_from_options(args, "--json") || !result_file_open(&file, path)) return false;
    if (dup2(file.out.fd, STDOUT_FILENO) == STDOUT_FILENO) return true;
    result_file_drop(&file);
    return complain("--json %s: cannot be standard output", path);
}

bool json_prepare(const struct arguments *args)
{
    const char *path = argument(args, "--json");
    json_schema(schema_of(args));
    if (!path || !*path || strcmp(path, "-") == 0) return true;
    if (args->verb == &verb_run || args->verb == &verb_atm)
        return true; /* their standard output is a program's */
    return redirect(args, path);
}

int json_end(int code)
{
    if (!file.name) return code;
    const bool flushed = flush_printed();
    const bool printed = flushed && lseek(file.out.fd, 0, SEEK_END) != 0;
    const bool closed = result_file_close(&file, printed);
    return code || (flushed && closed) ? code : FAILED;
}

const char *json_status(void)
{
    return interrupted ? "interrupted" : "done";
}
