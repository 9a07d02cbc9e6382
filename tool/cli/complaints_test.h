/* For tests: what a function writes to standard error. */
#ifndef LEAT_COMPLAINTS_TEST_H
#define LEAT_COMPLAINTS_TEST_H

#include <stdio.h>
#include <unistd.h>

static struct {
    FILE *file;
    int stderr_was;
    char text[8192];
} complaints;

static void complaints_begin(void)
{
    fflush(stderr);
    complaints.file = tmpfile();
    complaints.stderr_was = dup(STDERR_FILENO);
    dup2(fileno(complaints.file), STDERR_FILENO);
}

/* What was written since; lent until the next call. */
static const char *complaints_end(void)
{
    fflush(stderr);
    dup2(complaints.stderr_was, STDERR_FILENO);
    close(complaints.stderr_was);
    rewind(complaints.file);
    complaints.text[fread(complaints.text, 1, sizeof complaints.text - 1, complaints.file)] = '\0';
    fclose(complaints.file);
    return complaints.text;
}

#endif
