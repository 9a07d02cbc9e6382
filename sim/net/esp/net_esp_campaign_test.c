/* Random operations over networks of all kinds and architectures, against a plain model. */
#include "net_esp_test.h"
#include "sim_collect_campaign_test.h"

static uint64_t run_campaign(const char *name, bool sends_messages, uint32_t operations)
{
    struct lab lab;
    lab_open(&lab, name);
    const struct collect_campaign all = { &lab.port.base, tap_seed(), operations,    4, 20,
                                          2000,           400000,     sends_messages };
    const uint64_t certificate = collect_campaign_run(&all);
    lab_close(&lab);
    return certificate;
}

static void try(const char *name)
{
    const uint64_t first = run_campaign(name, true, 8);
    OK(first && first == run_campaign(name, true, 8));
    OK(run_campaign(name, false, 8) != 0);
}

static void lattices_fold_and_copy(void)
{
    try("line:5/esp");
    try("ring:6/esp=3");
    try("mesh:3,4/esp=20");
    try("torus:4,4/esp=20");
    try("torus:3,3/terminals=2/esp=7");
    try("hypercube:3/esp=1");
    try("hyperx:3,3/esp=20");
    try("mesh:3,3/routing=adaptive/esp=5");
    try("torus:4,4/routing=valiant/esp=5");
    try("mesh:3,3/routing=updown/esp=5");
    try("mesh:3,3/routing=table/esp=5");
}

static void trees_groups_and_stages_fold_and_copy(void)
{
    try("crossbar:7/esp=20");
    try("fattree:4,2/esp=20");
    try("fattree:2,4/esp=4");
    try("fattree:3,2/routing=adaptive/esp=4");
    try("dragonfly:2,2,1/esp=20");
    try("dragonfly:1,4,2/routing=valiant/esp=9");
    try("clos:3,4,3/switch=vc/esp=20");
    try("benes:8/esp=20");
    try("grid:4/esp=20");
    try("fly:5,1/esp=20");
}

static void all_architectures_fold_and_copy(void)
{
    try("mesh:3,3/switch=fifo/esp=20");
    try("mesh:3,3/switch=voq/iterations=2/esp=20");
    try("mesh:3,3/switch=output/esp=20");
    try("fattree:4,2/switch=shared/esp=20");
    try("fattree:4,2/switch=xpq/esp=20");
    try("torus:4,4/flow=cut-through/buffer=16/esp=20");
    try("torus:4,4/flow=store-and-forward/buffer=16/esp=20");
    try("mesh:3,3/vcs=1/buffer=1/esp=20");
}

TAP_MAIN(T(lattices_fold_and_copy), T(trees_groups_and_stages_fold_and_copy),
         T(all_architectures_fold_and_copy))
