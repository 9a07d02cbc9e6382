#include "live_aton_block.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A name that begins with a 0 is in no folder. */
static int bind_name(uint32_t device, uint8_t block)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    const int len = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "leat-ring.%u.block.%u",
                             device, block);
    const socklen_t all = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&name, all) == 0) return fd;
    close(fd);
    return -1;
}

static volatile uint64_t *registers_of(struct aton_page *page, uint8_t block)
{
    return page->interface.operand + block * ATON_GROUP_REGISTERS;
}

static bool is_clear(struct aton_page *page, uint8_t block)
{
    uint64_t all = 0;
    for (int i = 0; i < ATON_GROUP_REGISTERS; i++)
        all |= registers_of(page, block)[i];
    return all == 0;
}

int aton_block_lock(const struct aton_config *config, uint8_t block, struct aton_page *page)
{
    const int fd = bind_name(config->device, block);
    if (fd < 0) return -1;
    if (__atomic_load_n(&page->used, __ATOMIC_RELAXED) >> block & 1) aton_block_clear(page, block);
    if (is_clear(page, block)) return fd;
    close(fd);
    return -1;
}

void aton_block_use(struct aton_page *page, uint8_t block)
{
    __atomic_fetch_or(&page->used, 1u << block, __ATOMIC_SEQ_CST);
}

void aton_block_clear(struct aton_page *page, uint8_t block)
{
    for (int i = 0; i < ATON_GROUP_REGISTERS; i++)
        registers_of(page, block)[i] = 0;
    __atomic_fetch_and(&page->used, ~(1u << block), __ATOMIC_SEQ_CST);
}
