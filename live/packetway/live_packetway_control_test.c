/*
 * The control socket of a process: whose requests are served, and that it never blocks. The process
 * is this one, or a child of it.
 */
#include "leat_text.h"
#include "live_packetway_control.h"
#include "live_packetway_name.h"
#include "tap.h"
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char why[PACKETWAY_WHY_LEN];
static struct packetway_control control;
static char control_name[PACKETWAY_NAME_MAX];
static struct packetway_request asked;

/* One turn of a serving process, on a clock that stands still, or `late_ms` later. */
static struct packetway_client *turn(uint32_t late_ms)
{
    static leat_time begun;
    struct pollfd wait[PACKETWAY_CONTROL_FDS];
    if (!begun) begun = packetway_now();
    packetway_control_wait(&control, wait);
    poll(wait, PACKETWAY_CONTROL_FDS, 10);
    return packetway_control_serve(&control, wait, begun + late_ms * (LEAT_PACKETWAY_SECOND / 1000),
                                   &asked);
}

static int dial(void)
{
    const struct packetway_name name = packetway_name_of("leat-pktway/%s", control_name);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    OK(connect(fd, (const struct sockaddr *)&name.at, name.len) == 0);
    return fd;
}

static void ask_on(int fd)
{
    const struct packetway_request q = { .word = "status" };
    EQ(send(fd, &q, offsetof(struct packetway_request, data), MSG_NOSIGNAL),
       offsetof(struct packetway_request, data));
}

static bool is_closed(int fd)
{
    char piece[64];
    return recv(fd, piece, sizeof piece, MSG_DONTWAIT) == 0;
}

/* A child that serves one request with `answer`, as user `uid`. */
static pid_t serve_apart(uid_t uid, const char *answer)
{
    int ready[2];
    char c = 0;
    OK(pipe(ready) == 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        struct packetway_client *client = NULL;
        if (uid && setuid(uid)) _exit(1);
        if (!packetway_control_open(&control, control_name, why)) _exit(1);
        if (write(ready[1], &c, 1) != 1) _exit(1);
        while (!client)
            client = turn(0);
        if (strcmp(asked.word, "status") != 0) _exit(1);
        packetway_control_say(client, false, answer, strlen(answer));
        packetway_control_end(client, 7);
        packetway_control_close(&control, 0);
        _exit(0);
    }
    close(ready[1]);
    EQ(read(ready[0], &c, 1), 1);
    close(ready[0]);
    return child;
}

static void a_name_belongs_to_one_process_and_its_owner_is_served(void)
{
    struct packetway_request q = { .word = "status" };
    int code = -1;
    snprintf(control_name, sizeof control_name, "test-%d", (int)getpid());
    OK(!packetway_control_name("A b", why) && !packetway_control_name("", why));
    OK(!packetway_control_ask(control_name, &q, stdout, stderr, &code, why));
    OK(strstr(why, "runs in") != NULL);
    const pid_t child = serve_apart(0, "good\n\x1b[2J\n");
    OK(!packetway_control_open(&control, control_name, why) && strstr(why, "already") != NULL);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    OK(packetway_control_ask(control_name, &q, out, stderr, &code, why));
    fclose(out);
    EQ(code, 7);
    OK(strcmp(text, "good\n\\x1b[2J\n") == 0); /* it does not clear the terminal */
    free(text);
    waitpid(child, NULL, 0);
}

/* As nodes hold their addresses: nothing reads the connections there. */
static void a_holder_is_reported_however_often_it_is_asked(void)
{
    char holder[PACKETWAY_HOLDER_MAX], me[PACKETWAY_HOLDER_MAX];
    const struct packetway_name name = packetway_name_of("leat-pktway-test/%d", (int)getpid());
    const int held = packetway_name_hold(&name);
    OK(held >= 0);
    EQ(packetway_name_hold(&name), -1);
    snprintf(me, sizeof me, "process %d of user %u", (int)getpid(), (unsigned)geteuid());
    for (int i = 0; i < 20; i++) {
        packetway_name_holder_text(&name, holder);
        OK(strcmp(holder, me) == 0);
        if (i % 5 == 4) packetway_name_dismiss(held);
    }
    close(held);
    packetway_name_holder_text(&name, holder);
    OK(strcmp(holder, "a process that does not answer") == 0);
}

static void nobody_waits_for_a_client_that_is_silent(void)
{
    int silent[PACKETWAY_CLIENTS_MAX];
    OK(packetway_control_open(&control, control_name, why));
    for (int i = 0; i < PACKETWAY_CLIENTS_MAX; i++) {
        silent[i] = dial();
        OK(!turn(0));
    }
    ask_on(silent[3]);
    struct packetway_client *client = turn(0);
    OK(client && strcmp(asked.word, "status") == 0);
    if (client) packetway_control_end(client, 0);
    close(silent[3]);
    silent[3] = dial();
    OK(!turn(0));
    const int late = dial(); /* there is no room for it, until the silent ones are closed */
    ask_on(late);
    OK(!turn(0) && !is_closed(silent[0]));
    OK(!turn(PACKETWAY_REQUEST_MS + 1));
    for (int i = 0; i < PACKETWAY_CLIENTS_MAX; i++) {
        OK(is_closed(silent[i]));
        close(silent[i]);
    }
    client = turn(0);
    if (!client) client = turn(0); /* accepted, then served */
    OK(client);
    packetway_control_close(&control, 5);
    char piece[2];
    EQ(recv(late, piece, sizeof piece, 0), 2);
    EQ(piece[1], 5);
    close(late);
}

/* ---- answers that are not taken ------------------------------------------------------------- */

enum { MANY = 1000 }; /* lines: far more than a socket holds */
static const char line[4096];

static struct packetway_client *asks(int fd)
{
    struct packetway_client *client = NULL;
    ask_on(fd);
    while (!client)
        client = turn(0);
    return client;
}

static bool say_line(struct packetway_client *client)
{
    return packetway_control_say(client, false, line, sizeof line);
}

/* The next packet, however long it takes to come. */
static ssize_t hear_on(int fd, char piece[sizeof line + 1])
{
    ssize_t got;
    while ((got = recv(fd, piece, sizeof line + 1, MSG_DONTWAIT)) < 0)
        turn(0);
    return got;
}

static void an_answer_that_is_not_taken_is_kept_for_a_while(void)
{
    char piece[sizeof line + 1];
    OK(packetway_control_open(&control, control_name, why));
    const int slow = dial(), silent = dial();
    struct packetway_client *client = asks(slow);
    for (int i = 0; i < MANY; i++)
        OK(say_line(client));
    packetway_control_end(client, 3);
    OK(client->fd >= 0);
    for (int i = 0; i < MANY; i++)
        OK(hear_on(slow, piece) == sizeof piece && piece[0] == 'o');
    OK(hear_on(slow, piece) == 2 && piece[0] == 'x' && piece[1] == 3);
    client = asks(silent);
    for (int i = 0; i < MANY; i++)
        OK(say_line(client));
    OK(!turn(1000 * PACKETWAY_SLOW_MS) && client->fd < 0);
    close(slow);
    close(silent);
    packetway_control_close(&control, 0);
}

static void an_answer_that_waits_has_bounds(void)
{
    OK(packetway_control_open(&control, control_name, why));
    const int greedy = dial();
    struct packetway_client *client = asks(greedy);
    int said = 0;
    while (say_line(client))
        said++;
    OK(said > MANY && said <= MANY + PACKETWAY_ANSWER_MAX / (int)sizeof line);
    packetway_control_end(client, 0);
    OK(client->fd < 0);
    close(greedy);
    packetway_control_close(&control, 0);
}

/* However long an answer is, only what has not been read counts. */
static void what_was_taken_makes_room(void)
{
    char piece[sizeof line + 1];
    OK(packetway_control_open(&control, control_name, why));
    const int behind = dial();
    struct packetway_client *client = asks(behind);
    for (int i = 0; i < MANY; i++)
        OK(say_line(client));
    for (int i = 0; i < 2 * PACKETWAY_ANSWER_MAX / (int)sizeof line && !tap_checks_failed; i++) {
        OK(say_line(client));
        OK(client->len > 0); /* it never takes all */
        EQ(hear_on(behind, piece), sizeof piece);
    }
    OK(client->cap < PACKETWAY_ANSWER_MAX / 2);
    packetway_control_end(client, 0);
    close(behind);
    packetway_control_close(&control, 0);
}

static void other_users_are_refused_before_they_ask(void)
{
    enum { STRANGER = 65534 };
    struct packetway_request q = { .word = "status" };
    int code = -1, end = -1;
    if (geteuid() != 0) {
        printf("# SKIPPED, AND LOUDLY: other users need root\n");
        return;
    }
    /* A stranger's request: it is refused before it is read. */
    OK(packetway_control_open(&control, control_name, why));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char piece[256];
        if (setuid(STRANGER)) _exit(1);
        const int fd = dial();
        const ssize_t len = recv(fd, piece, sizeof piece, 0);
        if (len < 0 || !memmem(piece, (size_t)len, "another user's", 14)) _exit(2);
        _exit(recv(fd, piece, sizeof piece, 0) == 2 ? 0 : 3);
    }
    while (waitpid(child, &end, WNOHANG) == 0)
        OK(!turn(0));
    EQ(end, 0);
    for (int i = 0; i < PACKETWAY_CLIENTS_MAX; i++)
        EQ(control.client[i].fd, -1);
    packetway_control_close(&control, 0);
    /* A stranger's answer, and a name that a stranger took. */
    child = serve_apart(STRANGER, "trust me\n");
    OK(!packetway_control_ask(control_name, &q, stdout, stderr, &code, why));
    OK(strstr(why, "of user 65534, which is not asked") != NULL);
    OK(!packetway_control_open(&control, control_name, why));
    OK(strstr(why, "is taken by process") != NULL && strstr(why, "of user 65534") != NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    /* ... who does not even listen. */
    const struct packetway_name name = packetway_name_of("leat-pktway/%s", control_name);
    const int deaf = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    OK(bind(deaf, (const struct sockaddr *)&name.at, name.len) == 0);
    OK(!packetway_control_open(&control, control_name, why));
    OK(strstr(why, "is taken by a process that does not answer") != NULL);
    close(deaf);
}

/* ---- those who receive ---- */

static bool collect(void *context, const char *octets, size_t len)
{
    struct leat_text *text = context;
    leat_text_put(text, octets, len);
    return text->len < 8;
}

/* Parts come until the client has enough; what it is not sent for some time ends it, too. */
static void a_client_receives_what_is_spread(void)
{
    static struct packetway_request q = { .word = "receive", .data_len = 3, .data = { 1, 2, 3 } };
    struct leat_text text = LEAT_TEXT(64);
    int code = -1;
    OK(packetway_control_open(&control, control_name, why));
    EQ(packetway_control_spread(&control, "early", 5), 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (!packetway_control_hear(control_name, &q, 60000, collect, &text, &code, why)) _exit(1);
        _exit(text.len == 8 && memcmp(text.buf, "onetwo!!", 8) == 0 ? 0 : 2);
    }
    struct packetway_client *client = NULL;
    while (!client)
        client = turn(0);
    EQ(asked.data_len, 3);
    EQ(asked.data[2], 3);
    client->receives = true;
    packetway_control_forget(&control);
    EQ(packetway_control_spread(&control, "one", 3), 1);
    EQ(packetway_control_spread(&control, "two!!", 5), 1);
    int end = -1;
    waitpid(child, &end, 0);
    EQ(end, 0);
    packetway_control_forget(&control); /* it is gone */
    EQ(client->fd, -1);
    EQ(packetway_control_spread(&control, "late", 4), 0);
    packetway_control_close(&control, 0);
}

/* A request whose data is not as long as it says is not taken. */
static void a_request_is_as_long_as_it_says(void)
{
    static struct packetway_request q = { .word = "send" };
    static const uint32_t said[] = { 0, 1, PACKETWAY_DATA_MAX, PACKETWAY_DATA_MAX + 1, UINT32_MAX };
    OK(packetway_control_open(&control, control_name, why));
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        for (size_t more = 0; more < 2; more++) {
            const int fd = dial();
            q.data_len = said[i];
            const size_t len = offsetof(struct packetway_request, data) + more;
            EQ(send(fd, &q, len, MSG_NOSIGNAL), len);
            struct packetway_client *client = NULL;
            for (int k = 0; k < 4 && !client; k++)
                client = turn(0);
            EQ(client != NULL, said[i] == more);
            if (client) packetway_control_end(client, 0);
            close(fd);
            turn(0);
        }
    packetway_control_close(&control, 0);
}

TAP_MAIN(T(a_name_belongs_to_one_process_and_its_owner_is_served),
         T(a_holder_is_reported_however_often_it_is_asked),
         T(nobody_waits_for_a_client_that_is_silent),
         T(an_answer_that_is_not_taken_is_kept_for_a_while), T(an_answer_that_waits_has_bounds),
         T(what_was_taken_makes_room), T(a_client_receives_what_is_spread),
         T(a_request_is_as_long_as_it_says), T(other_users_are_refused_before_they_ask))
