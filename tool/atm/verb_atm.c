/* leat atm: OAM cells in a simulated network, and hosts of this machine on its ports. */
#include "atm_ip.h"
#include "atm_ping.h"
#include "atm_tun.h"
#include "child.h"
#include "fabric.h"
#include "json_out.h"
#include "result_file.h"
#include "sim.h"
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

enum { STOP_TRIES = 100, STOP_PAUSE_NS = 10000000 }; /* a second */

extern char **environ;

/* ---- the command --------------------------------------------------------------------------- */

/* A command that runs as long as the network does; without one, the network runs until a signal. */
static bool command_is_over(void *context)
{
    struct leat_child *child = context;
    return child->pid && leat_child_reap(child, false);
}

/* False after a complaint. */
static bool command_begin(const struct arguments *args, struct leat_child *child)
{
    char **words = args->operand + 1;
    args->operand[args->operand_count] = NULL; /* the place of a word that has been read */
    char *file = leat_child_find_named(words[0], NULL);
    const bool good = file && leat_child_begin(child, &(struct leat_child_start){
                                                          .file = file,
                                                          .argv = words,
                                                          .environment = environ,
                                                          .is_bare = true,
                                                          .end_signal = SIGTERM,
                                                      });
    free(file);
    return good || complain("%s: not found, expected a program", words[0]);
}

/* Asks a command that still runs to end, and kills it if it does not. */
static void command_stop(struct leat_child *child)
{
    const struct timespec pause = { .tv_nsec = STOP_PAUSE_NS };
    kill(child->pid, SIGTERM);
    for (int i = 0; i < STOP_TRIES && !leat_child_reap(child, false); i++)
        nanosleep(&pause, NULL);
    leat_child_end_all(child, 1, true, NULL);
}

/* Its exit code. */
static int command_end(struct leat_child *child, int code)
{
    if (!child->pid) return code;
    if (!child->is_reaped) {
        command_stop(child);
        return code;
    }
    if (WIFSIGNALED(child->status)) return SIGNALLED + WTERMSIG(child->status);
    return code ? code : WEXITSTATUS(child->status);
}

/* ---- hosts --------------------------------------------------------------------------------- */

static bool open_host(struct tun *tun, uint32_t number)
{
    const struct tun_job *job = tun->job;
    struct tun_host *host = &tun->host[number];
    char why[LIVE_WHY_LEN];
    host->port = job->port[number];
    snprintf(host->name, sizeof host->name, "%s%u", job->name, host->port);
    tun_addresses(job, host->port, host->ipv4, host->ipv6);
    for (uint32_t i = 0; i < TUN_WINDOW; i++) {
        host->packet[i].octets = malloc(job->mtu + (size_t)LEAT_ATM_IP_LLC_LEN);
        if (!host->packet[i].octets) return complain("not enough memory");
    }
    return tun_host_open(host, job, why) || complain("%s", why);
}

static void show_host(const struct tun_host *host)
{
    char ipv4[INET_ADDRSTRLEN], ipv6[INET6_ADDRSTRLEN];
    inet_ntop(AF_INET, host->ipv4, ipv4, sizeof ipv4);
    inet_ntop(AF_INET6, host->ipv6, ipv6, sizeof ipv6);
    fprintf(stderr, "port %u: namespace and device %s, %s, %s\n", host->port, host->name, ipv4,
            ipv6);
}

/* False after a complaint. */
static bool open_all(struct tun *tun)
{
    const struct tun_job *job = tun->job;
    const struct leat_fabric_config config = { .messages_max = job->hosts * TUN_WINDOW,
                                               .every_cycle = true };
    struct leat_fabric_error error;
    tun->fabric = fabric_read(job->args->verb, job->fabric);
    if (!tun->fabric) return false;
    if (!leat_fabric_open(tun->fabric, &config, &error))
        return fabric_refused(job->args->verb, job->fabric, &error);
    tun->net = tun->fabric->net;
    for (uint32_t i = 0; i < job->hosts; i++)
        if (job->port[i] >= tun->net->ports)
            return misused(job->args->verb, "--ports: port %u, %s has ports 0 to %u", job->port[i],
                           job->fabric, tun->net->ports - 1);
    tun->scratch = malloc(job->mtu);
    if (!tun->scratch) return complain("not enough memory");
    for (uint32_t i = 0; i < job->hosts; i++)
        if (!open_host(tun, i)) return false;
    return true;
}

static void close_all(struct tun *tun)
{
    for (uint32_t i = 0; i < tun->job->hosts; i++) {
        tun_host_close(&tun->host[i]);
        for (uint32_t k = 0; k < TUN_WINDOW; k++)
            free(tun->host[i].packet[k].octets);
    }
    free(tun->scratch);
    leat_fabric_close(tun->fabric);
}

/* ---- the result ---------------------------------------------------------------------------- */

static void show_text(const struct tun *tun, uint64_t real_ns)
{
    const struct tun_figures *f = &tun->figures;
    const double mean = f->received ? (double)f->latency_sum / (double)f->received : 0;
    fprintf(stderr,
            "%s: %.3f s of real time, %.6f s simulated, %.3f s of real time behind\n"
            "packets: %llu sent, %llu received (%llu octets), %llu lost, %llu to no host, %llu "
            "refused\n"
            "simulated latency: %.3f us mean, %.3f us at most\n",
            tun->fabric->name, (double)real_ns / 1e9, (double)tun->net->now / 1e12,
            (double)tun_clock_behind_ns(&tun->clock) / 1e9, (unsigned long long)f->sent,
            (unsigned long long)f->received, (unsigned long long)f->octets,
            (unsigned long long)f->lost, (unsigned long long)f->no_way,
            (unsigned long long)f->unsent, mean / 1e6, (double)f->latency_max / 1e6);
    if (tun_clock_behind_ns(&tun->clock) > real_ns / 100)
        caution("simulated time fell behind: expected a larger --slower, or a less busy machine");
}

static void put_json(const struct tun *tun, uint64_t real_ns, struct leat_text *text)
{
    const struct tun_figures *f = &tun->figures;
    struct leat_json json, *j = &json;
    json_begin(j, text);
    leat_json_string(j, "fabric", tun->fabric->name);
    LEAT_JSON_UINTS(j, { "real_ns", real_ns }, { "simulated_ns", tun->net->now / 1000 },
                    { "behind_ns", tun_clock_behind_ns(&tun->clock) },
                    { "slower", tun->job->slower }, { "ip_sent", f->sent },
                    { "ip_received", f->received }, { "ip_octets", f->octets }, { "lost", f->lost },
                    { "ip_no_way", f->no_way }, { "ip_unsent", f->unsent });
    leat_json_object(j, "latency_ns");
    json_fixed(j, "mean", (double)f->latency_sum / 1e3 / (double)f->received, 3);
    json_fixed(j, "max", (double)f->latency_max / 1e3, 3);
    leat_json_end(j);
    json_finish(j, tun->is_stuck ? "deadlock" : json_status());
}

/* ---- the verb ------------------------------------------------------------------------------ */

static int serve(struct tun *tun, struct result_file *json)
{
    const struct arguments *args = tun->job->args;
    struct leat_child child;
    leat_child_init(&child);
    for (uint32_t i = 0; i < tun->job->hosts && !json->name; i++)
        show_host(&tun->host[i]);
    if (args->operand_count > 1 && !command_begin(args, &child)) return WRONG;
    prctl(PR_SET_TIMERSLACK, 1ul);
    tun_run(tun, command_is_over, &child);
    const int code = command_end(&child, tun->is_stuck ? FAILED : DONE);
    const uint64_t real_ns = tun->ended_ns - tun->clock.begun_ns;
    if (json->name)
        put_json(tun, real_ns, &json->out.text);
    else
        show_text(tun, real_ns);
    leat_child_free(&child);
    return code;
}

static int run_tun(const struct arguments *args)
{
    struct tun_job job;
    char why[LIVE_WHY_LEN];
    static struct result_file json; /* large */
    const char *path = argument(args, "--json");
    if (!tun_options_read(args, &job)) return WRONG;
    if (!live_may("network namespaces", LIVE_NET_ADMIN | LIVE_SYS_ADMIN, why)) {
        complain("%s", why);
        return WRONG;
    }
    if (path && !result_file_open(&json, *path ? path : NULL)) return FAILED;
    struct tun *tun = calloc(1, sizeof *tun);
    if (!tun) return fail("not enough memory");
    tun->job = &job;
    for (uint32_t i = 0; i < job.hosts; i++)
        tun->host[i].fd = -1;
    int code = open_all(tun) ? serve(tun, &json) : WRONG;
    close_all(tun);
    free(tun);
    if (json.name && !result_file_close(&json, json.out.text.len > 0) && !code) code = FAILED;
    return finish(code);
}

const struct verb verb_atm = {
    .name = "atm",
    .summary = "OAM cells in a simulated network, and hosts of this machine on its ports",
    .synopsis = "ping|tun [options]",
    .help = help_atm,
    .subverbs =
        (const struct subverb[]){
            { "ping", "loopback cells to a port, and where they are lost",
              "PORT [--fabric FABRIC] [--from PORT] [--fault F] [--paths] [options]",
              "--fabric --from --count --first-at --apart --load --seed --model --fault --fault-file "
              "--paths --record --json",
              run_ping },
            { "tun", "namespaces whose IP packets go through a simulated network",
              "[--fabric FABRIC] [--ports LIST] [options] [-- COMMAND [ARGUMENT...]]",
              "--fabric --ports --network --mtu --name --slower --json", run_tun },
            { 0 } },
    .options = {
        { "--fabric", "FABRIC", "the network, any of leat fabric list", .preset = "clos444" },
        { "--ports", "LIST", "its ports that have a host, as 0,5,8-11", .preset = "0,1" },
        { "--network", "ADDRESS/BITS", "of IPv4; port p has the (p+1)-th address",
          .preset = "10.77.0.0/16" },
        { "--mtu", "N", "octets of an IP packet at most", OCTETS(TUN_MTU_MIN, TUN_MTU_MAX),
          .preset = "9180" },
        { "--name", "NAME", "namespaces are called NAME and the port", .preset = "atm" },
        { "--slower", "N", "simulated time runs N times slower than real time", COUNT(1, 1000000),
          .preset = "1" },
        { "--from", "PORT", "that sends the loopback cells", COUNT(0, UINT32_MAX), .preset = "0" },
        { "--count", "N", "loopback cells to send", COUNT(1, PING_COUNT_MAX), .preset = "4" },
        { "--first-at", "CYCLE", "when the first one is sent", COUNT(1, SIM_CYCLES_MAX),
          .preset = "1000" },
        { "--apart", "CYCLES", "from one to the next", COUNT(LEAT_ATM_CELL_LEN, 1000000),
          .preset = "2000" },
        { "--load", "L", "share of all ports' lines that other cells take",
          SHARE(SIM_LOAD_DECIMALS), .preset = "0" },
        { "--seed", "S", "random seed", COUNT(0, UINT64_MAX), .preset = "1" },
        { "--model", "M", "what is simulated", WORD("cell rtl"), .preset = "cell" },
        { "--fault", "F", "in the fabric, as link:0-4@1000..5000 (leat help sim faults)", true },
        { "--fault-file", "FILE", "a fault per line" },
        { "--paths", NULL, "test each path for itself, even if all cells come back" },
        { "--record", "FILE", "write a recording for leat export" },
        OPTION_JSON("the result as JSON"),
    },
};
