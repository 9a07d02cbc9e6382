/*
 * A part of a live network on this host, for `leat view ring|esp|pktway NAME`: what its `leat KIND
 * status --json` prints, once a second while anybody listens. A child asks, so the page is served
 * meanwhile.
 */
#ifndef LEAT_VIEW_LIVE_H
#define LEAT_VIEW_LIVE_H

#include "view_ask.h"
#include "view_http.h"

#define VIEW_LIVE_KINDS "esp pktway ring"

struct view_live {
    const char *kind, *name; /* "ring" "eth0" */
    struct view_ask ask;
    int64_t due_ms; /* when it is asked again */
    bool ended;
};

/* Asks for the first time. False after a complaint: there is no such part. */
bool view_live_open(struct view_live *live, const char *kind, const char *name);

/* Goes on without waiting, and tells the page what is new. */
void view_live_step(struct view_live *live, struct view_http *http, unsigned source);

/* When there is a step to be made at the latest, or as soon as ask.fd is readable. */
int view_live_wait_ms(const struct view_live *live);

void view_live_close(struct view_live *live);

#endif
