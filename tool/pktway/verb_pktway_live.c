/* leat pktway on live networks: routers, hosts, and queries to them. */
#include "json_out.h"
#include "leat_tree.h"
#include "live_guard.h"
#include "number.h"
#include "packetway_record.h"
#include "pktway_live_parts.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAN_TEXT_MAX = 640 };
#define HOST_WORDS "ping trace plan tell read write"
static char why[PACKETWAY_WHY_LEN];

/* A serving process: a router or a host. */
struct service {
    bool foreground, stopped;
    struct packetway_control control;
    struct packetway_router *router;
    struct leat_packetway_node *host;
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
    static char schema[64]; /* lent to json_out */
    snprintf(schema, sizeof schema, "leat.pktway.%s/1", q->word);
    json_schema(schema);
    if (strcmp(q->word, "stop") == 0) {
        s->stopped = true;
        return DONE;
    }
    if (s->host && !is_status) {
        if (word_is_in(q->word, HOST_WORDS))
            return pktway_live_query(s->host, q, client, out, error);
        fprintf(error, "leat: this is a host, expected a router's --name\n");
        return WRONG;
    }
    if (s->host)
        pktway_live_host_status(s->host, s->tun, s->store, q->json, out);
    else if (is_status)
        pktway_live_status(s->router, q->json, out);
    else if (strcmp(q->word, "tables") == 0)
        pktway_live_tables(s->router, q->json, out);
    else
        return fprintf(error, "leat: this is a router, expected a host's --name\n"), WRONG;
    return DONE;
}

/* A client that requests a stop waits for the end, which is reported when all is closed. */
static void serve_client(struct service *s, const struct pollfd *wait)
{
    static struct packetway_request q;
    struct packetway_client *client = packetway_control_serve(&s->control, wait, packetway_now(),
                                                              &q);
    if (!client) return;
    FILE *out = packetway_control_stream(client, false),
         *error = packetway_control_stream(client, true);
    int code = FAILED;
    if (out && error) code = answer(s, &q, client->fd, out, error);
    if (out) fclose(out);
    if (error) fclose(error);
    if (!s->stopped) packetway_control_end(client, code);
}

static void serve(struct service *s)
{
    enum { SANS_AT = PACKETWAY_CONTROL_FDS };
    struct pollfd wait[SANS_AT + PACKETWAY_SANS_MAX + 1];
    static struct leat_packetway_event event;
    uint32_t count = s->router ? s->router->count : 1;
    for (uint32_t i = 0; i < count; i++)
        wait[SANS_AT + i] = (struct pollfd){ .fd = s->router ? packetway_router_fd(s->router, i)
                                                             : leat_packetway_node_fd(s->host),
                                             .events = POLLIN };
    if (s->tun) wait[SANS_AT + count++] = (struct pollfd){ .fd = s->tun->fd, .events = POLLIN };
    while (!interrupted && !s->stopped) {
        int wait_ms = 100;
        check_home(s);
        if (s->router) {
            const leat_time now = packetway_now(), next = packetway_router_next_at(s->router);
            const leat_time left_ms = next > now ? (next - now) / 1000000000 + 1 : 0;
            if (left_ms < (leat_time)wait_ms) wait_ms = (int)left_ms;
        }
        packetway_control_wait(&s->control, wait);
        if (poll(wait, SANS_AT + count, wait_ms) < 0 && errno != EINTR) return;
        if (s->router)
            packetway_router_serve(s->router);
        else
            while (leat_packetway_node_receive(s->host, 0, &event))
                if (s->tun) packetway_tun_receive(s->tun, &event);
        if (s->tun) packetway_tun_send(s->tun, s->host);
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
    leat_packetway_node_close(s->host);
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
    return finish(start_service(&s, args, begin));
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

/* The index-th value of an option that may be repeated, and its length; NULL: no such. */
static const char *value_at(const struct arguments *args, const char *option, uint32_t index,
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
    const char *san = value_at(args, "--san", index, &len);
    const char *device = value_at(args, "--dev", index, &device_len);
    *text = 0;
    if (!san && !device) return true;
    if (!san || (!device && argument(args, "--dev")))
        return live_because(why, "--san and --dev, expected as many of the one as of the other");
    return put_san(san, len, device, device_len, text, cap);
}

/* The key of the index-th of `sans` SANs: the one for all, or its own; "none" is none. False after
 * `why` or a complaint. */
static bool key_at(const struct arguments *args, uint32_t index, uint32_t sans,
                   uint8_t key[LEAT_PACKETWAY_KEY_LEN], bool *keyed)
{
    char path[PATH_MAX];
    size_t len;
    uint32_t keys = 0;
    *keyed = false;
    while (value_at(args, "--key-file", keys, &len))
        keys++;
    if (!keys) return true;
    if (keys != 1 && keys != sans)
        return live_because(why, "%u of --key-file, expected one, or one for each of %u SANs", keys,
                            sans);
    const char *text = value_at(args, "--key-file", keys == 1 ? 0 : index, &len);
    if (len >= sizeof path)
        return live_because(why, "--key-file of more than %d characters", PATH_MAX - 1);
    memcpy(path, text, len);
    path[len] = 0;
    *keyed = strcmp(path, "none") != 0;
    return !*keyed || key_file_read(path, key);
}

static bool read_keys(const struct arguments *args, struct packetway_router_config *config)
{
    bool good = true;
    for (uint32_t i = 0; good && i < config->san_count; i++)
        good = key_at(args, i, config->san_count, config->sans[i].key, &config->sans[i].keyed);
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

/* NAME and CAPAs, in records. */
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
    return !build->err || live_because(why, "--capability: more than fit into 256 octets");
}

static int open_node(const struct arguments *args, const char *name, bool claims,
                     struct leat_packetway_node **out)
{
    char san[SAN_TEXT_MAX], more[SAN_TEXT_MAX];
    uint8_t about[LEAT_PACKETWAY_HOST_MESSAGE_LEN / 4], key[LEAT_PACKETWAY_KEY_LEN];
    bool keyed = false;
    struct leat_packetway_build build;
    if (!san_at(args, 0, san, sizeof san) || !san_at(args, 1, more, sizeof more)) return WRONG;
    if (!*san || *more)
        return live_because(why, "expected one --san, as in eth0,bias=0x100,address=0x101"), WRONG;
    leat_packetway_build_init(&build, about, sizeof about);
    if (!read_about(args, name, &build) || !key_at(args, 0, 1, key, &keyed)) return WRONG;
    const struct leat_packetway_node_config config = {
        .san = san,
        .key = keyed ? key : NULL,
        .about = about,
        .about_len = build.len,
        .poll_ms = read_ms(args, "--poll", PACKETWAY_POLL_MS_DEFAULT),
        .claims = claims
    };
    const enum leat_packetway_node_end end = leat_packetway_node_open(&config, out, why);
    if (end == LEAT_PACKETWAY_NODE_OK) return DONE;
    return end == LEAT_PACKETWAY_NODE_WRONG ? WRONG : FAILED;
}

static int open_named(struct service *s, const struct arguments *args, const char *name)
{
    if (!packetway_control_name(name, why)) return WRONG;
    if (!packetway_control_open(&s->control, name, why)) return FAILED;
    const int code = open_node(args, name, true, &s->host);
    if (code == DONE)
        live_because(s->note, "host %s, address 0x%06x, process %d", name,
                     leat_packetway_node_address(s->host), (int)getpid());
    return code;
}

static int open_host(struct service *s, const struct arguments *args)
{
    return open_named(s, args, name_of(args, "host"));
}

/* ---- memory -------------------------------------------------------------------------------- */

static int open_memory(struct service *s, const struct arguments *args)
{
    s->store = calloc(1, sizeof *s->store);
    if (!s->store) return live_because(why, "no memory"), FAILED;
    if (!pktway_live_store(args, s->store, why)) return WRONG;
    const int code = open_named(s, args, name_of(args, "memory"));
    if (code != DONE) return code;
    leat_packetway_node_lend(s->host, s->store);
    live_because(s->note,
                 "memory %s, address 0x%06x, octets 0x%llx to 0x%llx, %u grants, process %d",
                 name_of(args, "memory"), leat_packetway_node_address(s->host),
                 (unsigned long long)s->store->address,
                 (unsigned long long)(s->store->address + s->store->len - 1), s->store->grant_count,
                 (int)getpid());
    return DONE;
}

/* ---- tun ----------------------------------------------------------------------------------- */

static int open_tun(struct service *s, const struct arguments *args)
{
    const char *ways = argument(args, "--way"), *device = argument(args, "--device");
    s->tun = calloc(1, sizeof *s->tun);
    if (!s->tun) return live_because(why, "no memory"), FAILED;
    s->tun->fd = -1;
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
    if (!packetway_tun_open(s->tun, device ? device : "pw0", leat_packetway_node_mtu(s->host), why))
        return FAILED;
    live_because(s->note, "IP by %s, address 0x%06x, %u routes, process %d", s->tun->device,
                 leat_packetway_node_address(s->host), s->tun->way_count, (int)getpid());
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
    if (word_is_in(word, "ping trace plan")) return read_address(args, q);
    if (word_is_in(word, "tell")) return read_words(args, q);
    if (word_is_in(word, "read write"))
        return read_address(args, q) && pktway_live_memory_words(args, q);
    if (args->operand_count == 1) return true;
    return misused(args->verb, "'%s' behind %s, expected nothing", args->operand[1], word);
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

/* By a temporary node of the command's own. */
static int query_as_node(const struct arguments *args, const struct packetway_request *q)
{
    struct leat_packetway_node *node = NULL;
    int code = open_node(args, name_of(args, "asker"), false, &node);
    if (code != DONE) return refused(code, why);
    code = pktway_live_query(node, q, -1, stdout, stderr);
    leat_packetway_node_close(node);
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

/* The first given option that only simulated networks have; NULL: there is none. The last two are
 * also those of a live ping. */
static const char *simulated_option(const struct arguments *args)
{
    static const char *const all[] = { "--from",  "--at",    "--cut-through", "--error-at",
                                       "--fault", "--bytes", "--by-address" };
    size_t count = sizeof all / sizeof *all;
    if (strcmp(args->operand[0], "ping") == 0) count -= 2;
    for (size_t i = 0; i < count; i++)
        if (argument(args, all[i])) return all[i];
    return NULL;
}

int pktway_live(const struct arguments *args)
{
    struct packetway_request q;
    const char *word = args->operand[0], *foreign = simulated_option(args);
    if (foreign)
        return misuse(args->verb, "%s has no meaning for %s on a live network, expected --fabric",
                      foreign, word);
    if (!read_request(args, &q)) return WRONG;
    if (!word_is_in(word, HOST_WORDS)) return finish(query(&q, name_of(args, "router")));
    return finish(argument(args, "--san") || argument(args, "--dev")
                      ? query_as_node(args, &q)
                      : query(&q, name_of(args, "host")));
}
