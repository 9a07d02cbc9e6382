#include "view_file.h"
#include <string.h>

const struct view_file *view_file_find(const struct view_files *files, const char *name, size_t len)
{
    for (size_t i = 0; i < files->count; i++)
        if (strlen(files->file[i].name) == len && memcmp(files->file[i].name, name, len) == 0)
            return &files->file[i];
    return NULL;
}

const char *view_file_type(const char *name)
{
    static const struct {
        const char *end, *type;
    } types[] = {
        { ".html", "text/html; charset=utf-8" },
        { ".css", "text/css; charset=utf-8" },
        { ".js", "text/javascript; charset=utf-8" },
        { ".svg", "image/svg+xml" },
        { ".json", "application/json" },
    };
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof types / sizeof *types; i++)
        if (strcmp(end, types[i].end) == 0) return types[i].type;
    return "application/octet-stream";
}
