#include "fi_component.h"
#include "fi_behind.h"
#include "fi_rank.h"

static unsigned *priority; /* of osc rdma, which Open MPI looks up whenever it makes a window */
static unsigned before;

/* NULL: there is no osc rdma. */
static unsigned *find_priority(void)
{
    int (*find)(const char *, const char *, const char *, const char *);
    int (*get)(int, void *, void *, const char **);
    *(void **)(void *)&find = leat_fi_behind("mca_base_var_find");
    *(void **)(void *)&get = leat_fi_behind("mca_base_var_get_value");
    const int index = find("ompi", "osc", "rdma", "priority");
    unsigned *value = NULL;
    return index >= 0 && get(index, &value, NULL, NULL) == 0 ? value : NULL;
}

void leat_fi_component_leave_rdma(void)
{
    if (leat_fi_is_simulated()) priority = find_priority();
    if (!priority) return;
    before = *priority;
    *priority = 0;
}

void leat_fi_component_resume_rdma(void)
{
    if (priority) *priority = before;
    priority = NULL;
}
