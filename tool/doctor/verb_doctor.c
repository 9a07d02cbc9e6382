/* leat doctor: what the parts of leat find on this host, and what to do about what is missing. */
#include "doctor.h"
#include "json_out.h"
#include "style.h"
#include "tool.h"
#include <stdarg.h>
#include <string.h>

static const char *const state_names[] = { "ok", "hint", "missing" };
static const char *const part_names[DOCTOR_PARTS] = {
#define X(name, word) word,
    DOCTOR_PARTS_LIST(X)
#undef X
};

/* ---- the report ------------------------------------------------------------------------------ */

struct doctor_finding *doctor_add(struct doctor_report *report, const char *name, unsigned parts)
{
    if (report->count < DOCTOR_FINDINGS_MAX) report->count++;
    struct doctor_finding *f = &report->finding[report->count - 1];
    *f = (struct doctor_finding){ .parts = parts };
    snprintf(f->name, sizeof f->name, "%s", name);
    return f;
}

static void append(char *to, const char *between, const char *text, va_list list)
{
    size_t used = strlen(to);
    if (used) used += (size_t)snprintf(to + used, DOCTOR_TEXT_LEN - used, "%s", between);
    if (used < DOCTOR_TEXT_LEN) vsnprintf(to + used, DOCTOR_TEXT_LEN - used, text, list);
}

void doctor_found(struct doctor_finding *finding, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    append(finding->found, "", text, list);
    va_end(list);
}

void doctor_hint(struct doctor_finding *finding, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    if (finding->state == DOCTOR_OK) finding->state = DOCTOR_HINT;
    append(finding->advice, "; ", text, list);
    va_end(list);
}

void doctor_lack(struct doctor_finding *finding, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    finding->state = DOCTOR_MISSING;
    append(finding->advice, "; ", text, list);
    va_end(list);
}

bool doctor_read(const char *path, char *text, uint32_t cap)
{
    FILE *file = fopen(path, "re");
    const bool is_read = file && fgets(text, (int)cap, file);
    if (file) fclose(file);
    if (is_read) text[strcspn(text, "\n")] = 0;
    return is_read;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* Names of devices and processes are of others. */
static void put_harmless(const char *before, const char *text)
{
    fputs(before, stdout);
    print_harmless(text, strlen(text));
}

static void put_text(const struct doctor_finding *f)
{
    const enum style meaning = f->state == DOCTOR_MISSING ? STYLE_BAD : STYLE_DOUBTFUL;
    const bool is_ok = f->state == DOCTOR_OK;
    printf("%s%-8s%s", is_ok ? "" : style(stdout, meaning), state_names[f->state],
           is_ok ? "" : style_end(stdout));
    put_harmless("", f->name);
    put_harmless(": ", f->found);
    putchar('\n');
    if (!*f->advice) return;
    put_harmless("        ", f->advice);
    putchar('\n');
}

static void put_device(struct leat_json *j, const struct doctor_device *d)
{
    leat_json_string(j, "device", d->name);
    if (*d->kind) leat_json_string(j, "kind", d->kind);
    if (*d->driver) leat_json_string(j, "device_driver", d->driver);
    leat_json_uint(j, "mtu_bytes", d->mtu_bytes);
    leat_json_bool(j, "up", d->up && d->carries);
    leat_json_bool(j, "ethernet", d->is_ethernet);
    leat_json_bool(j, "gro", d->gro);
    leat_json_bool(j, "checksum_offload", d->leaves_checksums);
    if (d->peer) leat_json_uint(j, "peer_device_number", d->peer);
    if (d->xdp_program) {
        leat_json_uint(j, "xdp_program", d->xdp_program);
        leat_json_string(j, "xdp_mode", d->is_xdp_in_driver ? "native" : "generic");
    }
    leat_json_array(j, "addresses");
    for (uint32_t i = 0; i < d->address_count; i++)
        leat_json_string(j, NULL, d->address[i]);
    leat_json_end(j);
}

static void put_json(const struct doctor_finding *f)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_string(j, "name", f->name);
    leat_json_string(j, "state", state_names[f->state]);
    leat_json_string(j, "found", f->found);
    if (*f->advice) leat_json_string(j, "advice", f->advice);
    leat_json_array(j, "needed_by");
    for (unsigned i = 0; i < DOCTOR_PARTS; i++)
        if (f->parts >> i & 1) leat_json_string(j, NULL, part_names[i]);
    leat_json_end(j);
    if (f->device) put_device(j, f->device);
    json_close(&out, json_status());
}

/* ---- --need ---------------------------------------------------------------------------------- */

static unsigned part_of(const char *word)
{
    unsigned i = 0;
    while (i < DOCTOR_PARTS && strcmp(part_names[i], word) != 0)
        i++;
    return 1u << i;
}

/* FAILED after a complaint about what this part needs and does not have. */
static int judge(const struct doctor_report *report, const char *word)
{
    char names[DOCTOR_TEXT_LEN] = "";
    const unsigned part = part_of(word);
    for (uint32_t i = 0; i < report->count; i++) {
        const struct doctor_finding *f = &report->finding[i];
        const size_t used = strlen(names);
        if (f->state == DOCTOR_MISSING && f->parts & part)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", f->name);
    }
    if (!*names) return DONE;
    return fail("this host lacks what %s needs: %s; leat doctor says what to do about each", word,
                names);
}

static int run_doctor(const struct arguments *args)
{
    static struct doctor_report report;
    const char *need = argument(args, "--need");
    if (args->operand_count)
        return misuse(args->verb, "'%s', expected no operand", args->operand[0]);
    doctor_system(&report);
    doctor_devices(&report);
    doctor_ports(&report);
    doctor_programs(&report);
    for (uint32_t i = 0; i < report.count; i++)
        (argument(args, "--json") ? put_json : put_text)(&report.finding[i]);
    if (!flush_printed()) return FAILED;
    return finish(need ? judge(&report, need) : DONE);
}

#define X(name, word) word " "
static const char part_words[] = DOCTOR_PARTS_LIST(X);
#undef X

const struct verb verb_doctor = {
    .name = "doctor",
    .summary = "what this host has for leat, and what to do about what is missing",
    .synopsis = "[--need PART] [--json]",
    .help = help_doctor,
    .options = { { "--need", "PART", "exit code 1 if something that it needs is missing",
                   WORD(part_words) },
                 OPTION_JSON("one JSON object per line of the report") },
    .operands = "",
    .run = run_doctor,
};
