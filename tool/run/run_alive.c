/* leat run: which processes of an MPI program still run, according to /proc. */
#include "run.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct process {
    int pid, parent, group, session;
    bool is_ours;
};

struct list {
    struct process *process;
    size_t count;
};

/* False: it has ended, or is a zombie. */
static bool read_process(const char *name, struct process *out)
{
    char path[64], text[512], state;
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    *out = (struct process){ .pid = (int)strtol(name, NULL, 10) };
    const char *rest = strrchr(text, ')'); /* behind the name, which may be any text */
    return rest &&
           sscanf(rest, ") %c %d %d %d", &state, &out->parent, &out->group, &out->session) == 4 &&
           state != 'Z' && state != 'X';
}

/* Its numbers are not ours if /proc belongs to another namespace. */
static bool is_proc_ours(void)
{
    char text[32] = "";
    return readlink("/proc/self", text, sizeof text - 1) > 0 && strtol(text, NULL, 10) == getpid();
}

static struct list list_processes(void)
{
    struct list list = { 0 };
    DIR *folder = is_proc_ours() ? opendir("/proc") : NULL;
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL) {
        struct process one;
        if (*entry->d_name < '1' || *entry->d_name > '9' || !read_process(entry->d_name, &one))
            continue;
        list.process = leat_child_grown(list.process, list.count + 1, sizeof *list.process);
        list.process[list.count++] = one;
    }
    if (folder) closedir(folder);
    return list;
}

/* mpirun gives each rank a process group. Orphans stay in it. */
static bool is_in_rank_group(const struct run_processes *processes, const struct leat_hub *hub,
                             const struct process *one)
{
    if (one->session != getsid(0) || one->group == getpgrp()) return false;
    for (uint32_t i = 0; i < processes->slots; i++) {
        const pid_t rank = leat_hub_task(hub, i)->pid;
        if (rank && one->group == rank) return true;
    }
    return false;
}

static bool is_child_of_ours(const struct list *list, int parent)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->process[i].pid == parent) return list->process[i].is_ours;
    return false;
}

static void find_descendants(struct list *list)
{
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < list->count; i++) {
            struct process *one = &list->process[i];
            if (one->is_ours || !is_child_of_ours(list, one->parent)) continue;
            one->is_ours = found = true;
        }
    }
}

uint32_t run_alive_signal(const struct run_processes *processes, const struct leat_hub *hub,
                          int number)
{
    const pid_t launcher = processes->launcher.is_reaped ? 0 : processes->launcher.pid;
    struct list list = list_processes();
    uint32_t count = 0;
    for (size_t i = 0; i < list.count; i++)
        list.process[i].is_ours = (launcher && list.process[i].pid == launcher) ||
                                  is_in_rank_group(processes, hub, &list.process[i]);
    find_descendants(&list);
    for (size_t i = 0; i < list.count; i++) {
        const struct process *one = &list.process[i];
        if (one->is_ours && one->pid != launcher && !kill(one->pid, number)) count++;
    }
    free(list.process);
    return count;
}
