/*
 * The libfabric provider `leat`: one fabric, one domain, and in each process one endpoint of
 * reliable datagrams with tagged messages and one of one-sided operations (fi_one_sided.h), each
 * bound to a completion queue. The address of a rank is its number.
 */
#include "fi_absent.h"
#include "fi_held.h"
#include "fi_match.h"
#include "fi_message.h"
#include "fi_one_sided.h"
#include "fi_private.h"
#include "fi_queue.h"
#include "fi_rank.h"
#include "fi_wire.h"
#include "leat_bytes.h"
#include "task.h"
#include <assert.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_prov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME        "leat"
#define VERSION     FI_VERSION(0, 1)
#define CAPS        (FI_TAGGED | FI_SEND | FI_RECV | FI_DIRECTED_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM)
#define ORDER       FI_ORDER_SAS
#define MSG_LEN_MAX (SIZE_MAX >> 1)

enum {
    OUTSTANDING = 1 << 20, /* reported size of a queue that has no limit */
};

static_assert(FI_ADDR_UNSPEC == LEAT_FI_MATCH_ANY, "any rank is the same word in both");

struct fi_provider *fi_prov_ini(void);

static struct {
    struct fid_fabric fabric;
    struct fid_domain domain;
    struct fid_av av;
    struct fid_ep ep;
    bool is_ep_open;
    bool is_selective; /* sends report completion only on request */
    uint64_t send_flags;
} provider;

/* ---- tagged messages ------------------------------------------------------------------------- */

/* `call` is completed: is the message the library's own? */
static ssize_t pass_on(struct leat_fi_send call, ssize_t (*send)(const struct leat_fi_send *call))
{
    leat_fi_be_no_copy("MPI to send");
    leat_fi_lock();
    call.is_private = leat_fi_private_is(call.tag);
    if (call.is_private) call.padding = leat_fi_private_padding(call.octets, call.len);
    const ssize_t result = send(&call);
    leat_fi_unlock();
    return result;
}

static ssize_t start_send(const void *buf, size_t len, uint64_t data, fi_addr_t to, uint64_t tag,
                          void *context, uint64_t flags)
{
    const bool has_data = flags & FI_REMOTE_CQ_DATA;
    const struct leat_fi_send call = {
        .to = (uint32_t)to,
        .octets = buf,
        .len = len,
        .tag = tag,
        .data = has_data ? data : 0,
        .has_data = has_data,
        .is_reported = !provider.is_selective || flags & FI_COMPLETION,
        .context = context,
    };
    return pass_on(call, leat_fi_message_send);
}

static ssize_t tsenddata(struct fid_ep *ep, const void *buf, size_t len, void *desc, uint64_t data,
                         fi_addr_t to, uint64_t tag, void *context)
{
    (void)ep, (void)desc;
    return start_send(buf, len, data, to, tag, context,
                      (provider.send_flags & FI_COMPLETION) | FI_REMOTE_CQ_DATA);
}

static ssize_t tsend(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to,
                     uint64_t tag, void *context)
{
    (void)ep, (void)desc;
    return start_send(buf, len, 0, to, tag, context, provider.send_flags & FI_COMPLETION);
}

static ssize_t tsendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
                      fi_addr_t to, uint64_t tag, void *context)
{
    (void)desc;
    if (count > 1) return -FI_EINVAL;
    return tsend(ep, count ? iov->iov_base : NULL, count ? iov->iov_len : 0, NULL, to, tag,
                 context);
}

static ssize_t tsendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
    (void)ep;
    if (msg->iov_count > 1) return -FI_EINVAL;
    return start_send(msg->iov_count ? msg->msg_iov->iov_base : NULL,
                      msg->iov_count ? msg->msg_iov->iov_len : 0, msg->data, msg->addr, msg->tag,
                      msg->context, flags);
}

static ssize_t tinjectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
                           fi_addr_t to, uint64_t tag)
{
    const struct leat_fi_send call = {
        .to = (uint32_t)to, .octets = buf, .len = len, .tag = tag, .data = data, .has_data = true
    };
    (void)ep;
    return pass_on(call, leat_fi_message_inject);
}

static ssize_t tinject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t to, uint64_t tag)
{
    const struct leat_fi_send call = { .to = (uint32_t)to, .octets = buf, .len = len, .tag = tag };
    (void)ep;
    return pass_on(call, leat_fi_message_inject);
}

/* Receives always report their completion. */
static ssize_t start_receive(const struct leat_fi_receive *call, uint64_t flags)
{
    ssize_t result;
    leat_fi_be_no_copy("MPI to receive");
    leat_fi_lock();
    if (flags & FI_PEEK)
        result = leat_fi_message_peek(call, flags & FI_CLAIM, flags & FI_DISCARD);
    else if (flags & FI_CLAIM)
        result = leat_fi_message_claim(call, flags & FI_DISCARD);
    else
        result = leat_fi_message_receive(call);
    leat_fi_unlock();
    return result;
}

static ssize_t trecv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from,
                     uint64_t tag, uint64_t ignore, void *context)
{
    (void)ep, (void)desc;
    return start_receive(&(struct leat_fi_receive){ from, tag, ignore, buf, len, context }, 0);
}

static ssize_t trecvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
                      fi_addr_t from, uint64_t tag, uint64_t ignore, void *context)
{
    (void)desc;
    if (count > 1) return -FI_EINVAL;
    return trecv(ep, count ? iov->iov_base : NULL, count ? iov->iov_len : 0, NULL, from, tag,
                 ignore, context);
}

static ssize_t trecvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
    (void)ep;
    if (msg->iov_count > 1) return -FI_EINVAL;
    const struct leat_fi_receive call = {
        .from = msg->addr,
        .tag = msg->tag,
        .ignore = msg->ignore,
        .octets = msg->iov_count ? msg->msg_iov->iov_base : NULL,
        .cap = msg->iov_count ? msg->msg_iov->iov_len : 0,
        .context = msg->context,
    };
    return start_receive(&call, flags);
}

static struct fi_ops_tagged tagged_ops = {
    .size = sizeof tagged_ops,
    .recv = trecv,
    .recvv = trecvv,
    .recvmsg = trecvmsg,
    .send = tsend,
    .sendv = tsendv,
    .sendmsg = tsendmsg,
    .inject = tinject,
    .senddata = tsenddata,
    .injectdata = tinjectdata,
};

/* ---- the endpoint ---------------------------------------------------------------------------- */

static ssize_t ep_cancel(fid_t fid, void *context)
{
    (void)fid;
    leat_fi_lock();
    const ssize_t result = leat_fi_message_cancel(context);
    leat_fi_unlock();
    return result;
}

static ssize_t ep_size_left(struct fid_ep *ep)
{
    (void)ep;
    return OUTSTANDING;
}

static int ep_getname(fid_t fid, void *address, size_t *len)
{
    const size_t room = *len;
    (void)fid;
    *len = LEAT_FI_ADDRESS_LEN;
    if (room < LEAT_FI_ADDRESS_LEN) return -FI_ETOOSMALL;
    leat_put_be64(address, leat_task_number());
    return 0;
}

static int ep_close(struct fid *fid)
{
    (void)fid;
    leat_fi_message_close();
    provider.is_ep_open = false;
    return 0;
}

static int ep_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
    (void)fid;
    if (other->fclass == FI_CLASS_AV) return 0;
    if (other->fclass != FI_CLASS_CQ) return -FI_ENOSYS;
    leat_fi_message_bind(leat_fi_queue_of(other));
    if (flags & FI_TRANSMIT) provider.is_selective = flags & FI_SELECTIVE_COMPLETION;
    return 0;
}

static int ep_control(struct fid *fid, int command, void *argument)
{
    (void)fid, (void)argument;
    return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

static int message_ep_open(struct fid_ep like, const struct fi_info *info, struct fid_ep **ep)
{
    if (provider.is_ep_open) return -FI_EBUSY;
    leat_fi_message_open();
    provider.is_ep_open = true;
    provider.send_flags = info->tx_attr ? info->tx_attr->op_flags : FI_COMPLETION;
    provider.ep = like;
    provider.ep.tagged = &tagged_ops;
    *ep = &provider.ep;
    return 0;
}

static int ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                   void *context)
{
    static struct fi_ops fid_ops;
    static struct fi_ops_ep ops;
    static struct fi_ops_cm cm_ops;
    (void)domain;
    fid_ops = leat_fi_no_ops;
    fid_ops.close = ep_close;
    fid_ops.bind = ep_bind;
    fid_ops.control = ep_control;
    ops = leat_fi_no_endpoint;
    ops.cancel = ep_cancel;
    ops.rx_size_left = ep_size_left;
    ops.tx_size_left = ep_size_left;
    cm_ops = leat_fi_no_connections;
    cm_ops.getname = ep_getname;
    const struct fid_ep like = { .fid = { FI_CLASS_EP, context, &fid_ops },
                                 .ops = &ops,
                                 .cm = &cm_ops };
    return info->caps & FI_RMA ? leat_fi_one_sided_open(&like, ep)
                               : message_ep_open(like, info, ep);
}

/* ---- addresses ------------------------------------------------------------------------------- */

static int av_insert(struct fid_av *av, const void *address, size_t count, fi_addr_t *out,
                     uint64_t flags, void *context)
{
    const uint8_t *p = address;
    int sound = 0;
    (void)av, (void)flags, (void)context;
    for (size_t i = 0; i < count; i++, p += LEAT_FI_ADDRESS_LEN) {
        const uint64_t rank = leat_get_be64(p);
        const bool is_sound = rank < leat_task_slots();
        if (out) out[i] = is_sound ? rank : FI_ADDR_NOTAVAIL;
        sound += is_sound;
    }
    return sound;
}

static int av_insertsvc(struct fid_av *av, const char *node, const char *service, fi_addr_t *out,
                        uint64_t flags, void *context)
{
    (void)av, (void)node, (void)service, (void)out, (void)flags, (void)context;
    return -FI_ENOSYS;
}

static int av_insertsym(struct fid_av *av, const char *node, size_t nodes, const char *service,
                        size_t services, fi_addr_t *out, uint64_t flags, void *context)
{
    (void)nodes, (void)services;
    return av_insertsvc(av, node, service, out, flags, context);
}

static int av_remove(struct fid_av *av, fi_addr_t *address, size_t count, uint64_t flags)
{
    (void)av, (void)address, (void)count, (void)flags;
    return 0; /* numbers are not kept */
}

static int av_lookup(struct fid_av *av, fi_addr_t from, void *address, size_t *len)
{
    uint8_t octets[LEAT_FI_ADDRESS_LEN];
    (void)av;
    leat_put_be64(octets, from);
    memcpy(address, octets, *len < LEAT_FI_ADDRESS_LEN ? *len : LEAT_FI_ADDRESS_LEN);
    *len = LEAT_FI_ADDRESS_LEN;
    return 0;
}

static const char *av_straddr(struct fid_av *av, const void *address, char *buf, size_t *len)
{
    (void)av;
    const int needed = snprintf(buf, *len, "rank %llu", (unsigned long long)leat_get_be64(address));
    *len = (size_t)needed + 1;
    return buf;
}

static int av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
                   void *context)
{
    static struct fi_ops_av ops = {
        .size = sizeof ops,
        .insert = av_insert,
        .insertsvc = av_insertsvc,
        .insertsym = av_insertsym,
        .remove = av_remove,
        .lookup = av_lookup,
        .straddr = av_straddr,
    };
    (void)domain;
    if (attr && attr->type == FI_AV_TABLE) return -FI_ENOSYS;
    provider.av = (struct fid_av){ { FI_CLASS_AV, context, &leat_fi_no_ops }, &ops };
    *av = &provider.av;
    return 0;
}

/* ---- domain and fabric ----------------------------------------------------------------------- */

static int domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                       void *context)
{
    static struct fi_ops_domain ops;
    (void)fabric, (void)info;
    ops = leat_fi_no_domain;
    ops.av_open = av_open;
    ops.cq_open = leat_fi_queue_open;
    ops.endpoint = ep_open;
    provider.domain = (struct fid_domain){
        .fid = { FI_CLASS_DOMAIN, context, &leat_fi_no_ops },
        .ops = &ops,
        .mr = &leat_fi_held_ops,
    };
    *domain = &provider.domain;
    return 0;
}

static int fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    static struct fi_ops_fabric ops;
    if (attr->name && strcmp(attr->name, NAME) != 0) return -FI_ENODATA;
    ops = leat_fi_no_fabric;
    ops.domain = domain_open;
    provider.fabric = (struct fid_fabric){
        .fid = { FI_CLASS_FABRIC, context, &leat_fi_no_ops },
        .ops = &ops,
        .api_version = attr->api_version,
    };
    *fabric = &provider.fabric;
    return 0;
}

/* ---- capabilities ---------------------------------------------------------------------------- */

/* Of the endpoint that is wanted: for messages, or for one-sided operations. 0: not offered. */
static uint64_t caps_for(const struct fi_info *hints)
{
    if (hints->caps & FI_TAGGED && !(hints->caps & ~CAPS)) return CAPS;
    return hints->caps & FI_RMA && !(hints->caps & ~LEAT_FI_ONE_SIDED_CAPS) ? LEAT_FI_ONE_SIDED_CAPS
                                                                            : 0;
}

static bool suits(const struct fi_info *hints)
{
    if (!hints || !hints->ep_attr || hints->ep_attr->type != FI_EP_RDM) return false;
    if (!caps_for(hints)) return false;
    if (!(hints->mode & FI_CONTEXT)) return false; /* we use its words */
    const struct fi_domain_attr *domain = hints->domain_attr;
    if (domain && (domain->av_type == FI_AV_TABLE || domain->cq_data_size > 8)) return false;
    return true;
}

static struct fi_info *new_info(void)
{
    struct fi_info *info = calloc(1, sizeof *info);
    if (!info) return NULL;
    info->tx_attr = calloc(1, sizeof *info->tx_attr);
    info->rx_attr = calloc(1, sizeof *info->rx_attr);
    info->ep_attr = calloc(1, sizeof *info->ep_attr);
    info->domain_attr = calloc(1, sizeof *info->domain_attr);
    info->fabric_attr = calloc(1, sizeof *info->fabric_attr);
    if (info->tx_attr && info->rx_attr && info->ep_attr && info->domain_attr && info->fabric_attr)
        return info;
    free(info->tx_attr);
    free(info->rx_attr);
    free(info->ep_attr);
    free(info->domain_attr);
    free(info->fabric_attr);
    free(info);
    return NULL;
}

static void write_endpoint(struct fi_info *info, const struct fi_info *hints)
{
    *info->tx_attr = (struct fi_tx_attr){
        .caps = info->caps & ~FI_RECV & ~FI_DIRECTED_RECV & ~FI_REMOTE_READ & ~FI_REMOTE_WRITE,
        .mode = FI_CONTEXT,
        .op_flags = hints->tx_attr ? hints->tx_attr->op_flags : 0,
        .msg_order = ORDER,
        .inject_size = leat_fi_message_inject_len(),
        .size = OUTSTANDING,
        .iov_limit = 1,
    };
    *info->rx_attr = (struct fi_rx_attr){
        .caps = info->caps & ~FI_SEND & ~FI_READ & ~FI_WRITE,
        .mode = FI_CONTEXT,
        .op_flags = hints->rx_attr ? hints->rx_attr->op_flags : 0,
        .msg_order = ORDER,
        .size = OUTSTANDING,
        .iov_limit = 1,
    };
    *info->ep_attr = (struct fi_ep_attr){
        .type = FI_EP_RDM,
        .protocol = FI_PROTO_UNSPEC,
        .protocol_version = 1,
        .max_msg_size = MSG_LEN_MAX,
        .mem_tag_format = UINT64_MAX,
        .tx_ctx_cnt = 1,
        .rx_ctx_cnt = 1,
    };
}

static void write_domain(struct fi_info *info, const struct fi_info *hints)
{
    const struct fi_domain_attr *wanted = hints->domain_attr;
    *info->domain_attr = (struct fi_domain_attr){
        .name = strdup(NAME),
        .threading = wanted && wanted->threading ? wanted->threading : FI_THREAD_SAFE,
        .control_progress = FI_PROGRESS_MANUAL,
        .data_progress = FI_PROGRESS_MANUAL,
        .resource_mgmt = FI_RM_ENABLED,
        .av_type = FI_AV_MAP,
        .mr_mode = wanted ? wanted->mr_mode & FI_MR_PROV_KEY : 0,
        .mr_key_size = sizeof(uint64_t),
        .cq_data_size = 8,
        .cq_cnt = 2,
        .ep_cnt = 2,
        .tx_ctx_cnt = 1,
        .rx_ctx_cnt = 1,
        .max_ep_tx_ctx = 1,
        .max_ep_rx_ctx = 1,
        .caps = FI_LOCAL_COMM | FI_REMOTE_COMM,
    };
}

/* libfabric frees its memory with free(). */
static int getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **out)
{
    (void)version, (void)flags;
    if (!leat_task_is_attached() || node || service || !suits(hints)) return -FI_ENODATA;
    struct fi_info *info = new_info();
    if (!info) return -FI_ENOMEM;
    info->caps = caps_for(hints);
    info->mode = FI_CONTEXT;
    info->addr_format = FI_FORMAT_UNSPEC;
    write_endpoint(info, hints);
    write_domain(info, hints);
    info->fabric_attr->name = strdup(NAME);
    info->fabric_attr->prov_name = strdup(NAME);
    info->fabric_attr->prov_version = VERSION;
    *out = info;
    return 0;
}

static void cleanup(void)
{
}

struct fi_provider *fi_prov_ini(void)
{
    static struct fi_provider this_one = {
        .version = VERSION,
        .fi_version = FI_VERSION(1, 17),
        .name = NAME,
        .getinfo = getinfo,
        .fabric = fabric_open,
        .cleanup = cleanup,
    };
    return &this_one;
}
