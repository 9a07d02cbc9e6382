#include "fi_one_sided.h"
#include "fi_absent.h"
#include "fi_queue.h"
#include "fi_rank.h"
#include "fi_rma.h"
#include <rdma/fi_errno.h>

static struct {
    struct fid_ep ep;
    struct leat_fi_queue *queue;
    bool is_open;
} endpoint;

static ssize_t start(struct leat_fi_access access)
{
    leat_fi_be_no_copy("MPI to access memory of another rank");
    access.queue = endpoint.queue;
    leat_fi_lock();
    const ssize_t result = leat_fi_rma_start(&access);
    leat_fi_unlock();
    return result;
}

/* ---- reading and writing --------------------------------------------------------------------- */

static ssize_t transfer(enum leat_fi_kind kind, void *octets, size_t len, fi_addr_t peer,
                        uint64_t offset, uint64_t key, void *context)
{
    return start((struct leat_fi_access){ .kind = kind,
                                          .to = (uint32_t)peer,
                                          .key = key,
                                          .offset = offset,
                                          .octets = octets,
                                          .len = len,
                                          .context = context });
}

static ssize_t rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from,
                        uint64_t offset, uint64_t key, void *context)
{
    (void)ep, (void)desc;
    return transfer(LEAT_FI_GET, buf, len, from, offset, key, context);
}

static ssize_t rma_write(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to,
                         uint64_t offset, uint64_t key, void *context)
{
    (void)ep, (void)desc;
    void *octets = (void *)(uintptr_t)buf; /* only read */
    return transfer(LEAT_FI_PUT, octets, len, to, offset, key, context);
}

/* ---- atomic operations ----------------------------------------------------------------------- */

/* 0: not offered. */
static uint64_t len_of(enum fi_datatype type)
{
    if (type == FI_INT32 || type == FI_UINT32) return sizeof(uint32_t);
    return type == FI_INT64 || type == FI_UINT64 ? sizeof(uint64_t) : 0;
}

static bool is_offered(enum fi_datatype type, enum fi_op op)
{
    return len_of(type) && (op == FI_SUM || op == FI_ATOMIC_WRITE);
}

static uint64_t value_at(const void *at, uint64_t len)
{
    return len == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at;
}

static ssize_t readwrite(struct fid_ep *ep, const void *buf, size_t count, void *desc, void *result,
                         void *result_desc, fi_addr_t to, uint64_t offset, uint64_t key,
                         enum fi_datatype type, enum fi_op op, void *context)
{
    (void)ep, (void)desc, (void)result_desc;
    if (count != 1 || !is_offered(type, op)) return -FI_EOPNOTSUPP;
    return start((struct leat_fi_access){ .kind = LEAT_FI_ATOMIC,
                                          .to = (uint32_t)to,
                                          .key = key,
                                          .offset = offset,
                                          .octets = result,
                                          .len = len_of(type),
                                          .atomic = op == FI_SUM ? LEAT_FI_ADD : LEAT_FI_SWAP,
                                          .operand = value_at(buf, len_of(type)),
                                          .context = context });
}

static ssize_t atomic_write(struct fid_ep *ep, const void *buf, size_t count, void *desc,
                            fi_addr_t to, uint64_t offset, uint64_t key, enum fi_datatype type,
                            enum fi_op op, void *context)
{
    return readwrite(ep, buf, count, desc, NULL, NULL, to, offset, key, type, op, context);
}

static ssize_t compwrite(struct fid_ep *ep, const void *buf, size_t count, void *desc,
                         const void *compare, void *compare_desc, void *result, void *result_desc,
                         fi_addr_t to, uint64_t offset, uint64_t key, enum fi_datatype type,
                         enum fi_op op, void *context)
{
    (void)ep, (void)desc, (void)compare_desc, (void)result_desc;
    if (count != 1 || !len_of(type) || op != FI_CSWAP) return -FI_EOPNOTSUPP;
    return start((struct leat_fi_access){ .kind = LEAT_FI_ATOMIC,
                                          .to = (uint32_t)to,
                                          .key = key,
                                          .offset = offset,
                                          .octets = result,
                                          .len = len_of(type),
                                          .atomic = LEAT_FI_COMPARE_AND_SWAP,
                                          .operand = value_at(buf, len_of(type)),
                                          .compare = value_at(compare, len_of(type)),
                                          .context = context });
}

static int write_is_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *count)
{
    (void)ep;
    *count = 1;
    return is_offered(type, op) ? 0 : -FI_EOPNOTSUPP;
}

static int compwrite_is_valid(struct fid_ep *ep, enum fi_datatype type, enum fi_op op,
                              size_t *count)
{
    (void)ep;
    *count = 1;
    return len_of(type) && op == FI_CSWAP ? 0 : -FI_EOPNOTSUPP;
}

/* ---- the endpoint ---------------------------------------------------------------------------- */

static int ep_close(struct fid *fid)
{
    (void)fid;
    leat_fi_lock();
    leat_fi_rma_close();
    endpoint.is_open = false;
    leat_fi_unlock();
    return 0;
}

static int ep_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
    (void)fid, (void)flags;
    if (other->fclass == FI_CLASS_AV) return 0;
    if (other->fclass != FI_CLASS_CQ) return -FI_ENOSYS;
    endpoint.queue = leat_fi_queue_of(other);
    return 0;
}

int leat_fi_one_sided_open(const struct fid_ep *like, struct fid_ep **ep)
{
    static struct fi_ops fid_ops;
    static struct fi_ops_rma rma_ops;
    static struct fi_ops_atomic atomic_ops;
    if (endpoint.is_open) return -FI_EBUSY;
    fid_ops = *like->fid.ops;
    fid_ops.close = ep_close;
    fid_ops.bind = ep_bind;
    rma_ops = leat_fi_no_rma;
    rma_ops.read = rma_read;
    rma_ops.write = rma_write;
    atomic_ops = leat_fi_no_atomic;
    atomic_ops.write = atomic_write;
    atomic_ops.readwrite = readwrite;
    atomic_ops.compwrite = compwrite;
    atomic_ops.writevalid = write_is_valid;
    atomic_ops.readwritevalid = write_is_valid;
    atomic_ops.compwritevalid = compwrite_is_valid;
    endpoint.is_open = true;
    endpoint.ep = *like;
    endpoint.ep.fid.ops = &fid_ops;
    endpoint.ep.rma = &rma_ops;
    endpoint.ep.atomic = &atomic_ops;
    *ep = &endpoint.ep;
    return 0;
}
