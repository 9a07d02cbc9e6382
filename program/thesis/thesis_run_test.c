/*
 * The library and its service together: tasks are real processes (this program again, all with the
 * name of their role), the platform is the simulated one.
 */
#include "leat_text.h"
#include "sim_atm_platform.h"
#include "tap.h"
#include "thesis_service.h"
#include <leat/atm_task.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 24, PORTS = 16 };

/* ---- roles of tasks -------------------------------------------------------------------------- */

static struct shmst *dev;
static struct prcsdescstr *tab;

#define HOLDS(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static _Noreturn void fail(const char *what, int line)
{
    char text[200];
    snprintf(text, sizeof text, "line %d: %s", line, what);
    atmfail(dev, text);
}

static int join(void)
{
    HOLDS(atmjoin(&dev, &tab) == 0);
    return atminst(dev);
}

/* The first of them starts the others. */
static int join_of(int tasks)
{
    const int me = join();
    for (int i = 1; i < tasks && me == 0; i++)
        atmstart(dev, tab, "exe", i);
    return me;
}

static void send_number(int inst, int type, int number)
{
    atminitsend(dev);
    atmputnint(dev, &number, 1);
    atmsnd(dev, tab, "exe", inst, type);
}

static int receive_number(int type)
{
    int number;
    atmrcv(dev, type);
    atmgetnint(dev, &number, 1);
    dev->rlcked = 0;
    return number;
}

/* Octets and cycles of spec/atm.md, 5.4, by the place of the word "delay0" in the list. */
static const struct {
    int octets, cycles;
} delays[] = { { 0, 155 },  { 1, 169 },  { 2, 177 },  { 3, 185 },  { 4, 193 },       { 8, 231 },
               { 16, 307 }, { 17, 389 }, { 52, 717 }, { 53, 802 }, { 67912, 779222 } };
static int delay;

static void do_delay(void)
{
    static char octets[67912];
    const int len = delays[delay].octets;
    if (join_of(2)) {
        atmrcv(dev, 1);
        atmgetbytes(dev, octets, len);
        dev->rlcked = 0;
        HOLDS(atmcycle(dev) == (unsigned)delays[delay].cycles);
        for (int i = 0; i < len; i++)
            HOLDS(octets[i] == (char)(i * 7));
        return;
    }
    for (int i = 0; i < len; i++)
        octets[i] = (char)(i * 7);
    atminitsend(dev);
    HOLDS(atmcycle(dev) == 0);
    atmputbytes(dev, octets, len);
    atmsnd(dev, tab, "exe", 1, 1);
}

/* How long words take, from a lock that was just granted. */
static void took(unsigned long long begin, unsigned cycles)
{
    HOLDS(atmcycle(dev) - begin == cycles);
}

static void do_types(void)
{
    const int i[] = { 7, -7 };
    const short s[] = { 1, -1, 2 };
    const long l[] = { -123456789 };
    const double d[] = { 0.1 };
    const struct atmdcplx c[] = { { 1.5, -2.5 } };
    char text[8];
    if (join_of(2)) {
        int j[2];
        short t[3];
        long m[1];
        double e[1];
        struct atmdcplx f[1];
        atmrcv(dev, 1);
        const unsigned long long begin = atmcycle(dev);
        atmgetnint(dev, j, 2);
        atmgetnshort(dev, t, 3);
        atmgetnlong(dev, m, 1);
        atmgetndfloat(dev, e, 1);
        atmgetndcplx(dev, f, 1);
        atmgetstring(dev, text);
        took(begin, 2 * 19 + 3 * 11 + 19 + 2 * 19 + 4 * 19 + 2 * 19);
        HOLDS(!memcmp(i, j, sizeof i) && !memcmp(s, t, sizeof s) && l[0] == m[0]);
        HOLDS(!memcmp(d, e, sizeof d) && !memcmp(c, f, sizeof c) && !strcmp(text, "leat"));
        return; /* the lock is released at the end */
    }
    atminitsend(dev);
    const unsigned long long begin = atmcycle(dev);
    HOLDS(dev->wlcked == 1);
    atmputnint(dev, i, 2);
    took(begin, 3 + 2 * 19);
    atmputnshort(dev, s, 3);
    took(begin, 3 + 2 * 19 + 3 * 11);
    atmputnlong(dev, l, 1);
    atmputndfloat(dev, d, 1);
    atmputndcplx(dev, c, 1);
    atmputstring(dev, "leat");
    took(begin, 3 + 2 * 19 + 3 * 11 + 19 + 2 * 19 + 4 * 19 + 2 * 19);
    atmsnd(dev, tab, "exe", 1, 1);
    HOLDS(dev->wlcked == 0);
}

static void do_all(void)
{
    enum { TASKS = 20 };
    const int me = join_of(TASKS);
    if (me == 3) send_number(-1, 5, 4711);
    if (me != 3) HOLDS(receive_number(5) == 4711);
    if (me) send_number(0, 6, me);
    int sum = 0;
    for (int i = 1; i < TASKS && !me; i++)
        sum += receive_number(6);
    HOLDS(me || sum == TASKS * (TASKS - 1) / 2);
    HOLDS(atmport(dev, tab, "exe", 19) == 19 % PORTS && atmport(dev, tab, "exe", 99) == -1);
    HOLDS(atmport(dev, tab, "abc", 0) == -1);
}

/* Tasks 1 and 17 share a port. While one reads, the other cannot write. */
static void do_lock(void)
{
    const int me = join_of(18);
    if (me == 0) {
        send_number(1, 1, 5);
    } else if (me == 1) {
        atmrcv(dev, 1);
        HOLDS(dev->rlcked == 1);
        send_number(0, 3, 0); /* its own reading does not block it */
        usleep(50);           /* 1000 cycles */
        const int now = (int)atmcycle(dev);
        dev->rlcked = 0;
        send_number(17, 2, now);
    } else if (me == 17) {
        usleep(20); /* the other reads by now */
        atminitsend(dev);
        const int granted = (int)atmcycle(dev), zero = 0;
        atmputnint(dev, &zero, 1);
        atmsnd(dev, tab, "exe", 0, 4);
        HOLDS(receive_number(2) == granted);
    }
}

static void do_clock(void)
{
    struct timeval before, after;
    join();
    gettimeofday(&before, NULL);
    const unsigned long long cycle = atmcycle(dev);
    sleep(2);
    gettimeofday(&after, NULL);
    HOLDS(after.tv_sec - before.tv_sec == 2);
    HOLDS(atmcycle(dev) - cycle == 40000000); /* of 50 ns */
}

/* Every task sends to every task, from shared ports. */
static void do_storm(void)
{
    enum { TASKS = 18, ROUNDS = 3 };
    const int me = join_of(TASKS);
    int received = me;
    for (int r = 0; r < ROUNDS; r++) {
        send_number((me + 1) % TASKS, r, received);
        received = 31 * (received % 1000) + receive_number(r);
        if (me == 0) send_number(-1, ROUNDS + r, received);
        received += me ? receive_number(ROUNDS + r) : 0;
    }
}

static void do_nothing(void)
{
    HOLDS(join() == 0);
    struct shmst *again;
    HOLDS(atmjoin(&again, &tab) == 0 && again == dev);
    HOLDS(atmleave(dev) == 0);
}

static void do_print(void)
{
    const int me = join_of(3);
    if (me) printf("task %d\nand its last line", me);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void do_put_first(void)
{
    join();
    atmputnint(dev, &(int){ 1 }, 1);
}

static void do_send_first(void)
{
    join();
    atmsnd(dev, tab, "exe", 0, 1);
}

static void do_begin_twice(void)
{
    join();
    atminitsend(dev);
    atminitsend(dev);
}

static void do_get_first(void)
{
    join();
    atmgetnint(dev, &(int){ 1 }, 1);
}

static void do_get_late(void)
{
    join();
    send_number(0, 1, 1);
    receive_number(1);
    atmgetnint(dev, &(int){ 1 }, 1);
}

static void do_get_beyond(void)
{
    int numbers[5];
    join();
    send_number(0, 1, 1);
    atmrcv(dev, 1);
    atmgetnint(dev, numbers, 4); /* its one cell has room for 16 octets */
    HOLDS(numbers[0] == 1 && numbers[3] == 0);
    atmgetnint(dev, numbers, 1);
}

static void do_too_long(void)
{
    static char octets[67913];
    join();
    atminitsend(dev);
    atmputbytes(dev, octets, sizeof octets);
}

static void do_bad_type(void)
{
    join();
    atminitsend(dev);
    atmsnd(dev, tab, "exe", 0, -1);
}

static void do_bad_wanted(void)
{
    join();
    atmrcv(dev, -2);
}

static void do_bad_name(void)
{
    join();
    atminitsend(dev);
    atmsnd(dev, tab, "worker", 0, 1);
}

static void do_bad_instance(void)
{
    join();
    atminitsend(dev);
    atmsnd(dev, tab, "exe", -2, 1);
}

static void do_stranger(void)
{
    join();
    atminitsend(dev);
    atmsnd(dev, tab, "abc", -1, 1);
}

static void do_bad_dev(void)
{
    struct shmst other = { 0 };
    join();
    atminitsend(&other);
}

static void do_start_twice(void)
{
    join();
    atmstart(dev, tab, "exe", 0);
}

static void do_start_nothing(void)
{
    join();
    atmstart(dev, tab, "xyz", 0);
}

static void do_start_negative(void)
{
    join();
    atmstart(dev, tab, "exe", -1);
}

/* Until the run has no more room: 24 slots at 16 ports. */
static void do_start_many(void)
{
    join_of(100);
}

static void do_leave_writing(void)
{
    join();
    atminitsend(dev);
}

static void do_wait_for_ever(void)
{
    join();
    atmrcv(dev, 7);
}

static void do_crash(void)
{
    if (join_of(3) == 2) raise(SIGKILL);
    atmrcv(dev, 1);
}

static void do_quit(void)
{
    if (join_of(2)) _exit(3);
    atmrcv(dev, 1);
}

static void do_never_join(void)
{
    exit(4);
}

static void do_code(void)
{
    if (join_of(3) == 2) exit(5);
}

static const struct body {
    const char *name;
    void (*run)(void);
    const char *reason; /* why the run ends; NULL: success */
} bodies[] = {
    { "types", do_types, NULL },
    { "all", do_all, NULL },
    { "lock", do_lock, NULL },
    { "clock", do_clock, NULL },
    { "storm", do_storm, NULL },
    { "nothing", do_nothing, NULL },
    { "print", do_print, NULL },
    { "code", do_code, NULL },
    { "put_first", do_put_first, "task 0: exe 0: atmput: no message was begun" },
    { "send_first", do_send_first, "task 0: exe 0: atmsnd: no message was begun" },
    { "begin_twice", do_begin_twice,
      "exe 0: atminitsend: its last message was begun and not sent" },
    { "get_first", do_get_first, "exe 0: atmget: it has no message to read" },
    { "get_late", do_get_late, "exe 0: atmget: it has no message to read" },
    { "get_beyond", do_get_beyond, "exe 0: atmget: the message has fewer octets" },
    { "too_long", do_too_long, "exe 0: atmput: the message is longer than the send buffer" },
    { "bad_type", do_bad_type, "exe 0: atmsnd: type -1, expected 0 or more" },
    { "bad_wanted", do_bad_wanted, "exe 0: atmrcv: type -2, expected 0 or more" },
    { "bad_name", do_bad_name, "exe 0: atmsnd: the name \"worker\", expected three letters" },
    { "bad_instance", do_bad_instance,
      "exe 0: atmsnd: instance -2 of exe, expected 0 or more, or -1" },
    { "stranger", do_stranger, "exe 0: atmsnd to abc -1, which is not in the process table" },
    { "bad_dev", do_bad_dev,
      "exe 0: atminitsend: its first argument is not what atmjoin returned" },
    { "start_twice", do_start_twice, "exe 0: atmstart: exe 0 is in the process table already" },
    { "start_nothing", do_start_nothing, "exe 0: atmstart: no program xyz" },
    { "start_negative", do_start_negative,
      "exe 0: atmstart: instance -1 of exe, expected 0 or more" },
    { "start_many", do_start_many, "exe 0: atmstart of exe 24: a run has room for 24 tasks" },
    { "leave_writing", do_leave_writing,
      "atmleave: a message was begun by atminitsend and not sent" },
    { "wait_for_ever", do_wait_for_ever, "all tasks wait, and nothing is in flight" },
    { "crash", do_crash, "task 2: exe 2: it was killed by signal 9" },
    { "quit", do_quit, "task 1: exe 1: its process has ended without atmleave or exit" },
    { "never_join", do_never_join,
      "exe 0: its process has ended, with code 4, without having called" },
};

/* ---- runs ------------------------------------------------------------------------------------ */

struct result {
    enum leat_hub_end end;
    char reason[256];
    char doing[LEAT_TASK_CALL_LEN + LEAT_TASK_ABOUT_LEN]; /* of task 0, if it is stuck */
    uint64_t certificate;
    int status[SLOTS];
    uint64_t sent, received; /* messages of all tasks */
    char records[4096], log[256];
};

struct setting {
    enum leat_sim_atm_model model;
    bool is_port_1_dead, keep_records;
};

static struct leat_sim_atm_ports_config platform_config(const struct setting *setting)
{
    static const struct leat_sim_atm_line_outage outage = { .port = 1,
                                                            .from = 0,
                                                            .to = LEAT_NEVER };
    struct leat_sim_atm_ports_config config = { .model = setting->model, .tasks_max = SLOTS };
    struct leat_text why = LEAT_TEXT(200);
    if (leat_sim_atm_fabric_parse("clos444", &config.fabric, &why)) abort();
    leat_atm_aal_config_default(&config.aal, 0, config.fabric.net.ports, config.fabric.net.paths);
    if (setting->is_port_1_dead) {
        config.aal.retransmit_cycles = 2000;
        config.line.outage = &outage;
        config.line.outage_count = 1;
    }
    return config;
}

static struct leat_hub *make_hub(struct leat_sim_atm_platform *platform,
                                 struct leat_atm_service *service, const uint32_t *port)
{
    char why[200];
    const struct leat_hub_config config = { .net = &platform->base.net,
                                            .slots = SLOTS,
                                            .expected = 1,
                                            .port = port,
                                            .start = 5000,
                                            .service = leat_atm_service_hooks(service) };
    struct leat_hub *hub = leat_hub_create(&config, why, sizeof why);
    if (!hub) abort();
    return hub;
}

static void keep(const struct leat_hub *hub, struct leat_atm_service *service, FILE *log,
                 struct result *out)
{
    struct leat_text text;
    leat_text_init(&text, out->records, sizeof out->records - 1, NULL, NULL);
    leat_atm_service_write_records(service, &text);
    memcpy(out->doing, leat_hub_task(hub, 0)->doing, sizeof out->doing);
    for (uint32_t i = 0; i < SLOTS; i++) {
        out->status[i] = leat_atm_service_status(service, i);
        out->sent += leat_hub_task(hub, i)->messages_sent;
        out->received += leat_hub_task(hub, i)->messages_received;
    }
    rewind(log);
    out->log[fread(out->log, 1, sizeof out->log - 1, log)] = '\0';
}

static struct result run_with(const char *body, const struct setting *setting)
{
    const struct leat_sim_atm_ports_config config = platform_config(setting);
    static struct leat_sim_atm_platform platform;
    void *memory = calloc(1, leat_sim_atm_platform_footprint(&config));
    FILE *log = tmpfile();
    uint32_t port[SLOTS];
    char why[200] = "";
    struct result result = { .end = LEAT_HUB_FAILED };
    if (!memory || !log) abort();
    leat_sim_atm_platform_init(&platform, &config, memory);
    for (uint32_t i = 0; i < SLOTS; i++)
        port[i] = i % PORTS;
    /* A leak checker scans all memory of the run, for each task. */
    char *const environment[] = { (char *)"ASAN_OPTIONS=detect_leaks=0", NULL };
    struct leat_atm_service *service = leat_atm_service_create(
        &(struct leat_atm_service_config){ .platform = &platform.base,
                                           .slots = SLOTS,
                                           .tasks = 1,
                                           .port = port,
                                           .start = 5000,
                                           .path = "/proc/self",
                                           .environment = environment,
                                           .log = fileno(log),
                                           .records = setting->keep_records });
    struct leat_hub *hub = make_hub(&platform, service, port);
    char *argv[] = { (char *)"/proc/self/exe", (char *)body, NULL };
    OK(leat_atm_service_start(service, hub, 0, argv, why, sizeof why));
    result.end = leat_hub_run(hub, result.reason, sizeof result.reason);
    leat_atm_service_finish(service, result.end != LEAT_HUB_DONE);
    keep(hub, service, log, &result);
    result.certificate = platform.base.net.certificate;
    leat_hub_destroy(hub);
    leat_atm_service_destroy(service);
    free(memory);
    fclose(log);
    return result;
}

static struct result run_body(const char *body)
{
    return run_with(body, &(struct setting){ .model = LEAT_SIM_ATM_CELL });
}

static struct result ends_well(const char *body)
{
    const struct result result = run_body(body);
    EQ(result.end, LEAT_HUB_DONE);
    if (result.end != LEAT_HUB_DONE) printf("# %s: %s\n", body, result.reason);
    EQ(result.status[0], 0);
    return result;
}

static void a_message_takes_the_cycles_of_the_note(void)
{
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
        char body[16];
        snprintf(body, sizeof body, "delay%zu", i);
        ends_well(body);
    }
}

static void all_types_arrive_and_take_the_words_that_they_have(void)
{
    ends_well("types");
}

static void messages_reach_one_or_all_and_are_counted(void)
{
    const struct result result = ends_well("all");
    EQ(result.sent, 20);
    EQ(result.received, 19 + 19);
}

static void a_lock_is_free_as_soon_as_it_is_set_to_0(void)
{
    ends_well("lock");
}

static void clocks_and_sleep_are_those_of_the_network(void)
{
    ends_well("clock");
}

static void a_task_may_join_twice_and_leave(void)
{
    ends_well("nothing");
}

static void what_started_tasks_print_is_logged_in_their_order(void)
{
    const char *first = "[exe 1] task 1\n[exe 1] and its last line\n";
    const char *second = "[exe 2] task 2\n[exe 2] and its last line\n";
    char both[256];
    snprintf(both, sizeof both, "%s%s", first, second);
    for (int i = 0; i < 3; i++) {
        const struct result result = ends_well("print");
        OK(!strcmp(result.log, both));
        if (strcmp(result.log, both)) printf("# %s\n", result.log);
    }
}

static void the_same_run_gives_the_same_certificate_by_both_models(void)
{
    const struct setting rtl = { .model = LEAT_SIM_ATM_RTL };
    const struct result first = ends_well("storm");
    EQ(ends_well("storm").certificate, first.certificate);
    EQ(run_with("storm", &rtl).certificate, first.certificate);
}

static void each_mistake_ends_the_run_with_its_reason(void)
{
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        if (!bodies[i].reason) continue;
        const struct result result = run_body(bodies[i].name);
        OK(result.end != LEAT_HUB_DONE);
        OK(strstr(result.reason, bodies[i].reason) != NULL);
        if (!strstr(result.reason, bodies[i].reason))
            printf("# %s: %s, want %s\n", bodies[i].name, result.reason, bodies[i].reason);
    }
}

static void the_run_reports_what_each_task_waits_for(void)
{
    const struct result result = run_body("wait_for_ever");
    EQ(result.end, LEAT_HUB_STUCK);
    OK(!strcmp(result.doing, "atmrcv of type 7 (exe 0)"));
}

static void the_code_of_each_task_is_known(void)
{
    const struct result result = run_body("code");
    EQ(result.end, LEAT_HUB_DONE);
    EQ(result.status[1], 0);
    EQ(WEXITSTATUS(result.status[2]), 5);
}

static void a_dead_port_is_a_reason_to_stop(void)
{
    const struct setting dead = { .model = LEAT_SIM_ATM_CELL, .is_port_1_dead = true };
    const struct result result = run_with("delay4", &dead);
    EQ(result.end, LEAT_HUB_LOST);
    OK(strstr(result.reason, "a message from port 0 to port 1 was lost") != NULL);
}

static void records_show_when_locks_were_granted_and_words_were_read(void)
{
    const struct setting kept = { .model = LEAT_SIM_ATM_CELL, .keep_records = true };
    static const char *const want = "cycle,op,tag,src_task,dst_task,note\n"
                                    "0,snd,1,exe:0,exe:1,start\n"
                                    "193,rcv,1,,exe:1,start\n";
    const struct result result = run_with("delay4", &kept);
    OK(!strcmp(result.records, want));
    if (strcmp(result.records, want)) printf("# %s\n", result.records);
}

static void a_program_that_is_not_there_is_not_started(void)
{
    const struct setting plain = { .model = LEAT_SIM_ATM_CELL };
    const struct leat_sim_atm_ports_config config = platform_config(&plain);
    static struct leat_sim_atm_platform platform;
    void *memory = calloc(1, leat_sim_atm_platform_footprint(&config));
    const uint32_t port[2] = { 0 };
    char why[200] = "", name[16];
    char *gone[] = { (char *)"/nowhere/nothing", NULL }, *brief[] = { (char *)"/bin/ab", NULL };
    if (!memory) abort();
    leat_sim_atm_platform_init(&platform, &config, memory);
    struct leat_atm_service *service = leat_atm_service_create(&(struct leat_atm_service_config){
        .platform = &platform.base, .slots = 2, .tasks = 2, .port = port, .log = -1 });
    OK(!leat_atm_service_start(service, NULL, 0, gone, why, sizeof why));
    OK(!strcmp(why, "no such program"));
    leat_atm_service_name(service, 0, name, sizeof name);
    OK(!strcmp(name, "not 0"));
    OK(!leat_atm_service_start(service, NULL, 1, brief, why, sizeof why));
    OK(strstr(why, "expected three letters") != NULL);
    leat_atm_service_destroy(service);
    free(memory);
}

int main(int argc, char **argv)
{
    static const struct tap_test all[] = {
        T(a_message_takes_the_cycles_of_the_note),
        T(all_types_arrive_and_take_the_words_that_they_have),
        T(messages_reach_one_or_all_and_are_counted),
        T(a_lock_is_free_as_soon_as_it_is_set_to_0),
        T(clocks_and_sleep_are_those_of_the_network),
        T(a_task_may_join_twice_and_leave),
        T(what_started_tasks_print_is_logged_in_their_order),
        T(the_same_run_gives_the_same_certificate_by_both_models),
        T(each_mistake_ends_the_run_with_its_reason),
        T(the_run_reports_what_each_task_waits_for),
        T(the_code_of_each_task_is_known),
        T(a_dead_port_is_a_reason_to_stop),
        T(records_show_when_locks_were_granted_and_words_were_read),
        T(a_program_that_is_not_there_is_not_started),
    };
    if (argc < 2) return tap_main(all, (int)(sizeof all / sizeof *all), argv[0]);
    if (!strncmp(argv[1], "delay", 5)) {
        delay = atoi(argv[1] + 5);
        do_delay();
        return 0;
    }
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        if (strcmp(argv[1], bodies[i].name)) continue;
        bodies[i].run();
        return 0;
    }
    return 2;
}
