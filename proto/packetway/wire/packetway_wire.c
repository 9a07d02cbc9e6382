#include "packetway_wire.h"
#include "leat_bytes.h"
#include "packetway_grammar.h"
#include <assert.h>
#include <leat/crc.h>
#include <string.h>

enum { FIELD_HEAD_LEN = 2, FIELD_MANDATORY = 0x80, FIELD_LAST = 0x40, OT_ENTRY_LEN = 8 };
enum { OLD_END = 0x3F }; /* spec-02/03 ended OH by a mandatory field of this type and L=0 */

/* ---- fields of OH and OT ---- */

static size_t field_size(size_t len)
{
    return (FIELD_HEAD_LEN + len + 7) / 8 * 8;
}

static bool is_known(uint8_t type)
{
    return type >= LEAT_PACKETWAY_OH_CRC32_HERE && type <= LEAT_PACKETWAY_OH_SELF_DEFINED_OT;
}

static bool is_here(uint8_t type)
{
    return type == LEAT_PACKETWAY_OH_CRC32_HERE || type == LEAT_PACKETWAY_OH_CRC64_HERE;
}

static bool is_in_ot(uint8_t type)
{
    return type == LEAT_PACKETWAY_OH_CRC32_OT || type == LEAT_PACKETWAY_OH_CRC64_OT;
}

static bool is_64_bits(uint8_t type)
{
    return type == LEAT_PACKETWAY_OH_CRC64_HERE || type == LEAT_PACKETWAY_OH_CRC64_OT;
}

/* Spec 1.6: the forms of types 2..6. */
static bool has_right_len(const struct leat_packetway_field *f)
{
    const unsigned here = is_64_bits(f->type) ? 8 : 4;
    return !is_known(f->type) || f->len == (is_here(f->type) ? here : 0);
}

bool leat_packetway_message_announces_ot(const struct leat_packetway_message *m)
{
    for (unsigned i = 0; i < m->oh_count; i++)
        if (m->oh[i].type == LEAT_PACKETWAY_OH_SELF_DEFINED_OT) return true;
    return false;
}

/* ---- decoding ---- */

struct decoder {
    const uint8_t *buf;
    size_t len;     /* of the message */
    size_t tail_at; /* nothing but TAIL begins here */
    size_t at;      /* what was read so far; on error the offending structure */
    enum leat_packetway_mode mode;
    struct leat_damages *damages; /* strict: noted here, and reading goes on; NULL: an error */
};

/* An error at `at`, unless it is noted as damage: the places of all other fields are known. */
static leat_err excuse(struct decoder *d, size_t at, leat_err err)
{
    if (!err) return LEAT_ERR_OK;
    if (d->damages && d->damages->count < LEAT_DAMAGE_MAX) {
        d->damages->item[d->damages->count++] = (struct leat_damage){ .err = err, .at = at };
        return LEAT_ERR_OK;
    }
    d->at = at;
    return err;
}

static leat_err excuse_all(struct decoder *d, const leat_err *faults, unsigned count)
{
    leat_err err = LEAT_ERR_OK;
    for (unsigned i = 0; i < count && !err; i++)
        err = excuse(d, d->at, faults[i]);
    return err;
}

static bool is_strict(const struct decoder *d)
{
    return d->mode == LEAT_PACKETWAY_STRICT;
}

/* Spec 2.2 (a). */
static leat_err decode_length(struct decoder *d)
{
    if (d->len % LEAT_PACKETWAY_WORD_LEN) {
        d->at = d->len - d->len % LEAT_PACKETWAY_WORD_LEN;
        return LEAT_ERR_PACKETWAY_ALIGN;
    }
    if (d->len < LEAT_PACKETWAY_MESSAGE_LEN_MIN) return LEAT_ERR_PACKETWAY_SHORT;
    d->tail_at = d->len - LEAT_PACKETWAY_TAIL_LEN;
    return LEAT_ERR_OK;
}

/* Spec 2.2 (b). */
static leat_err decode_leading(struct decoder *d, struct leat_packetway_message *m)
{
    m->leading_count = 0;
    for (;;) {
        const uint8_t *record = d->buf + d->at;
        struct leat_packetway_leading leading;
        if (d->len - d->at < LEAT_PACKETWAY_MESSAGE_LEN_MIN) return LEAT_ERR_PACKETWAY_SHORT;
        if (!leat_packetway_leading_begins(record[1])) return LEAT_ERR_OK;
        leat_err faults[LEAT_PACKETWAY_LEADING_FAULTS_MAX];
        leat_err err = excuse_all(d, faults,
                                  leat_packetway_leading_faults(record, d->mode, faults));
        if (!err) err = leat_packetway_leading_read(record, d->len - d->at, &leading);
        if (err) return err;
        if (m->leading_count == LEAT_PACKETWAY_LEADING_MAX) return LEAT_ERR_PACKETWAY_TOO_MANY;
        m->leading[m->leading_count++] = leading;
        d->at += leat_packetway_leading_size(&leading);
    }
}

/* Spec 2.2 (c). */
static leat_err decode_header(struct decoder *d, struct leat_packetway_message *m)
{
    const uint8_t *ph = d->buf + d->at;
    leat_err err;
    if (d->damages) {
        leat_err faults[LEAT_PACKETWAY_HEADER_FAULTS_MAX];
        err = excuse_all(d, faults, leat_packetway_header_faults(ph, d->mode, faults));
        leat_packetway_header_read(ph, &m->header);
    } else {
        err = leat_packetway_header_decode(ph, d->len - d->at, d->mode, &m->header, NULL);
    }
    if (err) return err;
    m->header_at = d->at;
    d->at += LEAT_PACKETWAY_HEADER_LEN;
    return LEAT_ERR_OK;
}

/* A list of fields up to the one with C=1; `unterminated` says that TAIL came first. */
static leat_err decode_fields(struct decoder *d, struct leat_packetway_field *fields,
                              unsigned count_max, leat_err unterminated, unsigned *count)
{
    for (bool last = false; !last;) {
        const uint8_t *p = d->buf + d->at;
        if (d->at >= d->tail_at) return unterminated;
        const struct leat_packetway_field f = {
            .mandatory = p[0] & FIELD_MANDATORY,
            .type = p[0] & LEAT_PACKETWAY_FIELD_TYPE_MAX,
            .len = p[1],
            .octets = p + FIELD_HEAD_LEN,
        };
        const leat_err err = excuse(d, d->at, f.type ? LEAT_ERR_OK : LEAT_ERR_PACKETWAY_OH_TYPE);
        if (err) return err;
        if (field_size(f.len) > d->tail_at - d->at) return LEAT_ERR_PACKETWAY_SHORT;
        if (*count == count_max) return LEAT_ERR_PACKETWAY_TOO_MANY;
        fields[(*count)++] = f;
        last = p[0] & FIELD_LAST;
        d->at += field_size(f.len);
    }
    return LEAT_ERR_OK;
}

static size_t field_at(const struct decoder *d, const struct leat_packetway_field *f)
{
    return (size_t)(f->octets - FIELD_HEAD_LEN - d->buf);
}

static leat_err check_lens(struct decoder *d, const struct leat_packetway_field *fields,
                           unsigned count)
{
    leat_err err = LEAT_ERR_OK;
    for (unsigned i = 0; i < count && !err; i++)
        if (!has_right_len(&fields[i]))
            err = excuse(d, field_at(d, &fields[i]), LEAT_ERR_PACKETWAY_OH_LEN);
    return err;
}

static bool ends_the_old_way(const struct leat_packetway_message *m)
{
    const struct leat_packetway_field *last = &m->oh[m->oh_count - 1];
    return last->mandatory && last->type == OLD_END && last->len == 0;
}

/* Spec 2.2 (d). */
static leat_err decode_oh(struct decoder *d, struct leat_packetway_message *m)
{
    m->oh_count = 0;
    if (!m->header.h) return LEAT_ERR_OK;
    const leat_err err = decode_fields(d, m->oh, LEAT_PACKETWAY_OH_MAX,
                                       LEAT_ERR_PACKETWAY_OH_UNTERM, &m->oh_count);
    if (err) return err;
    if (!is_strict(d) && ends_the_old_way(m)) m->oh_count--;
    return check_lens(d, m->oh, m->oh_count);
}

static bool is_rrp(const struct leat_packetway_header *h)
{
    return h->pt == LEAT_PACKETWAY_PT_RRP || h->pt == LEAT_PACKETWAY_PT_ERR;
}

/* Spec 2.2 (e). RRP and ERR fill whole words; lenient reading ignores their PL. */
static leat_err decode_db(struct decoder *d, struct leat_packetway_message *m)
{
    const size_t db_len = (size_t)8 * m->header.dl;
    if (db_len > d->tail_at - d->at) return LEAT_ERR_PACKETWAY_SHORT;
    m->data = d->buf + d->at;
    m->data_len = is_rrp(&m->header) || !db_len ? db_len : db_len - m->header.pl;
    d->at += db_len;
    return LEAT_ERR_OK;
}

static bool has_unknown_type(const struct leat_packetway_message *m)
{
    for (unsigned i = 0; i < m->oh_count; i++)
        if (!is_known(m->oh[i].type)) return true;
    return false;
}

/* The CRCs in OT, one word each. */
static leat_err decode_announced(struct decoder *d, struct leat_packetway_message *m)
{
    for (unsigned i = 0; i < m->oh_count; i++) {
        struct leat_packetway_field *f = &m->oh[i];
        if (!is_in_ot(f->type)) continue;
        if (d->at >= d->tail_at) return LEAT_ERR_PACKETWAY_OT_LEN;
        f->crc = is_64_bits(f->type) ? leat_get_be64(d->buf + d->at)
                                     : leat_get_be32(d->buf + d->at);
        d->at += OT_ENTRY_LEN;
    }
    return LEAT_ERR_OK;
}

/* Spec 2.2 (f). */
static leat_err decode_ot(struct decoder *d, struct leat_packetway_message *m)
{
    m->ot_count = 0;
    leat_err err = decode_announced(d, m);
    if (!err && leat_packetway_message_announces_ot(m)) {
        err = decode_fields(d, m->ot, LEAT_PACKETWAY_OT_MAX, LEAT_ERR_PACKETWAY_OT_LEN,
                            &m->ot_count);
        if (!err) err = check_lens(d, m->ot, m->ot_count);
    }
    if (err) return err;
    m->extra = d->buf + d->at;
    m->extra_len = d->tail_at - d->at;
    if (m->extra_len && (is_strict(d) || !has_unknown_type(m)))
        return excuse(d, d->at, LEAT_ERR_PACKETWAY_TRAILING);
    return LEAT_ERR_OK;
}

/* ---- what only the destination verifies, spec 2.2 (h) ---- */

static uint64_t crc_fed(bool wide, uint64_t crc, const uint8_t *octets, size_t len)
{
    return wide ? leat_crc64(crc, octets, len) : leat_crc32((uint32_t)crc, octets, len);
}

/* A "here" field of another length is damaged and holds none. */
static bool holds_crc(const struct leat_packetway_field *f)
{
    return is_here(f->type) && has_right_len(f);
}

/* The CRC of a message as received: the "here" values are in it and count as zero. */
static uint64_t crc_received(const struct decoder *d, const struct leat_packetway_message *m,
                             bool wide)
{
    static const uint8_t zero[8];
    const uint8_t *from = d->buf + m->header_at;
    const uint8_t *const end = m->data + (size_t)8 * m->header.dl;
    uint64_t crc = 0;
    for (unsigned i = 0; i < m->oh_count; i++) {
        const struct leat_packetway_field *f = &m->oh[i];
        if (!holds_crc(f)) continue;
        crc = crc_fed(wide, crc, from, (size_t)(f->octets - from));
        crc = crc_fed(wide, crc, zero, f->len);
        from = f->octets + f->len;
    }
    return crc_fed(wide, crc, from, (size_t)(end - from));
}

/* A CRC that fails is reported at its place: its OH field or its entry of OT. */
static leat_err verify_crcs(struct decoder *d, struct leat_packetway_message *m)
{
    uint64_t crc[2] = { 0 };
    bool known[2] = { false, false };
    const uint8_t *entry = m->data + (size_t)8 * m->header.dl;
    for (unsigned i = 0; i < m->oh_count; i++) {
        struct leat_packetway_field *f = &m->oh[i];
        const bool wide = is_64_bits(f->type);
        const uint8_t *place = is_here(f->type) ? f->octets - FIELD_HEAD_LEN : entry;
        if (is_in_ot(f->type)) entry += OT_ENTRY_LEN;
        if (holds_crc(f)) f->crc = wide ? leat_get_be64(f->octets) : leat_get_be32(f->octets);
        if (!holds_crc(f) && !is_in_ot(f->type)) continue;
        if (!known[wide]) crc[wide] = crc_received(d, m, wide);
        known[wide] = true;
        if (f->crc == crc[wide]) continue;
        const leat_err err = excuse(d, (size_t)(place - d->buf), LEAT_ERR_PACKETWAY_CRC);
        if (err) return err;
    }
    return LEAT_ERR_OK;
}

/* The next mandatory field of an unknown type, or NULL; `next` counts the fields of OH, then of OT.
 * No self-defined type is known here. */
static const struct leat_packetway_field *unknown_mandatory(const struct leat_packetway_message *m,
                                                            unsigned *next)
{
    while (*next < m->oh_count + m->ot_count) {
        const unsigned i = (*next)++;
        const bool oh = i < m->oh_count;
        const struct leat_packetway_field *f = oh ? &m->oh[i] : &m->ot[i - m->oh_count];
        if (f->mandatory && !(oh && is_known(f->type))) return f;
    }
    return NULL;
}

static leat_err verify_mandatory(struct decoder *d, const struct leat_packetway_message *m)
{
    const struct leat_packetway_field *f;
    leat_err err = LEAT_ERR_OK;
    for (unsigned next = 0; !err && (f = unknown_mandatory(m, &next));)
        err = excuse(d, field_at(d, f), LEAT_ERR_PACKETWAY_OH_MANDATORY);
    return err;
}

static leat_err verify_rrp(struct decoder *d, const struct leat_packetway_message *m)
{
    const struct leat_packetway_header *h = &m->header;
    const bool exists = leat_packetway_grammar_exists(h->pt, h->te);
    size_t at = 0;
    leat_err err = excuse(d, m->header_at, exists ? LEAT_ERR_OK : LEAT_ERR_PACKETWAY_TE);
    if (!err && h->e & LEAT_PACKETWAY_E_LITTLE)
        err = excuse(d, m->header_at, LEAT_ERR_PACKETWAY_ENDIAN);
    if (!err && is_strict(d) && h->pl && h->dl)
        err = excuse(d, m->header_at, LEAT_ERR_PACKETWAY_PAD);
    if (err || !exists) return err;

    err = leat_packetway_grammar_check(h->pt, h->te, m->data, m->data_len, d->mode, &at);
    return excuse(d, (size_t)(m->data - d->buf) + at, err);
}

static leat_err verify(struct decoder *d, struct leat_packetway_message *m)
{
    leat_err err = verify_crcs(d, m);
    if (!err) err = verify_mandatory(d, m);
    if (!err && is_rrp(&m->header)) err = verify_rrp(d, m);
    return err;
}

static leat_err decode_at_destination(struct decoder *d, struct leat_packetway_message *m)
{
    leat_err err = decode_oh(d, m);
    if (!err) err = decode_db(d, m);
    if (!err) err = decode_ot(d, m);
    if (!err) err = verify(d, m);
    return err;
}

/* Copies only what is set; the arrays are large and mostly empty. */
static void copy_out(struct leat_packetway_message *out, const struct leat_packetway_message *m)
{
    memcpy(out, m, offsetof(struct leat_packetway_message, leading));
    memcpy(out->leading, m->leading, m->leading_count * sizeof *m->leading);
    memcpy(out->oh, m->oh, m->oh_count * sizeof *m->oh);
    memcpy(out->ot, m->ot, m->ot_count * sizeof *m->ot);
}

leat_err leat_packetway_message_examine(const uint8_t *buf, size_t len,
                                        struct leat_packetway_message *out,
                                        struct leat_damages *damages)
{
    struct decoder d = {
        .buf = buf, .len = len, .mode = LEAT_PACKETWAY_STRICT, .damages = damages
    };
    struct leat_packetway_message m;
    damages->count = 0;
    leat_err err = decode_length(&d);
    if (!err) err = decode_leading(&d, &m);
    if (!err) err = decode_header(&d, &m);
    if (!err) err = decode_at_destination(&d, &m);
    if (err) return err;
    m.ei = leat_get_be64(buf + d.tail_at);
    copy_out(out, &m);
    return LEAT_ERR_OK;
}

leat_err leat_packetway_message_decode(const uint8_t *buf, size_t len,
                                       enum leat_packetway_mode mode,
                                       enum leat_packetway_place place,
                                       struct leat_packetway_message *out, size_t *fault_at)
{
    struct decoder d = { .buf = buf, .len = len, .mode = mode };
    struct leat_packetway_message m;
    leat_err err = decode_length(&d);
    if (!err) err = decode_leading(&d, &m);
    if (!err) err = decode_header(&d, &m);
    if (!err && place == LEAT_PACKETWAY_DESTINATION) err = decode_at_destination(&d, &m);
    if (err) {
        if (fault_at) *fault_at = d.at;
        return err;
    }
    if (place == LEAT_PACKETWAY_FORWARDING) {
        m.data = m.extra = NULL;
        m.data_len = m.extra_len = 0;
        m.oh_count = m.ot_count = 0;
    }
    m.ei = leat_get_be64(buf + d.tail_at);
    copy_out(out, &m);
    return LEAT_ERR_OK;
}

struct leat_packetway_records leat_packetway_message_records(const struct leat_packetway_message *m)
{
    const bool any = leat_packetway_grammar_has_records(m->header.pt, m->header.te);
    /* Lenient cursors read strictly checked records the same. */
    return leat_packetway_records_of(m->data, any ? m->data_len : 0, LEAT_PACKETWAY_LENIENT);
}

/* ---- encoding ---- */

static bool fields_fit(const struct leat_packetway_field *fields, unsigned count,
                       unsigned count_max)
{
    if (count > count_max) return false;
    for (unsigned i = 0; i < count; i++)
        if (fields[i].type < 1 || fields[i].type > LEAT_PACKETWAY_FIELD_TYPE_MAX ||
            fields[i].len > LEAT_PACKETWAY_FIELD_LEN_MAX || !has_right_len(&fields[i]))
            return false;
    return true;
}

/* OT and its announcement must agree, and no mandatory field may be unknown. */
static bool options_fit(const struct leat_packetway_message *m)
{
    return fields_fit(m->oh, m->oh_count, LEAT_PACKETWAY_OH_MAX) &&
           fields_fit(m->ot, m->ot_count, LEAT_PACKETWAY_OT_MAX) && m->extra_len == 0 &&
           leat_packetway_message_announces_ot(m) == (m->ot_count > 0) &&
           !unknown_mandatory(m, &(unsigned){ 0 });
}

static bool leading_fits(const struct leat_packetway_message *m)
{
    if (m->leading_count > LEAT_PACKETWAY_LEADING_MAX) return false;
    for (unsigned i = 0; i < m->leading_count; i++)
        if (leat_packetway_leading_check(&m->leading[i])) return false;
    return true;
}

static bool records_fit(const struct leat_packetway_message *m)
{
    const struct leat_packetway_header *h = &m->header;
    if (!is_rrp(h)) return true;
    return !(h->e & LEAT_PACKETWAY_E_LITTLE) && m->data_len % LEAT_PACKETWAY_WORD_LEN == 0 &&
           !leat_packetway_grammar_check(h->pt, h->te, m->data, m->data_len, LEAT_PACKETWAY_STRICT,
                                         NULL);
}

/* The caller's header with the fields derived from the rest of the message. */
static struct leat_packetway_header header_of(const struct leat_packetway_message *m)
{
    struct leat_packetway_header h = m->header;
    h.dl = (uint32_t)((m->data_len + 7) / 8);
    h.pl = (uint8_t)((size_t)8 * h.dl - m->data_len);
    h.h = m->oh_count > 0;
    return h;
}

static size_t message_size(const struct leat_packetway_message *m)
{
    size_t size = LEAT_PACKETWAY_HEADER_LEN + (m->data_len + 7) / 8 * 8 + LEAT_PACKETWAY_TAIL_LEN;
    for (unsigned i = 0; i < m->leading_count; i++)
        size += leat_packetway_leading_size(&m->leading[i]);
    for (unsigned i = 0; i < m->oh_count; i++)
        size += field_size(m->oh[i].len) + (is_in_ot(m->oh[i].type) ? OT_ENTRY_LEN : 0);
    for (unsigned i = 0; i < m->ot_count; i++)
        size += field_size(m->ot[i].len);
    return size;
}

/* "Here" values are left zero until the CRC is known. */
static uint8_t *write_field(uint8_t *p, const struct leat_packetway_field *f, bool last, bool zero)
{
    const size_t size = field_size(f->len);
    memset(p + size - 8, 0, 8);
    p[0] = (uint8_t)((f->mandatory ? FIELD_MANDATORY : 0) | (last ? FIELD_LAST : 0) | f->type);
    p[1] = (uint8_t)f->len;
    if (zero)
        memset(p + FIELD_HEAD_LEN, 0, f->len);
    else if (f->len)
        memcpy(p + FIELD_HEAD_LEN, f->octets, f->len);
    return p + size;
}

static uint8_t *write_data(uint8_t *p, const struct leat_packetway_message *m)
{
    const size_t size = (m->data_len + 7) / 8 * 8;
    if (m->data_len) memcpy(p, m->data, m->data_len);
    memset(p + m->data_len, 0, size - m->data_len);
    return p + size;
}

static void write_crc(uint8_t *p, bool wide, uint64_t crc)
{
    if (wide)
        leat_put_be64(p, crc);
    else
        leat_put_be32(p, (uint32_t)crc);
}

/* Writes the CRCs of [ph, ot) into OH and OT; returns the end of what it wrote in OT. */
static uint8_t *write_crcs(uint8_t *ph, uint8_t *ot, const struct leat_packetway_message *m)
{
    const size_t covered = (size_t)(ot - ph);
    uint64_t crc[2] = { 0 };
    bool wanted[2] = { false, false };
    for (unsigned i = 0; i < m->oh_count; i++)
        if (is_here(m->oh[i].type) || is_in_ot(m->oh[i].type))
            wanted[is_64_bits(m->oh[i].type)] = true;
    if (wanted[false]) crc[false] = leat_crc32(0, ph, covered);
    if (wanted[true]) crc[true] = leat_crc64(0, ph, covered);

    uint8_t *oh = ph + LEAT_PACKETWAY_HEADER_LEN;
    for (unsigned i = 0; i < m->oh_count; i++) {
        const struct leat_packetway_field *f = &m->oh[i];
        const bool wide = is_64_bits(f->type);
        if (is_here(f->type)) write_crc(oh + FIELD_HEAD_LEN, wide, crc[wide]);
        if (is_in_ot(f->type)) {
            memset(ot, 0, OT_ENTRY_LEN);
            write_crc(ot, wide, crc[wide]);
            ot += OT_ENTRY_LEN;
        }
        oh += field_size(f->len);
    }
    return ot;
}

leat_err leat_packetway_message_encode(const struct leat_packetway_message *m, uint8_t *buf,
                                       size_t cap, size_t *len)
{
    if (m->data_len > LEAT_PACKETWAY_DATA_LEN_MAX) return LEAT_ERR_PACKETWAY_LIMIT;
    const struct leat_packetway_header header = header_of(m);
    if (leat_packetway_header_check(&header) || !leading_fits(m) || !options_fit(m) ||
        !records_fit(m))
        return LEAT_ERR_PACKETWAY_LIMIT;
    const size_t size = message_size(m);
    if (size > cap) return LEAT_ERR_PACKETWAY_NOSPC;

    uint8_t *p = buf;
    for (unsigned i = 0; i < m->leading_count; i++) {
        size_t written = 0;
        leat_packetway_leading_encode(&m->leading[i], p, size, &written);
        p += written;
    }
    uint8_t *const ph = p;
    leat_packetway_header_encode(&header, p, LEAT_PACKETWAY_HEADER_LEN);
    p += LEAT_PACKETWAY_HEADER_LEN;
    for (unsigned i = 0; i < m->oh_count; i++)
        p = write_field(p, &m->oh[i], i + 1 == m->oh_count, is_here(m->oh[i].type));
    p = write_data(p, m);
    p = write_crcs(ph, p, m);
    for (unsigned i = 0; i < m->ot_count; i++)
        p = write_field(p, &m->ot[i], i + 1 == m->ot_count, false);
    leat_put_be64(p, m->ei);
    assert(p + LEAT_PACKETWAY_TAIL_LEN == buf + size);
    *len = size;
    return LEAT_ERR_OK;
}
