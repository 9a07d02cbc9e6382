/* JSON objects of all verbs: the name of their schema, and the file they go to. */
#include "json_out.h"
#include "prometheus.h"
#include "result_file.h"
#include <errno.h>
#include <stdlib.h>
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

/* ---- --prometheus ---------------------------------------------------------------------------- */

static FILE *captured;
static int own_stdout = -1;
static const char *metrics_of, *metrics_path;

/* The verb prints its JSON object, which is kept until the end. */
static bool capture(struct arguments *args)
{
    const int json = (int)(option_find(args->verb, "--json") - args->verb->options);
    if (args->value[json])
        return misused(args->verb, "--json with --prometheus, expected one of them");
    args->value[json] = "";
    metrics_of = args->verb->name;
    metrics_path = argument(args, "--prometheus");
    if (!*metrics_path) metrics_path = "-";
    if (!result_apart_from_options(args, "--prometheus")) return false;
    captured = tmpfile();
    own_stdout = dup(STDOUT_FILENO);
    return (captured && own_stdout >= 0 &&
            dup2(fileno(captured), STDOUT_FILENO) == STDOUT_FILENO) ||
           complain("--prometheus: no temporary file: %s", strerror(errno));
}

static char *read_captured(size_t *len)
{
    const long end = fseek(captured, 0, SEEK_END) ? -1 : ftell(captured);
    char *text = end >= 0 && end <= PROMETHEUS_TEXT_MAX ? malloc((size_t)end + 1) : NULL;
    rewind(captured);
    *len = text ? fread(text, 1, (size_t)end, captured) : 0;
    return text;
}

static int put_metrics(int code)
{
    struct result_file out;
    size_t len;
    const bool printed = flush_printed();
    char *text = read_captured(&len);
    dup2(own_stdout, STDOUT_FILENO);
    fclose(captured);
    const bool good = code == DONE && printed && text;
    if (code == DONE && !good) code = fail("--prometheus: the status cannot be kept");
    if (good && !result_file_open(&out, metrics_path)) code = WRONG;
    if (code == DONE) {
        const bool put = prometheus_put(metrics_of, text, len, &out.out.text);
        if (!put)
            complain("--prometheus: a status with more than %d numbers", PROMETHEUS_SAMPLES_MAX);
        if (!result_file_close(&out, put) || !put) code = FAILED;
    }
    free(text);
    return code;
}

/* ---- of all verbs ---------------------------------------------------------------------------- */

bool json_prepare(struct arguments *args)
{
    const char *path = argument(args, "--json");
    json_schema(schema_of(args));
    if (argument(args, "--prometheus")) return capture(args);
    if (!path || !*path || strcmp(path, "-") == 0) return true;
    if (args->verb == &verb_run || args->verb == &verb_atm)
        return true; /* their standard output is a program's */
    return redirect(args, path);
}

int json_end(int code)
{
    if (captured) return put_metrics(code);
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
