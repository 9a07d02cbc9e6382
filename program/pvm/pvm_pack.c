/* pvm_pk*, pvm_upk*: the active buffers, and messages within messages. */
#include "pvm_library.h"
#include <string.h>

static int pack(const char *function, int type, const void *items, int count, int stride)
{
    struct leat_pvm_buffer *buffer = leat_pvm_self.send;
    if (!buffer) return lpvmerr(function, PvmNoBuf);
    if (!items && count > 0) return lpvmerr(function, PvmBadParam);
    return leat_pvm_result(function, leat_pvm_pack(buffer, type, items, count, stride));
}

static int unpack(const char *function, int type, void *items, int count, int stride)
{
    struct leat_pvm_buffer *buffer = leat_pvm_self.receive;
    if (!buffer) return lpvmerr(function, PvmNoBuf);
    if (!items && count > 0) return lpvmerr(function, PvmBadParam);
    return leat_pvm_result(function, leat_pvm_unpack(buffer, type, items, count, stride));
}

#define BOTH_WAYS(name, item, type)                                 \
    int pvm_pk##name(item *items, int count, int stride)            \
    {                                                               \
        return pack("pvm_pk" #name, type, items, count, stride);    \
    }                                                               \
    int pvm_upk##name(item *items, int count, int stride)           \
    {                                                               \
        return unpack("pvm_upk" #name, type, items, count, stride); \
    }

BOTH_WAYS(byte, char, PVM_BYTE)
BOTH_WAYS(short, short, PVM_SHORT)
BOTH_WAYS(ushort, unsigned short, PVM_USHORT)
BOTH_WAYS(int, int, PVM_INT)
BOTH_WAYS(uint, unsigned, PVM_UINT)
BOTH_WAYS(long, long, PVM_LONG)
BOTH_WAYS(ulong, unsigned long, PVM_ULONG)
BOTH_WAYS(float, float, PVM_FLOAT)
BOTH_WAYS(cplx, float, PVM_CPLX)
BOTH_WAYS(double, double, PVM_DOUBLE)
BOTH_WAYS(dcplx, double, PVM_DCPLX)

int pvm_pkstr(char *text)
{
    if (!leat_pvm_self.send) return lpvmerr("pvm_pkstr", PvmNoBuf);
    if (!text) return lpvmerr("pvm_pkstr", PvmBadParam);
    return leat_pvm_result("pvm_pkstr", leat_pvm_pack_text(leat_pvm_self.send, text));
}

int pvm_upkstr(char *to)
{
    const char *text = NULL;
    size_t len = 0;
    if (!leat_pvm_self.receive) return lpvmerr("pvm_upkstr", PvmNoBuf);
    if (!to) return lpvmerr("pvm_upkstr", PvmBadParam);
    const int result = leat_pvm_unpack_text(leat_pvm_self.receive, &text, &len);
    if (result < 0) return lpvmerr("pvm_upkstr", result);
    memcpy(to, text, len);
    return PvmOk;
}

/* ---- messages within messages ---------------------------------------------------------------- */

enum { LEN, CONTEXT, TAG, WAIT_ID, ENCODING, CRC, SOURCE, DESTINATION, FIELDS };

static int included(int id, struct leat_pvm_buffer **out)
{
    if (id <= 0) return PvmBadParam;
    if (!(*out = leat_pvm_buffer_find(id))) return PvmNoSuchBuf;
    if (!leat_pvm_self.send) return PvmNoBuf;
    return *out == leat_pvm_self.send ? PvmBadParam : PvmOk;
}

/* Its octets, as bytes: they stay unchanged, whatever the encodings. */
static int append_octets(struct leat_pvm_buffer *from, bool is_counted)
{
    struct leat_pvm_buffer *to = leat_pvm_self.send;
    const size_t len = leat_pvm_buffer_len(from);
    const int count = (int)len;
    if (len > INT32_MAX) return PvmOverflow;
    if (from->span_count) { /* the location of the items is enough */
        for (size_t i = 0; i < from->span_count; i++) {
            const int result = leat_pvm_pack(to, PVM_BYTE, from->span[i].at, (int)from->span[i].len,
                                             1);
            if (result < 0) return result;
        }
        return PvmOk;
    }
    if (is_counted) {
        const int result = leat_pvm_pack(to, PVM_INT, &count, 1, 1);
        if (result < 0) return result;
    }
    return leat_pvm_pack(to, PVM_BYTE, from->body.at, count, 1);
}

static int pack_message(int id)
{
    struct leat_pvm_buffer *from = NULL;
    int result = included(id, &from);
    if (result < 0) return result;
    if (leat_pvm_self.send->encoding == LEAT_PVM_IN_PLACE) return PvmNotImpl;
    if ((result = leat_pvm_buffer_finish(from)) < 0) return result;
    const int head[FIELDS] = {
        [LEN] = (int)from->body.len,      [CONTEXT] = from->context,   [TAG] = from->tag,
        [WAIT_ID] = from->wait_id,        [ENCODING] = from->encoding, [SOURCE] = from->source,
        [DESTINATION] = from->destination
    };
    result = leat_pvm_pack(leat_pvm_self.send, PVM_INT, head, FIELDS, 1);
    return result < 0 ? result : append_octets(from, true);
}

int pvm_pkmesg(int id)
{
    return leat_pvm_result("pvm_pkmesg", pack_message(id));
}

int pvm_pkmesgbody(int id)
{
    struct leat_pvm_buffer *from = NULL;
    int result = included(id, &from);
    if (result == PvmOk && from->encoding != leat_pvm_self.send->encoding) result = PvmMismatch;
    if (result == PvmOk) result = append_octets(from, false);
    return leat_pvm_result("pvm_pkmesgbody", result);
}

static int unpack_message(void)
{
    struct leat_pvm_buffer *from = leat_pvm_self.receive;
    int head[FIELDS], count = 0;
    if (!from) return PvmNoBuf;
    int result = leat_pvm_unpack(from, PVM_INT, head, FIELDS, 1);
    if (result == PvmOk) result = leat_pvm_unpack(from, PVM_INT, &count, 1, 1);
    if (result < 0) return result;
    if (count != head[LEN] || count < 0) return PvmBadMsg;
    struct leat_pvm_buffer *message = leat_pvm_buffer_new(head[ENCODING]);
    uint8_t *room = message ? leat_pvm_octets_extend(&message->body, (size_t)count) : NULL;
    result = room ? leat_pvm_unpack(from, PVM_BYTE, room, count, 1) : PvmNoMem;
    if (result < 0) {
        leat_pvm_buffer_free(message);
        return result;
    }
    message->context = head[CONTEXT];
    message->tag = head[TAG];
    message->wait_id = head[WAIT_ID];
    message->source = head[SOURCE];
    message->destination = head[DESTINATION];
    return message->id;
}

int pvm_upkmesg(void)
{
    return leat_pvm_result("pvm_upkmesg", unpack_message());
}
