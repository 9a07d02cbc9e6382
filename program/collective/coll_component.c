#include "coll_leat.h"
#include <dlfcn.h>
#include <stdio.h>

#include <opal/mca/base/mca_base_var.h>

enum { PRIORITY_OFF = 0 };

static int priority;

const struct leat_fi_collective *leat_coll_run;
bool leat_coll_is_exact;

static int register_parameters(void);
static int init_query(bool has_progress_threads, bool has_threads);
static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *out);

/* Open MPI looks for this name in mca_coll_leat.so. */
extern const mca_coll_base_component_2_0_0_t mca_coll_leat_component;
const mca_coll_base_component_2_0_0_t mca_coll_leat_component = {
    .collm_version = {
        MCA_COLL_BASE_VERSION_2_0_0,
        .mca_component_name = "leat",
        .mca_component_major_version = OMPI_MAJOR_VERSION,
        .mca_component_minor_version = OMPI_MINOR_VERSION,
        .mca_component_release_version = OMPI_RELEASE_VERSION,
        .mca_register_component_params = register_parameters,
    },
    .collm_data = { MCA_BASE_METADATA_PARAM_CHECKPOINT },
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};

static int register_parameters(void)
{
    const mca_base_component_t *self = &mca_coll_leat_component.collm_version;
    mca_base_component_var_register(
        self, "priority", "Above 30: collective operations are the network's",
        MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY, &priority);
    mca_base_component_var_register(self, "exact",
                                    "Sums of real numbers do not depend on the order of ranks",
                                    MCA_BASE_VAR_TYPE_BOOL, NULL, 0, 0, OPAL_INFO_LVL_5,
                                    MCA_BASE_VAR_SCOPE_READONLY, &leat_coll_is_exact);
    return OMPI_SUCCESS;
}

static int init_query(bool has_progress_threads, bool has_threads)
{
    (void)has_progress_threads, (void)has_threads;
    leat_coll_run = dlsym(RTLD_DEFAULT, "leat_fi_collective");
    if (!leat_coll_run || leat_coll_run->version == LEAT_FI_COLLECTIVE_VERSION) return OMPI_SUCCESS;
    fprintf(stderr, "leat: mca_coll_leat.so and libleat-fi.so are of different versions of leat\n");
    return OMPI_ERROR;
}

static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *out)
{
    *out = priority;
    if (priority <= PRIORITY_OFF || !leat_coll_run) return NULL;
    return leat_coll_query(comm, out);
}
