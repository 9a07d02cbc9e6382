#include "fi_private.h"
#include "fi_rank.h"
#include "leat_bytes.h"
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <opal_config.h> /* Open MPI's own headers need it first */

#include <opal/class/opal_pointer_array.h>

enum {
    CONTEXTS_MAX =
        1 << 16, /* communicators whose kind is known; later ones count as the program's */
    WORD_BITS = 64,
    TAG_CONTEXT_SHIFT = 34, /* in a tag of Open MPI: | communicator | protocol (2) | tag (32) | */
};

static struct {
    uint64_t was_there[CONTEXTS_MAX / WORD_BITS];
    uint64_t is_private[CONTEXTS_MAX / WORD_BITS];
    bool are_all_private; /* the library does not reveal its communicators */
} contexts;

/* Open MPI's table of communicators, indexed by the number in tags; NULL: it is hidden. */
static const opal_pointer_array_t *communicators(void)
{
    static const opal_pointer_array_t *table;
    if (!table) table = dlsym(RTLD_DEFAULT, "ompi_mpi_communicators");
    return table;
}

static bool has(const uint64_t *set, uint64_t i)
{
    return i < CONTEXTS_MAX && set[i / WORD_BITS] >> i % WORD_BITS & 1;
}

static void put(uint64_t *set, uint64_t i, bool is_in)
{
    const uint64_t bit = UINT64_C(1) << i % WORD_BITS;
    set[i / WORD_BITS] = is_in ? set[i / WORD_BITS] | bit : set[i / WORD_BITS] & ~bit;
}

static bool exists(const opal_pointer_array_t *table, uint64_t i)
{
    return i < (uint64_t)table->size && table->addr[i];
}

void leat_fi_private_window_begins(void)
{
    const opal_pointer_array_t *table = communicators();
    for (uint64_t i = 0; table && i < CONTEXTS_MAX; i++)
        put(contexts.was_there, i, exists(table, i));
}

/* Communicators that were not there before belong to the window. */
void leat_fi_private_window_made(void)
{
    const opal_pointer_array_t *table = communicators();
    contexts.are_all_private |= !table;
    for (uint64_t i = 0; table && i < CONTEXTS_MAX; i++)
        if (exists(table, i) && !has(contexts.was_there, i)) put(contexts.is_private, i, true);
}

/* Its number may be reused by another communicator. */
void leat_fi_private_window_freed(void)
{
    const opal_pointer_array_t *table = communicators();
    for (uint64_t i = 0; table && i < CONTEXTS_MAX; i++)
        if (!exists(table, i)) put(contexts.is_private, i, false);
}

static bool is_private(uint64_t context)
{
    if (contexts.are_all_private || leat_fi_call_is_deep_now()) return true;
    return has(contexts.is_private, context);
}

bool leat_fi_private_is(uint64_t tag)
{
    return is_private(tag >> TAG_CONTEXT_SHIFT);
}

bool leat_fi_private_is_in(uint32_t communicator)
{
    return is_private(communicator);
}

/* ---- names of processes ---------------------------------------------------------------------- */

/* How often does the text occur, as Open MPI packs it: | length (4) | characters | 0 | ? */
static uint32_t count_packed(const uint8_t *octets, uint64_t len, const char *text)
{
    uint8_t packed[4 + 256];
    const size_t text_len = strlen(text) + 1, packed_len = 4 + text_len;
    uint32_t count = 0;
    if (text_len == 1 || packed_len > sizeof packed) return 0;
    leat_put_be32(packed, (uint32_t)text_len);
    memcpy(packed + 4, text, text_len);
    const uint8_t *at = octets, *end = octets + len;
    while ((at = memmem(at, (size_t)(end - at), packed, packed_len)) != NULL) {
        count++;
        at += packed_len;
    }
    return count;
}

static uint32_t padding_of(const uint8_t *octets, uint64_t len, const char *text, uint32_t longest)
{
    const size_t text_len = strlen(text);
    return text_len < longest ? count_packed(octets, len, text) * (longest - (uint32_t)text_len)
                              : 0;
}

/* The number of a job: | mpirun's own, a random one (16) | a count (16) |. */
enum { JOB_SHIFT = 16 };

/* Numbers of jobs of this mpirun, in texts of any kind. */
static uint32_t pad_jobs(const uint8_t *octets, uint64_t len)
{
    const char *job = getenv("PMIX_NAMESPACE");
    const uint64_t own = job ? strtoull(job, NULL, 10) >> JOB_SHIFT : 0;
    uint64_t number = 0;
    uint32_t padding = 0, digits = 0;
    for (uint64_t i = 0; own && i <= len; i++) {
        const bool is_digit = i < len && octets[i] >= '0' && octets[i] <= '9';
        if (!is_digit && digits < LEAT_FI_JOB_LEN && number >> JOB_SHIFT == own)
            padding += LEAT_FI_JOB_LEN - digits;
        digits = is_digit ? digits + 1 : 0;
        number = is_digit && digits <= LEAT_FI_JOB_LEN ? 10 * number + octets[i] - '0' : 0;
    }
    return padding;
}

uint32_t leat_fi_private_padding(const void *octets, uint64_t len)
{
    char host[LEAT_FI_HOST_LEN + 1] = "";
    if (!len || !leat_fi_call_is_deep_now()) return 0;
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = '\0'; /* as Open MPI does */
    return pad_jobs(octets, len) + padding_of(octets, len, host, LEAT_FI_HOST_LEN);
}
