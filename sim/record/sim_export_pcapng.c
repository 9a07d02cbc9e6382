#include "sim_export_pcapng.h"
#include <assert.h>
#include <leat/capture.h>
#include <string.h>

enum { PS_PER_NS = 1000 };

static void put_block(struct leat_sim_export_pcapng *x, size_t len)
{
    assert(len); /* the block has room for every frame and every name */
    leat_text_put(x->out, (const char *)x->block, len);
}

void leat_sim_export_pcapng_init(struct leat_sim_export_pcapng *x,
                                 const struct leat_sim_recording *rec, struct leat_text *out)
{
    x->rec = rec;
    x->out = out;
    x->interface_count = 0;
    memset(x->interface, 0, sizeof x->interface);
    put_block(x, leat_capture_put_section(x->block, sizeof x->block));
}

static uint32_t interface_of(struct leat_sim_export_pcapng *x, const struct leat_sim_event *e)
{
    static const char suffix[LEAT_SIM_DIRECTIONS][5] = { "", " in", " out" };
    uint32_t *known = &x->interface[e->track][e->direction];
    if (!*known) {
        char name[LEAT_SIM_PATH_LEN_MAX + sizeof suffix[0]];
        const size_t len = leat_sim_recording_path(x->rec, e->track, name);
        memcpy(name + len, suffix[e->direction], sizeof suffix[0]);
        *known = ++x->interface_count;
        put_block(x, leat_capture_put_interface(x->block, sizeof x->block,
                                                x->rec->tracks[e->track].link_type, name));
    }
    return *known - 1;
}

void leat_sim_export_pcapng_event(struct leat_sim_export_pcapng *x, const struct leat_sim_event *e)
{
    if (e->kind != LEAT_SIM_FRAME) return;
    const uint32_t interface = interface_of(x, e);
    put_block(x, leat_capture_put_packet(x->block, sizeof x->block, interface, e->at / PS_PER_NS,
                                         e->octets, e->len));
}
