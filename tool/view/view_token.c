#include "view_token.h"
#include "live_system.h"
#include "tool.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

bool view_token_draw(char token[VIEW_TOKEN_LEN_MAX + 1])
{
    uint8_t octets[16];
    if (getrandom(octets, sizeof octets, 0) != (ssize_t)sizeof octets)
        return complain("a token cannot be drawn: %s", strerror(errno));
    for (size_t i = 0; i < sizeof octets; i++)
        snprintf(token + 2 * i, 3, "%02x", octets[i]);
    return true;
}

bool view_token_read(const char *path, char token[VIEW_TOKEN_LEN_MAX + 1])
{
    char text[VIEW_TOKEN_LEN_MAX + 3], why[LIVE_WHY_LEN];
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return complain("%s: %s", path, strerror(errno));
    const bool is_safe = live_secret_is_safe(path, fd, "token", "a token", why);
    const ssize_t len = is_safe ? read(fd, text, sizeof text - 1) : 0;
    close(fd);
    if (!is_safe) return complain("%s", why);
    text[len > 0 ? len : 0] = '\0';
    if (len > 0 && text[len - 1] == '\n') text[len - 1] = '\0';
    if (!view_token_is_sound(text))
        return complain("%s: no token, expected one line of %d to %d letters, digits, - and _",
                        path, VIEW_TOKEN_LEN_MIN, VIEW_TOKEN_LEN_MAX);
    strcpy(token, text);
    return true;
}
