/* The active buffers and the queue, as programs see them: messages of a task to itself need no
 * network. */
#include "pvm_library.h"
#include "tap.h"
#include <string.h>

/* The run, as far as a single task needs one. */
static leat_time now = 1000;

bool leat_task_is_wanted(void)
{
    return false;
}

bool leat_task_attach(uint32_t slot, const char **why)
{
    (void)slot;
    *why = "there is no run";
    return false;
}

void leat_task_begin(void)
{
}

void leat_task_leave(void)
{
}

_Noreturn void leat_task_fail(const char *reason)
{
    puts(reason);
    abort();
}

uint32_t leat_task_port_of(uint32_t task)
{
    return task;
}

void leat_task_spend_overhead(void)
{
}

leat_time leat_task_now(void)
{
    return now;
}

void leat_task_charge(leat_time span)
{
    now += span;
}

uint8_t *leat_task_room(uint64_t len)
{
    (void)len;
    return NULL;
}

void leat_task_send(uint32_t to, uint8_t *octets, uint64_t len, uint64_t cookie, bool notify_sent)
{
    (void)to, (void)octets, (void)len, (void)cookie, (void)notify_sent;
}

void leat_task_count_collective(const char *name, uint32_t carrier, uint64_t octets,
                                leat_time took_ps)
{
    (void)name, (void)carrier, (void)octets, (void)took_ps;
}

void leat_task_set_cast(uint32_t cast)
{
    (void)cast;
}

void leat_task_call(const void *question, size_t len, uint64_t cookie)
{
    (void)question, (void)len, (void)cookie;
}

bool leat_task_wait(leat_time deadline, const char *call, const char *about)
{
    (void)call, (void)about;
    if (deadline == LEAT_NEVER) abort(); /* for ever, alone */
    if (deadline > now) now = deadline;
    return false;
}

bool leat_task_next(struct leat_task_event *out)
{
    (void)out;
    return false;
}

void leat_task_release(const struct leat_task_event *event)
{
    (void)event;
}

void leat_clock_begin(void);
void leat_clock_leave(void);

void leat_clock_begin(void)
{
}

void leat_clock_leave(void)
{
}

enum { ME = 0x40001 };

static void begin(void)
{
    leat_pvm_self.is_enrolled = true;
    leat_pvm_self.tid = ME;
    leat_pvm_self.slots = 4;
    leat_pvm_self.context = 0;
    pvmautoerr = 0;
    pvm_recvf(NULL);
    while (pvm_nrecv(-1, -1) > 0) {
    }
    pvm_freebuf(pvm_getsbuf());
}

static void send_number(int tag, int number)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&number, 1, 1);
    EQ(pvm_send(ME, tag), PvmOk);
}

static int received(int tid, int tag)
{
    int number = -1;
    OK(pvm_nrecv(tid, tag) > 0);
    pvm_upkint(&number, 1, 1);
    return number;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void a_buffer_is_active_in_one_place_only(void)
{
    begin();
    int x = 5;
    const int a = pvm_initsend(PvmDataRaw), b = pvm_mkbuf(PvmDataDefault);
    OK(a > 0 && b > 0 && a != b);
    EQ(pvm_getsbuf(), a);
    EQ(pvm_setsbuf(b), a);
    EQ(pvm_pkint(&x, 1, 1), PvmOk);
    EQ(pvm_setrbuf(b), 0);
    EQ(pvm_getsbuf(), 0);
    EQ(pvm_pkint(&x, 1, 1), PvmNoBuf);
    x = 0;
    EQ(pvm_upkint(&x, 1, 1), PvmOk);
    EQ(x, 5);
    EQ(pvm_freebuf(b), PvmOk);
    EQ(pvm_getrbuf(), 0);
    EQ(pvm_freebuf(b), PvmNoSuchBuf);
    EQ(pvm_freebuf(0), PvmOk);
    EQ(pvm_freebuf(a), PvmOk);
}

static void wrong_buffers_are_refused(void)
{
    begin();
    EQ(pvm_initsend(9), PvmBadParam);
    EQ(pvm_mkbuf(-1), PvmBadParam);
    EQ(pvm_setsbuf(12345), PvmNoSuchBuf);
    EQ(pvm_setrbuf(-3), PvmBadParam);
    EQ(pvm_bufinfo(12345, NULL, NULL, NULL), PvmNoSuchBuf);
    EQ(pvm_upkint(NULL, 1, 1), PvmNoBuf);
    EQ(pvm_send(ME, 1), PvmNoBuf);
    pvm_initsend(PvmDataDefault);
    EQ(pvm_send(0, 1), PvmBadParam);
    EQ(pvm_send(0x40000, 1), PvmBadParam); /* a host */
    EQ(pvm_send(ME, -1), PvmBadParam);
    EQ(pvm_recv(-5, 1), PvmBadParam);
    EQ(pvm_recv(-1, -2), PvmBadParam);
}

static void many_buffers_have_many_numbers(void)
{
    begin();
    static int id[1000];
    for (int i = 0; i < 1000; i++)
        id[i] = pvm_mkbuf(PvmDataDefault);
    for (int i = 1; i < 1000; i++)
        OK(id[i] > 0 && id[i] != id[i - 1]);
    for (int i = 0; i < 1000; i++)
        EQ(pvm_freebuf(id[i]), PvmOk);
    OK(pvm_mkbuf(PvmDataDefault) <= 1010); /* numbers are reused */
}

/* ---- matching -------------------------------------------------------------------------------- */

static void any_task_and_any_tag_take_the_oldest(void)
{
    begin();
    send_number(3, 30);
    send_number(4, 40);
    send_number(3, 31);
    EQ(received(-1, 4), 40);
    EQ(received(-1, -1), 30);
    EQ(received(ME, -1), 31);
    EQ(pvm_nrecv(-1, -1), 0);
}

static void one_tag_keeps_its_order(void)
{
    begin();
    for (int i = 0; i < 10; i++)
        send_number(i % 2, i);
    for (int i = 1; i < 10; i += 2)
        EQ(received(ME, 1), i);
    for (int i = 0; i < 10; i += 2)
        EQ(received(ME, 0), i);
}

static void other_contexts_are_not_seen(void)
{
    begin();
    send_number(1, 10);
    leat_pvm_self.context = 77;
    EQ(pvm_nrecv(-1, -1), 0);
    send_number(1, 11);
    EQ(received(-1, 1), 11);
    leat_pvm_self.context = 0;
    EQ(received(-1, 1), 10);
}

static void a_poll_in_vain_takes_time_and_a_successful_one_does_not(void)
{
    begin();
    const leat_time before = now;
    send_number(2, 1);
    OK(pvm_probe(-1, 2) > 0);
    EQ(now, before);
    EQ(pvm_probe(-1, 3), 0);
    EQ(now, before + LEAT_TASK_POLL_PS);
    struct timeval limit = { .tv_sec = 2, .tv_usec = 5 };
    EQ(pvm_trecv(-1, 3, &limit), 0);
    EQ(now, before + LEAT_TASK_POLL_PS + 2000005000000);
}

static void a_probe_leaves_the_message_where_it_is(void)
{
    begin();
    int len = 0, tag = 0, tid = 0;
    send_number(5, 50);
    const int id = pvm_probe(-1, -1);
    EQ(pvm_bufinfo(id, &len, &tag, &tid), PvmOk);
    EQ(len, 4);
    EQ(tag, 5);
    EQ(tid, ME);
    EQ(pvm_getrbuf(), 0);
    EQ(pvm_recv(-1, 5), id);
    EQ(pvm_getrbuf(), id);
}

static int wants_big(int id, int tid, int tag)
{
    struct pvmminfo info;
    (void)tid;
    pvm_getminfo(id, &info);
    return tag == info.tag || tag == -1 ? 1 + info.len : 0;
}

static void the_matching_function_may_be_the_programs_own(void)
{
    begin();
    pvm_recvf(wants_big);
    send_number(1, 10);
    pvm_initsend(PvmDataRaw);
    pvm_pkstr("a long one");
    pvm_send(ME, 2);
    send_number(3, 30);
    int tag = 0;
    pvm_bufinfo(pvm_nrecv(-1, -1), NULL, &tag, NULL);
    EQ(tag, 2);
    EQ(received(-1, 3), 30);
    pvm_recvf(NULL);
    EQ(received(-1, -1), 10);
}

/* ---- handlers -------------------------------------------------------------------------------- */

static int handled;

static int handler(int id)
{
    int number = 0;
    EQ(pvm_getrbuf(), id);
    pvm_upkint(&number, 1, 1);
    handled += number;
    return 0;
}

static void a_handler_takes_its_messages_and_leaves_the_buffers_alone(void)
{
    begin();
    const int id = pvm_addmhf(-1, 8, 0, handler);
    OK(id >= 0);
    EQ(pvm_addmhf(-1, 8, 0, handler), PvmExists);
    send_number(7, 70);
    send_number(8, 80);
    send_number(8, 81);
    const int sending = pvm_getsbuf();
    EQ(received(-1, -1), 70);
    EQ(handled, 161);
    EQ(pvm_getsbuf(), sending);
    EQ(pvm_nrecv(-1, -1), 0);
    EQ(pvm_delmhf(id), PvmOk);
    EQ(pvm_delmhf(id), PvmNotFound);
    EQ(pvm_delmhf(-1), PvmBadParam);
    send_number(8, 82);
    EQ(received(-1, 8), 82);
}

/* ---- formats, items, messages within messages ------------------------------------------------ */

static void a_format_packs_what_another_unpacks(void)
{
    begin();
    const double d[4] = { 1.5, 0, 2.5, 0 };
    double e[2] = { 0 };
    float f = 0, z[2] = { 3, 4 }, y[2] = { 0 };
    int i = 0, numbers[3] = { 7, 8, 9 }, back[3] = { 0 };
    short h = 0;
    long l = 0;
    unsigned u = 0;
    char text[16] = "", c[3] = "";
    EQ(pvm_packf("%+ %d %hd %ld %ud %f %s", PvmDataDefault, -5, -6, 7L, 8u, 0.5, "word"), PvmOk);
    EQ(pvm_packf("%2.2lf %*d %x %3c", d, 3, numbers, z, "abc"), PvmOk);
    pvm_send(ME, 1);
    pvm_recv(-1, 1);
    EQ(pvm_unpackf("%d %hd %ld %ud %f %s", &i, &h, &l, &u, &f, text), PvmOk);
    EQ(pvm_unpackf("%2lf %*.1d %x %3c", e, 3, back, y, c), PvmOk);
    EQ(i, -5);
    EQ(h, -6);
    EQ(l, 7);
    EQ(u, 8);
    OK(f == 0.5f && e[0] == 1.5 && e[1] == 2.5 && y[1] == 4);
    OK(!strcmp(text, "word") && !memcmp(c, "abc", 3));
    EQ(back[2], 9);
    EQ(pvm_packf("%q", 1), PvmBadParam);
    EQ(pvm_packf("%5", 1), PvmBadParam);
}

static void items_sent_without_a_buffer_are_raw(void)
{
    begin();
    const double out[3] = { 1, 2, 3 };
    double in[3] = { 0 };
    int from = 0, tag = 0, len = 0;
    EQ(pvm_psend(ME, 6, (void *)out, 3, PVM_DOUBLE), PvmOk);
    EQ(pvm_precv(-1, -1, in, 2, PVM_DOUBLE, &from, &tag, &len), PvmOk);
    OK(in[1] == 2 && in[2] == 0); /* no more than there is room for */
    EQ(from, ME);
    EQ(tag, 6);
    EQ(len, 24);
    EQ(pvm_psend(ME, 6, in, 1, 99), PvmBadParam);
    EQ(pvm_psend(ME, 6, in, 1, PVM_STR), PvmNotImpl);
    EQ(pvm_psend(ME, 6, NULL, 0, PVM_INT), PvmOk);
    EQ(pvm_precv(-1, 6, NULL, 0, PVM_INT, NULL, NULL, &len), PvmOk);
    EQ(len, 0);
}

static void a_message_travels_within_another(void)
{
    begin();
    char text[16] = "";
    int x = 0;
    send_number(4, 44);
    const int inner = pvm_recv(-1, 4);
    pvm_setrbuf(0);
    pvm_initsend(PvmDataRaw);
    EQ(pvm_pkstr("before"), PvmOk);
    EQ(pvm_pkmesg(inner), PvmOk);
    EQ(pvm_pkmesgbody(inner), PvmMismatch);
    EQ(pvm_pkmesg(pvm_getsbuf()), PvmBadParam);
    pvm_send(ME, 5);
    pvm_freebuf(inner);
    pvm_recv(-1, 5);
    EQ(pvm_upkstr(text), PvmOk);
    const int again = pvm_upkmesg();
    struct pvmminfo info;
    EQ(pvm_getminfo(again, &info), PvmOk);
    EQ(info.tag, 4);
    EQ(info.src, ME);
    EQ(info.enc, 0x10000000);
    pvm_freebuf(pvm_setrbuf(again));
    EQ(pvm_upkint(&x, 1, 1), PvmOk);
    EQ(x, 44);
}

static void the_older_fields_of_a_message_can_be_set(void)
{
    begin();
    struct pvmminfo info;
    const int id = pvm_initsend(PvmDataDefault);
    pvm_getminfo(id, &info);
    info.wid = 17;
    EQ(pvm_setminfo(id, &info), PvmOk);
    pvm_send(ME, 1);
    pvm_getminfo(pvm_recv(-1, 1), &info);
    EQ(info.wid, 17);
    EQ(info.dst, ME);
}

static void options_are_kept_and_wrong_ones_refused(void)
{
    begin();
    EQ(pvm_getopt(PvmRoute), PvmAllowDirect);
    EQ(pvm_setopt(PvmRoute, PvmRouteDirect), PvmAllowDirect);
    EQ(pvm_setopt(PvmRoute, 9), PvmBadParam);
    EQ(pvm_getopt(PvmRoute), PvmRouteDirect);
    EQ(pvm_getopt(0), PvmBadParam);
    EQ(pvm_getopt(PvmNoReset + 1), PvmBadParam);
    EQ(pvm_setopt(PvmResvTids, 1), 0);
    pvm_initsend(PvmDataDefault);
    EQ(pvm_send(ME, -7), PvmOk);
    EQ(pvm_setopt(PvmResvTids, 0), 1);
    EQ(pvm_send(ME, -7), PvmBadParam);
}

TAP_MAIN(T(a_buffer_is_active_in_one_place_only), T(wrong_buffers_are_refused),
         T(many_buffers_have_many_numbers), T(any_task_and_any_tag_take_the_oldest),
         T(one_tag_keeps_its_order), T(other_contexts_are_not_seen),
         T(a_poll_in_vain_takes_time_and_a_successful_one_does_not),
         T(a_probe_leaves_the_message_where_it_is),
         T(the_matching_function_may_be_the_programs_own),
         T(a_handler_takes_its_messages_and_leaves_the_buffers_alone),
         T(a_format_packs_what_another_unpacks), T(items_sent_without_a_buffer_are_raw),
         T(a_message_travels_within_another), T(the_older_fields_of_a_message_can_be_set),
         T(options_are_kept_and_wrong_ones_refused))
