/* What all verbs share: complaints, signals, the end of a verb. */
#include "tool.h"
#include "leat_format.h"
#include "leat_near.h"
#include "leat_text.h"
#include "progress.h"
#include "style.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

atomic_int interrupted;

bool is_interrupted(void)
{
    return interrupted;
}

/* One that comes just before a read blocks does not end the read: so it comes again every second,
 * as an alarm. */
static void on_signal(int number)
{
    if (number != SIGALRM && !interrupted) interrupted = number; /* the first one counts */
    if (interrupted) alarm(1);
}

/* A file that may not grow (ulimit -f): the write fails and is reported, as on a full disk, and the
 * partial file is removed. A handler, since an ignored signal stays ignored in programs that we
 * start. */
static void on_file_limit(int number)
{
    (void)number;
}

/* Without SA_RESTART, so that a blocked read returns at once. */
void catch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    const struct sigaction limit = { .sa_handler = on_file_limit, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(SIGXFSZ, &limit, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    struct sigaction hang_up;
    sigaction(SIGHUP, NULL, &hang_up);
    if (hang_up.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL); /* unless under nohup */
}

void let_signals_end(void)
{
    static const int number[] = { SIGINT, SIGTERM, SIGHUP };
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        struct sigaction action;
        sigaction(number[i], NULL, &action);
        if (action.sa_handler == on_signal) signal(number[i], SIG_DFL);
    }
    if (interrupted) raise(interrupted);
}

/* One line on standard error. */
static void say(enum style meaning, const char *text, va_list list)
{
    progress_make_way();
    fprintf(stderr, "%sleat:%s ", style(stderr, meaning), style_end(stderr));
    vfprintf(stderr, text, list);
    fputc('\n', stderr);
}

bool complain(const char *text, ...)
{
    va_list list;
    va_start(list, text);
    say(STYLE_BAD, text, list);
    va_end(list);
    return false;
}

void caution(const char *text, ...)
{
    va_list list;
    va_start(list, text);
    say(STYLE_DOUBTFUL, text, list);
    va_end(list);
}

void warn_if_slower(const char *why, int slower_at)
{
    if (slower_at >= 0) caution("%s", why + slower_at);
}

int misuse(const struct verb *verb, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    progress_make_way();
    fprintf(stderr, "%sleat %s:%s ", style(stderr, STYLE_BAD), verb->name, style_end(stderr));
    vfprintf(stderr, text, list);
    fprintf(stderr, "\n(see leat help %s)\n", verb->name);
    va_end(list);
    return WRONG;
}

bool flush_printed(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    return complain("standard output: cannot write");
}

int finish(int code)
{
    if (!flush_printed()) return FAILED;
    return interrupted ? SIGNALLED + interrupted : code;
}

static void put_piece(struct leat_text *text)
{
    fwrite(text->buf, 1, text->len, text->user);
    text->len = 0;
}

void print_harmless(const void *octets, size_t len)
{
    char buf[256];
    struct leat_text text;
    leat_text_init(&text, buf, sizeof buf, put_piece, stdout);
    leat_text_harmless(&text, octets, len);
    put_piece(&text);
}

bool word_is_in(const char *word, const char *list)
{
    const size_t len = strlen(word);
    for (const char *at = list; len && (at = strstr(at, word)); at += len)
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len])) return true;
    return false;
}

bool word_ends_with(const char *word, const char *end)
{
    const size_t len = strlen(word), end_len = strlen(end);
    return len > end_len && strcmp(word + len - end_len, end) == 0;
}

const char *did_you_mean(const char *word, const char *list)
{
    static struct leat_near near;
    near = leat_near_to(word, strcspn(word, "="));
    leat_near_try_all(&near, list);
    return near.text;
}

int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if ((c | 32) >= 'a' && (c | 32) <= 'f') return (c | 32) - 'a' + 10;
    return -1;
}

const char *format_names(void)
{
    static char names[256];
    size_t used = 0;
    const struct leat_format *format;
    for (size_t i = 0; (format = leat_format_at(i)) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, i ? " %s" : "%s", format->name);
    return names;
}
