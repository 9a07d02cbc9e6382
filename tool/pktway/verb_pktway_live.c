/* leat pktway on live networks: routers, hosts, and queries to them. */
#include "foreground.h"
#include "json_out.h"
#include "leat_tree.h"
#include "live_guard.h"
#include "number.h"
#include "packetway_record.h"
#include "pktway_live_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PS_PER_MS UINT64_C(1000000000)
enum {
    WAIT_MS = 100,
    LOGICAL_MAX = 16,
    SAN_TEXT_MAX = 640,
    RECEIVERS_MAX = PACKETWAY_CLIENTS_MAX / 2, /* others ask for status and stop */
};
#define HOST_WORDS "ping trace plan tell read write send"
static char why[PACKETWAY_WHY_LEN];

/* A serving process: a router or a host. */
struct service {
    bool foreground, stopped;
    struct packetway_control control;
    struct packetway_router *router;
    struct pktway_homes host; /* a node on each SAN; without: a router */
    struct pktway_live_mail_counts mail;
    struct packetway_tun *tun;          /* of a host: IP */
    struct leat_packetway_store *store; /* of a host: memory for others */
    char note[PACKETWAY_WHY_LEN];
    int slower_at; /* where in note the reason begins for which it is slower; -1: it is not */
    struct live_home home;
};

static const char *name_of(const struct arguments *args, const char *fallback)
{
    const char *name = argument(args, "--name");
    return name ? name : fallback;
}

/* ---- what it may do, and where it lives ------------------------------------------------------ */

/* After everything is open. */
static void confine(struct service *s)
{
    live_home_open(&s->home, -1);
    leat_live_guard(s->router && s->router->xdp ? LEAT_LIVE_XDP : LEAT_LIVE_DEVICES, &s->home);
}

static void check_home(struct service *s)
{
    if (!live_home_is_gone(&s->home)) return;
    live_home_leave(&s->home, s->router ? "the PacketWay router" : "the PacketWay host");
    s->stopped = true;
}

/* ---- serving ------------------------------------------------------------------------------- */

static int answer(struct service *s, const struct packetway_request *q, int client, FILE *out,
                  FILE *error)
{
    const bool is_status = strcmp(q->word, "status") == 0;
    if (strcmp(q->word, "key") == 0) return pktway_keys_change(q, s->router, &s->host, error);
    static char schema[64]; /* lent to json_out */
    snprintf(schema, sizeof schema, "leat.pktway.%s/1", q->word);
    json_schema(schema);
    if (strcmp(q->word, "stop") == 0) {
        s->stopped = true;
        return DONE;
    }
    if (s->host.count && !is_status) {
        if (word_is_in(q->word, HOST_WORDS))
            return pktway_live_query(&s->host, q, client, out, error);
        fprintf(error, "leat: this is a host, expected a router's --name\n");
        return WRONG;
    }
    if (s->host.count)
        pktway_live_host_status(&s->host, &s->mail, s->tun, s->store, q->json, out);
    else if (is_status)
        pktway_live_status(s->router, q->json, out);
    else if (strcmp(q->word, "tables") == 0)
        pktway_live_tables(s->router, q->json, out);
    else
        return fprintf(error, "leat: this is a router, expected a host's --name\n"), WRONG;
    return DONE;
}

/* Data for programs: IP for the TUN device, all else for those who receive. */
static void take_data(void *context, const struct leat_packetway_event *event)
{
    struct service *s = context;
    if (s->tun) packetway_tun_receive(s->tun, event);
    if (event->kind != LEAT_PACKETWAY_EVENT_DATA ||
        event->message.header.pt == LEAT_PACKETWAY_NODE_PT_ECHO ||
        (s->tun && event->message.header.pt == LEAT_PACKETWAY_PT_IP))
        return;
    char *line = pktway_live_line(event);
    const bool is_heard = line && packetway_control_spread(&s->control, line, strlen(line));
    s->mail.received += is_heard;
    s->mail.unclaimed += !is_heard;
    free(line);
}

/* What it gets from now on is what arrives. True: so many may receive. */
static bool begin_to_receive(struct service *s, struct packetway_client *client)
{
    uint32_t receivers = 0;
    for (int i = 0; i < PACKETWAY_CLIENTS_MAX; i++)
        receivers += s->control.client[i].fd >= 0 && s->control.client[i].receives;
    client->receives = s->host.count && receivers < RECEIVERS_MAX;
    return client->receives;
}

static int refuse_receiver(FILE *error)
{
    fprintf(error, "leat: %d already receive here, expected fewer\n", RECEIVERS_MAX);
    return FAILED;
}

/* A client that requests a stop waits for the end, which is reported when all is closed. */
static void serve_client(struct service *s, const struct pollfd *wait)
{
    static struct packetway_request q;
    struct packetway_client *client = packetway_control_serve(&s->control, wait, packetway_now(),
                                                              &q);
    if (!client) return;
    const bool receive = strcmp(q.word, "receive") == 0;
    if (receive && begin_to_receive(s, client)) return;
    FILE *out = packetway_control_stream(client, false),
         *error = packetway_control_stream(client, true);
    int code = FAILED;
    if (out && error)
        code = receive && s->host.count ? refuse_receiver(error)
                                        : answer(s, &q, client->fd, out, error);
    if (out) fclose(out);
    if (error) fclose(error);
    if (!s->stopped) packetway_control_end(client, code);
}

static void serve(struct service *s)
{
    enum { SANS_AT = PACKETWAY_CONTROL_FDS };
    struct pollfd wait[SANS_AT + PACKETWAY_SANS_MAX + 1];
    static struct leat_packetway_event event;
    uint32_t count = s->router ? s->router->count : s->host.count;
    s->host.data = take_data;
    s->host.context = s;
    for (uint32_t i = 0; i < count; i++)
        wait[SANS_AT + i] = (struct pollfd){ .fd = s->router
                                                       ? packetway_router_fd(s->router, i)
                                                       : leat_packetway_node_fd(s->host.node[i]),
                                             .events = POLLIN };
    if (s->tun) wait[SANS_AT + count++] = (struct pollfd){ .fd = s->tun->fd, .events = POLLIN };
    while (!interrupted && !s->stopped) {
        foreground_alive();
        int wait_ms = 100;
        check_home(s);
        if (s->router) {
            const leat_time now = packetway_now(), next = packetway_router_next_at(s->router);
            const leat_time left_ms = next > now ? (next - now) / 1000000000 + 1 : 0;
            if (left_ms < (leat_time)wait_ms) wait_ms = (int)left_ms;
        }
        packetway_control_wait(&s->control, wait);
        if (poll(wait, SANS_AT + count, wait_ms) < 0 && errno != EINTR) return;
        if (s->router) packetway_router_serve(s->router);
        for (uint32_t i = 0; i < s->host.count; i++)
            while (leat_packetway_node_receive(s->host.node[i], 0, &event))
                take_data(s, &event);
        if (s->tun) packetway_tun_send(s->tun, s->host.node[0]);
        packetway_control_forget(&s->control);
        serve_client(s, wait);
    }
}

/* ---- starting ------------------------------------------------------------------------------ */

struct started {
    int code, process, slower_at;
    char text[PACKETWAY_WHY_LEN];
};

/* Opens in the serving process: descriptors and memory are its own. */
typedef int open_service(struct service *s, const struct arguments *args);

static void detach_from_terminal(void)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    setsid();
    for (int fd = 0; fd < 3 && nothing >= 0; fd++)
        dup2(nothing, fd);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

static void close_service(struct service *s)
{
    if (s->router) packetway_router_close(s->router);
    free(s->router);
    if (s->tun) packetway_tun_close(s->tun);
    free(s->tun);
    pktway_homes_close(&s->host);
    if (s->store) free(s->store->octets);
    free(s->store);
    packetway_control_close(&s->control, DONE);
}

/* In the new process: reports on `ready` how it went, then serves. */
_Noreturn static void become(struct service *s, const struct arguments *args, open_service *begin,
                             int ready)
{
    struct started started = { .code = begin(s, args), .process = (int)getpid() };
    started.slower_at = s->slower_at;
    memcpy(started.text, started.code == DONE ? s->note : why, sizeof started.text);
    if (started.code == DONE) {
        detach_from_terminal();
        confine(s);
    }
    if (write(ready, &started, sizeof started) != (ssize_t)sizeof started || started.code != DONE)
        _exit(started.code);
    close(ready);
    serve(s);
    close_service(s);
    _exit(0);
}

/* Option readers have complained already. */
static int refused(int code, const char *text)
{
    if (*text) complain("%s", text);
    return code;
}

static int start_service(struct service *s, const struct arguments *args, open_service *begin)
{
    struct started started = { .code = FAILED };
    int ready[2];
    if (s->foreground) {
        started.code = begin(s, args);
        if (started.code != DONE) return refused(started.code, why);
        foreground_ready(s->note);
        confine(s);
        warn_if_slower(s->note, s->slower_at);
        warn_if_not_confined_here();
        printf("%s\n", s->note);
        s->stopped = !flush_printed();
        serve(s);
        close_service(s);
        return DONE;
    }
    if (pipe(ready)) return fail("a pipe: %s", strerror(errno));
    fflush(NULL);
    const pid_t first = fork();
    if (first == 0) {
        if (fork() != 0) _exit(0); /* twice, so that it has no parent here */
        close(ready[0]);
        become(s, args, begin, ready[1]);
    }
    close(ready[1]);
    while (first > 0 && waitpid(first, NULL, 0) < 0 && errno == EINTR) {
    }
    const bool received = first > 0 &&
                          read(ready[0], &started, sizeof started) == (ssize_t)sizeof started;
    close(ready[0]);
    if (!received) return fail("no process could be started");
    if (started.code != DONE) return refused(started.code, started.text);
    warn_if_slower(started.text, started.slower_at);
    warn_if_unconfined(started.process);
    printf("%s\n", started.text);
    return DONE;
}

static int start(const struct arguments *args, open_service *begin)
{
    struct service s = { .control.listener = -1,
                         .slower_at = -1,
                         .foreground = argument(args, "--foreground") != NULL };
    if (args->operand_count > 1)
        return misuse(args->verb, "'%s' behind %s, expected nothing", args->operand[1],
                      args->operand[0]);
    const int code = start_service(&s, args, begin);
    return s.foreground ? code : finish(code);
}

/* An option that is a time, in milliseconds. */
static uint32_t read_ms(const struct arguments *args, const char *option, uint32_t preset)
{
    const uint64_t ps_per_ms = 1000000000;
    uint64_t ps = preset * ps_per_ms;
    number_take(args, option, &ps);
    return (uint32_t)(ps / ps_per_ms);
}

/* ---- route --------------------------------------------------------------------------------- */

static enum packetway_driver read_driver(const struct arguments *args)
{
    const char *text = argument(args, "--driver");
    int d = PACKETWAY_XDP;
    if (!text) return PACKETWAY_ANY;
    while (strcmp(text, packetway_driver_name((enum packetway_driver)d)) != 0)
        d++;
    return (enum packetway_driver)d;
}

const char *pktway_value_at(const struct arguments *args, const char *option, uint32_t index,
                            size_t *len)
{
    const char *at = argument(args, option);
    for (; at && index; index--)
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    *len = at ? strcspn(at, "\n") : 0;
    return at;
}

/* Where --dev has the device, --san begins with a name: A is bias 0x100, B 0x200; so is 1, 2. */
static bool bias_of(const char *name, size_t len, uint32_t *bias)
{
    uint64_t number = 0;
    if (len == 1 && ((*name >= 'A' && *name <= 'Z') || (*name >= 'a' && *name <= 'z')))
        number = (uint64_t)(*name | 0x20) - 'a' + 1;
    else if (!leat_tree_number(name, len, &number) || number > 0x7ffe)
        number = 0;
    *bias = (uint32_t)number << 8;
    return number != 0;
}

/* A SAN as live/pktway reads it, of --san alone or of --san and --dev. */
static bool put_san(const char *san, size_t len, const char *device, size_t device_len, char *text,
                    size_t cap)
{
    uint32_t bias;
    const size_t name_len = strcspn(san, ",\n");
    if (len + device_len + 64 > cap) return live_because(why, "--san of more than 511 characters");
    memcpy(text, san, len);
    text[len] = 0;
    if (!device) return true;
    const bool biased = strstr(text, ",bias="), addressed = strstr(text, ",address=");
    if (!bias_of(san, name_len, &bias) && !biased)
        return live_because(why,
                            "--san '%.*s' with --dev, expected a letter or a number (A and 1 are "
                            "bias 0x100, B and 2 0x200), or bias= behind it",
                            (int)(name_len < 60 ? name_len : 60), san);
    size_t at = (size_t)snprintf(text, cap, "%.*s", (int)device_len, device);
    if (!biased) at += (size_t)snprintf(text + at, cap - at, ",bias=0x%x", bias);
    if (!addressed) at += (size_t)snprintf(text + at, cap - at, ",address=auto");
    snprintf(text + at, cap - at, "%.*s", (int)(len - name_len), san + name_len);
    return true;
}

/* The index-th SAN into `text`. False after `why`; *text is empty: there is none. */
static bool san_at(const struct arguments *args, uint32_t index, char *text, size_t cap)
{
    size_t len, device_len;
    const char *san = pktway_value_at(args, "--san", index, &len);
    const char *device = pktway_value_at(args, "--dev", index, &device_len);
    *text = 0;
    if (!san && !device) return true;
    if (!san || (!device && argument(args, "--dev")))
        return live_because(why, "--san and --dev, expected as many of the one as of the other");
    return put_san(san, len, device, device_len, text, cap);
}

static bool read_keys(const struct arguments *args, struct packetway_router_config *config)
{
    bool good = true;
    for (uint32_t i = 0; good && i < config->san_count; i++)
        good = pktway_keys_at(args, i, config->san_count, &config->sans[i].keys, why);
    return good;
}

static bool read_sans(const struct arguments *args, struct packetway_router_config *config)
{
    char text[SAN_TEXT_MAX];
    for (uint32_t i = 0;; i++) {
        if (!san_at(args, i, text, sizeof text)) return false;
        if (!*text) break;
        if (i == PACKETWAY_SANS_MAX)
            return live_because(why, "more than %d of --san", PACKETWAY_SANS_MAX);
        if (!packetway_plan_read(text, &config->sans[i], why)) return false;
        config->san_count++;
    }
    if (!config->san_count) return live_because(why, "expected --san, one for each SAN");
    return read_keys(args, config);
}

static int open_router(struct service *s, const struct arguments *args)
{
    struct packetway_router_config config = { .name = name_of(args, "router"),
                                              .claims = true,
                                              .driver = read_driver(args),
                                              .poll_ms = read_ms(args, "--poll",
                                                                 PACKETWAY_POLL_MS_DEFAULT) };
    bool wrong = true;
    if (!read_sans(args, &config)) return WRONG;
    if (!packetway_control_name(config.name, why)) return WRONG;
    if (!packetway_control_open(&s->control, config.name, why)) return FAILED;
    s->router = calloc(1, sizeof *s->router);
    if (!s->router) return live_because(why, "no memory"), FAILED;
    if (!packetway_router_open(s->router, &config, &wrong, why)) return wrong ? WRONG : FAILED;
    int at = snprintf(s->note, sizeof s->note, "router %s on %u SANs (", config.name,
                      config.san_count);
    for (uint32_t i = 0; i < s->router->count; i++)
        at += snprintf(s->note + at, sizeof s->note - (size_t)at, "%s0x%06x", i ? ", " : "",
                       s->router->half[i].san.plan.address);
    at += snprintf(s->note + at, sizeof s->note - (size_t)at,
                   "), process %d, driver %s: ", (int)getpid(),
                   packetway_driver_name(s->router->driver));
    snprintf(s->note + at, sizeof s->note - (size_t)at, "%s", s->router->why);
    if (s->router->slower_at >= 0) s->slower_at = at + s->router->slower_at;
    return DONE;
}

/* ---- host ---------------------------------------------------------------------------------- */

/* LADR. */
static bool read_logical(const struct arguments *args, struct leat_packetway_build *build)
{
    struct leat_packetway_address logical[LOGICAL_MAX];
    uint32_t count = 0;
    size_t len;
    for (const char *at; (at = pktway_value_at(args, "--logical", count, &len)); count++) {
        uint64_t number;
        if (count == LOGICAL_MAX)
            return live_because(why, "more than %d of --logical", LOGICAL_MAX);
        if (!leat_tree_number(at, len, &number) || number > UINT32_MAX ||
            leat_packetway_class_of((uint32_t)number) != LEAT_PACKETWAY_CLASS_LOGICAL)
            return live_because(why, "--logical '%.*s', expected 0xe00000 to 0xefffff",
                                len < 60 ? (int)len : 60, at);
        logical[count] = (struct leat_packetway_address){ .at = LEAT_PACKETWAY_AT_SINGLE,
                                                          .low = (uint32_t)number };
    }
    if (count) leat_packetway_build_logical(build, logical, count);
    return true;
}

/* NAME, CAPAs and LADR, in records. */
static bool read_about(const struct arguments *args, const char *name,
                       struct leat_packetway_build *build)
{
    const char *codes = argument(args, "--capability");
    if (strlen(name) > LEAT_PACKETWAY_NODE_NAME_MAX)
        return live_because(why, "--name of more than %d characters", LEAT_PACKETWAY_NODE_NAME_MAX);
    leat_packetway_build_name(build, (const uint8_t *)name, strlen(name));
    if (!codes) leat_packetway_build_capability(build, LEAT_PACKETWAY_CC_NODE, NULL, 0);
    for (const char *at = codes; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        uint64_t code;
        const size_t len = strcspn(at, "\n");
        if (!leat_tree_number(at, len, &code) || code < 1 || code > 255 ||
            code == LEAT_PACKETWAY_CC_ROUTER)
            return live_because(why, "--capability '%.*s', expected 1 to 255 and not 2 (router)",
                                (int)len, at);
        leat_packetway_build_capability(build, (uint8_t)code, NULL, 0);
    }
    return read_logical(args, build) &&
           (!build->err || live_because(why, "--capability: more than fit into 256 octets"));
}

static int open_node(const struct arguments *args, const char *san, uint32_t index, uint32_t sans,
                     const struct leat_packetway_build *about, bool claims,
                     struct leat_packetway_node **out)
{
    struct leat_keys keys;
    if (!pktway_keys_at(args, index, sans, &keys, why)) return WRONG;
    const struct leat_packetway_node_config config = {
        .san = san,
        .key = keys.count ? keys.key[0] : NULL,
        .other_key = leat_keys_other(&keys),
        .about = about->buf,
        .about_len = about->len,
        .poll_ms = read_ms(args, "--poll", PACKETWAY_POLL_MS_DEFAULT),
        .claims = claims
    };
    const enum leat_packetway_node_end end = leat_packetway_node_open(&config, out, why);
    if (end == LEAT_PACKETWAY_NODE_OK) return DONE;
    return end == LEAT_PACKETWAY_NODE_WRONG ? WRONG : FAILED;
}

/* Blocks must not overlap: an address belongs to one SAN. */
static bool check_sans(const struct arguments *args, uint32_t *count)
{
    static struct packetway_plan plan[PACKETWAY_SANS_MAX];
    char text[SAN_TEXT_MAX];
    for (*count = 0;; ++*count) {
        if (!san_at(args, *count, text, sizeof text)) return false;
        if (!*text) break;
        if (*count == PACKETWAY_SANS_MAX)
            return live_because(why, "more than %d of --san", PACKETWAY_SANS_MAX);
        if (!packetway_plan_read(text, &plan[*count], why)) return false;
    }
    if (!*count) return live_because(why, "expected --san, as in eth0,bias=0x100,address=0x101");
    return *count == 1 || packetway_plans_check(plan, *count, why);
}

/* A node on each SAN, all with the same name, capabilities and logical addresses. */
static int open_homes(const struct arguments *args, const char *name, bool claims,
                      struct pktway_homes *homes)
{
    char san[SAN_TEXT_MAX];
    uint8_t about[LEAT_PACKETWAY_HOST_MESSAGE_LEN / 4];
    struct leat_packetway_build build;
    uint32_t sans;
    int code = DONE;
    leat_packetway_build_init(&build, about, sizeof about);
    if (!check_sans(args, &sans) || !read_about(args, name, &build)) return WRONG;
    while (code == DONE && homes->count < sans) {
        if (!san_at(args, homes->count, san, sizeof san)) return WRONG;
        code = open_node(args, san, homes->count, sans, &build, claims, &homes->node[homes->count]);
        homes->count += code == DONE;
    }
    return code;
}

/* ", address 0x000101" or ", addresses 0x000101, 0x000201" */
static void note_addresses(char *text, size_t cap, const struct pktway_homes *homes)
{
    int at = snprintf(text, cap, ", address%s ", homes->count > 1 ? "es" : "");
    for (uint32_t i = 0; i < homes->count; i++)
        at += snprintf(text + at, cap - (size_t)at, "%s0x%06x", i ? ", " : "",
                       leat_packetway_node_address(homes->node[i]));
}

static int open_named(struct service *s, const struct arguments *args, const char *name)
{
    char addresses[128];
    if (!packetway_control_name(name, why)) return WRONG;
    if (!packetway_control_open(&s->control, name, why)) return FAILED;
    const int code = open_homes(args, name, true, &s->host);
    if (code != DONE) return code;
    note_addresses(addresses, sizeof addresses, &s->host);
    live_because(s->note, "host %s%s, process %d", name, addresses, (int)getpid());
    return DONE;
}

static int open_host(struct service *s, const struct arguments *args)
{
    return open_named(s, args, name_of(args, "host"));
}

/* ---- memory -------------------------------------------------------------------------------- */

static int open_memory(struct service *s, const struct arguments *args)
{
    char addresses[128];
    s->store = calloc(1, sizeof *s->store);
    if (!s->store) return live_because(why, "no memory"), FAILED;
    if (!pktway_live_store(args, s->store, why)) return WRONG;
    const int code = open_named(s, args, name_of(args, "memory"));
    if (code != DONE) return code;
    for (uint32_t i = 0; i < s->host.count; i++)
        leat_packetway_node_lend(s->host.node[i], s->store);
    note_addresses(addresses, sizeof addresses, &s->host);
    live_because(s->note, "memory %s%s, octets 0x%llx to 0x%llx, %u grants, process %d",
                 name_of(args, "memory"), addresses, (unsigned long long)s->store->address,
                 (unsigned long long)(s->store->address + s->store->len - 1), s->store->grant_count,
                 (int)getpid());
    return DONE;
}

/* ---- tun ----------------------------------------------------------------------------------- */

static int open_tun(struct service *s, const struct arguments *args)
{
    const char *ways = argument(args, "--way"), *device = argument(args, "--device");
    size_t more;
    s->tun = calloc(1, sizeof *s->tun);
    if (!s->tun) return live_because(why, "no memory"), FAILED;
    s->tun->fd = -1;
    if (pktway_value_at(args, "--san", 1, &more))
        return live_because(why, "tun takes one --san"), WRONG;
    if (!ways) return live_because(why, "tun needs --way, as in 10.9.0.3=0x301"), WRONG;
    if (device && (!*device || strlen(device) >= PACKETWAY_DEVICE_LEN))
        return live_because(why, "--device '%.40s', expected 1 to %d characters", device,
                            PACKETWAY_DEVICE_LEN - 1),
               WRONG;
    for (const char *at = ways; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        char text[128];
        const size_t len = strcspn(at, "\n");
        memcpy(text, at, len < sizeof text ? len : sizeof text - 1);
        text[len < sizeof text ? len : sizeof text - 1] = 0;
        if (!packetway_tun_way(s->tun, text, why)) return WRONG;
    }
    const int code = open_host(s, args);
    if (code != DONE) return code;
    if (!packetway_tun_open(s->tun, device ? device : "pw0",
                            leat_packetway_node_mtu(s->host.node[0]), why))
        return FAILED;
    live_because(s->note, "IP by %s, address 0x%06x, %u routes, process %d", s->tun->device,
                 leat_packetway_node_address(s->host.node[0]), s->tun->way_count, (int)getpid());
    return DONE;
}

/* ---- queries -------------------------------------------------------------------------------- */

static bool read_address(const struct arguments *args, struct packetway_request *q)
{
    uint64_t address;
    const bool memory = word_is_in(q->word, "read write");
    if (args->operand_count != (memory ? 4 : 2))
        return misused(args->verb,
                       memory ? "%s wants a node, an address there, and %s"
                              : "%s wants one address, as 0x301",
                       q->word, q->word[0] == 'r' ? "how many octets" : "octets: hex or text=TEXT");
    const char *text = args->operand[1];
    if (!leat_tree_number(text, strlen(text), &address) || address < 1 ||
        address > LEAT_PACKETWAY_ADDRESS_MAX)
        return misused(args->verb,
                       "address '%s', expected 1 to 0x7ffffd, or --fabric and a name there", text);
    q->address = (uint32_t)address;
    return true;
}

/* TO and the data of a message. */
static bool read_mail(const struct arguments *args, struct packetway_request *q)
{
    uint64_t priority = 0;
    size_t len;
    if (!number_take(args, "--priority", &priority) ||
        !pktway_payload_read(args, q->data, sizeof q->data, &len))
        return false;
    const char *to = args->operand[1];
    if (strlen(to) >= sizeof q->text || !pktway_live_mail_word(to))
        return misused(args->verb,
                       "send '%.60s', expected an address (0x201, 0xe00005), name=NAME, "
                       "capability=CC[:P,P...] or address=A[-B], or --fabric and a name there",
                       to);
    memcpy(q->text, to, strlen(to) + 1);
    q->priority = (uint8_t)priority;
    q->data_len = (uint32_t)len;
    return true;
}

static bool read_words(const struct arguments *args, struct packetway_request *q)
{
    size_t at = 0;
    if (args->operand_count < 2) return misused(args->verb, "tell wants " PKTWAY_WANTED);
    for (int i = 1; i < args->operand_count; i++) {
        const size_t len = strlen(args->operand[i]);
        if (at + len + 2 > sizeof q->text)
            return misused(args->verb, "tell: more than %d characters", PACKETWAY_TEXT_MAX - 2);
        memcpy(q->text + at, args->operand[i], len);
        at += len;
        q->text[at++] = '\n';
    }
    q->text[at ? at - 1 : 0] = 0;
    return true;
}

static bool read_request(const struct arguments *args, struct packetway_request *q)
{
    const char *word = args->operand[0];
    uint32_t count = 1, size = 56;
    if (!number_take_small(args, "--count", &count) ||
        !number_take_small_within(args, "--bytes", 8, LEAT_PACKETWAY_NODE_MESSAGE_MAX - 64, &size))
        return false;
    *q = (struct packetway_request){ .count = count,
                                     .interval_ms = read_ms(args, "--interval", 1000),
                                     .size = size,
                                     .timeout_ms = read_ms(args, "--timeout", 1000),
                                     .json = argument(args, "--json") != NULL,
                                     .by_address = argument(args, "--by-address") != NULL,
                                     .blind = argument(args, "--blind") != NULL };
    memcpy(q->word, word, strlen(word) < sizeof q->word ? strlen(word) : sizeof q->word - 1);
    if (word_is_in(word, "send")) return read_mail(args, q);
    if (word_is_in(word, "ping trace plan")) return read_address(args, q);
    if (word_is_in(word, "tell")) return read_words(args, q);
    if (word_is_in(word, "read write"))
        return read_address(args, q) && pktway_live_memory_words(args, q);
    if (args->operand_count > 1)
        return misused(args->verb, "'%s' behind %s, expected nothing", args->operand[1], word);
    if (strcmp(word, "key") != 0) return true;
    *why = 0;
    return pktway_keys_ask(args, q, why) || refused(WRONG, why) == DONE;
}

/* Queries a process that runs here. */
static int query(const struct packetway_request *q, const char *name)
{
    int code = FAILED;
    let_signals_end();
    if (packetway_control_ask(name, q, stdout, stderr, &code, why)) return code;
    complain("%s", why);
    return WRONG;
}

/* One request, or for send --count of them, --every so often. `ask` makes each. */
typedef int ask_once(const struct arguments *args, const struct packetway_request *q,
                     struct pktway_homes *homes);

static int ask_process(const struct arguments *args, const struct packetway_request *q,
                       struct pktway_homes *homes)
{
    (void)homes;
    return query(q, name_of(args, word_is_in(q->word, HOST_WORDS) ? "host" : "router"));
}

static int ask_homes(const struct arguments *args, const struct packetway_request *q,
                     struct pktway_homes *homes)
{
    (void)args;
    return pktway_live_query(homes, q, -1, stdout, stderr);
}

/* The nodes of the command's own are served meanwhile. */
static void pass_time(struct pktway_homes *homes, leat_time until)
{
    static struct leat_packetway_event event;
    for (leat_time now; (now = packetway_now()) < until && !interrupted;) {
        const leat_time left_ms = (until - now) / PS_PER_MS;
        const uint32_t wait_ms = left_ms < WAIT_MS ? (uint32_t)left_ms : WAIT_MS;
        if (homes && homes->count)
            for (uint32_t i = 0; i < homes->count; i++)
                leat_packetway_node_receive(homes->node[i], wait_ms / homes->count, &event);
        else
            poll(NULL, 0, (int)wait_ms + 1);
    }
}

static int ask_all(const struct arguments *args, struct packetway_request *q,
                   struct pktway_homes *homes, ask_once *ask)
{
    uint64_t every = LEAT_PACKETWAY_SECOND;
    const uint32_t count = strcmp(q->word, "send") == 0 ? q->count : 1;
    int worst = DONE;
    if (!number_take(args, "--every", &every)) return WRONG;
    leat_time next = packetway_now();
    for (uint32_t i = 0; i < count && !interrupted; i++) {
        q->number = i + 1;
        q->last = i + 1 == count;
        pass_time(homes, next);
        next = leat_time_add(next, every);
        const int code = ask(args, q, homes);
        if (code == WRONG) return code;
        if (code != DONE) worst = code;
    }
    return worst;
}

/* By temporary nodes of the command's own. */
static int query_as_node(const struct arguments *args, struct packetway_request *q)
{
    static struct pktway_homes homes;
    int code = open_homes(args, name_of(args, "asker"), false, &homes);
    if (code == DONE)
        code = strcmp(q->word, "receive") == 0 ? pktway_live_hear(args, NULL, &homes)
                                               : ask_all(args, q, &homes, ask_homes);
    else
        code = refused(code, why);
    pktway_homes_close(&homes);
    return code;
}

/* ---- the verb ------------------------------------------------------------------------------- */

int pktway_serve_router(const struct arguments *args)
{
    return start(args, open_router);
}

int pktway_serve_host(const struct arguments *args)
{
    return start(args, open_host);
}

int pktway_serve_tun(const struct arguments *args)
{
    return start(args, open_tun);
}

int pktway_serve_memory(const struct arguments *args)
{
    return start(args, open_memory);
}

/* The first given option that only simulated networks have; NULL: there is none. Some are also
 * those of a live ping or send. */
static const char *simulated_option(const struct arguments *args)
{
    const char *all =
        "--from --at --cut-through --error-at --fault --messages --bytes --by-address";
    if (strcmp(args->operand[0], "ping") == 0) all = "--from --at --cut-through --error-at --fault";
    if (strcmp(args->operand[0], "send") == 0)
        all = "--from --at --cut-through --error-at --fault --messages";
    return argument_in(args, all);
}

int pktway_live(const struct arguments *args)
{
    static struct packetway_request q; /* large */
    const char *word = args->operand[0], *foreign = simulated_option(args);
    if (foreign)
        return misuse(args->verb, "%s has no meaning for %s on a live network, expected --fabric",
                      foreign, word);
    if (!read_request(args, &q)) return WRONG;
    const bool has_own = strcmp(word, "key") != 0; /* its options may be those of the router */
    if (has_own && (argument(args, "--san") || argument(args, "--dev")))
        return finish(query_as_node(args, &q));
    if (strcmp(word, "receive") == 0)
        return finish(pktway_live_hear(args, name_of(args, "host"), NULL));
    return finish(ask_all(args, &q, NULL, ask_process));
}
