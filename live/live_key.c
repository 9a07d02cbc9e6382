/* The key of a network, in a file. */
#include "live_system.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Anybody who can read the file has the key, and anybody who can write it can choose the key: both
 * are then members of the network. */
static bool is_safe(const char *path, int fd, char *why)
{
    struct stat s;
    if (fstat(fd, &s) != 0) return live_because(why, "%s: %s", path, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return live_because(why, "%s: not a regular file, expected one with 32 hex digits", path);
    if (s.st_uid != geteuid() && s.st_uid != 0)
        return live_because(
            why, "%s: the key belongs to user %u, expected user %u or root: chown %u %s", path,
            (unsigned)s.st_uid, (unsigned)geteuid(), (unsigned)geteuid(), path);
    if (s.st_mode & (S_IRWXG | S_IRWXO))
        return live_because(
            why,
            "%s: others may read or write the key (mode %03o), expected only its owner: "
            "chmod 600 %s",
            path, (unsigned)s.st_mode & 0777, path);
    return true;
}

static bool read_digits(FILE *file, uint8_t key[LIVE_KEY_LEN])
{
    char pair[3], more;
    int octets = 0;
    while (octets < LIVE_KEY_LEN && fscanf(file, " %2[0-9a-fA-F]", pair) == 1 && pair[1])
        key[octets++] = (uint8_t)strtoul(pair, NULL, 16);
    return octets == LIVE_KEY_LEN && fscanf(file, " %c", &more) == EOF;
}

/* Without O_NONBLOCK, opening a FIFO waits for a writer. */
static FILE *open_to_read(const char *path, char *why)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!file) live_because(why, "%s: cannot be opened: %s", path, strerror(errno));
    if (!file && fd >= 0) close(fd);
    return file;
}

bool live_key_read(const char *path, uint8_t key[LIVE_KEY_LEN], char *why)
{
    FILE *file = open_to_read(path, why);
    if (!file) return false;
    const bool safe = is_safe(path, fileno(file), why), whole = safe && read_digits(file, key);
    fclose(file);
    if (safe && !whole) live_because(why, "%s: no key, expected 32 hex digits", path);
    return whole;
}
