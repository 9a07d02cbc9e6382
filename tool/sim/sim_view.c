#include "sim_view.h"
#include <stdio.h>

void sim_view(const struct sim_view *view, void (*take)(void *, struct watch_sample *),
              void *context)
{
    static struct watch_curve curve[] = {
        { .name = "Accepted load",
          .of = SIM_VIEW_ACCEPTED,
          .per = PIECES_CYCLES,
          .is_ratio = true },
        { .name = "Mean latency",
          .unit = "cycles",
          .of = SIM_VIEW_LATENCY_SUM,
          .per = SIM_VIEW_LATENCY_COUNT,
          .is_ratio = true,
          .factor = 1 },
        { .name = "In flight", .of = SIM_VIEW_IN_FLIGHT, .factor = 1 },
    };
    static struct pieces_view shown;
    curve[0].factor = view->load_of_one;
    snprintf(curve[0].unit, sizeof curve[0].unit, "%s", view->load_unit);
    snprintf(curve[2].unit, sizeof curve[2].unit, "%s", view->in_flight_unit);
    shown = (struct pieces_view){ .context = context,
                                  .take = take,
                                  .columns = SIM_VIEW_END - PIECES_COLUMN,
                                  .curve = curve,
                                  .curves = sizeof curve / sizeof *curve };
    pieces_show(&shown);
}
