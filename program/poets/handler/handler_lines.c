#include "handler_lines.h"
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { VERSION = 4 };
#define LONG_FORM UINT64_C(0xfffffff0) /* lengths from here on announce another format */

/* Standard and extended opcodes of a line program (DWARF 4, 6.2.5). */
enum {
    OP_EXTENDED = 0,
    OP_COPY,
    OP_ADVANCE_PC,
    OP_ADVANCE_LINE,
    OP_SET_FILE,
    OP_SET_COLUMN,
    OP_CONST_ADD_PC = 8,
    OP_FIXED_ADVANCE_PC = 9,
    EXTENDED_END = 1,
    EXTENDED_SET_ADDRESS = 2,
};

/* ---- reading -------------------------------------------------------------------------------- */

/* Octets that are read once; beyond their end everything is 0, and `bad`. */
struct reader {
    const uint8_t *at, *end;
    bool bad;
};

static uint64_t take(struct reader *r, unsigned octets)
{
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < octets) {
        r->bad = true;
        r->at = r->end;
        return 0;
    }
    memcpy(&value, r->at, octets); /* little-endian, as everywhere where handlers are compiled */
    r->at += octets;
    return value;
}

static uint64_t take_uleb(struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t octet = (uint8_t)take(r, 1);
        value |= (uint64_t)(octet & 0x7f) << shift;
        if (!(octet & 0x80)) return value;
    }
    r->bad = true;
    return 0;
}

static int64_t take_sleb(struct reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t octet = (uint8_t)take(r, 1);
        value |= (uint64_t)(octet & 0x7f) << shift;
        if (octet & 0x80) continue;
        if (octet & 0x40 && shift + 7 < 64) value |= ~UINT64_C(0) << (shift + 7);
        return (int64_t)value;
    }
    r->bad = true;
    return 0;
}

static const char *take_text(struct reader *r)
{
    const char *text = (const char *)r->at;
    const uint8_t *nul = memchr(r->at, 0, (size_t)(r->end - r->at));
    if (!nul) {
        r->bad = true;
        r->at = r->end;
        return "";
    }
    r->at = nul + 1;
    return text;
}

/* ---- the object ----------------------------------------------------------------------------- */

/* A section header, if it lies within the file. */
static bool section(const struct leat_handler_lines *l, const Elf64_Ehdr *head, uint64_t number,
                    Elf64_Shdr *out)
{
    const uint64_t at = head->e_shoff + number * sizeof *out;
    if (head->e_shoff > l->len || at > l->len - sizeof *out) return false;
    memcpy(out, l->octets + at, sizeof *out);
    return out->sh_type == SHT_NOBITS ||
           (out->sh_offset <= l->len && out->sh_size <= l->len - out->sh_offset);
}

static bool find_table(struct leat_handler_lines *l)
{
    static const char wanted[] = ".debug_line";
    Elf64_Ehdr head;
    Elf64_Shdr names, s;
    if (l->len < sizeof head + sizeof s) return false;
    memcpy(&head, l->octets, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_shentsize != sizeof s ||
        !section(l, &head, head.e_shstrndx, &names) || names.sh_type == SHT_NOBITS)
        return false;
    for (uint32_t i = 0; i < head.e_shnum; i++) {
        if (!section(l, &head, i, &s) || s.sh_type == SHT_NOBITS || s.sh_flags & SHF_COMPRESSED)
            continue;
        if (s.sh_name > names.sh_size || names.sh_size - s.sh_name < sizeof wanted) continue;
        if (memcmp(l->octets + names.sh_offset + s.sh_name, wanted, sizeof wanted) != 0) continue;
        l->table_at = s.sh_offset;
        l->table_len = s.sh_size;
        return true;
    }
    return false;
}

bool leat_handler_lines_open(struct leat_handler_lines *lines, int file)
{
    struct stat s;
    *lines = (struct leat_handler_lines){ 0 };
    if (fstat(file, &s) != 0 || s.st_size <= 0) return false;
    void *octets = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (octets == MAP_FAILED) return false;
    *lines = (struct leat_handler_lines){ .octets = octets, .len = (size_t)s.st_size };
    if (find_table(lines)) return true;
    leat_handler_lines_close(lines);
    return false;
}

void leat_handler_lines_close(struct leat_handler_lines *lines)
{
    if (lines->octets) munmap((void *)lines->octets, lines->len);
    *lines = (struct leat_handler_lines){ 0 };
}

/* ---- line programs -------------------------------------------------------------------------- */

/* The table of one source: its header. */
struct unit {
    struct reader program;
    const uint8_t *folders, *files; /* lists of names */
    const uint8_t *names_end;
    uint8_t instruction_len, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[256]; /* of each standard opcode */
};

/* Skips a list of texts, each with this many numbers behind it. */
static void skip_list(struct reader *r, unsigned numbers)
{
    while (!r->bad && *take_text(r))
        for (unsigned i = 0; i < numbers; i++)
            take_uleb(r);
}

/* The octets of the next unit of this version; units of others are skipped. False: no more. */
static bool next_octets(struct reader *table, struct reader *out)
{
    for (;;) {
        const uint64_t len = take(table, 4);
        if (table->bad || len >= LONG_FORM || len > (uint64_t)(table->end - table->at))
            return false;
        *out = (struct reader){ .at = table->at, .end = table->at + len };
        table->at = out->end;
        if (take(out, 2) == VERSION) return true;
    }
}

/* The next unit; false: there is none that can be read. */
static bool next_unit(struct reader *table, struct unit *out)
{
    struct reader r;
    if (!next_octets(table, &r)) return false;
    const uint64_t header_len = take(&r, 4);
    if (header_len > (uint64_t)(r.end - r.at)) return false;
    out->program = (struct reader){ .at = r.at + header_len, .end = r.end };
    out->names_end = r.end = r.at + header_len;
    out->instruction_len = (uint8_t)take(&r, 1);
    take(&r, 2); /* operations in an instruction, and is_stmt */
    out->line_base = (int8_t)take(&r, 1);
    out->line_range = (uint8_t)take(&r, 1);
    out->opcode_base = (uint8_t)take(&r, 1);
    for (unsigned i = 1; i < out->opcode_base; i++)
        out->operands[i] = (uint8_t)take(&r, 1);
    out->folders = r.at;
    skip_list(&r, 0);
    out->files = r.at;
    skip_list(&r, 3);
    return !r.bad && out->line_range && out->opcode_base;
}

/* The state of a line program. */
struct row {
    uint64_t address, file, line;
    bool begun; /* there is a row of this sequence before */
};

static void special(const struct unit *u, struct row *row, uint8_t opcode, bool line_too)
{
    const unsigned adjusted = (unsigned)opcode - u->opcode_base;
    row->address += (uint64_t)(adjusted / u->line_range) * u->instruction_len;
    if (line_too) row->line += (uint64_t)(int64_t)u->line_base + adjusted % u->line_range;
}

/* An opcode behind an escape. True: the sequence ends. */
static bool extended(struct reader *r, struct row *row)
{
    const uint64_t len = take_uleb(r);
    if (!len || len > (uint64_t)(r->end - r->at)) return r->bad = true;
    struct reader inner = { .at = r->at, .end = r->at + len };
    r->at = inner.end;
    const uint64_t opcode = take(&inner, 1);
    if (opcode == EXTENDED_SET_ADDRESS) row->address = take(&inner, 8);
    return opcode == EXTENDED_END;
}

/* Executes one opcode. True: a row is complete; *ends: it is the last of its sequence. */
static bool step(struct unit *u, struct row *row, bool *ends)
{
    struct reader *r = &u->program;
    const uint8_t opcode = (uint8_t)take(r, 1);
    *ends = false;
    if (opcode >= u->opcode_base) {
        special(u, row, opcode, true);
        return true;
    }
    switch (opcode) {
    case OP_EXTENDED: return *ends = extended(r, row);
    case OP_COPY: return true;
    case OP_ADVANCE_PC: row->address += take_uleb(r) * u->instruction_len; return false;
    case OP_ADVANCE_LINE: row->line += (uint64_t)take_sleb(r); return false;
    case OP_SET_FILE: row->file = take_uleb(r); return false;
    case OP_CONST_ADD_PC: special(u, row, 255, false); return false;
    case OP_FIXED_ADVANCE_PC: row->address += take(r, 2); return false;
    default:
        for (unsigned i = 0; i < u->operands[opcode]; i++)
            take_uleb(r);
        return false;
    }
}

/* The text of a list by its number from 1; its first number behind it in *number. */
static const char *entry(const uint8_t *list, const uint8_t *end, unsigned numbers, uint64_t wanted,
                         uint64_t *number)
{
    struct reader r = { .at = list, .end = end };
    for (uint64_t i = 1; !r.bad; i++) {
        const char *text = take_text(&r);
        if (!*text) break;
        for (unsigned k = 0; k < numbers; k++) {
            const uint64_t value = take_uleb(&r);
            if (k == 0) *number = value;
        }
        if (i == wanted) return text;
    }
    return "";
}

static bool name_row(const struct unit *u, const struct row *row, struct leat_handler_line *out)
{
    uint64_t folder = 0, none;
    out->name = entry(u->files, u->names_end, 3, row->file, &folder);
    out->folder = folder ? entry(u->folders, u->names_end, 0, folder, &none) : "";
    out->line = row->line > 0 && row->line <= UINT32_MAX ? (uint32_t)row->line : 0;
    return *out->name && out->line;
}

/* A row is valid up to the address of the next; of several at one address, the last counts. */
static bool find_in(struct unit *u, uint64_t address, struct leat_handler_line *out)
{
    const struct row first = { .file = 1, .line = 1 };
    struct row row = first, before = first;
    while (u->program.at < u->program.end && !u->program.bad) {
        bool ends;
        if (!step(u, &row, &ends)) continue;
        if (before.begun && before.address <= address && address < row.address)
            return name_row(u, &before, out);
        row.begun = true;
        before = row;
        if (ends) row = before = first;
    }
    return false;
}

bool leat_handler_lines_find(const struct leat_handler_lines *lines, uint64_t address,
                             struct leat_handler_line *out)
{
    struct unit unit;
    if (!lines->octets) return false;
    struct reader table = { .at = lines->octets + lines->table_at,
                            .end = lines->octets + lines->table_at + lines->table_len };
    while (table.at < table.end && next_unit(&table, &unit))
        if (find_in(&unit, address, out)) return true;
    return false;
}
