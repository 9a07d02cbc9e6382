/* The reader of recordings: any octets get an answer, and the place of damage is reported. */
#include "sim_recording_test.h"
#include "sim_recording.h"
#include <leat/random.h>

static void a_recording_that_is_cut_anywhere_wants_more_and_is_not_closed(void)
{
    record_sample();
    for (size_t len = 0; len <= recorded_text.len; len++) {
        size_t stopped_at;
        EQ(read_octets((const uint8_t *)recorded, len, NULL, NULL, &stopped_at), LEAT_ERR_OK);
        OK(stopped_at <= len);
        EQ(reading.closed, len == recorded_text.len);
    }
}

static void octets_after_the_end_are_reported(void)
{
    size_t stopped_at;
    record_sample();
    recorded[recorded_text.len] = 0x06;
    EQ(read_octets((const uint8_t *)recorded, recorded_text.len + 1, NULL, NULL, &stopped_at),
       LEAT_ERR_LENGTH);
    EQ(stopped_at, recorded_text.len);
}

static void another_kind_of_file_is_reported_at_once(void)
{
    size_t stopped_at;
    EQ(read_octets((const uint8_t *)"LEAK", 4, NULL, NULL, &stopped_at), LEAT_ERR_MAGIC);
    EQ(stopped_at, 3);
    EQ(read_octets((const uint8_t *)"LEATREC\x01", 8, NULL, NULL, &stopped_at), LEAT_ERR_MAGIC);
    EQ(stopped_at, 7); /* another version */
}

/* Clock 1; group 1; lane 2 without frames; lane 3 with; signal 4 of 3 bits; name 1. */
#define DECLARED          \
    "LEATREC\x02"         \
    "\x01\x05\x01"        \
    "\x02\0\x01g"         \
    "\x03\x01\x01\0\x01"  \
    "a"                   \
    "\x03\0\0\x05\x01"    \
    "b"                   \
    "\x04\x01\0\x03\x01s" \
    "\x05\x01n"
enum { DECLARED_LEN = 36 };

static void every_damage_is_reported_with_its_place(void)
{
    static const struct {
        leat_err err;
        size_t at; /* after the declarations */
        const char *octets;
        size_t len;
    } damages[] = {
#define OCTETS(string) string, sizeof string - 1
        { LEAT_ERR_TYPE, 0, OCTETS("\0") }, /* no such kinds */
        { LEAT_ERR_TYPE, 0, OCTETS("\x07") },
        { LEAT_ERR_TYPE, 0, OCTETS("\x17\x02") },
        { LEAT_ERR_TYPE, 0, OCTETS("\xff") },
        { LEAT_ERR_RANGE, 1, OCTETS("\x01\0\x01") }, /* a clock without a period */
        { LEAT_ERR_RANGE, 2, OCTETS("\x01\x01\0") },
        { LEAT_ERR_RANGE, 1, OCTETS("\x02\x05\x01x") },             /* a parent that is to come */
        { LEAT_ERR_TYPE, 1, OCTETS("\x02\x02\x01x") },              /* a parent that is a lane */
        { LEAT_ERR_RANGE, 2, OCTETS("\x03\0\x02\0\x01x") },         /* an unknown clock */
        { LEAT_ERR_RANGE, 3, OCTETS("\x03\0\0\x80\x80\x04\x01x") }, /* a link type of 17 bits */
        { LEAT_ERR_RANGE, 3, OCTETS("\x04\0\0\0\x01x") },           /* no width */
        { LEAT_ERR_RANGE, 3, OCTETS("\x04\0\0\x41\x01x") },         /* 65 bits */
        { LEAT_ERR_RANGE, 1, OCTETS("\x05\0") },                    /* no name */
        { LEAT_ERR_RANGE, 1, OCTETS("\x05\x80\x01") },              /* 128 octets */
        { LEAT_ERR_SYNTAX, 3, OCTETS("\x05\x02x\n") },              /* not printable */
        { LEAT_ERR_RANGE, 1, OCTETS("\x06\0") },                    /* no time passes */
        { LEAT_ERR_SYNTAX, 2, OCTETS("\x06\x81\0") },               /* not the shortest form */
        { LEAT_ERR_SYNTAX, 10, OCTETS("\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02") },
        { LEAT_ERR_RANGE, 1, OCTETS("\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") }, /* never */
        { LEAT_ERR_SYNTAX, 2, OCTETS("\x06\x01\x06\x01") }, /* a time of nothing */
        { LEAT_ERR_SYNTAX, 2, OCTETS("\x06\x01\x05\x01x") },
        { LEAT_ERR_SYNTAX, 3, OCTETS("\x10\x02\x01\x02\0\x01x") }, /* a track after an event */
        { LEAT_ERR_SYNTAX, 3, OCTETS("\x10\x02\x01\x01\x01\x01") },
        { LEAT_ERR_RANGE, 1, OCTETS("\x10\0\x01") }, /* an unknown track */
        { LEAT_ERR_RANGE, 1, OCTETS("\x10\x05\x01") },
        { LEAT_ERR_TYPE, 1, OCTETS("\x10\x01\x01") }, /* a span of a group */
        { LEAT_ERR_TYPE, 1, OCTETS("\x12\x04\x01") }, /* an instant of a signal */
        { LEAT_ERR_RANGE, 2, OCTETS("\x10\x02\0") },  /* an unknown name */
        { LEAT_ERR_RANGE, 2, OCTETS("\x12\x02\x02") },
        { LEAT_ERR_FIELD, 1, OCTETS("\x11\x02") },               /* no span is open */
        { LEAT_ERR_FIELD, 4, OCTETS("\x10\x03\x01\x11\x02") },   /* not in this lane */
        { LEAT_ERR_TYPE, 1, OCTETS("\x13\x02\x01") },            /* a value of a lane */
        { LEAT_ERR_RANGE, 2, OCTETS("\x13\x04\x08") },           /* 8 in three bits */
        { LEAT_ERR_FIELD, 1, OCTETS("\x14\x02\0\0") },           /* a lane without a link type */
        { LEAT_ERR_RANGE, 2, OCTETS("\x14\x03\x03\0") },         /* no direction */
        { LEAT_ERR_RANGE, 3, OCTETS("\x14\x03\0\x80\x80\x04") }, /* 65,536 octets */
        { LEAT_ERR_RANGE, 2, OCTETS("\x15\x03\x03\0\0\0\0") },   /* no step */
        { LEAT_ERR_RANGE, 4, OCTETS("\x15\x03\0\0\x05\0\0") },   /* a peer that is no track */
        { LEAT_ERR_TYPE, 4, OCTETS("\x15\x03\0\0\x01\0\0") },    /* a peer that is a group */
        { LEAT_ERR_RANGE, 6,
          OCTETS("\x15\x03\0\0\0\0\x81\x80\x80\x80\x10") }, /* a tag of 33 bits */
        { LEAT_ERR_TYPE, 1, OCTETS("\x16\x04\x01") },       /* a place of a signal */
        { LEAT_ERR_RANGE, 2, OCTETS("\x16\x02\x02") },      /* an unknown place */
        { LEAT_ERR_RANGE, 1, OCTETS("\x1f\x05") },          /* a record was lost */
        { LEAT_ERR_RANGE, 1, OCTETS("\x1f\x07") },
#undef OCTETS
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        uint8_t octets[100];
        size_t stopped_at;
        memcpy(octets, DECLARED, DECLARED_LEN);
        memcpy(octets + DECLARED_LEN, damages[i].octets, damages[i].len);
        const leat_err err = read_octets(octets, DECLARED_LEN + damages[i].len, NULL, NULL,
                                         &stopped_at);
        const bool reported = err == damages[i].err && stopped_at == DECLARED_LEN + damages[i].at;
        OK(reported);
        if (!reported) printf("# damage %zu: %s at %zu\n", i, leat_err_name(err), stopped_at);
    }
}

static void the_declarations_of_that_test_are_sound(void)
{
    uint8_t octets[DECLARED_LEN + 2];
    size_t stopped_at;
    EQ(sizeof DECLARED - 1, DECLARED_LEN);
    memcpy(octets, DECLARED "\x1f\x06", sizeof octets);
    EQ(read_octets(octets, sizeof octets, NULL, NULL, &stopped_at), LEAT_ERR_OK);
    OK(reading.closed);
}

static void a_lane_has_eight_open_spans_at_most(void)
{
    uint8_t octets[DECLARED_LEN + 27];
    size_t stopped_at;
    memcpy(octets, DECLARED, DECLARED_LEN);
    for (size_t i = 0; i < 9; i++)
        memcpy(octets + DECLARED_LEN + 3 * i, "\x10\x02\x01", 3);
    EQ(read_octets(octets, sizeof octets, NULL, NULL, &stopped_at), LEAT_ERR_FULL);
    EQ(stopped_at, DECLARED_LEN + 24 + 1);
    EQ(reading.tracks[2].depth, LEAT_SIM_SPANS_MAX);
}

static void a_path_has_127_octets_at_most(void)
{
    char name[LEAT_SIM_PATH_LEN_MAX + 1], path[LEAT_SIM_PATH_LEN_MAX + 1];
    memset(name, 'x', sizeof name);
    for (size_t inner = 60; inner <= 61; inner++) { /* 66 + 1 + 60 */
        name[66] = '\0';
        record_from_the_beginning();
        leat_sim_recorder_group(&recorder, 0, name);
        const size_t before = recorded_text.len;
        name[66] = 'x';
        name[inner] = '\0';
        leat_sim_recorder_group(&recorder, 1, name);
        name[inner] = 'x';
        leat_sim_recorder_close(&recorder, 0);
        size_t stopped_at;
        const leat_err err = read_octets((const uint8_t *)recorded, recorded_text.len, NULL, NULL,
                                         &stopped_at);
        EQ(err, inner == 60 ? LEAT_ERR_OK : LEAT_ERR_LENGTH);
        if (err)
            EQ(stopped_at, before + 2);
        else
            EQ(leat_sim_recording_path(&reading, 2, path), LEAT_SIM_PATH_LEN_MAX);
    }
}

static void paths_and_names_are_those_recorded(void)
{
    char path[LEAT_SIM_PATH_LEN_MAX + 1];
    size_t len;
    record_sample();
    EQ(read_recorded(NULL, NULL), LEAT_ERR_OK);
    EQ(leat_sim_recording_path(&reading, 4, path), strlen("net.bmx[0].2"));
    OK(strcmp(path, "net.bmx[0].2") == 0);
    EQ(leat_sim_recording_path(&reading, 6, path), 5);
    OK(strcmp(path, "total") == 0);
    OK(memcmp(leat_sim_recording_name(&reading, 2, &len), "\"header\"", 8) == 0);
    EQ(len, 8);
    OK(leat_sim_is_printable(' ') && leat_sim_is_printable('~'));
    OK(!leat_sim_is_printable(0x1f) && !leat_sim_is_printable(0x7f));
}

static void tables_that_are_full_are_reported(void)
{
    static uint8_t octets[16 + 4 * (LEAT_SIM_TRACKS_MAX + 1)];
    static const struct {
        const char *record;
        size_t len, most;
    } tables[] = { { "\x01\x01\x01", 3, LEAT_SIM_CLOCKS_MAX },
                   { "\x02\0\x01t", 4, LEAT_SIM_TRACKS_MAX },
                   { "\x05\x01n", 3, LEAT_SIM_NAMES_MAX } };
    for (int i = 0; i < 3; i++) {
        size_t stopped_at, len = LEAT_SIM_RECORDING_HEAD_LEN;
        memcpy(octets, LEAT_SIM_RECORDING_HEAD, len);
        for (size_t k = 0; k <= tables[i].most; k++, len += tables[i].len)
            memcpy(octets + len, tables[i].record, tables[i].len);
        EQ(read_octets(octets, len - tables[i].len, NULL, NULL, &stopped_at), LEAT_ERR_OK);
        EQ(read_octets(octets, len, NULL, NULL, &stopped_at), LEAT_ERR_FULL);
        EQ(stopped_at, len - tables[i].len);
    }
}

/* The reader accepts pieces of any length. */
static size_t read_in_pieces(const uint8_t *octets, size_t len, struct leat_random *r)
{
    size_t begin = 0, end = 0, events = 0;
    leat_sim_recording_init(&reading);
    for (;;) {
        struct leat_sim_event e;
        bool found;
        size_t used;
        if (leat_sim_recording_next(&reading, octets + begin, end - begin, &e, &found, &used, NULL))
            return SIZE_MAX;
        begin += used;
        events += found;
        if (used) continue;
        if (end == len) return events;
        end += 1 + leat_random_below(r, len - end);
    }
}

static void count(const struct leat_sim_event *e, void *user)
{
    (void)e;
    ++*(size_t *)user;
}

static void pieces_of_any_size_give_the_same_events(void)
{
    struct leat_random r;
    size_t wanted = 0;
    leat_random_seed(&r, tap_seed());
    record_sample();
    read_recorded(count, &wanted);
    for (int i = 0; i < LEAT_ROUNDS / 1000; i++) {
        OK(read_in_pieces((const uint8_t *)recorded, recorded_text.len, &r) == wanted);
        OK(reading.closed);
    }
}

/* A flipped bit may leave a recording sound (another value); then it is not the same one. */
static void every_flipped_bit_gets_an_answer(void)
{
    record_sample();
    int refused = 0;
    for (size_t bit = 0; bit < 8 * recorded_text.len; bit++) {
        size_t stopped_at;
        recorded[bit / 8] = (char)(recorded[bit / 8] ^ 1 << bit % 8);
        const leat_err err = read_octets((const uint8_t *)recorded, recorded_text.len, NULL, NULL,
                                         &stopped_at);
        recorded[bit / 8] = (char)(recorded[bit / 8] ^ 1 << bit % 8);
        refused += err || !reading.closed;
        OK(stopped_at <= recorded_text.len);
    }
    OK(refused > (int)(4 * recorded_text.len)); /* at least every second */
}

TAP_MAIN(T(a_recording_that_is_cut_anywhere_wants_more_and_is_not_closed),
         T(octets_after_the_end_are_reported), T(another_kind_of_file_is_reported_at_once),
         T(every_damage_is_reported_with_its_place), T(the_declarations_of_that_test_are_sound),
         T(a_lane_has_eight_open_spans_at_most), T(a_path_has_127_octets_at_most),
         T(paths_and_names_are_those_recorded), T(tables_that_are_full_are_reported),
         T(pieces_of_any_size_give_the_same_events), T(every_flipped_bit_gets_an_answer))
