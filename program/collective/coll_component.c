#include "coll_leat.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <opal/mca/base/mca_base_var.h>

enum { PRIORITY_OFF = 0 };

static int priority;

const struct leat_coll_means *leat_coll_by;
bool leat_coll_is_exact;
char *leat_coll_esp_network = "", *leat_coll_esp_key = "";
int leat_coll_ring_id, leat_coll_patience_ms = 200, leat_coll_words = 6, leat_coll_after = 10;

static int register_parameters(void);
static int open_component(void);
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
        .mca_open_component = open_component,
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
    mca_base_component_var_register(
        self, "ring", "Id of the live ring, as in leat ring join --ring; 0: the only one here",
        MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY,
        &leat_coll_ring_id);
    mca_base_component_var_register(
        self, "esp", "Network of hosts below ESP routers, ADDRESS/BITS; empty: a ring is used",
        MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY,
        &leat_coll_esp_network);
    mca_base_component_var_register(self, "esp_key", "File with the key of the ESP network",
                                    MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0, OPAL_INFO_LVL_5,
                                    MCA_BASE_VAR_SCOPE_READONLY, &leat_coll_esp_key);
    mca_base_component_var_register(
        self, "patience_ms", "A network that is silent for so long is given up: hosts take over",
        MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY,
        &leat_coll_patience_ms);
    mca_base_component_var_register(
        self, "words",
        "Longest operation by the network, in words of 8 octets, 1 to 24; each takes time",
        MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_5, MCA_BASE_VAR_SCOPE_READONLY,
        &leat_coll_words);
    mca_base_component_var_register(self, "after",
                                    "Calls of a communicator that are the hosts', before it joins",
                                    MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_5,
                                    MCA_BASE_VAR_SCOPE_READONLY, &leat_coll_after);
    return OMPI_SUCCESS;
}

/* Its tables of functions are those of one version of Open MPI; a module of another one would call
 * something else. */
static bool is_of_this_version(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING], expected[64];
    int len = 0;
    snprintf(expected, sizeof expected, "Open MPI v%d.%d.", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);
    PMPI_Get_library_version(text, &len);
    if (strncmp(text, expected, strlen(expected)) == 0) return true;
    const char *local_rank = getenv("OMPI_COMM_WORLD_LOCAL_RANK"); /* one line of each host */
    if (local_rank && strcmp(local_rank, "0") != 0) return false;
    text[strcspn(text, ",")] = 0;
    fprintf(stderr,
            "leat: mca_coll_leat.so is for Open MPI %d.%d, but this is %s: collective calls go by "
            "host messages. Build leat with the headers of this Open MPI\n",
            OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, text);
    return false;
}

static int open_component(void)
{
    bool is_wrong = false;
    if (priority <= PRIORITY_OFF || !is_of_this_version()) return OMPI_SUCCESS;
    if (leat_coll_find_run(&is_wrong))
        leat_coll_by = &leat_coll_simulated;
    else if (!is_wrong && leat_coll_find_live())
        leat_coll_by = &leat_coll_live;
    if (leat_coll_by == &leat_coll_live) leat_coll_announce_live();
    return OMPI_SUCCESS;
}

static int init_query(bool has_progress_threads, bool has_threads)
{
    (void)has_progress_threads, (void)has_threads;
    return priority <= PRIORITY_OFF || leat_coll_by ? OMPI_SUCCESS : OMPI_ERROR;
}

static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *out)
{
    *out = priority;
    if (priority <= PRIORITY_OFF || !leat_coll_by) return NULL;
    return leat_coll_query(comm, out);
}
