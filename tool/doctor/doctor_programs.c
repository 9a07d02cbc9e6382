/* Programs and libraries of others that parts of leat need. */
#define _GNU_SOURCE /* environ */
#include "child.h"
#include "device.h"
#include "doctor.h"
#include "jail.h"
#include "run.h"
#include "tool.h"
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(HAVE_PVM) && __has_include(<pvm3.h>)
#include <pvm3.h>
#endif

enum { VERSION_TRIES = 400, VERSION_TRY_MS = 5, JAIL_OCTETS = 1 << 20 };

/* The first line of "PROGRAM --version"; the program is killed if it takes too long. */
static bool read_version(char *program, char line[DOCTOR_TEXT_LEN])
{
    struct leat_child child;
    char *const words[] = { program, "--version", NULL };
    const struct leat_child_start start = { .file = program,
                                            .argv = words,
                                            .environment = environ,
                                            .input = LEAT_CHILD_NO_INPUT,
                                            .collect = true,
                                            .is_bare = true };
    leat_child_init(&child);
    *line = 0;
    if (leat_child_begin(&child, &start)) {
        for (int i = 0; i < VERSION_TRIES && !leat_child_reap(&child, false); i++)
            poll(NULL, 0, VERSION_TRY_MS);
        leat_child_end_all(&child, 1, true, NULL);
        line[leat_child_read(&child, line, DOCTOR_TEXT_LEN / 2)] = 0;
        line[strcspn(line, "\n")] = 0;
    }
    leat_child_free(&child);
    return *line != 0;
}

static void add_mpirun(struct doctor_report *report)
{
    struct doctor_finding *f = doctor_add(report, "mpirun", DOCTOR_MPI);
    char version[DOCTOR_TEXT_LEN];
    char *program = leat_child_find_named("mpirun", NULL);
    if (!program) {
        doctor_found(f, "not on PATH");
        doctor_lack(f, "leat run starts MPI programs by Open MPI's mpirun: as root, apt install "
                       "openmpi-bin");
        return;
    }
    const bool is_open_mpi = read_version(program, version) && strstr(version, "(Open MPI)");
    doctor_found(f, "%s, %s", program, *version ? version : "which does not say its version");
    if (!is_open_mpi)
        doctor_lack(f, "leat run needs Open MPI's mpirun: as root, apt install openmpi-bin, and "
                       "put it first on PATH");
    free(program);
}

/* `package` has the file in Debian; leat makes it where the `headers` are. */
static struct doctor_finding *add_part(struct doctor_report *report, const char *what,
                                       unsigned parts, const char *file, const char *package,
                                       const char *headers)
{
    struct doctor_finding *f = doctor_add(report, what, parts);
    char path[RUN_PATH_CAP];
    if (run_has_part(file, path, sizeof path)) {
        doctor_found(f, "%s", path);
        return f;
    }
    doctor_found(f, "%s is not beside the command", file);
    doctor_lack(f,
                "as root, apt install %s; of a leat that you built yourself: apt install %s, and "
                "build leat again",
                package, headers);
    return f;
}

static void add_mpi(struct doctor_report *report)
{
    static const char headers[] = "libfabric-dev libopenmpi-dev libpmix-dev";
    add_mpirun(report);
    add_part(report, "MPI over fabrics", DOCTOR_MPI, "libleat-fi.so", "leat-mpi", headers);
    add_part(report, "MPI over live networks", DOCTOR_MPI, "mca_coll_leat.so", "leat-mpi", headers);
}

static void add_pvm(struct doctor_report *report)
{
    struct doctor_finding *f = add_part(report, "PVM", DOCTOR_PVM, "libpvm3.so.3", "leat-pvm",
                                        "pvm-dev");
#ifdef PVM_VER
    doctor_found(f, ", for programs of PVM %s; no pvmd is needed", PVM_VER);
#endif
#ifndef HAVE_PVM
    if (f->state == DOCTOR_OK) doctor_lack(f, "install pvm-dev, and build leat again");
#endif
}

static void add_opencl(struct doctor_report *report)
{
    static struct leat_device_info device[LEAT_DEVICES_MAX];
    struct doctor_finding *f = doctor_add(report, "OpenCL", DOCTOR_GPU);
    struct leat_text why = LEAT_TEXT(300);
    const uint32_t count = leat_devices_find(device, LEAT_DEVICES_MAX, &why);
    uint32_t gpus = 0;
    for (uint32_t i = 0; i < count; i++)
        gpus += device[i].is_gpu && !device[i].lacks;
    if (!count)
        doctor_found(f, "no device: %.*s", (int)why.len, why.buf);
    else
        doctor_found(f, "%u device%s, the first is %s", count, count > 1 ? "s" : "",
                     device[0].name);
    if (gpus) return;
    doctor_lack(f, "no GPU that leat can use: install its driver with OpenCL, and the loader: as "
                   "root, apt install ocl-icd-libopencl1 (leat devices shows more; "
                   "pocl-opencl-icd makes a device of the processor, for trials)");
}

static bool find_first(const char *pattern, char path[PATH_MAX])
{
    glob_t found = { 0 };
    const bool is_there = glob(pattern, 0, NULL, &found) == 0;
    if (is_there) snprintf(path, PATH_MAX, "%s", found.gl_pathv[0]);
    globfree(&found);
    return is_there;
}

/* The dissectors of leat: in a plugin folder of the user or the system, or where leat has them. */
static bool find_dissector(char path[PATH_MAX], bool *is_plugin)
{
    static const char *const plugins[] = { "leat.lua", "leat/leat.lua" };
    const char *home = getenv("HOME");
    *is_plugin = true;
    for (size_t i = 0; home && i < sizeof plugins / sizeof *plugins; i++) {
        snprintf(path, PATH_MAX, "%.3000s/.local/lib/wireshark/plugins/%s", home, plugins[i]);
        if (access(path, R_OK) == 0) return true;
    }
    if (find_first("/usr/lib/*/wireshark/plugins/leat/leat.lua", path)) return true;
    *is_plugin = false;
    return run_has_part("../../../share/wireshark/leat.lua", path, PATH_MAX) ||
           run_has_part("../../share/leat/wireshark/leat.lua", path, PATH_MAX);
}

static void add_tshark(struct doctor_report *report)
{
    struct doctor_finding *f = doctor_add(report, "tshark", 0);
    char path[PATH_MAX];
    bool is_plugin;
    char *program = leat_child_find_named("tshark", NULL);
    const bool has_dissector = find_dissector(path, &is_plugin);
    doctor_found(f, "%s", program ? program : "not on PATH");
    if (!program) doctor_hint(f, "to look into captures: as root, apt install tshark");
    if (has_dissector) doctor_found(f, ", dissectors in %.400s", path);
    if (program && has_dissector && !is_plugin)
        doctor_hint(f, "tshark -X lua_script:%.400s shows the packets of leat", path);
    if (!has_dissector) doctor_hint(f, "the dissectors are in share/wireshark of leat");
    free(program);
}

/* ---- programs of strangers ------------------------------------------------------------------- */

/* A setting of the kernel that forbids what jails are made of. */
static void blame(struct doctor_finding *f, const char *path, const char *forbids,
                  const char *advice)
{
    char value[DOCTOR_WORD_LEN];
    if (doctor_read(path, value, sizeof value) && strcmp(value, forbids) == 0)
        doctor_lack(f, "as root, sysctl %s", advice);
}

static void add_jail(struct doctor_report *report)
{
    const struct leat_jail_limits limits = { .memory = JAIL_OCTETS, .seconds = 1 };
    struct doctor_finding *f = doctor_add(report, "jail", DOCTOR_JAIL);
    char why[DOCTOR_TEXT_LEN / 2];
    struct leat_jail *jail = leat_jail_open(&limits, why, sizeof why);
    if (jail) {
        doctor_found(f, "for programs and handlers of others (--jail, --sandbox)");
        if (!leat_jail_keeps_signals())
            doctor_hint(f, "this kernel lets them signal your other processes: use Linux 6.12 or "
                           "later");
        leat_jail_close(jail);
        return;
    }
    doctor_found(f, "the system refuses %s", why);
    doctor_lack(f, "programs of others have all your rights");
    blame(f, "/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces=10000");
    blame(f, "/proc/sys/kernel/unprivileged_userns_clone", "0",
          "kernel.unprivileged_userns_clone=1");
    blame(f, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
          "kernel.apparmor_restrict_unprivileged_userns=0");
}

void doctor_programs(struct doctor_report *report)
{
    add_mpi(report);
    add_pvm(report);
    add_opencl(report);
    add_tshark(report);
    add_jail(report);
}
