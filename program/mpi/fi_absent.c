#include "fi_absent.h"
#include <rdma/fi_cm.h>
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

/* Of memory. */
ABSENT(no_reg, (struct fid * fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
                uint64_t key, uint64_t flags, struct fid_mr **out, void *context))
ABSENT(no_regv, (struct fid * fid, const struct iovec *iov, size_t count, uint64_t access,
                 uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **out, void *context))
ABSENT(no_regattr,
       (struct fid * fid, const struct fi_mr_attr *attr, uint64_t flags, struct fid_mr **out))

struct fi_ops_mr leat_fi_no_memory = {
    .size = sizeof leat_fi_no_memory,
    .reg = no_reg,
    .regv = no_regv,
    .regattr = no_regattr,
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
