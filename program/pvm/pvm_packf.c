/*
 * pvm_packf, pvm_unpackf: packing by a format as of printf.
 *
 *     % count . stride modifiers kind        %+  initsend      %*.2lf  doubles, count given
 *
 * Without a count the item itself is given to pvm_packf, and its address to pvm_unpackf.
 */
#include "pvm_library.h"
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

int pvm_vpackf(const char *format, va_list arguments);
int pvm_vunpackf(const char *format, va_list arguments);

struct item {
    char kind; /* 'c', 'd', 'f', 'x', 's', '+' */
    bool has_count, is_short, is_long, is_unsigned;
    bool count_given, stride_given; /* as arguments */
    int count, stride;
};

static int number(const char **at)
{
    int value = 0;
    for (; isdigit((unsigned char)**at); ++*at)
        if (value < INT32_MAX / 10 - 1) value = 10 * value + (**at - '0');
    return value;
}

/* Reads the next item of the format, after its '%'. */
static bool item_read(const char **at, struct item *out)
{
    *out = (struct item){ .count = 1, .stride = 1 };
    if (**at == '*' || isdigit((unsigned char)**at)) {
        out->has_count = true;
        out->count_given = **at == '*';
        if (out->count_given)
            ++*at;
        else
            out->count = number(at);
    }
    if (**at == '.') {
        ++*at;
        out->stride_given = **at == '*';
        if (out->stride_given)
            ++*at;
        else
            out->stride = number(at);
    }
    for (;; ++*at) {
        if (**at == 'h')
            out->is_short = true;
        else if (**at == 'l')
            out->is_long = true;
        else if (**at == 'u')
            out->is_unsigned = true;
        else
            break;
    }
    out->kind = **at;
    if (!out->kind) return false;
    ++*at;
    return true;
}

/* -1: no such type. */
static int type_of(const struct item *item)
{
    switch (item->kind) {
    case 'c': return PVM_BYTE;
    case 'd':
        if (item->is_short) return item->is_unsigned ? PVM_USHORT : PVM_SHORT;
        if (item->is_long) return item->is_unsigned ? PVM_ULONG : PVM_LONG;
        return item->is_unsigned ? PVM_UINT : PVM_INT;
    case 'f': return item->is_long ? PVM_DOUBLE : PVM_FLOAT;
    case 'x': return item->is_long ? PVM_DCPLX : PVM_CPLX;
    case 's': return PVM_STR;
    default: return -1;
    }
}

/* A va_list that functions may share. */
struct arguments {
    va_list list;
};

/* One item passed by value. */
static int pack_value(struct leat_pvm_buffer *buffer, int type, struct arguments *arguments)
{
    union {
        char byte;
        short two;
        int four;
        long wide;
        float single;
        double real;
    } value;
    if (buffer->encoding == LEAT_PVM_IN_PLACE) return PvmNotImpl; /* it has no address */
    switch (type) {
    case PVM_BYTE: value.byte = (char)va_arg(arguments->list, int); break;
    case PVM_SHORT:
    case PVM_USHORT: value.two = (short)va_arg(arguments->list, int); break;
    case PVM_INT:
    case PVM_UINT: value.four = va_arg(arguments->list, int); break;
    case PVM_LONG:
    case PVM_ULONG: value.wide = va_arg(arguments->list, long); break;
    case PVM_FLOAT: value.single = (float)va_arg(arguments->list, double); break;
    default: value.real = va_arg(arguments->list, double); break;
    }
    return leat_pvm_pack(buffer, type, &value, 1, 1);
}

static int pack_item(struct item *item, struct arguments *arguments)
{
    if (item->kind == '+') {
        const int how = va_arg(arguments->list, int);
        return leat_pvm_encoding_of(how) < 0 ? PvmBadParam : pvm_initsend(how);
    }
    const int type = type_of(item);
    struct leat_pvm_buffer *buffer = leat_pvm_self.send;
    if (type < 0) return PvmBadParam;
    if (!buffer) return PvmNoBuf;
    if (item->count_given) item->count = va_arg(arguments->list, int);
    if (item->stride_given) item->stride = va_arg(arguments->list, int);
    if (type == PVM_STR) {
        const char *text = va_arg(arguments->list, const char *);
        return text ? leat_pvm_pack_text(buffer, text) : PvmBadParam;
    }
    const bool is_complex = type == PVM_CPLX || type == PVM_DCPLX;
    if (!item->has_count && !is_complex) return pack_value(buffer, type, arguments);
    const void *items = va_arg(arguments->list, const void *);
    return leat_pvm_pack(buffer, type, items, item->count, item->stride);
}

static int unpack_item(struct item *item, struct arguments *arguments)
{
    const int type = type_of(item);
    struct leat_pvm_buffer *buffer = leat_pvm_self.receive;
    if (type < 0) return PvmBadParam;
    if (!buffer) return PvmNoBuf;
    if (item->count_given) item->count = va_arg(arguments->list, int);
    if (item->stride_given) item->stride = va_arg(arguments->list, int);
    void *items = va_arg(arguments->list, void *);
    if (!items) return PvmBadParam;
    if (type != PVM_STR) return leat_pvm_unpack(buffer, type, items, item->count, item->stride);
    const char *text = NULL;
    size_t len = 0;
    const int result = leat_pvm_unpack_text(buffer, &text, &len);
    if (result >= 0) memcpy(items, text, len);
    return result;
}

static int each_item(const char *function, const char *format, va_list list,
                     int (*handle)(struct item *, struct arguments *))
{
    struct arguments arguments;
    int result = PvmOk;
    va_copy(arguments.list, list);
    while (*format && result >= 0) {
        struct item item;
        if (*format++ != '%') continue;
        if (*format == '+') {
            item = (struct item){ .kind = '+' };
            format++;
        } else if (!item_read(&format, &item)) {
            result = PvmBadParam;
            break;
        }
        result = handle(&item, &arguments);
    }
    va_end(arguments.list);
    return result < 0 ? lpvmerr(function, result) : PvmOk;
}

int pvm_vpackf(const char *format, va_list list)
{
    return each_item("pvm_packf", format, list, pack_item);
}

int pvm_vunpackf(const char *format, va_list list)
{
    return each_item("pvm_unpackf", format, list, unpack_item);
}

int pvm_packf(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int result = pvm_vpackf(format, list);
    va_end(list);
    return result;
}

int pvm_unpackf(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int result = pvm_vunpackf(format, list);
    va_end(list);
    return result;
}
