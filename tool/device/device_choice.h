/* --device: where networks run. */
#ifndef LEAT_DEVICE_CHOICE_H
#define LEAT_DEVICE_CHOICE_H

#include "device.h"
#include "tool.h"

enum device_where {
    DEVICE_CPU,  /* the processor, by leat's own engine */
    DEVICE_ONE,  /* this device */
    DEVICE_AUTO, /* a device where it pays, else the processor */
};

enum { DEVICE_LACKS_CAP = 300 };

struct device_choice {
    enum device_where where;
    bool is_there;                /* DEVICE_AUTO: there is a GPU */
    char lacks[DEVICE_LACKS_CAP]; /* why there is none; empty: there are only other devices */
    struct leat_device_info info;
};

#define OPTION_DEVICE                                                                        \
    {                                                                                        \
        "--device", "D", "where it runs: the processor, a GPU, or a number of leat devices", \
            .words = "cpu gpu auto", .preset = "cpu", .kinds = "flits"                       \
    }

/* False after a complaint. */
bool device_take(const struct arguments *args, struct device_choice *out);

#endif
