/* Recordings that are opened, read to their end or fault, and change meanwhile. */
#include "tap.h"
#include "view_reader.h"
#include "view_recording_test.h"
#include <sys/stat.h>

static struct view_source source;
static struct view_reader reader;
static char why_text[256];

static bool opens(const char *path)
{
    struct leat_text why;
    memset(why_text, 0, sizeof why_text);
    leat_text_init(&why, why_text, sizeof why_text - 1, NULL, NULL);
    return view_source_open(&source, path, &why);
}

/* How the reading of these octets ends, and after how many events. */
static enum view_read reads(const uint8_t *octets, size_t len, unsigned *events)
{
    struct leat_sim_event e;
    enum view_read end;
    recording_write(octets, len);
    OK(opens(recording.path));
    view_reader_init(&reader, &source);
    for (*events = 0; (end = view_reader_next(&reader, &e)) == VIEW_READ_EVENT;)
        ++*events;
    view_source_close(&source);
    unlink(recording.path);
    return end;
}

static void a_whole_recording_is_read_to_its_end(void)
{
    unsigned events;
    recording_make(5);
    EQ(reads(recording.octets, recording.len, &events), VIEW_READ_END);
    EQ(events, 8); /* with CLOCK, LANE and CLOSE */
    EQ(reader.offset, recording.len);
}

static void a_long_recording_is_read_in_pieces(void)
{
    static uint8_t longest[RECORDING_CAP];
    unsigned events;
    recording_make(6000);
    memcpy(longest, recording.octets, recording.len);
    EQ(reads(longest, recording.len, &events), VIEW_READ_END);
    EQ(events, 6003);
}

static void a_cut_recording_is_read_up_to_the_cut(void)
{
    unsigned events, before = 0;
    recording_make(5);
    for (size_t len = LEAT_SIM_RECORDING_HEAD_LEN; len < recording.len; len++) {
        EQ(reads(recording.octets, len, &events), VIEW_READ_CUT);
        EQ(reader.offset, len);
        OK(events >= before && events <= before + 1);
        before = events;
    }
    EQ(before, 7);
}

static void a_damaged_recording_is_read_up_to_the_damage(void)
{
    static uint8_t damaged[RECORDING_CAP];
    unsigned events;
    recording_make(5);
    memcpy(damaged, recording.octets, recording.len);
    damaged[recording.len - 2] ^= 0x40; /* CLOSE */
    EQ(reads(damaged, recording.len, &events), VIEW_READ_DAMAGED);
    EQ(events, 7);
    EQ(reader.kind, damaged[recording.len - 2]);
    EQ(reader.offset, recording.len - 2);
    damaged[recording.len - 2] ^= 0x40;
    damaged[recording.len] = 0;
    EQ(reads(damaged, recording.len + 1, &events), VIEW_READ_DAMAGED);
    EQ(reader.offset, recording.len);
}

static bool is_refused(const char *path, const char *text)
{
    if (!opens(path) && strstr(why_text, text)) return true;
    printf("# %s: %s\n", path, why_text);
    return false;
}

static void what_is_no_recording_is_refused(void)
{
    char folder[] = "/tmp/leat_view_test.XXXXXX", fifo[64];
    OK(mkdtemp(folder));
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    OK(mkfifo(fifo, 0600) == 0);
    OK(is_refused(folder, "is no regular file, expected a recording"));
    OK(is_refused(fifo, "is no regular file, expected a recording"));
    OK(is_refused("/nosuch/run.leatrec", "/nosuch/run.leatrec: No such file or directory"));
    unlink(fifo);
    rmdir(folder);
    static const char *const others[] = { "", "LEATREC", "LEATREC\x01", "LEATRECORD", "SQLite 3" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        recording_write(others[i], strlen(others[i]));
        OK(is_refused(recording.path, "is no recording, expected a file that starts with LEATREC"));
        unlink(recording.path);
    }
}

static void a_source_is_called_by_its_file(void)
{
    recording_make(1);
    recording_write(recording.octets, recording.len);
    OK(opens(recording.path));
    OK(strcmp(source.name, recording.path + strlen("/tmp/")) == 0);
    EQ(view_source_octets(&source), recording.len);
    view_source_close(&source);
    unlink(recording.path);
}

static void what_is_read_ends_where_the_file_ended(void)
{
    uint8_t octets[RECORDING_CAP];
    recording_make(2);
    recording_write(recording.octets, recording.len);
    OK(opens(recording.path));
    EQ(view_source_read(&source, 0, octets, sizeof octets), recording.len);
    OK(memcmp(octets, recording.octets, recording.len) == 0);
    EQ(view_source_read(&source, recording.len - 1, octets, sizeof octets), 1);
    EQ(view_source_read(&source, recording.len, octets, sizeof octets), 0);
    EQ(view_source_read(&source, UINT64_MAX, octets, sizeof octets), 0);
    view_source_close(&source);
    unlink(recording.path);
}

static void a_file_that_changes_is_seen(void)
{
    char other[72];
    struct leat_sim_event e;
    uint8_t octets[RECORDING_CAP];
    recording_make(3);
    recording_write(recording.octets, recording.len);
    OK(opens(recording.path));
    OK(view_source_is_same(&source));
    snprintf(other, sizeof other, "%s.other", recording.path);
    OK(rename(recording.path, other) == 0);
    OK(!view_source_is_same(&source)); /* gone */
    FILE *file = fopen(recording.path, "w");
    OK(file && fwrite(recording.octets, 1, recording.len, file) == recording.len);
    fclose(file);
    OK(!view_source_is_same(&source)); /* replaced */
    OK(rename(other, recording.path) == 0);
    OK(view_source_is_same(&source));
    OK(truncate(recording.path, (off_t)recording.len - 1) == 0);
    OK(!view_source_is_same(&source));
    EQ(view_source_read(&source, 0, octets, sizeof octets), recording.len - 1); /* less: no crash */
    view_reader_init(&reader, &source);
    while (view_reader_next(&reader, &e) == VIEW_READ_EVENT)
        ;
    OK(view_reader_next(&reader, &e) == VIEW_READ_LOST);
    view_source_close(&source);
    unlink(recording.path);
}

TAP_MAIN(T(a_whole_recording_is_read_to_its_end), T(a_long_recording_is_read_in_pieces),
         T(a_cut_recording_is_read_up_to_the_cut), T(a_damaged_recording_is_read_up_to_the_damage),
         T(what_is_no_recording_is_refused), T(a_source_is_called_by_its_file),
         T(what_is_read_ends_where_the_file_ended), T(a_file_that_changes_is_seen))
