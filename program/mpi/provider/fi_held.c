#include "fi_held.h"
#include "fi_absent.h"
#include "fi_pool.h"
#include "fi_rank.h"
#include <rdma/fi_errno.h>

/* A key: | how often the number has been given (32) | number (32) |, so that an old key opens
 * nothing new. */
enum { NUMBER_BITS = 32 };

struct held {
    struct fid_mr mr; /* the first member: libfabric knows the memory by it */
    uint8_t *octets;
    uint64_t len, access;
    uint32_t number;
};

static struct leat_fi_pool all = { .size = sizeof(struct held) };
static uint32_t given; /* keys */

uint8_t *leat_fi_held_at(uint64_t key, uint64_t offset, uint64_t len, uint64_t access)
{
    const uint32_t number = (uint32_t)key;
    if (!leat_fi_pool_has(&all, number)) return NULL;
    const struct held *held = leat_fi_pool_at(&all, number);
    if (held->mr.key != key || (held->access & access) != access) return NULL;
    return offset <= held->len && len <= held->len - offset ? held->octets + offset : NULL;
}

static int held_close(struct fid *fid)
{
    const struct held *held = (const struct held *)(void *)fid;
    leat_fi_lock();
    leat_fi_pool_give(&all, held->number);
    leat_fi_unlock();
    return 0;
}

static int reg(struct fid *domain, const void *buf, size_t len, uint64_t access, uint64_t offset,
               uint64_t wanted_key, uint64_t flags, struct fid_mr **mr, void *context)
{
    static struct fi_ops fid_ops;
    (void)domain, (void)wanted_key; /* FI_MR_PROV_KEY: we choose it */
    if (offset || flags) return -FI_EINVAL;
    fid_ops = leat_fi_no_ops;
    fid_ops.close = held_close;
    leat_fi_lock();
    const uint32_t number = leat_fi_pool_take(&all);
    struct held *held = leat_fi_pool_at(&all, number);
    held->octets = (uint8_t *)(uintptr_t)buf; /* others write to it */
    held->len = len;
    held->access = access;
    held->number = number;
    held->mr = (struct fid_mr){
        .fid = { FI_CLASS_MR, context, &fid_ops },
        .key = (uint64_t)++given << NUMBER_BITS | number,
    };
    leat_fi_unlock();
    *mr = &held->mr;
    return 0;
}

static int regv(struct fid *domain, const struct iovec *iov, size_t count, uint64_t access,
                uint64_t offset, uint64_t wanted_key, uint64_t flags, struct fid_mr **mr,
                void *context)
{
    if (count != 1) return -FI_EINVAL;
    return reg(domain, iov->iov_base, iov->iov_len, access, offset, wanted_key, flags, mr, context);
}

static int regattr(struct fid *domain, const struct fi_mr_attr *attr, uint64_t flags,
                   struct fid_mr **mr)
{
    return regv(domain, attr->mr_iov, attr->iov_count, attr->access, attr->offset,
                attr->requested_key, flags, mr, attr->context);
}

struct fi_ops_mr leat_fi_held_ops = {
    .size = sizeof leat_fi_held_ops,
    .reg = reg,
    .regv = regv,
    .regattr = regattr,
};
