#include "fi_absent.h"
#include <rdma/fi_errno.h>

#define ABSENT(name, parameters) \
    static int name parameters   \
    {                            \
        return -FI_ENOSYS;       \
    }

/* The arguments are ignored. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Of every object. */
ABSENT(no_bind, (struct fid * fid, struct fid *other, uint64_t flags))
ABSENT(no_control, (struct fid * fid, int command, void *argument))
ABSENT(no_ops_open, (struct fid * fid, const char *name, uint64_t flags, void **ops, void *context))

static int plain_close(struct fid *fid)
{
    return 0;
}

struct fi_ops leat_fi_no_ops = {
    .size = sizeof leat_fi_no_ops,
    .close = plain_close,
    .bind = no_bind,
    .control = no_control,
    .ops_open = no_ops_open,
};

/* Of a fabric. */
ABSENT(no_passive, (struct fid_fabric * f, struct fi_info *i, struct fid_pep **out, void *context))
ABSENT(no_eq, (struct fid_fabric * f, struct fi_eq_attr *a, struct fid_eq **out, void *context))
ABSENT(no_wait, (struct fid_fabric * f, struct fi_wait_attr *attr, struct fid_wait **out))
ABSENT(no_trywait, (struct fid_fabric * fabric, struct fid **fids, int count))

const struct fi_ops_fabric leat_fi_no_fabric = {
    .size = sizeof leat_fi_no_fabric,
    .passive_ep = no_passive,
    .eq_open = no_eq,
    .wait_open = no_wait,
    .trywait = no_trywait,
};

/* Of a domain. */
ABSENT(no_scalable, (struct fid_domain * d, struct fi_info *i, struct fid_ep **out, void *context))
ABSENT(no_cntr,
       (struct fid_domain * d, struct fi_cntr_attr *a, struct fid_cntr **out, void *context))
ABSENT(no_poll, (struct fid_domain * domain, struct fi_poll_attr *attr, struct fid_poll **out))
ABSENT(no_stx, (struct fid_domain * d, struct fi_tx_attr *a, struct fid_stx **out, void *context))
ABSENT(no_srx, (struct fid_domain * d, struct fi_rx_attr *a, struct fid_ep **out, void *context))

const struct fi_ops_domain leat_fi_no_domain = {
    .size = sizeof leat_fi_no_domain,
    .scalable_ep = no_scalable,
    .cntr_open = no_cntr,
    .poll_open = no_poll,
    .stx_ctx = no_stx,
    .srx_ctx = no_srx,
};

/* Of an endpoint. */
ABSENT(no_tx, (struct fid_ep * ep, int i, struct fi_tx_attr *a, struct fid_ep **out, void *context))
ABSENT(no_rx, (struct fid_ep * ep, int i, struct fi_rx_attr *a, struct fid_ep **out, void *context))
ABSENT(no_getopt, (fid_t fid, int level, int name, void *value, size_t *len))
ABSENT(no_setopt, (fid_t fid, int level, int name, const void *value, size_t len))

const struct fi_ops_ep leat_fi_no_endpoint = {
    .size = sizeof leat_fi_no_endpoint,
    .getopt = no_getopt,
    .setopt = no_setopt,
    .tx_ctx = no_tx,
    .rx_ctx = no_rx,
};

/* Of connections. */
ABSENT(no_setname, (fid_t fid, void *address, size_t len))
ABSENT(no_getpeer, (struct fid_ep * ep, void *address, size_t *len))
ABSENT(no_connect, (struct fid_ep * ep, const void *address, const void *data, size_t len))
ABSENT(no_listen, (struct fid_pep * pep))
ABSENT(no_accept, (struct fid_ep * ep, const void *data, size_t len))
ABSENT(no_reject, (struct fid_pep * pep, fid_t handle, const void *data, size_t len))
ABSENT(no_shutdown, (struct fid_ep * ep, uint64_t flags))

const struct fi_ops_cm leat_fi_no_connections = {
    .size = sizeof leat_fi_no_connections,
    .setname = no_setname,
    .getpeer = no_getpeer,
    .connect = no_connect,
    .listen = no_listen,
    .accept = no_accept,
    .reject = no_reject,
    .shutdown = no_shutdown,
};

/* Of one-sided operations. */
#define ABSENT_LONG(name, parameters) \
    static ssize_t name parameters    \
    {                                 \
        return -FI_ENOSYS;            \
    }

ABSENT_LONG(no_rma_v, (struct fid_ep * ep, const struct iovec *iov, void **desc, size_t count,
                       fi_addr_t peer, uint64_t offset, uint64_t key, void *context))
ABSENT_LONG(no_rma_msg, (struct fid_ep * ep, const struct fi_msg_rma *msg, uint64_t flags))
ABSENT_LONG(no_rma_inject, (struct fid_ep * ep, const void *buf, size_t len, fi_addr_t to,
                            uint64_t offset, uint64_t key))
ABSENT_LONG(no_rma_data,
            (struct fid_ep * ep, const void *buf, size_t len, void *desc, uint64_t data,
             fi_addr_t to, uint64_t offset, uint64_t key, void *context))
ABSENT_LONG(no_rma_inject_data, (struct fid_ep * ep, const void *buf, size_t len, uint64_t data,
                                 fi_addr_t to, uint64_t offset, uint64_t key))

const struct fi_ops_rma leat_fi_no_rma = {
    .size = sizeof leat_fi_no_rma,
    .readv = no_rma_v,
    .readmsg = no_rma_msg,
    .writev = no_rma_v,
    .writemsg = no_rma_msg,
    .inject = no_rma_inject,
    .writedata = no_rma_data,
    .injectdata = no_rma_inject_data,
};

ABSENT_LONG(no_atomic_v,
            (struct fid_ep * ep, const struct fi_ioc *iov, void **desc, size_t count, fi_addr_t to,
             uint64_t offset, uint64_t key, enum fi_datatype type, enum fi_op op, void *context))
ABSENT_LONG(no_atomic_msg, (struct fid_ep * ep, const struct fi_msg_atomic *msg, uint64_t flags))
ABSENT_LONG(no_atomic_inject, (struct fid_ep * ep, const void *buf, size_t count, fi_addr_t to,
                               uint64_t offset, uint64_t key, enum fi_datatype type, enum fi_op op))
ABSENT_LONG(no_fetch_v,
            (struct fid_ep * ep, const struct fi_ioc *iov, void **desc, size_t count,
             struct fi_ioc *results, void **result_desc, size_t result_count, fi_addr_t to,
             uint64_t offset, uint64_t key, enum fi_datatype type, enum fi_op op, void *context))
ABSENT_LONG(no_fetch_msg,
            (struct fid_ep * ep, const struct fi_msg_atomic *msg, struct fi_ioc *results,
             void **result_desc, size_t result_count, uint64_t flags))
ABSENT_LONG(no_compare_v,
            (struct fid_ep * ep, const struct fi_ioc *iov, void **desc, size_t count,
             const struct fi_ioc *compared, void **compared_desc, size_t compared_count,
             struct fi_ioc *results, void **result_desc, size_t result_count, fi_addr_t to,
             uint64_t offset, uint64_t key, enum fi_datatype type, enum fi_op op, void *context))
ABSENT_LONG(no_compare_msg,
            (struct fid_ep * ep, const struct fi_msg_atomic *msg, const struct fi_ioc *compared,
             void **compared_desc, size_t compared_count, struct fi_ioc *results,
             void **result_desc, size_t result_count, uint64_t flags))

const struct fi_ops_atomic leat_fi_no_atomic = {
    .size = sizeof leat_fi_no_atomic,
    .writev = no_atomic_v,
    .writemsg = no_atomic_msg,
    .inject = no_atomic_inject,
    .readwritev = no_fetch_v,
    .readwritemsg = no_fetch_msg,
    .compwritev = no_compare_v,
    .compwritemsg = no_compare_msg,
};
