/* The mailbox of the machine: messages under names. */
#include "pvm_library.h"
#include <stdlib.h>
#include <string.h>

static bool is_name(const char *name)
{
    return name && *name && strlen(name) < LEAT_PVM_NAME_LEN;
}

/* ---- messages -------------------------------------------------------------------------------- */

static int put_message(const char *name, struct leat_pvm_buffer *buffer, int index, int flags)
{
    struct leat_pvm_octets arguments = { 0 };
    int result = leat_pvm_enrol();
    if (result < 0) return result;
    const size_t len = leat_pvm_buffer_len(buffer);
    const bool in_place = buffer->encoding == LEAT_PVM_IN_PLACE;
    leat_pvm_put_text(&arguments, name);
    leat_pvm_put_i32(&arguments, index);
    leat_pvm_put_i32(&arguments, flags);
    leat_pvm_put_i32(&arguments, in_place ? (int)LEAT_PVM_RAW : buffer->encoding);
    leat_pvm_put_i32(&arguments, buffer->context);
    leat_pvm_put_i32(&arguments, buffer->tag);
    leat_pvm_put_i32(&arguments, buffer->wait_id);
    uint8_t *room = leat_pvm_octets_extend(&arguments, len);
    if (room) leat_pvm_buffer_copy(buffer, 0, room, len);
    result = leat_pvm_ask(LEAT_PVM_MAIL_PUT, &arguments, NULL, "pvm_putinfo", "");
    leat_pvm_octets_free(&arguments);
    return result;
}

int pvm_putinfo(char *name, int id, int flags)
{
    struct leat_pvm_buffer *buffer = leat_pvm_buffer_find(id);
    if (!is_name(name) || id <= 0) return lpvmerr("pvm_putinfo", PvmBadParam);
    if (!buffer) return lpvmerr("pvm_putinfo", PvmNoSuchBuf);
    const int index = (int)PvmMboxDirectIndexOf((unsigned)flags);
    const int result = put_message(name, buffer, index ? index : -1, flags & LEAT_PVM_MAIL_FLAGS);
    return result < 0 && result != PvmDenied && result != PvmExists ? lpvmerr("pvm_putinfo", result)
                                                                    : result;
}

/* The message, or an error. */
static int get_message(const char *name, int index, int flags, struct leat_pvm_buffer **out,
                       int *found_index)
{
    struct leat_pvm_octets answer = { 0 };
    const int numbers[] = { index, flags };
    const int result = leat_pvm_query(LEAT_PVM_MAIL_GET, name, numbers, 2, &answer, "pvm_recvinfo");
    struct leat_pvm_buffer *message = result < 0 ? NULL : leat_pvm_buffer_new(LEAT_PVM_XDR);
    if (message) {
        *found_index = result;
        message->source = leat_pvm_get_i32(&answer);
        message->encoding = leat_pvm_get_i32(&answer);
        message->context = leat_pvm_get_i32(&answer);
        message->tag = leat_pvm_get_i32(&answer);
        message->wait_id = leat_pvm_get_i32(&answer);
        message->is_read = true;
        leat_pvm_put(&message->body, answer.at + answer.read_at, answer.len - answer.read_at);
    }
    leat_pvm_octets_free(&answer);
    *out = message;
    if (result < 0) return result;
    return message && !message->body.failed ? PvmOk : PvmNoMem;
}

int pvm_recvinfo(char *name, int index, int flags)
{
    struct leat_pvm_buffer *message = NULL;
    int found = 0;
    if (!is_name(name) || index < 0) return lpvmerr("pvm_recvinfo", PvmBadParam);
    const int result = get_message(name, index, flags, &message, &found);
    if (result == PvmNotFound || result == PvmDenied) return result;
    if (result < 0) return lpvmerr("pvm_recvinfo", result);
    pvm_freebuf(pvm_getrbuf());
    pvm_setrbuf(message->id);
    return message->id;
}

static int delete_message(const char *function, const char *name, int index)
{
    if (!is_name(name) || index < 0) return lpvmerr(function, PvmBadParam);
    const int result = leat_pvm_query(LEAT_PVM_MAIL_DELETE, name, &index, 1, NULL, "pvm_delinfo");
    return result == PvmSysErr ? lpvmerr(function, result) : result;
}

int pvm_delinfo(char *name, int index, int flags)
{
    (void)flags; /* none are defined */
    return delete_message("pvm_delinfo", name, index);
}

/* ---- listing --------------------------------------------------------------------------------- */

static struct {
    struct pvmmboxinfo *class;
    int count;
    struct leat_pvm_octets answer;
} listed;

static void forget_listed(void)
{
    for (int i = 0; i < listed.count; i++)
        free(listed.class[i].mi_indices);
    listed.count = 0;
}

/* One block holds indices, owners and flags. */
static bool load_class(struct pvmmboxinfo *out)
{
    out->mi_name = (char *)leat_pvm_get_text(&listed.answer);
    const int count = leat_pvm_get_i32(&listed.answer);
    int *numbers = calloc(3 * (size_t)count + 1, sizeof *numbers);
    if (!numbers) return false;
    out->mi_nentries = count;
    out->mi_indices = numbers;
    out->mi_owners = numbers + count;
    out->mi_flags = numbers + 2 * (size_t)count;
    for (int i = 0; i < count; i++) {
        out->mi_indices[i] = leat_pvm_get_i32(&listed.answer);
        out->mi_owners[i] = leat_pvm_get_i32(&listed.answer);
        out->mi_flags[i] = leat_pvm_get_i32(&listed.answer);
    }
    return true;
}

int pvm_getmboxinfo(char *pattern, int *count, struct pvmmboxinfo **classes)
{
    int result = leat_pvm_enrol();
    if (result >= 0 && (!pattern || !count || !classes)) result = PvmBadParam;
    forget_listed();
    if (result >= 0)
        result = leat_pvm_query(LEAT_PVM_MAIL_LIST, pattern, NULL, 0, &listed.answer,
                                "pvm_getmboxinfo");
    if (result < 0) return lpvmerr("pvm_getmboxinfo", result);
    struct pvmmboxinfo *class = reallocarray(listed.class, (size_t)result + 1, sizeof *class);
    if (!class) return lpvmerr("pvm_getmboxinfo", PvmNoMem);
    listed.class = class;
    for (; listed.count < result; listed.count++)
        if (!load_class(&class[listed.count])) return lpvmerr("pvm_getmboxinfo", PvmNoMem);
    *count = listed.count;
    *classes = class;
    return PvmOk;
}

/* ---- the older interface: numbers under names ------------------------------------------------ */

int pvm_insert(char *name, int index, int value)
{
    if (!is_name(name) || index < -1) return lpvmerr("pvm_insert", PvmBadParam);
    struct leat_pvm_buffer *buffer = leat_pvm_buffer_new(LEAT_PVM_XDR);
    int result = buffer ? leat_pvm_pack(buffer, PVM_INT, &value, 1, 1) : PvmNoMem;
    if (result == PvmOk)
        result = put_message(name, buffer, index,
                             PvmMboxPersistent | PvmMboxMultiInstance | LEAT_PVM_MAIL_FRESH);
    leat_pvm_buffer_free(buffer);
    return result < 0 && result != PvmDupEntry ? lpvmerr("pvm_insert", result) : result;
}

int pvm_lookup(char *name, int index, int *value)
{
    struct leat_pvm_buffer *message = NULL;
    int found = 0, there = 0;
    if (!is_name(name) || index < -1) return lpvmerr("pvm_lookup", PvmBadParam);
    const int flags = index < 0 ? PvmMboxFirstAvail : PvmMboxDefault;
    int result = get_message(name, index < 0 ? 0 : index, flags, &message, &found);
    if (result == PvmOk) result = leat_pvm_unpack(message, PVM_INT, &there, 1, 1);
    leat_pvm_buffer_free(message);
    if (result == PvmNoEntry) return result;
    if (result < 0) return lpvmerr("pvm_lookup", result);
    if (value) *value = there;
    return found;
}

int pvm_delete(char *name, int index)
{
    return delete_message("pvm_delete", name, index);
}
