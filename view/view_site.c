#include "view_site.h"
#include "leat_json.h"
#include "sim_recording.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static bool because(struct leat_text *why, const char *path, const char *text)
{
    leat_text_puts(why, path);
    leat_text_puts(why, ": ");
    leat_text_puts(why, text);
    return false;
}

static bool has_head(const struct view_source *source)
{
    char head[LEAT_SIM_RECORDING_HEAD_LEN];
    return view_source_read(source, 0, head, sizeof head) == (ssize_t)sizeof head &&
           memcmp(head, LEAT_SIM_RECORDING_HEAD, sizeof head) == 0;
}

/* O_NONBLOCK: opening a FIFO would wait for a writer. */
bool view_source_open(struct view_source *s, const char *path, struct leat_text *why)
{
    const char *slash = strrchr(path, '/');
    *s = (struct view_source){ .name = slash ? slash + 1 : path, .path = path };
    s->fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (s->fd < 0) return because(why, path, strerror(errno));
    if (fstat(s->fd, &s->about) != 0)
        because(why, path, strerror(errno));
    else if (!S_ISREG(s->about.st_mode))
        because(why, path, "is no regular file, expected a recording");
    else if (!has_head(s))
        because(why, path,
                "is no recording, expected a file that starts with LEATREC and version 2");
    else
        return true;
    view_source_close(s);
    return false;
}

void view_source_close(struct view_source *source)
{
    if (source->path && source->fd >= 0) close(source->fd);
    source->fd = -1;
}

uint64_t view_source_octets(const struct view_source *source)
{
    return (uint64_t)source->about.st_size;
}

ssize_t view_source_read(const struct view_source *source, uint64_t at, void *octets, size_t len)
{
    const uint64_t end = view_source_octets(source);
    size_t done = 0;
    if (at > end) at = end;
    if (len > end - at) len = (size_t)(end - at);
    while (done < len) {
        const ssize_t n = pread(source->fd, (char *)octets + done, len - done, (off_t)(at + done));
        if (n == 0) break;
        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)done;
}

bool view_source_is_same(const struct view_source *source)
{
    const struct stat *was = &source->about;
    struct stat now;
    return stat(source->path, &now) == 0 && now.st_dev == was->st_dev &&
           now.st_ino == was->st_ino && now.st_size == was->st_size &&
           now.st_mtim.tv_sec == was->st_mtim.tv_sec && now.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

static void describe_source(const struct view_site *site, unsigned i, bool is_served,
                            struct leat_json *json)
{
    const struct view_source *s = &site->source[i];
    char url[24];
    snprintf(url, sizeof url, s->path ? "/source/%u" : "/live/%u", i);
    leat_json_object(json, NULL);
    leat_json_string(json, "kind", s->path ? "recording" : s->kind);
    leat_json_string(json, "name", s->name);
    if (s->path) leat_json_uint(json, "octets", view_source_octets(s));
    leat_json_string(json, "url", is_served ? url : NULL);
    if (s->path) leat_json_string(json, "fabric", s->drawing);
    leat_json_end(json);
}

void view_site_describe(const struct view_site *site, bool is_served, struct leat_text *out)
{
    struct leat_json json;
    leat_json_init(&json, out);
    leat_json_object(&json, NULL);
    leat_json_string(&json, "leat", site->version);
    leat_json_array(&json, "sources");
    for (unsigned i = 0; i < site->count; i++)
        describe_source(site, i, is_served, &json);
    leat_json_end(&json);
    leat_json_bool(&json, "can_decode", is_served && site->decode);
    leat_json_end(&json);
}
