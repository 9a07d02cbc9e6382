/*
 * Any octets as a recording: what is read and written again is the same octets, up to the place of
 * the damage; and everything that is read can be exported.
 */
#include "sim_export_csv.h"
#include "sim_export_pcapng.h"
#include "sim_export_perfetto.h"
#include "sim_export_vcd.h"
#include "sim_recorder.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct leat_sim_recording rec;
static struct leat_sim_recorder again;
static struct leat_sim_export_pcapng pcapng;
static struct leat_sim_export_vcd vcd;
static struct leat_sim_export_perfetto perfetto;
static struct leat_sim_export_csv csv;

static void forget(struct leat_text *text)
{
    text->len = 0;
}

/* The declaration that was just read, declared once more. */
static void declare(const struct leat_sim_event *e)
{
    const struct leat_sim_track *t = &rec.tracks[e->track];
    char string[LEAT_SIM_PATH_LEN_MAX + 1];
    memcpy(string, rec.strings + t->string_at, t->string_len);
    string[t->string_len] = '\0';
    if (e->kind == LEAT_SIM_GROUP)
        leat_sim_recorder_group(&again, t->parent, string);
    else if (e->kind == LEAT_SIM_LANE)
        leat_sim_recorder_lane(&again, t->parent, t->clock, t->link_type, string);
    else
        leat_sim_recorder_signal(&again, t->parent, t->clock, t->width, string);
}

static void name(uint32_t number)
{
    char string[LEAT_SIM_PATH_LEN_MAX + 1];
    size_t len;
    const char *text = leat_sim_recording_name(&rec, number, &len);
    memcpy(string, text, len);
    string[len] = '\0';
    leat_sim_recorder_name(&again, string);
}

static void write_again(const struct leat_sim_event *e)
{
    switch (e->kind) {
    case LEAT_SIM_CLOCK: leat_sim_recorder_clock(&again, &rec.clocks[rec.clock_count]); break;
    case LEAT_SIM_GROUP:
    case LEAT_SIM_LANE:
    case LEAT_SIM_SIGNAL: declare(e); break;
    case LEAT_SIM_NAME: name(e->name); break;
    case LEAT_SIM_CLOSE: leat_sim_recorder_close(&again, e->at); break;
    case LEAT_SIM_BEGIN:
    case LEAT_SIM_END:
    case LEAT_SIM_INSTANT:
    case LEAT_SIM_VALUE:
    case LEAT_SIM_FRAME:
    case LEAT_SIM_FLOW:
    case LEAT_SIM_PLACE: leat_sim_recorder_put(&again, e); break;
    case LEAT_SIM_TIME: abort(); /* it is never returned */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static char copy[1 << 17], sink[1 << 12];
    struct leat_text out, text;
    if (len > sizeof copy) return 0;
    leat_text_init(&out, copy, sizeof copy, NULL, NULL);
    leat_text_init(&text, sink, sizeof sink, forget, NULL);
    leat_sim_recording_init(&rec);
    leat_sim_recorder_init(&again, &out);
    leat_sim_export_pcapng_init(&pcapng, &rec, &text);
    leat_sim_export_vcd_init(&vcd, &rec, &text);
    leat_sim_export_perfetto_init(&perfetto, &rec, &text);
    leat_sim_export_csv_init(&csv, &rec, &text);
    for (size_t at = 0;;) {
        struct leat_sim_event e;
        bool found;
        size_t used, fault_at = 0;
        if (leat_sim_recording_next(&rec, data + at, len - at, &e, &found, &used, &fault_at) ||
            !used) {
            if (fault_at > len - at) abort();
            return 0;
        }
        at += used;
        if (!found) continue;
        write_again(&e);
        if (out.len != at || memcmp(copy, data, at) != 0) abort();
        leat_sim_export_pcapng_event(&pcapng, &e);
        leat_sim_export_vcd_event(&vcd, &e);
        leat_sim_export_perfetto_event(&perfetto, &e);
        leat_sim_export_csv_event(&csv, &e);
    }
}
