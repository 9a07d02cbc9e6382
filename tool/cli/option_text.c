#include "option_text.h"
#include "duration.h"
#include "leat_text.h"
#include "shell.h"
#include <string.h>

/* Long powers of ten are hard to read: 1e15. */
static void put_count(struct leat_text *out, uint64_t number)
{
    enum { DIGITS_MAX = 7 };
    unsigned zeros = 0;
    uint64_t left = number;
    for (; left && left % 10 == 0; left /= 10)
        zeros++;
    if (zeros < DIGITS_MAX) {
        leat_text_decimal(out, number);
        return;
    }
    leat_text_decimal(out, left);
    leat_text_puts(out, "e");
    leat_text_decimal(out, zeros);
}

static void put_limit(struct leat_text *out, const struct option *o, uint64_t limit)
{
    if (o->type == OPTION_TIME)
        leat_text_puts(out, duration_text(limit));
    else
        put_count(out, limit);
}

static void put_range(struct leat_text *out, const struct option *o)
{
    leat_text_puts(out, ", ");
    if (o->most == UINT64_MAX && o->type == OPTION_COUNT) {
        leat_text_puts(out, "64 bits");
        return;
    }
    put_limit(out, o, o->least);
    leat_text_puts(out, " to ");
    put_limit(out, o, o->most);
    if (o->type == OPTION_OCTETS) leat_text_puts(out, " octets");
}

static void put_words(struct leat_text *out, const char *words)
{
    leat_text_puts(out, ": ");
    for (; *words; words++)
        if (*words == ' ')
            leat_text_puts(out, ", ");
        else
            leat_text_putc(out, *words);
}

void option_text(const struct option *o, char *buf, size_t cap)
{
    struct leat_text out;
    leat_text_init(&out, buf, cap - 1, NULL, NULL);
    leat_text_puts(&out, o->text);
    switch (o->type) {
    case OPTION_ANY: break;
    case OPTION_COUNT:
    case OPTION_OCTETS:
    case OPTION_TIME: put_range(&out, o); break;
    case OPTION_SHARE: leat_text_puts(&out, ", 0 to 1"); break;
    case OPTION_WORD: put_words(&out, o->words); break;
    }
    if (o->preset) {
        leat_text_puts(&out, "; default ");
        leat_text_puts(&out, o->preset);
    }
    if (o->repeats) leat_text_puts(&out, "; may be given again");
    buf[out.len] = '\0';
}

const char *option_kinds_text(const char *kinds)
{
    static const struct {
        const char *id, *text;
    } known[] = {
        { "atm", "ATM fabrics" },  { "flits", "networks of switches" },
        { "aton", "token rings" }, { "packetway", "PacketWay networks" },
        { "ether", "Ethernets" },
    };
    static char text[160];
    size_t used = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known && used < sizeof text; i++)
        if (word_is_in(known[i].id, kinds))
            used += (size_t)snprintf(text + used, sizeof text - used, used ? ", %s" : "%s",
                                     known[i].text);
    return text;
}

/* Values of a repeated option are joined by newlines. */
void option_put(FILE *out, const struct option *o, const char *value)
{
    const char *blank = "";
    for (const char *end; value; value = end) {
        end = o->repeats ? strchr(value, '\n') : NULL;
        fprintf(out, "%s%s", blank, o->name);
        if (o->argument) {
            putc(' ', out);
            shell_put_word(out, value, end ? (size_t)(end - value) : strlen(value));
        }
        if (end) end++;
        blank = " ";
    }
}
