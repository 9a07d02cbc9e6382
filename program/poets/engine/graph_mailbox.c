#include "graph_mailbox.h"
#include "graph_parts.h"
#include "leat_bytes.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- packets -------------------------------------------------------------------------------- */

/* Adds a chunk: packets are lent to the network, so they cannot move. */
static bool grow(struct leat_poets_mailboxes *m)
{
    if (m->mail_count == m->mail_cap) {
        const uint32_t cap = m->mail_cap ? 2 * m->mail_cap : LEAT_POETS_MAIL_CHUNK;
        struct leat_poets_mail **grown = realloc(m->mail, cap * sizeof(struct leat_poets_mail *));
        if (!grown) return false;
        m->mail = grown;
        m->mail_cap = cap;
    }
    struct leat_poets_mail *chunk = calloc(LEAT_POETS_MAIL_CHUNK, sizeof *chunk);
    if (!chunk) return false;
    for (uint32_t i = LEAT_POETS_MAIL_CHUNK; i-- > 0;) {
        chunk[i].number = m->mail_count + i;
        chunk[i].next = m->unused;
        m->unused = m->mail[m->mail_count + i] = &chunk[i];
    }
    m->mail_count += LEAT_POETS_MAIL_CHUNK;
    return true;
}

struct leat_poets_mail *leat_poets_mail_new(struct leat_poets_mailboxes *m, uint32_t from,
                                            uint32_t to, const uint8_t *packet, unsigned nflit)
{
    if (!m->unused && !grow(m)) return NULL;
    struct leat_poets_mail *mail = m->unused;
    m->unused = mail->next;
    m->alive++;
    mail->next = NULL;
    mail->from = from;
    mail->to = to;
    mail->nflit = (uint8_t)nflit;
    leat_put_le32(mail->octets, m->user[to].address);
    leat_put_le32(mail->octets + 4, nflit | (uint32_t)(from == m->threads) << 8);
    memcpy(leat_poets_mail_packet(mail), packet, (size_t)nflit * LEAT_POETS_FLIT_LEN);
    return mail;
}

static void drop(struct leat_poets_mailboxes *m, struct leat_poets_mail *mail)
{
    mail->next = m->unused;
    m->unused = mail;
    m->alive--;
}

/* ---- in flight ------------------------------------------------------------------------------- */

static bool is_within(const struct leat_poets_mailboxes *m, const struct leat_poets_mail *mail)
{
    return m->user[mail->from].box == m->user[mail->to].box;
}

static bool is_control(const struct leat_poets_mailboxes *m, const struct leat_poets_mail *mail)
{
    return mail->from == m->threads && mail->to != m->threads;
}

static void has_come(struct leat_poets_mailboxes *m, struct leat_poets_mail *mail, leat_time at)
{
    struct leat_poets_mail_user *user = &m->user[mail->to];
    if (is_control(m, mail))
        user->control = mail;
    else
        leat_poets_mail_append(&user->inbox, mail);
    m->came(m->context, mail->to, at);
}

static void has_left(struct leat_poets_mailboxes *m, const struct leat_poets_mail *mail,
                     leat_time at)
{
    m->user[mail->from].sends = false;
    m->free_to_send(m->context, mail->from, at);
}

/* A slot is reserved for it: nothing blocks it any more. */
static void leave(struct leat_poets_mailboxes *m, struct leat_poets_mail *mail, leat_time at)
{
    struct leat_poets_mailbox *from = &m->box[m->user[mail->from].box];
    struct leat_poets_mailbox *to = &m->box[m->user[mail->to].box];
    if (is_within(m, mail)) {
        m->copied++;
        has_left(m, mail, at);
        has_come(m, mail, at);
        return;
    }
    const size_t head = m->bare ? 0 : LEAT_POETS_MAIL_HEAD_LEN;
    const struct leat_port_message message = {
        .from = from->port,
        .to = to->port,
        .id = mail->number,
        .octets = mail->octets + LEAT_POETS_MAIL_HEAD_LEN - head,
        .len = head + (size_t)mail->nflit * LEAT_POETS_FLIT_LEN,
    };
    from->packets++;
    to->packets++;
    if (!leat_port_send(m->net, &message, at) && !m->failed[0])
        snprintf(m->failed, sizeof m->failed,
                 "the fabric takes no more than %llu packets at a time: fewer slots",
                 (unsigned long long)m->net->in_flight);
}

static struct leat_poets_mail_counts *counts_of(struct leat_poets_mailboxes *m,
                                                const struct leat_poets_mail *mail)
{
    const bool host = mail->from == m->threads || mail->to == m->threads;
    return host ? &m->host_count : &m->threads_count;
}

void leat_poets_mail_post(struct leat_poets_mailboxes *m, struct leat_poets_mail *mail,
                          leat_time at)
{
    struct leat_poets_mail_user *to = &m->user[mail->to];
    struct leat_poets_mailbox *box = &m->box[to->box];
    assert(!m->user[mail->from].sends);
    m->user[mail->from].sends = true;
    mail->posted = at;
    if (is_control(m, mail) && !to->control_kept) {
        to->control_kept = true;
        leave(m, mail, at);
    } else if (is_control(m, mail)) {
        to->control_on = mail;
        m->host_count.waits++;
    } else if (box->free) {
        box->free--;
        leave(m, mail, at);
    } else {
        leat_poets_mail_append(&box->waiting, mail);
        counts_of(m, mail)->waits++;
    }
}

/* ---- inboxes -------------------------------------------------------------------------------- */

struct leat_poets_mail *leat_poets_mail_oldest(const struct leat_poets_mailboxes *m, uint32_t user)
{
    return m->user[user].control ? m->user[user].control : m->user[user].inbox.first;
}

void leat_poets_mail_take(struct leat_poets_mailboxes *m, struct leat_poets_mail *mail)
{
    struct leat_poets_mail_user *user = &m->user[mail->to];
    if (mail == user->control)
        user->control = NULL;
    else
        leat_poets_mail_first(&user->inbox);
}

void leat_poets_mail_done(struct leat_poets_mailboxes *m, struct leat_poets_mail *mail,
                          leat_time at)
{
    struct leat_poets_mail_user *user = &m->user[mail->to];
    struct leat_poets_mailbox *box = &m->box[user->box];
    struct leat_poets_mail *next;
    if (is_control(m, mail)) {
        next = user->control_on;
        user->control_on = NULL;
        user->control_kept = next;
    } else {
        next = leat_poets_mail_first(&box->waiting);
        box->free += !next;
    }
    drop(m, mail);
    if (next) leave(m, next, at);
}

/* ---- the network ---------------------------------------------------------------------------- */

static void note(struct leat_poets_mailboxes *m, const struct leat_port_message *message,
                 bool arrived, leat_time at)
{
    if (!leat_graph_grow((void **)&m->news, m->news_count, &m->news_cap, sizeof *m->news,
                         UINT32_MAX)) {
        snprintf(m->failed, sizeof m->failed, "no memory");
        return;
    }
    m->news[m->news_count++] = (struct leat_poets_mail_news){ m->mail[message->id], arrived, at };
}

static void on_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    note(context, message, false, at);
}

static void on_arrived(void *context, const struct leat_port_message *message, leat_time at)
{
    note(context, message, true, at);
}

static void on_lost(void *context, const struct leat_port_message *message, const char *why,
                    leat_time at)
{
    struct leat_poets_mailboxes *m = context;
    (void)at;
    if (!m->failed[0])
        snprintf(m->failed, sizeof m->failed, "a packet from port %u to %u was lost: %s",
                 message->from, message->to, why);
}

static void count(struct leat_poets_mailboxes *m, const struct leat_poets_mail *mail, leat_time at)
{
    struct leat_poets_mail_counts *c = counts_of(m, mail);
    const leat_time latency = at - mail->posted;
    c->packets++;
    c->flits += mail->nflit;
    c->latency_sum += latency;
    if (latency > c->latency_max) c->latency_max = latency;
}

bool leat_poets_mailboxes_run(struct leat_poets_mailboxes *m, leat_time until)
{
    m->news_count = 0;
    do
        leat_port_run(m->net, until);
    while (!m->news_count && m->net->in_flight && m->net->now < until);
    for (uint32_t i = 0; i < m->news_count; i++) {
        const struct leat_poets_mail_news *news = &m->news[i];
        if (news->arrived) {
            count(m, news->mail, news->at);
            has_come(m, news->mail, news->at);
        } else {
            has_left(m, news->mail, news->at);
        }
    }
    return m->news_count;
}

/* ---- making --------------------------------------------------------------------------------- */

bool leat_poets_mailboxes_make(struct leat_poets_mailboxes *m,
                               const struct leat_poets_mailbox_config *config)
{
    const uint32_t boxes = config->boxes, threads = config->threads;
    *m = (struct leat_poets_mailboxes){
        .net = config->net, .bare = config->bare, .threads = threads, .boxes = boxes
    };
    m->box = calloc((size_t)boxes + 1, sizeof *m->box);
    m->user = calloc((size_t)threads + 1, sizeof *m->user);
    if (!m->box || !m->user) return false;
    for (uint32_t b = 0; b <= boxes; b++) {
        m->box[b].port = b < boxes ? config->place[b].port : config->host_port;
        m->box[b].free = config->slots;
    }
    for (uint32_t t = 0, first = 0; t < threads; t++) {
        const uint32_t box = (uint32_t)((uint64_t)t * boxes / threads);
        if (t == 0 || box != m->user[t - 1].box) first = t;
        m->user[t] = (struct leat_poets_mail_user){
            .box = box, .address = config->place[box].address + t - first
        };
    }
    m->user[threads] = (struct leat_poets_mail_user){ .box = boxes,
                                                      .address = config->host_address };
    m->net->observer = (struct leat_port_observer){
        .context = m, .sent = on_sent, .arrived = on_arrived, .lost = on_lost
    };
    return true;
}

void leat_poets_mailboxes_free(struct leat_poets_mailboxes *m)
{
    for (uint32_t i = 0; i < m->mail_count; i += LEAT_POETS_MAIL_CHUNK)
        free(m->mail[i]);
    free(m->mail);
    free(m->box);
    free(m->user);
    free(m->news);
    *m = (struct leat_poets_mailboxes){ 0 };
}
