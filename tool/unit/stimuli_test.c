/* Files of stimuli: their grammar, and mistakes with their line. */
#include "complaints_test.h"
#include "stimuli.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

enum { BYTE, FIFO, LEVEL, ADDRESS, CELL };

static const struct stimulus_name names[] = {
    { .before = "byte", .after = "", .kind = STIMULUS_BYTES, .max = 255, .id = BYTE },
    { .before = "fifo", .after = "", .count = 4, .kind = STIMULUS_BYTES, .max = 255, .id = FIFO },
    { .before = "level", .after = "", .kind = STIMULUS_DECIMAL, .max = 12, .id = LEVEL },
    { .before = "t[",
      .after = "].wadr",
      .count = 2,
      .kind = STIMULUS_HEX,
      .max = 0x1f,
      .id = ADDRESS },
    { .before = "cell", .after = "", .kind = STIMULUS_OCTETS, .max = 3, .id = CELL },
};

static struct stimuli stimuli;

static bool reads(const char *text)
{
    char path[] = "/tmp/leat_stimuli_test.XXXXXX";
    struct input in;
    const int fd = mkstemp(path);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) abort();
    close(fd);
    stimuli_close(&stimuli);
    if (!input_open(&in, path)) abort();
    unlink(path);
    in.name = "FILE";
    const bool good = stimuli_read(&stimuli, &in, names, sizeof names / sizeof *names);
    input_close(&in);
    return good;
}

static bool is_refused(const char *text, const char *complaint)
{
    complaints_begin();
    const bool good = reads(text);
    const char *said = complaints_end();
    const bool right = !good && strncmp(said, "leat: ", 6) == 0 &&
                       strncmp(said + 6, complaint, strlen(complaint)) == 0;
    if (!right) printf("# %s", said);
    return right;
}

/* What a track puts on its signal in cycles 1 to `cycles`: "-" for nothing. */
static bool track_is(size_t track, uint32_t cycles, const char *want)
{
    char all[256] = "";
    for (uint32_t cycle = 1; cycle <= cycles; cycle++) {
        struct stimulus s;
        char one[16] = "-";
        if (stimuli_at(&stimuli, track, cycle, &s)) snprintf(one, sizeof one, "%x", s.number);
        strcat(all, one);
        strcat(all, cycle < cycles ? " " : "");
    }
    if (strcmp(all, want) != 0) printf("# %s\n", all);
    return strcmp(all, want) == 0;
}

static void values_come_in_their_cycles(void)
{
    OK(reads("inputs\nlevel\n2 1\n3 12\n6 0\nt[1].wadr\n1 1F\n4 a\n"));
    EQ(stimuli.track_count, 2);
    EQ(stimuli.last_cycle, 6);
    OK(stimuli.tracks[0].name->id == LEVEL && stimuli.tracks[1].name->id == ADDRESS);
    EQ(stimuli.tracks[1].index, 1);
    OK(track_is(0, 7, "- 1 c - - 0 -"));
    OK(track_is(1, 7, "1f - - a - - -"));
}

static void a_stream_has_a_byte_per_cycle(void)
{
    OK(reads("inputs\nbyte\n2 01f203\n6 7\nfifo3\n1 ff\n"));
    EQ(stimuli.last_cycle, 6);
    OK(track_is(0, 7, "- 1 f2 3 - 7 -"));
    OK(track_is(1, 3, "ff - -"));
    EQ(stimuli.tracks[1].index, 3);
}

static void octets_come_at_once(void)
{
    struct stimulus s;
    OK(reads("inputs\ncell\n5 a1B2c3\n"));
    OK(!stimuli_at(&stimuli, 0, 4, &s));
    OK(stimuli_at(&stimuli, 0, 5, &s));
    EQ(s.id, CELL);
    OK(s.octets && memcmp(s.octets, "\xa1\xb2\xc3", 3) == 0);
    OK(!stimuli_at(&stimuli, 0, 6, &s));
}

static void blanks_comments_and_requested_outputs_do_not_count(void)
{
    OK(reads(
        "# a bench\n\n  inputs # here\r\n\tlevel#x\n   1\t2 # one\n\noutputs\n 1 2 3 4 ???\n"));
    EQ(stimuli.track_count, 1);
    OK(track_is(0, 2, "2 -"));
    OK(reads("inputs\nlevel\n1 2\nouputs\nwhatever\n")); /* as the thesis has it */
    EQ(stimuli.track_count, 1);
    OK(reads("inputs")); /* without a line end, and without signals */
    EQ(stimuli.track_count, 0);
    EQ(stimuli.last_cycle, 0);
    OK(reads("inputs\nlevel\n1 2"));
    OK(track_is(0, 1, "2"));
}

static void the_keyword_comes_first(void)
{
    OK(is_refused("", "FILE:1: the end of the file, expected the keyword inputs"));
    OK(is_refused("\n# x\nlevel\n", "FILE:3: 'level', expected the keyword inputs"));
    OK(is_refused("inputs now\n", "FILE:1: 'inputs', expected the keyword inputs"));
    OK(is_refused("inputs\n1 2\n",
                  "FILE:2: a value of no signal, expected a name first: one of byte "
                  "fifo0..3 level t[0..1].wadr cell\n"));
}

static void a_signal_is_known_and_stands_once(void)
{
    OK(is_refused("inputs\n\nlevels\n", "FILE:3: unknown signal 'levels', expected one of byte"));
    OK(is_refused("inputs\nfifo\n", "FILE:2: unknown signal 'fifo'"));
    OK(is_refused("inputs\nfifo4\n", "FILE:2: 'fifo4': index out of range, expected 0..3"));
    OK(is_refused("inputs\nfifo01\n", "FILE:2: unknown signal 'fifo01'"));
    OK(is_refused("inputs\nt[2].wadr\n", "FILE:2: 't[2].wadr': index out of range, expected 0..1"));
    OK(is_refused("inputs\nfifo1\nfifo2\nlevel\nfifo1\n",
                  "FILE:5: 'fifo1' for the second time, expected each signal once"));
}

static void a_value_has_its_kind_and_range(void)
{
    OK(is_refused("inputs\nlevel\n1 13\n", "FILE:3: level: 13 is out of range, expected 0..12"));
    OK(is_refused("inputs\nlevel\n1 c\n",
                  "FILE:3: level: 'c' is no decimal number, expected 0..12"));
    OK(is_refused("inputs\nlevel\n1 99999999999999999999\n",
                  "FILE:3: level: 99999999999999999999 is out of range"));
    OK(is_refused("inputs\nt[0].wadr\n1 20\n",
                  "FILE:3: t[0].wadr: 20 is out of range, expected 0..1f in hexadecimal"));
    OK(is_refused("inputs\nt[0].wadr\n1 g\n",
                  "FILE:3: t[0].wadr: 'g' is no hexadecimal number, expected 0..1f"));
    OK(is_refused("inputs\nbyte\n1 123\n",
                  "FILE:3: byte: odd number of digits (3), expected two per byte"));
    OK(is_refused("inputs\nfifo2\n1 0x\n", "FILE:3: fifo2: '0x' is not hexadecimal"));
    OK(is_refused("inputs\ncell\n1 0102\n", "FILE:3: cell: 4 digits, expected 6"));
}

static void a_line_is_a_name_or_a_cycle_and_a_value(void)
{
    OK(is_refused("inputs\nlevel\n7\n", "FILE:3: '7' without a value, expected"));
    OK(is_refused("inputs\nlevel\n1 2 3\n", "FILE:3: '1' and more than a value, expected"));
    OK(is_refused("inputs\nlevel\n1a 2\n", "FILE:3: '1a' is no cycle, expected a decimal number"));
}

static void cycles_rise_from_one(void)
{
    OK(is_refused("inputs\nlevel\n0 1\n",
                  "FILE:3: cycle 0 is out of range, expected 1..100000000"));
    OK(is_refused("inputs\nlevel\n100000001 1\n", "FILE:3: cycle 100000001 is out of range"));
    OK(reads("inputs\nlevel\n100000000 1\n"));
    OK(is_refused(
        "inputs\nlevel\n4 1\n\n4 2\n",
        "FILE:5: level: cycle 4 after line 3, which reaches to cycle 4, expected a later"));
    OK(is_refused("inputs\nbyte\n4 010203\n6 04\n",
                  "FILE:4: byte: cycle 6 after line 3, which reaches to cycle 6"));
    OK(reads("inputs\nbyte\n4 010203\n7 04\n"));
    OK(reads("inputs\nbyte\n99999999 0102\n"));
    OK(is_refused("inputs\nbyte\n99999999 010203\n",
                  "FILE:3: byte: the stream goes on after cycle 100000000"));
    OK(reads("inputs\nlevel\n4 1\nbyte\n1 01\n")); /* of each signal for itself */
    stimuli_close(&stimuli);
}

TAP_MAIN(T(values_come_in_their_cycles), T(a_stream_has_a_byte_per_cycle), T(octets_come_at_once),
         T(blanks_comments_and_requested_outputs_do_not_count), T(the_keyword_comes_first),
         T(a_signal_is_known_and_stands_once), T(a_value_has_its_kind_and_range),
         T(a_line_is_a_name_or_a_cycle_and_a_value), T(cycles_rise_from_one))
