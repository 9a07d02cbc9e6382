/* The keys of a network, in a file. */
#include "live_system.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool live_secret_is_safe(const char *path, int fd, const char *what, const char *form, char *why)
{
    struct stat s;
    if (fstat(fd, &s) != 0) return live_because(why, "%s: %s", path, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return live_because(why, "%s: not a regular file, expected one with %s", path, form);
    if (s.st_uid != geteuid() && s.st_uid != 0)
        return live_because(
            why, "%s: the %s belongs to user %u, expected user %u or root: chown %u %s", path, what,
            (unsigned)s.st_uid, (unsigned)geteuid(), (unsigned)geteuid(), path);
    if (s.st_mode & (S_IRWXG | S_IRWXO))
        return live_because(
            why,
            "%s: others may read or write the %s (mode %03o), expected only its owner: "
            "chmod 600 %s",
            path, what, (unsigned)s.st_mode & 0777, path);
    return true;
}

static bool read_digits(FILE *file, struct leat_keys *keys)
{
    char pair[3], more;
    uint32_t octets = 0;
    *keys = (struct leat_keys){ 0 };
    while (octets < sizeof keys->key && fscanf(file, " %2[0-9a-fA-F]", pair) == 1) {
        if (!pair[1]) return false;
        keys->key[octets / LEAT_SIP_KEY_LEN][octets % LEAT_SIP_KEY_LEN] = (uint8_t)strtoul(
            pair, NULL, 16);
        octets++;
    }
    keys->count = octets / LEAT_SIP_KEY_LEN;
    return octets && octets % LEAT_SIP_KEY_LEN == 0 && fscanf(file, " %c", &more) == EOF;
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

bool live_key_read(const char *path, struct leat_keys *keys, char *why)
{
    FILE *file = open_to_read(path, why);
    if (!file) return false;
    const bool safe = live_secret_is_safe(path, fileno(file), "key", "32 hex digits", why),
               whole = safe && read_digits(file, keys);
    fclose(file);
    if (!whole) explicit_bzero(keys, sizeof *keys);
    if (safe && !whole)
        live_because(
            why,
            "%s: no key, expected 32 hex digits, or two times as many: the key and another "
            "one that is accepted, too",
            path);
    return whole;
}
