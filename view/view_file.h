/* The files of the page: what lies in view/page, compiled in by cmake/leat_view.cmake. */
#ifndef VIEW_FILE_H
#define VIEW_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VIEW_FILE_NAME_LEN_MAX = 64 };

struct view_file {
    const char *name;
    const uint8_t *octets;
    size_t len;
};

/* A list in order of names; the page's own is view_page. */
struct view_files {
    const struct view_file *file;
    size_t count;
};
extern const struct view_files view_page;

/* NULL: there is none of exactly this name. */
const struct view_file *view_file_find(const struct view_files *files, const char *name,
                                       size_t len);

/* The media type, by the end of the name. */
const char *view_file_type(const char *name);

#endif
