#include "leat_vcd.h"
#include "leat_bytes.h"
#include <assert.h>
#include <string.h>

enum { CODE_FIRST = '!', CODE_COUNT = 94 }; /* 18.2.2: identifier codes are printable ASCII */

/* ---- names -------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The length of the part that begins here, name and indices; 0 if there is none. */
static size_t part_len(const char *p)
{
    size_t n = 0;
    if (!is_letter(p[0])) return 0;
    while (is_letter(p[n]) || is_digit(p[n]) || p[n] == '$')
        n++;
    while (p[n] == '[') {
        size_t digits = 0;
        while (is_digit(p[n + 1 + digits]))
            digits++;
        if (!digits || p[n + 1 + digits] != ']') return 0;
        n += digits + 2;
    }
    return n;
}

/* Checks a path; *name_at is where its last part begins. */
static leat_err check_path(const char *path, size_t *name_at)
{
    size_t at = 0;
    for (;;) {
        const size_t len = part_len(path + at);
        *name_at = at;
        at += len;
        if (at > LEAT_VCD_PATH_LEN_MAX) return LEAT_ERR_LENGTH;
        if (!len || (path[at] != '.' && path[at] != '\0')) return LEAT_ERR_SYNTAX;
        if (path[at] == '\0') return LEAT_ERR_OK;
        at++;
    }
}

static void put_code(struct leat_text *text, size_t index)
{
    do {
        leat_text_putc(text, (char)(CODE_FIRST + index % CODE_COUNT));
        index /= CODE_COUNT;
    } while (index);
}

/* ---- modules ------------------------------------------------------------------------------ */

/* The length of the common prefix of the open modules and this path: whole parts only. */
static size_t shared_len(const struct leat_vcd *vcd, const char *path, size_t len)
{
    size_t shared = 0, i = 0;
    while (i < vcd->scope_len && i < len && vcd->scope[i] == path[i]) {
        i++;
        const bool mine = i == len || path[i] == '.';
        const bool open = i == vcd->scope_len || vcd->scope[i] == '.';
        if (mine && open) shared = i;
    }
    return shared;
}

static void close_modules(struct leat_vcd *vcd, size_t down_to)
{
    while (vcd->scope_len > down_to) {
        while (vcd->scope_len > down_to && vcd->scope[vcd->scope_len - 1] != '.')
            vcd->scope_len--;
        if (vcd->scope_len > down_to) vcd->scope_len--; /* the dot */
        leat_text_puts(vcd->text, "$upscope $end\n");
    }
}

static void open_modules(struct leat_vcd *vcd, const char *path, size_t len)
{
    size_t at = vcd->scope_len;
    while (at < len) {
        if (at) at++; /* the dot */
        const size_t part = part_len(path + at);
        leat_text_puts(vcd->text, "$scope module ");
        leat_text_put(vcd->text, path + at, part);
        leat_text_puts(vcd->text, " $end\n");
        at += part;
    }
    memcpy(vcd->scope, path, len);
    vcd->scope_len = len;
}

/* ---- the dump ----------------------------------------------------------------------------- */

static bool is_timescale(const char *t)
{
    static const char *const units[] = { "s", "ms", "us", "ns", "ps", "fs" };
    size_t n = 0;
    if (t[n++] != '1') return false;
    while (n < 3 && t[n] == '0')
        n++;
    if (t[n++] != ' ') return false;
    const size_t len = strlen(t + n);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i]) == len && memcmp(units[i], t + n, len) == 0) return true;
    return false;
}

leat_err leat_vcd_init(struct leat_vcd *vcd, struct leat_text *text, const char *timescale,
                       struct leat_vcd_signal *signals, size_t capacity)
{
    if (!is_timescale(timescale)) return LEAT_ERR_SYNTAX;
    if (capacity > LEAT_VCD_SIGNALS_MAX) return LEAT_ERR_RANGE;
    memset(vcd, 0, sizeof *vcd);
    vcd->text = text;
    vcd->signals = signals;
    vcd->capacity = capacity;
    leat_text_puts(text, "$version leat $end\n$timescale ");
    leat_text_puts(text, timescale);
    leat_text_puts(text, " $end\n");
    return LEAT_ERR_OK;
}

leat_err leat_vcd_declare(struct leat_vcd *vcd, const char *path, unsigned width, uint32_t *signal)
{
    size_t name_at;
    const leat_err err = check_path(path, &name_at);
    assert(!vcd->started);
    if (err) return err;
    if (width < 1 || width > LEAT_VCD_WIDTH_MAX) return LEAT_ERR_RANGE;
    if (vcd->count == vcd->capacity) return LEAT_ERR_FULL;

    const size_t modules_len = name_at ? name_at - 1 : 0;
    close_modules(vcd, shared_len(vcd, path, modules_len));
    open_modules(vcd, path, modules_len);
    leat_text_puts(vcd->text, "$var wire ");
    leat_text_decimal(vcd->text, width);
    leat_text_putc(vcd->text, ' ');
    put_code(vcd->text, vcd->count);
    leat_text_putc(vcd->text, ' ');
    leat_text_puts(vcd->text, path + name_at);
    if (width > 1) {
        leat_text_puts(vcd->text, " [");
        leat_text_decimal(vcd->text, width - 1);
        leat_text_puts(vcd->text, ":0]");
    }
    leat_text_puts(vcd->text, " $end\n");
    vcd->signals[vcd->count] = (struct leat_vcd_signal){ .width = (uint8_t)width };
    *signal = (uint32_t)vcd->count++;
    return LEAT_ERR_OK;
}

static void put_value(struct leat_vcd *vcd, size_t index)
{
    const struct leat_vcd_signal *s = &vcd->signals[index];
    unsigned bits = 1;
    if (s->width > 1) leat_text_putc(vcd->text, 'b');
    if (!s->known) {
        leat_text_putc(vcd->text, 'x');
    } else {
        while (bits < s->width && s->value >> bits)
            bits++;
        while (bits--)
            leat_text_putc(vcd->text, (char)('0' + (s->value >> bits & 1)));
    }
    if (s->width > 1) leat_text_putc(vcd->text, ' ');
    put_code(vcd->text, index);
    leat_text_putc(vcd->text, '\n');
}

void leat_vcd_start(struct leat_vcd *vcd)
{
    assert(!vcd->started);
    close_modules(vcd, 0);
    leat_text_puts(vcd->text, "$enddefinitions $end\n$dumpvars\n");
    for (size_t i = 0; i < vcd->count; i++)
        put_value(vcd, i);
    leat_text_puts(vcd->text, "$end\n");
    vcd->started = true;
}

void leat_vcd_time(struct leat_vcd *vcd, uint64_t time)
{
    assert(vcd->started && time >= vcd->now);
    if (time != vcd->now) vcd->time_written = false;
    vcd->now = time;
}

/* Lazily, so that a time without changes costs no line. */
static void put_time(struct leat_vcd *vcd)
{
    if (vcd->time_written) return;
    leat_text_putc(vcd->text, '#');
    leat_text_decimal(vcd->text, vcd->now);
    leat_text_putc(vcd->text, '\n');
    vcd->time_written = true;
}

void leat_vcd_set(struct leat_vcd *vcd, uint32_t signal, uint64_t value)
{
    assert(vcd->started && signal < vcd->count);
    struct leat_vcd_signal *s = &vcd->signals[signal];
    assert(leat_fits(value, s->width));
    if (s->known && s->value == value) return;
    s->known = true;
    s->value = value;
    put_time(vcd);
    put_value(vcd, signal);
}

void leat_vcd_end(struct leat_vcd *vcd, uint64_t time)
{
    leat_vcd_time(vcd, time);
    put_time(vcd);
}
