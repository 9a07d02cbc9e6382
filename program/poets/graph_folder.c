#include "graph_parts.h"
#include <errno.h>
#include <sys/stat.h>

bool leat_graph_make_parents(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/') continue;
        *at = '\0';
        const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *at = '/';
        if (!made) return false;
    }
    return true;
}
