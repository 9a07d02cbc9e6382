#include "live_aton_block.h"
#include "live_home.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NAME_LEN = 96 };

static bool name_of(uint32_t device, char name[NAME_LEN])
{
    char mark[LIVE_HOME_MARK_LEN];
    if (!live_home_mark(mark)) return false;
    snprintf(name, NAME_LEN, "/leat-ring-blocks.%s.%u", mark, device);
    return true;
}

int aton_blocks_open(uint32_t device, char *why)
{
    char name[NAME_LEN];
    if (!name_of(device, name)) {
        live_because(why, "/proc/self/ns/net: %s", strerror(errno));
        return -1;
    }
    live_home_sweep("leat-ring-blocks");
    return live_file_open(name, O_CREAT, "ring", false, why);
}

void aton_blocks_remove(uint32_t device)
{
    char name[NAME_LEN];
    if (name_of(device, name)) shm_unlink(name);
}

/* Of the open file, not of the process: other files of the same name do not end it. */
static bool set_lock(int file, uint8_t block, short type)
{
    struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = block, .l_len = 1 };
    return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

void aton_block_clear(uint8_t block, volatile uint64_t *operand)
{
    for (int i = 0; i < ATON_GROUP_REGISTERS; i++)
        operand[block * ATON_GROUP_REGISTERS + i] = 0;
}

static bool is_clear(uint8_t block, const volatile uint64_t *operand)
{
    uint64_t all = 0;
    for (int i = 0; i < ATON_GROUP_REGISTERS; i++)
        all |= operand[block * ATON_GROUP_REGISTERS + i];
    return all == 0;
}

bool aton_block_lock(int file, uint8_t block, volatile uint64_t *operand)
{
    uint8_t is_used = 0;
    if (!set_lock(file, block, F_WRLCK)) return false;
    if (pread(file, &is_used, 1, block) == 1 && is_used) {
        aton_block_clear(block, operand);
        aton_block_use(file, block, false);
    }
    if (is_clear(block, operand)) return true;
    set_lock(file, block, F_UNLCK);
    return false;
}

void aton_block_unlock(int file, uint8_t block)
{
    set_lock(file, block, F_UNLCK);
}

void aton_block_use(int file, uint8_t block, bool is_used)
{
    const uint8_t mark = is_used;
    if (pwrite(file, &mark, 1, block) != 1) return; /* then killed processes leave it taken */
}
