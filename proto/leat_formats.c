#include "leat_formats.h"
#include "atm_aal1_text.h"
#include "atm_aal2_text.h"
#include "atm_aal34_text.h"
#include "atm_aal5_text.h"
#include "atm_task_text.h"
#include "atm_text.h"
#include "aton_text.h"
#include "esp_text.h"
#include "packetway_text.h"
#include "poets_text.h"

static const struct leat_format *const all[] = {
    &leat_atm_format,       &leat_aal1_format,    &leat_aal2_format, &leat_aal34_format,
    &leat_aal5_format,      &leat_atmtask_format, &leat_aton_format, &leat_esp_format,
    &leat_packetway_format, &leat_poets_format,
};

const struct leat_format *leat_format_at(size_t index)
{
    return index < sizeof all / sizeof *all ? all[index] : NULL;
}

const struct leat_format *leat_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}
