/*
 * The thesis' calls in a PVM program: PVM's library is the task, and its messages carry theirs.
 *
 *     atmsnd -> pvm_send in a context of its own -> ... -> pvm_recv -> atmrcv
 *     process table: the mailbox class leat.atm.NAME, an entry per instance
 *
 * The functions of PVM are weak: programs that are not linked with libpvm3 do without them.
 */
#include "thesis_pvm.h"
#include <dlfcn.h>
#include <errno.h>
#include <leat/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_PVM
#include <pvm3.h>

#pragma weak pvm_mytid
#pragma weak pvm_mkbuf
#pragma weak pvm_freebuf
#pragma weak pvm_setsbuf
#pragma weak pvm_setrbuf
#pragma weak pvm_pkint
#pragma weak pvm_pkbyte
#pragma weak pvm_upkint
#pragma weak pvm_upkbyte
#pragma weak pvm_bufinfo
#pragma weak pvm_send
#pragma weak pvm_mcast
#pragma weak pvm_recv
#pragma weak pvm_setcontext
#pragma weak pvm_putinfo
#pragma weak pvm_recvinfo
#pragma weak pvm_delinfo
#pragma weak pvm_getmboxinfo
extern void leat_pvm_fail(const char *reason) __attribute__((weak, noreturn));
extern leat_time leat_pvm_now(void) __attribute__((weak));

enum {
    CONTEXT = 0x7fffd, /* of these messages; PVM hands out small ones */
    CLASS_CAP = 32,
    OCTETS_MAX = 67912, /* as the prototype's send buffer */
};

static struct {
    char class[CLASS_CAP];
    int instance;
    uint8_t *written, *got; /* the message that it writes, and the one that it reads */
    size_t written_len, got_len, got_at;
} self;

static void name_class(const char *name, char *out)
{
    snprintf(out, CLASS_CAP, "leat.atm.%.*s", LEAT_ATM_NAME_CAP - 1, name);
}

/* ---- the process table ----------------------------------------------------------------------- */

/* Both libraries replace the clocks of the C library; only those of PVM know the time here. */
static void check_clocks(void)
{
    Dl_info clocks, own;
    const void *first = dlsym(RTLD_DEFAULT, "clock_gettime");
    if (dladdr(first, &clocks) && dladdr(&self, &own) && clocks.dli_fbase == own.dli_fbase)
        leat_pvm_fail("atmjoin: libleat-atm is linked before libpvm3, expected -lpvm3 first: its "
                      "clocks are those of a PVM run");
}

static void join(struct leat_atm_answer *out)
{
    const int tid = pvm_mytid();
    int number = tid;
    check_clocks();
    snprintf(out->name, sizeof out->name, "%s", program_invocation_short_name);
    if (strlen(out->name) != LEAT_ATM_NAME_CAP - 1)
        leat_pvm_fail("atmjoin: the program's name has less than three letters, expected more");
    name_class(out->name, self.class);
    const int before = pvm_setsbuf(0), buffer = pvm_mkbuf(PvmDataDefault);
    pvm_setsbuf(buffer);
    pvm_pkint(&number, 1, 1);
    self.instance = pvm_putinfo(self.class, buffer, PvmMboxMultiInstance);
    pvm_setsbuf(before);
    pvm_freebuf(buffer);
    if (tid < 0 || self.instance < 0) leat_pvm_fail("atmjoin: the process table has no room");
    out->instance = self.instance;
    out->port = (tid >> LEAT_PVM_PORT_SHIFT) - 1;
}

/* Its tid, or an error; if it `waits`: when it has joined. */
static int find(const char *name, int instance, bool waits)
{
    char class[CLASS_CAP];
    int tid = PvmNotFound;
    name_class(name, class);
    const int before = pvm_setrbuf(0);
    const int found = pvm_recvinfo(class, instance, waits ? PvmMboxWaitForInfo : PvmMboxDefault);
    if (found > 0) pvm_upkint(&tid, 1, 1);
    if (found > 0) pvm_freebuf(pvm_setrbuf(0));
    pvm_setrbuf(before);
    return tid;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put(const uint8_t *octets, size_t len)
{
    if (len > OCTETS_MAX - self.written_len)
        leat_atm_fail("atmput", "a message of more than %d octets", OCTETS_MAX);
    if (!self.written) self.written = malloc(OCTETS_MAX);
    if (!self.written) leat_atm_fail("atmput", "no memory for a message");
    if (len) memcpy(self.written + self.written_len, octets, len);
    self.written_len += len;
}

static int send_to_all(const char *name, int type)
{
    struct pvmmboxinfo *info;
    char class[CLASS_CAP];
    int count = 0;
    name_class(name, class);
    if (pvm_getmboxinfo(class, &count, &info) < 0 || count != 1 || !info->mi_nentries)
        leat_atm_fail("atmsnd", "%s, of which none has joined", name);
    for (int i = 0; i < info->mi_nentries; i++) /* pvm_mcast leaves out the caller */
        if (info->mi_owners[i] == pvm_mytid()) pvm_send(info->mi_owners[i], type);
    return pvm_mcast(info->mi_owners, info->mi_nentries, type);
}

static void send_message(const struct leat_atm_question *q)
{
    const bool is_to_all = q->instance == LEAT_ATM_ALL;
    const int tid = is_to_all ? 0 : find(q->name, q->instance, true);
    const int context = pvm_setcontext(CONTEXT);
    const int before = pvm_setsbuf(0), buffer = pvm_mkbuf(PvmDataRaw);
    pvm_setsbuf(buffer);
    pvm_pkbyte((char *)self.written, (int)self.written_len, 1);
    const int code = is_to_all ? send_to_all(q->name, q->type) : pvm_send(tid, q->type);
    pvm_setcontext(context);
    pvm_setsbuf(before);
    pvm_freebuf(buffer);
    self.written_len = 0;
    if (code < 0) leat_atm_fail("atmsnd", "PVM returned code %d", code);
}

static void release(void)
{
    free(self.got);
    self.got = NULL;
    self.got_len = self.got_at = 0;
}

static void receive(int type)
{
    int len = 0;
    release();
    const int before = pvm_setrbuf(0), context = pvm_setcontext(CONTEXT);
    const int buffer = pvm_recv(-1, type);
    pvm_setcontext(context);
    if (buffer < 0) leat_atm_fail("atmrcv", "PVM returned code %d", buffer);
    pvm_bufinfo(buffer, &len, NULL, NULL);
    self.got = malloc((size_t)len + 1);
    if (!self.got) leat_atm_fail("atmrcv", "no memory for a message of %d octets", len);
    pvm_upkbyte((char *)self.got, len, 1);
    self.got_len = (size_t)len;
    pvm_freebuf(pvm_setrbuf(before));
}

static void get(uint8_t *octets, size_t len)
{
    if (!self.got) leat_atm_fail("atmget", "no message has been received");
    if (len > self.got_len - self.got_at)
        leat_atm_fail("atmget", "%zu octets, the message has %zu more", len,
                      self.got_len - self.got_at);
    if (len) memcpy(octets, self.got + self.got_at, len);
    self.got_at += len;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Of a line of 155.52 Mbit/s that carries an octet a cycle: 243 in 12,500 ns. Time begins at 1 s.
 */
static uint64_t cycle_now(void)
{
    enum { CYCLES = 243, IN_NS = 12500, PS_PER_NS = 1000 };
    const leat_time begins_at = UINT64_C(1000000000000);
    return (leat_pvm_now() - begins_at) / PS_PER_NS * CYCLES / IN_NS;
}

bool leat_atm_is_over_pvm(void)
{
    return pvm_mytid && leat_pvm_fail && getenv(LEAT_ATM_OVER_PVM_VARIABLE);
}

_Noreturn void leat_atm_pvm_fail(const char *reason)
{
    leat_pvm_fail(reason);
}

struct leat_atm_answer leat_atm_pvm_ask(const struct leat_atm_question *q,
                                        const struct leat_atm_cargo *cargo)
{
    struct leat_atm_answer answer = { 0 };
    switch (q->op) {
    case LEAT_ATM_JOIN: join(&answer); break;
    case LEAT_ATM_START:
        leat_atm_fail("atmstart", "%s %d: in a PVM program, pvm_spawn starts tasks", q->name,
                      q->instance);
    case LEAT_ATM_PORT: {
        const int tid = find(q->name, q->instance, false);
        answer.port = tid < 0 ? -1 : (tid >> LEAT_PVM_PORT_SHIFT) - 1;
        break;
    }
    case LEAT_ATM_CYCLE: answer.cycle = cycle_now(); break;
    case LEAT_ATM_INITSEND: self.written_len = 0; break;
    case LEAT_ATM_PUT: put(cargo->out, cargo->out_len); break;
    case LEAT_ATM_SEND: send_message(q); break;
    case LEAT_ATM_RECEIVE: receive(q->type); break;
    case LEAT_ATM_GET: get(cargo->in, cargo->in_len); break;
    case LEAT_ATM_READ_END: release(); break;
    }
    return answer;
}

void leat_atm_pvm_leave(void)
{
    release();
    free(self.written);
    self.written = NULL;
    pvm_delinfo(self.class, self.instance, PvmMboxDefault);
}

#else

bool leat_atm_is_over_pvm(void)
{
    return false;
}

_Noreturn void leat_atm_pvm_fail(const char *reason)
{
    (void)reason;
    abort();
}

struct leat_atm_answer leat_atm_pvm_ask(const struct leat_atm_question *q,
                                        const struct leat_atm_cargo *cargo)
{
    (void)q, (void)cargo;
    abort();
}

void leat_atm_pvm_leave(void)
{
}

#endif
