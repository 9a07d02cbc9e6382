/*
 * All formats, through the one struct that the tools use. The test reads every file of vectors in
 * the rooms: vectors/FORMAT_*.hex holds valid packets, vectors/bad_FORMAT_*.hex damaged ones, each
 * with the name of its error in a comment. It checks every promise of a room on all of them.
 */
#define _POSIX_C_SOURCE 200809L
#include "format_harness.h"
#include "leat_format.h"
#include <dirent.h>
#include <leat/random.h>
#include <string.h>

enum { LINE_MAX_LEN = 300000 };

static uint8_t rebuilt[FORMAT_PACKET_MAX], again[FORMAT_PACKET_MAX];

/*
 * What can be shown can be built, and the built octets are shown and built to themselves. (The
 * first need not be: padding may hold anything, under its checksum.) 1 if it was shown at all.
 */
static int meaning_survives(const struct leat_format *format, const uint8_t *p, size_t len)
{
    size_t fault_at = SIZE_MAX, once_len = 0, twice_len = 0;
    if (format_show_json(format, p, len, &fault_at)) {
        OK(fault_at <= len);
        return 0;
    }
    const int before = tap_checks_failed;
    EQ(format_build_json(format, format_shown, rebuilt, sizeof rebuilt, &once_len), LEAT_ERR_OK);
    EQ(format_show_json(format, rebuilt, once_len, &fault_at), LEAT_ERR_OK);
    EQ(format_build_json(format, format_shown, again, sizeof again, &twice_len), LEAT_ERR_OK);
    OK(once_len == twice_len && memcmp(rebuilt, again, once_len) == 0);
    if (tap_checks_failed != before)
        printf("# %s: %s %s\n", format->name, format_shown, format_fields.message);
    return 1;
}

/* ---- files of vectors --------------------------------------------------------------------- */

struct vector {
    const struct leat_format *format;
    const char *code; /* of a damaged one; NULL: valid */
    const uint8_t *octets;
    size_t len;
    const char *file;
};

static int nibble(int c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Octets of a line, then the first word of its comment. */
static size_t parse_line(const char *line, uint8_t *octets, char *code)
{
    size_t digits = 0;
    for (; *line && *line != '#' && *line != '\n'; line++) {
        const int d = nibble(*line);
        if (d < 0) continue;
        if (digits % 2 == 0)
            octets[digits / 2] = (uint8_t)(d << 4);
        else
            octets[digits / 2] = (uint8_t)(octets[digits / 2] | d);
        digits++;
    }
    EQ(digits % 2, 0);
    code[0] = '\0';
    if (*line == '#') sscanf(line + 1, "%31s", code);
    return digits / 2;
}

static int read_file(const char *path, const struct leat_format *format, bool bad,
                     void (*visit)(const struct vector *))
{
    static char line[LINE_MAX_LEN];
    static uint8_t octets[LINE_MAX_LEN / 2];
    char code[32];
    int count = 0;
    FILE *file = fopen(path, "r");
    OK(file != NULL);
    if (!file) return 0;
    while (fgets(line, sizeof line, file)) {
        const size_t len = parse_line(line, octets, code);
        if (!len) continue;
        const int before = tap_checks_failed;
        visit(&(struct vector){ format, bad ? code : NULL, octets, len, path });
        if (tap_checks_failed != before) printf("# in %s: %s", path, line);
        count++;
    }
    fclose(file);
    return count;
}

/* The longest format name that begins the file's name. */
static const struct leat_format *format_of(const char *name)
{
    const struct leat_format *best = NULL, *each;
    for (size_t i = 0; (each = leat_format_at(i)); i++) {
        const size_t len = strlen(each->name);
        if (strncmp(name, each->name, len) == 0 && name[len] == '_') best = each;
    }
    return best;
}

static int counts[32]; /* by format: vectors visited */

static void for_each_vector(bool bad, void (*visit)(const struct vector *))
{
    static const char *const rooms[] = { "atm", "aton", "esp", "packetway", "poets" };
    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        char folder[512], path[1024];
        snprintf(folder, sizeof folder, LEAT_SOURCE_DIR "/proto/%s/vectors", rooms[i]);
        DIR *dir = opendir(folder);
        OK(dir != NULL);
        if (!dir) continue;
        for (struct dirent *e; (e = readdir(dir));) {
            const bool is_bad = strncmp(e->d_name, "bad_", 4) == 0;
            if (!strstr(e->d_name, ".hex") || is_bad != bad) continue;
            const struct leat_format *format = format_of(e->d_name + (bad ? 4 : 0));
            if (!format) printf("# %s names no format\n", e->d_name);
            OK(format != NULL);
            if (!format) continue;
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            const int n = read_file(path, format, bad, visit);
            for (size_t k = 0; leat_format_at(k); k++)
                if (leat_format_at(k) == format) counts[k] += n;
        }
        closedir(dir);
    }
    for (size_t k = 0; leat_format_at(k); k++) {
        if (!counts[k])
            printf("# %s has no %s vectors\n", leat_format_at(k)->name, bad ? "damaged" : "sound");
        OK(counts[k] > 0);
    }
}

/* ---- the promises ------------------------------------------------------------------------- */

static void try_identity(const struct vector *v)
{
    if (v->format->measure) EQ(v->format->measure(v->octets, v->len), v->len);
    format_round_trip(v->format, v->octets, v->len);
}

static void every_vector_is_shown_and_built_to_the_same_octets(void)
{
    for_each_vector(false, try_identity);
}

static void try_damaged(const struct vector *v)
{
    size_t fault_at = SIZE_MAX;
    const leat_err err = format_show_json(v->format, v->octets, v->len, &fault_at);
    OK(strcmp(leat_err_name(err), v->code) == 0);
    OK(fault_at <= v->len);
    if (strcmp(leat_err_name(err), v->code) != 0)
        printf("# got %s, want %s\n", leat_err_name(err), v->code);
}

static void every_damaged_vector_has_its_error_and_a_place(void)
{
    for_each_vector(true, try_damaged);
}

/* Copied to memory of exactly its length, so that a sanitizer sees the first octet read too far. */
static void try_truncations(const struct vector *v)
{
    for (size_t cut = 0; cut < v->len; cut += v->len < 600 ? 1 : 61) {
        uint8_t *exact = malloc(cut ? cut : 1);
        memcpy(exact, v->octets, cut);
        meaning_survives(v->format, exact, cut);
        free(exact);
    }
}

static void every_truncation_is_answered(void)
{
    for_each_vector(false, try_truncations);
}

static void try_flips(const struct vector *v)
{
    static uint8_t copy[LINE_MAX_LEN / 2];
    memcpy(copy, v->octets, v->len);
    for (size_t bit = 0; bit < 8 * v->len; bit += v->len < 600 ? 1 : 997) {
        copy[bit / 8] = (uint8_t)(copy[bit / 8] ^ 1u << bit % 8);
        meaning_survives(v->format, copy, v->len);
        copy[bit / 8] = (uint8_t)(copy[bit / 8] ^ 1u << bit % 8);
    }
}

static void every_flipped_bit_is_answered(void)
{
    for_each_vector(false, try_flips);
}

static void random_octets_are_answered(void)
{
    struct leat_random r;
    uint8_t octets[256];
    leat_random_seed(&r, tap_seed());
    for (int i = 0; i < LEAT_ROUNDS / 100; i++) {
        const size_t len = leat_random_below(&r, sizeof octets + 1);
        leat_random_fill(&r, octets, len);
        for (size_t k = 0; leat_format_at(k); k++)
            meaning_survives(leat_format_at(k), octets, len);
    }
}

/* No fields, or too little room: an answer, and no write beyond the room. */
static void empty_fields_and_small_buffers_are_answered(void)
{
    for (size_t k = 0; leat_format_at(k); k++) {
        const struct leat_format *format = leat_format_at(k);
        size_t full = 0, len = 0;
        const leat_err err = format_build_json(format, "{}", rebuilt, sizeof rebuilt, &full);
        EQ(err, LEAT_ERR_OK); /* defaults make a packet */
        if (err) printf("# %s: %s\n", format->name, format_fields.message);
        for (size_t cap = 0; cap < full; cap++) {
            memset(rebuilt, 0xee, full);
            OK(format_build_json(format, "{}", rebuilt, cap, &len) != LEAT_ERR_OK);
            for (size_t i = 0; i < full; i++)
                EQ(rebuilt[i], 0xee);
        }
    }
}

static void unknown_fields_are_refused_with_those_known(void)
{
    for (size_t k = 0; leat_format_at(k); k++) {
        size_t len;
        EQ(format_build_json(leat_format_at(k), "{\"nosuchfield\":1}", rebuilt, sizeof rebuilt,
                             &len),
           LEAT_ERR_FIELD);
        OK(strstr(format_fields.message, "nosuchfield: no such field here, expected one of "));
    }
}

/* Puts a frame around a packet and removes it; any shorter frame gets an answer. */
static void try_framing(const struct leat_framing *framing, const struct vector *v)
{
    static uint8_t frame[FORMAT_PACKET_MAX];
    struct leat_arena arena = format_arena();
    struct leat_tree none = { .kind = LEAT_TREE_OBJECT };
    size_t len = 0, at = 0, packet_len = 0, fault = 0;
    leat_fields_init_read(&format_fields, &none, &arena);
    EQ(framing->frame(&format_fields, v->octets, v->len, frame, sizeof frame, &len), LEAT_ERR_OK);
    memset(frame + len, 0, 4); /* Ethernet pads */
    format_show_begin(leat_fields_init_json);
    EQ(framing->unframe(frame, len + 4, &format_fields, &at, &packet_len, &fault), LEAT_ERR_OK);
    OK(packet_len == v->len && memcmp(frame + at, v->octets, v->len) == 0);
    for (size_t cut = 0; cut < len; cut += len < 600 ? 1 : 61) {
        format_show_begin(leat_fields_init_json);
        const leat_err err = framing->unframe(frame, cut, &format_fields, &at, &packet_len, &fault);
        OK(err ? fault <= cut : at + packet_len <= cut);
    }
}

static void try_frames(const struct vector *v)
{
    if (v->format->framing) try_framing(v->format->framing, v);
    if (v->format->ether_framing) try_framing(v->format->ether_framing, v);
}

static void frames_go_on_and_come_off(void)
{
    for_each_vector(false, try_frames);
}

/* leat/format.h: the same text and the same octets, in the room that it demands. */
static void try_programs_view(const struct vector *v)
{
    static char json[FORMAT_SHOWN_MAX];
    char why[LEAT_FORMAT_WHY_LEN];
    size_t len = 0, fault_at = SIZE_MAX;
    EQ(format_show_json(v->format, v->octets, v->len, NULL), LEAT_ERR_OK);
    const size_t shown = strlen(format_shown), memory_len = leat_format_memory_len(shown);
    EQ(leat_format_decode(v->format, v->octets, v->len, json, shown + LEAT_FORMAT_JSON_SPARE, NULL),
       LEAT_ERR_OK);
    OK(strcmp(json, format_shown) == 0);
    void *memory = malloc(memory_len);
    EQ(leat_format_encode(v->format, json, memory, memory_len, rebuilt, sizeof rebuilt, &len, why),
       LEAT_ERR_OK);
    OK(len == v->len && memcmp(rebuilt, v->octets, len) == 0);
    EQ(leat_format_encode(v->format, json, memory, 64, rebuilt, sizeof rebuilt, &len, why),
       LEAT_ERR_MEMORY);
    free(memory);
    EQ(leat_format_decode(v->format, v->octets, v->len, json, shown, &fault_at), LEAT_ERR_SPACE);
    EQ(json[0], '\0');
}

static void programs_see_the_same_text_and_octets(void)
{
    for_each_vector(false, try_programs_view);
}

static void try_programs_view_of_damage(const struct vector *v)
{
    static char json[FORMAT_SHOWN_MAX];
    size_t fault_at = SIZE_MAX;
    OK(strcmp(leat_err_name(
                  leat_format_decode(v->format, v->octets, v->len, json, sizeof json, &fault_at)),
              v->code) == 0);
    OK(fault_at <= v->len);
    EQ(json[0], '\0');
}

static void programs_learn_what_is_wrong(void)
{
    const struct leat_format *esp = leat_format_find("esp");
    char why[LEAT_FORMAT_WHY_LEN];
    max_align_t memory[1024];
    size_t len;
    for_each_vector(true, try_programs_view_of_damage);
    EQ(leat_format_encode(esp, "{\"nosuchfield\":1}", memory, sizeof memory, rebuilt,
                          sizeof rebuilt, &len, why),
       LEAT_ERR_FIELD);
    OK(strstr(why, "nosuchfield: no such field here, expected one of "));
    EQ(leat_format_encode(esp, "[]", memory, sizeof memory, rebuilt, sizeof rebuilt, &len, why),
       LEAT_ERR_SYNTAX);
    EQ(leat_format_encode(esp, "{", memory, sizeof memory, rebuilt, sizeof rebuilt, &len, why),
       LEAT_ERR_SYNTAX);
    EQ(leat_format_encode(esp, "{}", memory, sizeof memory, rebuilt, 3, &len, why), LEAT_ERR_SPACE);
}

static void formats_are_found_by_name_and_place(void)
{
    size_t count = 0;
    while (leat_format_at(count)) {
        const struct leat_format *format = leat_format_at(count);
        OK(leat_format_find(leat_format_name(format)) == format);
        OK(strlen(leat_format_summary(format)) > 10);
        count++;
    }
    EQ(count, 17);
    OK(!leat_format_find("nosuch"));
}

TAP_MAIN(T(formats_are_found_by_name_and_place),
         T(every_vector_is_shown_and_built_to_the_same_octets),
         T(every_damaged_vector_has_its_error_and_a_place), T(every_truncation_is_answered),
         T(every_flipped_bit_is_answered), T(random_octets_are_answered),
         T(empty_fields_and_small_buffers_are_answered),
         T(unknown_fields_are_refused_with_those_known), T(frames_go_on_and_come_off),
         T(programs_see_the_same_text_and_octets), T(programs_learn_what_is_wrong))
