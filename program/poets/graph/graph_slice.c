#include "graph_slice.h"
#include "graph_read_parts.h"
#include <string.h>

enum {
    SECTION_DEPTH = 3, /* of DeviceInstances and EdgeInstances, when they are open */
    BLOCK = 1 << 16,
    TAG_LEN_MAX = 7 /* "<EdgeI " */
};

static const char section[] = "DeviceInstances";
static const char to_edges[] = "</DeviceInstances><EdgeInstances>";
static const char end_of_slice[] = "<?slice?>";

/* ---- the head ------------------------------------------------------------------------------- */

struct search {
    XML_Parser parser;
    uint32_t depth;
    uint64_t head_len; /* 0: not found */
};

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **list)
{
    struct search *s = user;
    (void)list;
    if (++s->depth != SECTION_DEPTH || strcmp(name, section) != 0) return;
    s->head_len = (uint64_t)XML_GetCurrentByteIndex(s->parser) +
                  (uint64_t)XML_GetCurrentByteCount(s->parser);
    XML_StopParser(s->parser, XML_FALSE);
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    struct search *s = user;
    (void)name;
    s->depth--;
}

/* What is not well-formed is found by those who read it. */
static uint64_t find_head(FILE *in)
{
    struct search s = { .parser = XML_ParserCreate(NULL) };
    char block[BLOCK];
    size_t len = 0;
    if (!s.parser) return 0;
    XML_SetUserData(s.parser, &s);
    XML_SetElementHandler(s.parser, on_start, on_end);
    do
        len = fread(block, 1, sizeof block, in);
    while (XML_Parse(s.parser, block, (int)len, !len) == XML_STATUS_OK && len);
    XML_ParserFree(s.parser);
    return s.head_len;
}

/* ---- where slices begin ---------------------------------------------------------------------- */

/* <EdgeInstances> is none. */
static bool is_tag(const char *at, bool *edges)
{
    *edges = memcmp(at, "<EdgeI", 6) == 0;
    if (!*edges && memcmp(at, "<DevI", 5) != 0 && memcmp(at, "<ExtI", 5) != 0) return false;
    return strchr(" \t\r\n", at[*edges ? 6 : 5]);
}

/* The first tag from `at` on; the end of the file if there is none. */
static uint64_t find_tag(FILE *in, uint64_t at, uint64_t file_len, bool *edges)
{
    char block[BLOCK];
    size_t len = 0;
    if (fseeko(in, (off_t)at, SEEK_SET) != 0) return file_len;
    for (;;) { /* a tag may lie across two blocks */
        len += fread(block + len, 1, sizeof block - len, in);
        if (len < TAG_LEN_MAX) return file_len;
        const char *end = block + len - TAG_LEN_MAX + 1, *tag = block;
        while ((tag = memchr(tag, '<', (size_t)(end - tag)))) {
            if (is_tag(tag, edges)) return at + (uint64_t)(tag - block);
            tag++;
        }
        at += (uint64_t)(end - block);
        len = TAG_LEN_MAX - 1;
        memmove(block, end, len);
    }
}

static uint64_t find_start(const struct leat_graph_slice *s, FILE *in, uint32_t number,
                           uint32_t count, bool *edges)
{
    *edges = false;
    if (!number) return s->head_len;
    if (number == count) return s->file_len;
    const uint64_t share = (s->file_len - s->head_len) / count;
    return find_tag(in, s->head_len + share * number, s->file_len, edges);
}

bool leat_graph_slice_find(struct leat_graph_slice *slice, const char *file, uint32_t number,
                           uint32_t count)
{
    struct leat_graph_slice *s = slice;
    *s = (struct leat_graph_slice){ 0 };
    FILE *in = fopen(file, "r");
    if (!in) return false;
    s->head_len = find_head(in);
    if (fseeko(in, 0, SEEK_END) == 0) s->file_len = (uint64_t)ftello(in);
    bool good = s->head_len && s->head_len <= s->file_len;
    if (good) {
        s->from = find_start(s, in, number, count, &s->from_edges);
        s->to = find_start(s, in, number + 1, count, &s->to_edges);
        s->empty = number && s->from == s->file_len;
        good = !ferror(in); /* or what is behind it would be in no slice */
    }
    fclose(in);
    return good;
}

/* ---- reading -------------------------------------------------------------------------------- */

static void parse_text(struct leat_graph_reader *r, const char *text, size_t len)
{
    r->fed += len;
    if (!r->stopped && XML_Parse(r->parser, text, (int)len, 0) != XML_STATUS_OK) r->stopped = true;
}

static void XMLCALL on_instruction(void *user, const XML_Char *name, const XML_Char *text)
{
    struct leat_graph_reader *r = user;
    (void)name, (void)text;
    r->instruction_at = (uint64_t)XML_GetCurrentByteIndex(r->parser);
}

/* An instruction behind it is seen as one, right there, only between two elements. The parser may
 * hold back the last element until it sees more: the other handlers stay. */
static bool ends_well(struct leat_graph_reader *r, enum leat_graph_element within)
{
    const uint64_t end = r->fed;
    XML_SetProcessingInstructionHandler(r->parser, on_instruction);
    parse_text(r, end_of_slice, strlen(end_of_slice));
    return !r->stopped && r->instruction_at == end && !r->skipped && r->depth == SECTION_DEPTH &&
           leat_graph_reader_top(r)->rule->element == within;
}

bool leat_graph_reader_feed_slice(struct leat_graph_reader *r, FILE *in,
                                  struct leat_graph_slice *slice)
{
    const struct leat_graph_slice *s = slice;
    leat_graph_reader_feed(r, in, s->head_len);
    if (s->empty || r->stopped) return !r->stopped;
    if (s->from_edges) parse_text(r, to_edges, strlen(to_edges));
    if (fseeko(in, (off_t)s->from, SEEK_SET) != 0) return false;
    const bool last = s->to == s->file_len;
    leat_graph_reader_feed(r, in, last ? UINT64_MAX : s->to - s->from);
    slice->breaks = r->breaks;
    return !r->stopped && (last || ends_well(r, s->to_edges ? ELEMENT_EDGES : ELEMENT_DEVICES));
}
