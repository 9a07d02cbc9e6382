/* The events of a recording that a page shows, and where it cannot be read any further. */
#ifndef VIEW_READER_H
#define VIEW_READER_H

#include "sim_recording.h"
#include "view_site.h"

enum { VIEW_READER_CAP = 1 << 18 };

/* Large: not for the stack. */
struct view_reader {
    const struct view_source *source;
    uint64_t offset; /* of the next octet in the file; of the fault, at the end */
    leat_err err;    /* of the fault */
    uint8_t kind;    /* the octet that the fault's record begins with */
    size_t begin, end;
    uint8_t buf[VIEW_READER_CAP]; /* unread: buf[begin..end) */
    struct leat_sim_recording rec;
};

enum view_read {
    VIEW_READ_EVENT,
    VIEW_READ_END,     /* complete */
    VIEW_READ_CUT,     /* it ends before its CLOSE */
    VIEW_READ_DAMAGED, /* err at offset */
    VIEW_READ_LOST,    /* the file is not what it was */
};

void view_reader_init(struct view_reader *r, const struct view_source *source);

/* The next event, lent until the next call, or why there is none. */
enum view_read view_reader_next(struct view_reader *r, struct leat_sim_event *out);

#endif
