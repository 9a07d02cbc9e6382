/* leat pktway on networks that exist: routers, hosts, and questions to them. */
#include "leat_tree.h"
#include "packetway_build.h"
#include "pktway_live_parts.h"
#include "sim.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char why[PKTWAY_WHY_LEN];

/* A process that serves: a router or a host. */
struct service {
    bool foreground, stopped;
    int listener;
    int leaver; /* who asked to stop, and waits for the end; -1: nobody */
    struct pktway_router *router;
    struct leat_pktway *host;
    struct pktway_tun *tun; /* of a host: IP */
    char note[PKTWAY_WHY_LEN];
};

static bool word_is_in(const char *word, const char *list)
{
    const size_t len = strlen(word);
    for (const char *at = list; len && (at = strstr(at, word)); at += len)
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len])) return true;
    return false;
}

bool pktway_is_live(const struct arguments *args)
{
    const char *word = args->operand_count ? args->operand[0] : "";
    if (word_is_in(word, PKTWAY_LIVE_WORDS)) return true;
    return word_is_in(word, PKTWAY_LIVE_ALSO) && !argument(args, "--fabric");
}

static const char *name_of(const struct arguments *args, const char *fallback)
{
    const char *name = argument(args, "--name");
    return name ? name : fallback;
}

/* ---- serving ------------------------------------------------------------------------------- */

static void show_tun(const struct pktway_tun *t, bool json, FILE *out)
{
    fprintf(out,
            json ? ",\"device\":\"%s\",\"ip_sent\":%llu,\"ip_received\":%llu,\"ip_no_way\":%llu,"
                   "\"ip_spoofed\":%llu,\"ip_unsent\":%llu"
                 : "%s: %llu IP packets sent, %llu received, %llu without a way, %llu from another "
                   "node than their source's, %llu not sent\n",
            t->device, (unsigned long long)t->sent, (unsigned long long)t->received,
            (unsigned long long)t->no_way, (unsigned long long)t->spoofed,
            (unsigned long long)t->unsent);
}

static int answer(struct service *s, const struct pktway_request *q, int asker, FILE *out,
                  FILE *error)
{
    const bool is_status = strcmp(q->word, "status") == 0;
    if (strcmp(q->word, "stop") == 0) {
        s->stopped = true;
        return DONE;
    }
    if (s->host && !is_status) {
        if (word_is_in(q->word, "ping trace plan tell"))
            return pktway_live_ask(s->host, q, asker, out, error);
        fprintf(error, "leat: this is a host, expected a router's --name\n");
        return WRONG;
    }
    if (s->host) {
        const struct leat_packetway_host_counts *c = leat_pktway_counts(s->host);
        fprintf(out, q->json ? "{\"routers\":[" : "half-routers:");
        for (uint32_t i = 0; leat_pktway_router(s->host, i); i++) {
            if (q->json && i) fputc(',', out);
            if (!q->json) fputc(' ', out);
            pktway_live_number(leat_pktway_router(s->host, i), q->json, out);
        }
        fputs(q->json ? "]" : "\n", out);
#define X(id, text)                                                   \
    if (q->json)                                                      \
        fprintf(out, ",\"%s\":%llu", #id, (unsigned long long)c->id); \
    else if (c->id)                                                   \
        fprintf(out, "%12llu  %s\n", (unsigned long long)c->id, text);
        LEAT_PACKETWAY_HOST_COUNT_LIST(X)
#undef X
        if (s->tun) show_tun(s->tun, q->json, out);
        if (q->json) fputs("}\n", out);
        return DONE;
    }
    if (is_status)
        pktway_live_status(s->router, q->json, out);
    else if (strcmp(q->word, "tables") == 0)
        pktway_live_tables(s->router, q->json, out);
    else
        return fprintf(error, "leat: this is a router, expected a host's --name\n"), WRONG;
    return DONE;
}

static void serve_asker(struct service *s)
{
    struct pktway_request q;
    char *out_text = NULL, *error_text = NULL;
    size_t out_len = 0, error_len = 0;
    const int asker = pktway_control_accept(s->listener, &q);
    if (asker < 0) return;
    FILE *out = open_memstream(&out_text, &out_len);
    FILE *error = open_memstream(&error_text, &error_len);
    int code = FAILED;
    if (out && error) code = answer(s, &q, asker, out, error);
    if (out) fclose(out);
    if (error) fclose(error);
    if (out_text) pktway_control_say(asker, false, out_text, out_len);
    if (error_text) pktway_control_say(asker, true, error_text, error_len);
    if (s->stopped && s->leaver < 0)
        s->leaver = asker;
    else
        pktway_control_end(asker, code);
    free(out_text);
    free(error_text);
}

static void serve(struct service *s)
{
    struct pollfd wait[2 + PKTWAY_SANS_MAX] = { { .fd = s->listener, .events = POLLIN } };
    static struct leat_packetway_event event;
    uint32_t count = s->router ? s->router->count : 1;
    for (uint32_t i = 0; i < count; i++)
        wait[1 + i] = (struct pollfd){ .fd = s->router ? pktway_router_fd(s->router, i)
                                                       : leat_pktway_fd(s->host),
                                       .events = POLLIN };
    if (s->tun) wait[1 + count++] = (struct pollfd){ .fd = s->tun->fd, .events = POLLIN };
    while (!interrupted && !s->stopped) {
        int wait_ms = 100;
        if (s->router) {
            const leat_time now = pktway_now(), next = pktway_router_next_at(s->router);
            const leat_time left_ms = next > now ? (next - now) / 1000000000 + 1 : 0;
            if (left_ms < (leat_time)wait_ms) wait_ms = (int)left_ms;
        }
        if (poll(wait, 1 + count, wait_ms) < 0 && errno != EINTR) return;
        if (s->router)
            pktway_router_serve(s->router);
        else
            while (leat_pktway_receive(s->host, 0, &event))
                if (s->tun) pktway_tun_receive(s->tun, &event);
        if (s->tun) pktway_tun_send(s->tun, s->host);
        if (wait[0].revents) serve_asker(s);
    }
}

/* ---- starting ------------------------------------------------------------------------------ */

struct told {
    int code;
    char text[PKTWAY_WHY_LEN];
};

/* Opens in the process that will serve: descriptors and memory are its own. */
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
    if (s->router) pktway_router_close(s->router);
    free(s->router);
    if (s->tun) pktway_tun_close(s->tun);
    free(s->tun);
    leat_pktway_close(s->host);
    close(s->listener);
    if (s->leaver >= 0) pktway_control_end(s->leaver, DONE);
}

/* In the new process: says on `ready` how it went, then serves. */
_Noreturn static void become(struct service *s, const struct arguments *args, open_service *begin,
                             int ready)
{
    struct told told = { .code = begin(s, args) };
    memcpy(told.text, told.code == DONE ? s->note : why, sizeof told.text);
    if (told.code == DONE) detach_from_terminal();
    if (write(ready, &told, sizeof told) != (ssize_t)sizeof told || told.code != DONE)
        _exit(told.code);
    close(ready);
    serve(s);
    close_service(s);
    _exit(0);
}

static int start(struct service *s, const struct arguments *args, open_service *begin)
{
    struct told told = { .code = FAILED };
    int ready[2];
    if (s->foreground) {
        told.code = begin(s, args);
        if (told.code != DONE) return complain("%s", why), told.code;
        printf("%s\n", s->note);
        s->stopped = !flush_printed();
        serve(s);
        close_service(s);
        return DONE;
    }
    if (pipe(ready)) return complain("a pipe: %s", strerror(errno)), FAILED;
    fflush(NULL);
    const pid_t first = fork();
    if (first == 0) {
        if (fork() != 0) _exit(0); /* twice, so that it is nobody's child */
        close(ready[0]);
        become(s, args, begin, ready[1]);
    }
    close(ready[1]);
    while (first > 0 && waitpid(first, NULL, 0) < 0 && errno == EINTR) {
    }
    const bool heard = first > 0 && read(ready[0], &told, sizeof told) == (ssize_t)sizeof told;
    close(ready[0]);
    if (!heard) return complain("no process could be started"), FAILED;
    if (told.code != DONE) return complain("%s", told.text), told.code;
    printf("%s\n", told.text);
    return DONE;
}

/* ---- route --------------------------------------------------------------------------------- */

static bool read_driver(const struct arguments *args, enum pktway_driver *driver)
{
    const char *text = argument(args, "--driver");
    *driver = PKTWAY_ANY;
    if (!text) return true;
    for (int d = PKTWAY_XDP; d <= PKTWAY_UDP; d++)
        if (strcmp(text, pktway_driver_name((enum pktway_driver)d)) == 0)
            return *driver = (enum pktway_driver)d, true;
    return pktway_because(why, "--driver '%s', expected xdp, packet or udp", text);
}

static bool read_sans(const struct arguments *args, struct pktway_router_config *config)
{
    const char *all = argument(args, "--san");
    if (!all) return pktway_because(why, "expected --san, one for each SAN");
    for (const char *at = all; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        char text[512];
        const size_t len = strcspn(at, "\n");
        if (config->san_count == PKTWAY_SANS_MAX)
            return pktway_because(why, "more than %d of --san", PKTWAY_SANS_MAX);
        if (len >= sizeof text) return pktway_because(why, "--san of more than 511 characters");
        memcpy(text, at, len);
        text[len] = 0;
        if (!pktway_plan_read(text, &config->sans[config->san_count], why)) return false;
        config->san_count++;
    }
    return true;
}

static int open_router(struct service *s, const struct arguments *args)
{
    struct pktway_router_config config = { .name = name_of(args, "router") };
    uint64_t poll_ms = PKTWAY_POLL_MS_DEFAULT;
    char note[PKTWAY_WHY_LEN] = "";
    bool wrong = true;
    if (!sim_read_number(args, "--poll", 10, 60000, &poll_ms)) return WRONG;
    config.poll_ms = (uint32_t)poll_ms;
    if (!read_driver(args, &config.driver) || !read_sans(args, &config)) return WRONG;
    if (!pktway_control_name(config.name, why)) return WRONG;
    s->listener = pktway_control_listen(config.name, why);
    if (s->listener < 0) return FAILED;
    s->router = calloc(1, sizeof *s->router);
    if (!s->router) return pktway_because(why, "no memory"), FAILED;
    if (!pktway_router_open(s->router, &config, note, &wrong, why)) return wrong ? WRONG : FAILED;
    pktway_because(s->note, "router %s on %u SANs, process %d, driver %s: %.200s", config.name,
                   config.san_count, (int)getpid(), pktway_driver_name(s->router->driver), note);
    return DONE;
}

/* ---- host ---------------------------------------------------------------------------------- */

/* NAME and CAPAs, in records. */
static bool read_about(const struct arguments *args, const char *name,
                       struct leat_packetway_build *build)
{
    const char *codes = argument(args, "--capability");
    if (strlen(name) > LEAT_PKTWAY_NAME_MAX)
        return pktway_because(why, "--name of more than %d characters", LEAT_PKTWAY_NAME_MAX);
    leat_packetway_build_name(build, (const uint8_t *)name, strlen(name));
    if (!codes) leat_packetway_build_capability(build, LEAT_PACKETWAY_CC_NODE, NULL, 0);
    for (const char *at = codes; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        uint64_t code;
        const size_t len = strcspn(at, "\n");
        if (!leat_tree_number(at, len, &code) || code < 1 || code > 255 ||
            code == LEAT_PACKETWAY_CC_ROUTER)
            return pktway_because(why, "--capability '%.*s', expected 1 to 255 and not 2 (router)",
                                  (int)len, at);
        leat_packetway_build_capability(build, (uint8_t)code, NULL, 0);
    }
    return !build->err || pktway_because(why, "--capability: more than fit into 256 octets");
}

static int open_node(const struct arguments *args, const char *name, struct leat_pktway **out)
{
    uint8_t about[LEAT_PACKETWAY_HOST_MESSAGE_LEN / 4];
    struct leat_packetway_build build;
    uint64_t poll_ms = PKTWAY_POLL_MS_DEFAULT;
    const char *san = argument(args, "--san");
    if (!sim_read_number(args, "--poll", 10, 60000, &poll_ms)) return WRONG;
    if (!san || strchr(san, '\n'))
        return pktway_because(why, "expected one --san, as in eth0,bias=0x100,address=0x101"),
               WRONG;
    leat_packetway_build_init(&build, about, sizeof about);
    if (!read_about(args, name, &build)) return WRONG;
    const struct leat_pktway_config config = {
        .san = san, .about = about, .about_len = build.len, .poll_ms = (uint32_t)poll_ms
    };
    const enum leat_pktway_end end = leat_pktway_open(&config, out, why);
    if (end == LEAT_PKTWAY_OK) return DONE;
    return end == LEAT_PKTWAY_WRONG ? WRONG : FAILED;
}

static int open_host(struct service *s, const struct arguments *args)
{
    const char *name = name_of(args, "host");
    if (!pktway_control_name(name, why)) return WRONG;
    s->listener = pktway_control_listen(name, why);
    if (s->listener < 0) return FAILED;
    const int code = open_node(args, name, &s->host);
    if (code == DONE)
        pktway_because(s->note, "host %s on %.200s, process %d", name, argument(args, "--san"),
                       (int)getpid());
    return code;
}

/* ---- tun ----------------------------------------------------------------------------------- */

static int open_tun(struct service *s, const struct arguments *args)
{
    const char *ways = argument(args, "--way"), *device = argument(args, "--device");
    s->tun = calloc(1, sizeof *s->tun);
    if (!s->tun) return pktway_because(why, "no memory"), FAILED;
    s->tun->fd = -1;
    if (!ways) return pktway_because(why, "tun needs --way, as in 10.9.0.3=0x301"), WRONG;
    for (const char *at = ways; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        char text[128];
        const size_t len = strcspn(at, "\n");
        memcpy(text, at, len < sizeof text ? len : sizeof text - 1);
        text[len < sizeof text ? len : sizeof text - 1] = 0;
        if (!pktway_tun_way(s->tun, text, why)) return WRONG;
    }
    const int code = open_host(s, args);
    if (code != DONE) return code;
    if (!pktway_tun_open(s->tun, device ? device : "pw0", leat_pktway_mtu(s->host), why))
        return FAILED;
    pktway_because(s->note, "IP by %s, %u ways, process %d", s->tun->device, s->tun->way_count,
                   (int)getpid());
    return DONE;
}

/* ---- asking -------------------------------------------------------------------------------- */

static bool read_address(const struct arguments *args, struct pktway_request *q)
{
    uint64_t address;
    if (args->operand_count != 2)
        return misuse(args->verb, "%s wants one address, as 0x301", q->word), false;
    const char *text = args->operand[1];
    if (!leat_tree_number(text, strlen(text), &address) || address < 1 ||
        address > LEAT_PACKETWAY_ADDRESS_MAX)
        return misuse(args->verb,
                      "address '%s', expected 1 to 0x7ffffd, or --fabric and a name there", text),
               false;
    q->address = (uint32_t)address;
    return true;
}

static bool read_words(const struct arguments *args, struct pktway_request *q)
{
    size_t at = 0;
    if (args->operand_count < 2)
        return misuse(args->verb, "tell wants name=NAME, capability=CC[:P,P...] or address=A[-B]"),
               false;
    for (int i = 1; i < args->operand_count; i++) {
        const size_t len = strlen(args->operand[i]);
        if (at + len + 2 > sizeof q->text)
            return misuse(args->verb, "tell: more than %d characters", PKTWAY_TEXT_MAX - 2), false;
        memcpy(q->text + at, args->operand[i], len);
        at += len;
        q->text[at++] = '\n';
    }
    q->text[at ? at - 1 : 0] = 0;
    return true;
}

static bool read_request(const struct arguments *args, struct pktway_request *q)
{
    const char *word = args->operand[0];
    uint64_t count = 1, interval_ms = 1000, size = 56, timeout_ms = 1000;
    if (!sim_read_number(args, "--count", 1, 1000000, &count) ||
        !sim_read_number(args, "--interval", 0, 60000, &interval_ms) ||
        !sim_read_number(args, "--size", 8, LEAT_PKTWAY_MESSAGE_MAX - 64, &size) ||
        !sim_read_number(args, "--timeout", 1, 60000, &timeout_ms))
        return false;
    *q = (struct pktway_request){ .count = (uint32_t)count,
                                  .interval_ms = (uint32_t)interval_ms,
                                  .size = (uint32_t)size,
                                  .timeout_ms = (uint32_t)timeout_ms,
                                  .json = argument(args, "--json") != NULL,
                                  .by_address = argument(args, "--by-address") != NULL };
    memcpy(q->word, word, strlen(word) < sizeof q->word ? strlen(word) : sizeof q->word - 1);
    if (word_is_in(word, "ping trace plan")) return read_address(args, q);
    if (word_is_in(word, "tell")) return read_words(args, q);
    if (args->operand_count == 1) return true;
    return misuse(args->verb, "'%s' behind %s, expected nothing", args->operand[1], word), false;
}

/* Of a process that runs here. */
static int ask(const struct pktway_request *q, const char *name)
{
    int code = FAILED;
    if (pktway_control_ask(name, q, stdout, stderr, &code, why)) return code;
    if (interrupted) return FAILED; /* which is not worth a word */
    complain("%s", why);
    return WRONG;
}

/* By a node of the command's own, for as long as it lasts. */
static int ask_by_myself(const struct arguments *args, const struct pktway_request *q)
{
    struct leat_pktway *node = NULL;
    int code = open_node(args, name_of(args, "asker"), &node);
    if (code == DONE)
        code = pktway_live_ask(node, q, -1, stdout, stderr);
    else
        complain("%s", why);
    leat_pktway_close(node);
    return code;
}

int pktway_live(const struct arguments *args)
{
    struct service s = { .listener = -1,
                         .leaver = -1,
                         .foreground = argument(args, "--foreground") != NULL };
    struct pktway_request q;
    const char *word = args->operand[0];
    if (!read_request(args, &q)) return WRONG;
    if (strcmp(word, "route") == 0) return finish(start(&s, args, open_router));
    if (strcmp(word, "host") == 0) return finish(start(&s, args, open_host));
    if (strcmp(word, "tun") == 0) return finish(start(&s, args, open_tun));
    if (strcmp(word, "leave") == 0) memcpy(q.word, "stop", sizeof "stop");
    if (!word_is_in(word, "ping trace plan tell")) return finish(ask(&q, name_of(args, "router")));
    return finish(argument(args, "--san") ? ask_by_myself(args, &q)
                                          : ask(&q, name_of(args, "host")));
}
