/* leat fabric lines: the lines that cells can travel on. */
#include "atm_line.h"
#include "fabric.h"
#include "json_out.h"

static void put_text(const struct leat_atm_line *line)
{
    const uint64_t tenths = (20 * line->cells_num / line->cells_den + 1) / 2;
    const unsigned overhead = (leat_atm_line_overhead_ppm(line) + 500) / 1000;
    printf("%-9s %12llu %11llu.%llu %8u.%u %%  %-14s %s\n", line->name,
           (unsigned long long)line->bits_per_s, (unsigned long long)tenths / 10,
           (unsigned long long)tenths % 10, overhead / 10, overhead % 10,
           leat_atm_line_delineation_name(line->delineation), line->summary);
}

static void put_json(const struct leat_atm_line *line)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "name", line->name);
    LEAT_JSON_UINTS(j, { "bits_per_second", line->bits_per_s },
                    { "cells_numerator", line->cells_num },
                    { "cells_denominator", line->cells_den });
    leat_json_micro(j, "overhead_share", leat_atm_line_overhead_ppm(line));
    leat_json_string(j, "delineation", leat_atm_line_delineation_name(line->delineation));
    leat_json_bool(j, "corrects_headers", line->corrects);
    leat_json_string(j, "text", line->summary);
    json_close(&out, json_status());
}

int fabric_lines(const struct arguments *args)
{
    if (args->operand_count != 1) return misuse(args->verb, "lines: expected nothing more");
    const bool json = argument(args, "--json");
    if (!json)
        printf("%-9s %12s %13s %12s  %-14s %s\n", "line", "bit/s", "cells/s", "overhead",
               "cells found by", "what");
    for (size_t i = 0; i < LEAT_ATM_LINE_COUNT; i++)
        (json ? put_json : put_text)(&leat_atm_lines[i]);
    return finish(DONE);
}
