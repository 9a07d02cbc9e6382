/* The key of a network in a file: what is one, and whose files are trusted. */
#include "live_system.h"
#include "tap.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/leat-key-test.XXXXXX", path[64], why[LIVE_WHY_LEN];
static struct leat_keys keys;

static void write_file(const char *text, mode_t mode)
{
    unlink(path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const ssize_t len = (ssize_t)strlen(text);
    OK(fd >= 0 && write(fd, text, (size_t)len) == len && fchmod(fd, mode) == 0);
    close(fd);
}

/* Is this the text that the caller gets? It names the file. */
static bool is_refused(const char *because)
{
    *why = 0;
    return !live_key_read(path, &keys, why) && strstr(why, because) && strstr(why, path) == why;
}

static void a_key_is_32_hex_digits(void)
{
    static const char *const good[] = {
        "000102030405060708090a0b0c0d0e0f",
        "000102030405060708090A0B0C0D0E0F\n",
        " 00010203 04050607\n08090a0b 0c0d0e0f \n\n",
    };
    static const char *const bad[] = {
        "",
        "\n",
        "000102030405060708090a0b0c0d0e0",
        "000102030405060708090a0b0c0d0e",
        "000102030405060708090a0b0c0d0e0f0",
        "000102030405060708090a0b0c0d0e0f00",
        "000102030405060708090a0b0c0d0e0g",
        "0x0102030405060708090a0b0c0d0e0f",
        "000102030405060708090a0b0c0d0e0f # ours",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        write_file(good[i], 0600);
        memset(&keys, 0xff, sizeof keys);
        OK(live_key_read(path, &keys, why));
        EQ(keys.count, 1);
        for (unsigned at = 0; at < LEAT_SIP_KEY_LEN; at++)
            EQ(keys.key[0][at], at);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(bad[i], 0600);
        OK(is_refused("expected 32 hex digits"));
    }
}

static void a_file_has_one_key_or_two(void)
{
    static const char *const bad[] = {
        "000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e",
        "000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e1",
        "000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e1f\n20",
        "000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e1f "
        "202122232425262728292a2b2c2d2e2f",
        "000102030405060708090a0b0c0d0e0f, 101112131415161718191a1b1c1d1e1f",
    };
    write_file("000102030405060708090a0b0c0d0e0f\n101112131415161718191a1b1c1d1e1f\n", 0600);
    OK(live_key_read(path, &keys, why));
    EQ(keys.count, 2);
    for (unsigned at = 0; at < 2 * LEAT_SIP_KEY_LEN; at++)
        EQ(keys.key[at / LEAT_SIP_KEY_LEN][at % LEAT_SIP_KEY_LEN], at);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(bad[i], 0600);
        OK(is_refused("two times as many"));
        EQ(keys.count, 0);
    }
}

static void what_others_may_read_or_write_is_no_key(void)
{
    for (mode_t mode = 0400; mode <= 0700; mode += 0100) {
        write_file("000102030405060708090a0b0c0d0e0f", mode);
        OK(live_key_read(path, &keys, why));
    }
    for (mode_t bit = 1; bit < 0100; bit <<= 1) {
        write_file("000102030405060708090a0b0c0d0e0f", 0600 | bit);
        OK(is_refused("chmod 600"));
    }
    OK(unlink(path) == 0);
    if (geteuid()) return;
    write_file("000102030405060708090a0b0c0d0e0f", 0600);
    OK(chown(path, 65534, (gid_t)-1) == 0);
    OK(is_refused("belongs to user 65534"));
    OK(unlink(path) == 0);
}

static void what_is_no_file_is_no_key(void)
{
    OK(is_refused("cannot be opened"));
    OK(mkdir(path, 0700) == 0);
    OK(is_refused("not a regular file"));
    OK(rmdir(path) == 0 && mkfifo(path, 0600) == 0); /* without anybody who writes */
    OK(is_refused("not a regular file"));
    OK(unlink(path) == 0);
}

static void a_folder_for_the_files(void)
{
    OK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/key", folder);
}

static void the_folder_is_empty_again(void)
{
    OK(rmdir(folder) == 0);
}

TAP_MAIN(T(a_folder_for_the_files), T(a_key_is_32_hex_digits), T(a_file_has_one_key_or_two),
         T(what_others_may_read_or_write_is_no_key), T(what_is_no_file_is_no_key),
         T(the_folder_is_empty_again))
