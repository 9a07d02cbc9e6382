/*
 * leat ring on a simulated ring: ring_options.c reads the options, ring_query.c makes the ring and
 * sends packets round it, ring_simulate.c shows a single command, ring_algorithms.c the algorithms
 * built on the commands. Stations are named by their addresses, 1 to N.
 */
#ifndef LEAT_RING_JOB_H
#define LEAT_RING_JOB_H

#include "aton_sender.h"
#include "fabric_word_parts.h"
#include "json_out.h"
#include "pieces.h"
#include "sim_aton.h"
#include "tool.h"

#define RING_COMMANDS "add and or max min eq lt le"

enum { RING_FAULTS_MAX = 1024, RING_RANDOM_LOAD_MAX = 400 };

struct ring_job {
    const struct arguments *args;
    const char *word;        /* the subverb */
    uint32_t stations, from; /* from: counted from 0, as the ring does */
    uint32_t propagation;
    uint32_t delay; /* bits that each interface holds back */
    enum leat_sim_aton_model model;
    struct leat_aton_command command;
    uint64_t seed;
    uint64_t *operand;    /* [stations] */
    uint8_t *enabled;     /* [stations] */
    uint8_t *member;      /* [stations]: in the group that takes part; NULL: no group */
    uint32_t taking_part; /* without faults */
    uint32_t quorum;      /* this many are enough; 0: all that are addressed */
    uint8_t tree[LEAT_ATON_SLOTS_MAX];
    uint8_t (*program)[LEAT_ATON_SLOTS_MAX]; /* [stations]: of an expression; NULL: `tree` */
    uint16_t slots;                          /* that the expression needs */
    uint32_t leaves;
    struct leat_sim_aton_fault *fault;
    uint32_t faults;
    const char *vcd, *record; /* files; NULL: none */
    bool json;
};

/* A ring, and the cost of its packets so far. */
struct ring_query {
    const struct ring_job *job;
    struct leat_sim_aton ring;
    void *memory;
    struct ring_wave *wave;       /* NULL: no waveform */
    struct ring_record *record;   /* NULL: no recording */
    struct leat_aton_order order; /* that was sent last */
    struct leat_sim_aton_result result;
    struct leat_aton_packet packet; /* the result as a packet, its payload in `payload` */
    uint8_t *payload;
    uint32_t payload_max;
    bool is_done;
    bool *took_part; /* [stations]: in the packet that came back, as the simulator sees it */
    struct pace pace;
    /* Acts for the hosts at the present time; returns when to call it again, later than now. NULL:
     * hosts do nothing. */
    leat_time (*meanwhile)(struct ring_query *query);
    uint32_t *arrivals, arrived; /* barrier: stations in the order in which they arrive */
    uint32_t packets;
    uint64_t bit_times, expected;
    FILE *text; /* standard output; NULL: JSON instead of text */
    struct json_out out;
};

/* False after a complaint; call ring_job_free in either case. */
bool ring_read_job(const struct arguments *args, struct ring_job *job);
void ring_job_free(struct ring_job *job);

/* --expression: who takes part, and what each interface does. False after a complaint. */
bool ring_read_expression(struct ring_job *job);

/* The next piece before a comma; false: there is none left. */
bool ring_next_piece(const char **list, struct word *piece);

/* Is it one of those that the packet is for? */
bool ring_is_addressed(const struct ring_job *job, uint32_t station);

/* Is this station to take part, if it is in the ring and nothing fails? */
bool ring_is_meant(const struct ring_job *job, uint32_t station);

/* --width, 32 by default. */
uint8_t ring_read_width(const struct arguments *args);

/* 0: no such name. */
uint8_t ring_opcode(const char *name, size_t len);
const char *ring_opcode_name(unsigned opcode);

/* DONE or, after a complaint, the exit code. Call ring_close in either case. */
int ring_open(struct ring_query *query, const struct ring_job *job);

/* Sends one packet round the ring, from the querying station; `at`: earliest time. */
int ring_issue(struct ring_query *query, const struct leat_aton_order *order, leat_time at);

/* The job's command with another opcode, as an order. */
struct leat_aton_order ring_order(const struct ring_job *job, unsigned opcode);

/* Packets of a command's size, one operand each, of all that the packet is for but the querying
 * station. Their time, and their number. */
uint64_t ring_host_based(const struct ring_query *query);
uint32_t ring_host_based_packets(const struct ring_query *query);
uint64_t ring_certificate(const struct ring_query *query);

/* The beginning of an answer: a JSON object, and a line of text. */
struct leat_json *ring_begin(struct ring_query *query, const char *name);

/* The end of a JSON object: packets, their time, and the time of the host-based method. */
void ring_json_close(struct ring_query *query, uint64_t host_based);

/* Keeps the waveform on success. The exit code. */
int ring_close(struct ring_query *query, int code);

/* Waveforms (ring_wave.c). NULL after a complaint. */
struct ring_wave *ring_wave_open(const char *path, const struct leat_sim_aton *ring);
void ring_wave_step(struct ring_wave *wave, const struct leat_sim_aton *ring);
bool ring_wave_close(struct ring_wave *wave, const struct leat_sim_aton *ring, bool keep);

/* What a waveform has of a station. */
enum { RING_WAVE_SIGNALS = 9 };
const char *ring_wave_name(uint32_t signal);
unsigned ring_wave_width(uint32_t signal);
void ring_wave_values(const struct leat_sim_aton *ring, uint32_t station,
                      uint64_t value[RING_WAVE_SIGNALS]);

/* Recordings (ring_record.c). NULL after a complaint. */
struct ring_record *ring_record_open(const char *path, const struct leat_sim_aton *ring);
/* For the ring; the context is the query. */
void ring_record_begins(void *context, uint32_t station, uint64_t id, leat_time sent_at);
void ring_record_visited(void *context, uint32_t station, const uint8_t *image, uint32_t len,
                         leat_time at);
/* There is a result. */
void ring_record_done(struct ring_query *query);
/* Bit model: the bits of the present time. */
void ring_record_step(struct ring_record *record);
bool ring_record_close(struct ring_record *record, bool keep);

/* leat ring sim, and the algorithms. Exit codes. */
int ring_simulate(const struct arguments *args);
int ring_algorithm(const struct ring_job *job);

/* ---- answers, for live and simulated rings (ring_fields.c) ---- */

enum { RING_FIELDS_MAX = 2, RING_LOAD_REGISTER = 1 /* of least-loaded, by default */ };

/* A number, or none: no station took part, or there is no majority. */
struct ring_field {
    const char *key;   /* in JSON */
    const char *label; /* in text */
    bool is_there;
    uint64_t value;
};

/* The answer to this subverb in the returned packet. sort, tree and barrier have other kinds of
 * answers: 0 fields. */
unsigned ring_fields(const char *word, const struct leat_aton_packet *packet,
                     struct ring_field field[RING_FIELDS_MAX]);

/* The common beginning of every object, with the counter as it came back. */
struct leat_json *ring_json_open(struct json_out *out, FILE *file, const char *word,
                                 uint32_t stations, const struct leat_aton_packet *packet);
void ring_json_field(struct leat_json *json, const struct ring_field *field);

/* least-loaded: loads are at least 1. False after a complaint: the minimum is 0, the value of a
 * register that was never set. */
bool ring_is_set(const struct leat_aton_packet *least);

#endif
