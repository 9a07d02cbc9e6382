/* Handlers in C as engines call them: one function for each possible pin number. */
#include "poets_parts.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- devices -------------------------------------------------------------------------------- */

/* The device of a block as its handlers see it, and its type. */
static const struct leat_poets_c_type *
enter(struct leat_poets_env *env, struct leat_poets_block *block, struct leat_poets_device *out)
{
    const struct leat_poets_run *run = env->engine;
    const struct leat_poets_type *type = run->machine->handlers->type[block->type];
    uint8_t *octets = (uint8_t *)block;
    env->block = block;
    *out = (struct leat_poets_device){ .state = octets + type->state_at,
                                       .properties = octets + type->properties_at,
                                       .graph = env->graph,
                                       .number = block->index,
                                       .env = env };
    return (const void *)type; /* which is its first member */
}

/* The supervisor's flag is at its pin's position: after the last output. */
static uint64_t query_ready(const struct leat_poets_c_type *type, const struct leat_poets_device *d)
{
    if (d->failed) return LEAT_POETS_FAILED;
    if (!type->own->ready) return 0;
    const uint64_t said = type->own->ready(d);
    const uint32_t pins = type->type.output_count - type->type.to_supervisor;
    const uint64_t known = (UINT64_C(1) << pins) - 1;
    return (said & (known | LEAT_POETS_REQUEST_IDLE)) |
           (said & LEAT_POETS_READY_SUPERVISOR && type->type.to_supervisor ? UINT64_C(1) << pins
                                                                           : 0);
}

static uint64_t ready(struct leat_poets_env *env, struct leat_poets_block *block)
{
    struct leat_poets_device d;
    const struct leat_poets_c_type *type = enter(env, block, &d);
    return query_ready(type, &d);
}

#define TURN(handler)                                                              \
    static int handler(struct leat_poets_env *env, struct leat_poets_block *block) \
    {                                                                              \
        struct leat_poets_device d;                                                \
        enter(env, block, &d)->own->handler(&d);                                   \
        return d.failed ? -1 : 1;                                                  \
    }
TURN(init)
TURN(device_idle)
TURN(hardware_idle)

/* An aligned copy of a message: packets of some engines have any alignment. */
struct aligned {
    _Alignas(max_align_t) uint8_t octets[LEAT_POETS_MESSAGE_MAX];
};

static const void *align(const uint8_t *payload, uint32_t len, struct aligned *copy)
{
    if ((uintptr_t)payload % _Alignof(max_align_t) == 0) return payload;
    memcpy(copy->octets, payload, len);
    return copy->octets;
}

static uint64_t from_supervisor(struct leat_poets_env *env, struct leat_poets_block *block,
                                uint8_t *edge, const uint8_t *payload)
{
    struct leat_poets_device d;
    const struct leat_poets_c_type *type = enter(env, block, &d);
    struct aligned copy;
    (void)edge;
    type->own->from_supervisor(&d, align(payload, type->type.from_supervisor_len, &copy));
    return query_ready(type, &d);
}

static uint64_t control(struct leat_poets_env *env, struct leat_poets_block *block, uint8_t opcode,
                        const uint8_t *payload)
{
    struct leat_poets_device d;
    const struct leat_poets_c_type *type = enter(env, block, &d);
    struct aligned copy;
    type->own->control(&d, opcode, align(payload, LEAT_POETS_MESSAGE_MAX, &copy));
    return query_ready(type, &d);
}

static bool send_by(struct leat_poets_env *env, struct leat_poets_device *d,
                    bool (*handler)(struct leat_poets_device *, void *), uint8_t *payload)
{
    env->do_send = handler(d, payload);
    env->send_index = d->send_index;
    return !d->failed;
}

static bool to_supervisor(struct leat_poets_env *env, struct leat_poets_block *block,
                          uint8_t *payload)
{
    struct leat_poets_device d;
    const struct leat_poets_c_type *type = enter(env, block, &d);
    return send_by(env, &d, type->own->to_supervisor, payload);
}

static uint64_t receive(struct leat_poets_env *env, struct leat_poets_block *block, uint8_t *edge,
                        const uint8_t *payload, unsigned pin)
{
    struct leat_poets_device d;
    const struct leat_poets_c_type *type = enter(env, block, &d);
    struct aligned copy;
    d.edge = edge;
    d.edge_state = edge + type->input[pin].state_at;
    type->own->input[pin].receive(&d, align(payload, type->input[pin].payload_len, &copy));
    return query_ready(type, &d);
}

static bool send(struct leat_poets_env *env, struct leat_poets_block *block, uint8_t *payload,
                 unsigned pin)
{
    struct leat_poets_device d;
    const struct leat_poets_c_type *type = enter(env, block, &d);
    return send_by(env, &d, type->own->output[pin].send, payload);
}

/* Engines identify a pin by its function alone, so each number has its own. */
/* clang-format off */
#define PINS(X)                                                                           \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
    X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30)
/* clang-format on */

#define X(n)                                                                                \
    static uint64_t receive_##n(struct leat_poets_env *env, struct leat_poets_block *block, \
                                uint8_t *edge, const uint8_t *payload)                      \
    {                                                                                       \
        return receive(env, block, edge, payload, n);                                       \
    }                                                                                       \
    static bool send_##n(struct leat_poets_env *env, struct leat_poets_block *block,        \
                         uint8_t *payload)                                                  \
    {                                                                                       \
        return send(env, block, payload, n);                                                \
    }
PINS(X)
#undef X

#define X(n) receive_##n,
static const leat_poets_receive_fn receive_pin[LEAT_POETS_PINS_MAX] = { PINS(X) };
#undef X
#define X(n) send_##n,
static const leat_poets_send_fn send_pin[LEAT_POETS_PINS_MAX] = { PINS(X) };
#undef X

/* ---- sizes and places ----------------------------------------------------------------------- */

uint32_t leat_poets_input_count(const struct leat_poets_device_type *type)
{
    uint32_t count = 0;
    while (count < LEAT_POETS_PINS_MAX && type->input[count].name)
        count++;
    return count;
}

uint32_t leat_poets_output_count(const struct leat_poets_device_type *type)
{
    uint32_t count = 0;
    while (count < LEAT_POETS_PINS_MAX && type->output[count].name)
        count++;
    return count;
}

/* A struct's size is a multiple of its alignment, so this is enough for any of `len` octets. */
static uint32_t align_of(uint32_t len)
{
    const uint32_t lowest = len & (~len + 1);
    return !len ? 1 : lowest < LEAT_POETS_BLOCK_UNIT ? lowest : LEAT_POETS_BLOCK_UNIT;
}

static uint32_t place(uint32_t end, uint32_t align)
{
    return (end + align - 1) / align * align;
}

static struct leat_poets_pin input_of(const struct leat_poets_input *in, unsigned number)
{
    const uint32_t a = align_of(in->edge_properties_len), b = align_of(in->edge_state_len);
    struct leat_poets_pin pin = { .name = in->name,
                                  .payload_len = in->message_len,
                                  .edge_align = a > b ? a : b,
                                  .properties_len = in->edge_properties_len,
                                  .state_at = place(in->edge_properties_len, b),
                                  .state_len = in->edge_state_len,
                                  .receive = receive_pin[number] };
    pin.edge_len = place(pin.state_at + pin.state_len, pin.edge_align);
    return pin;
}

void leat_poets_c_type_make(struct leat_poets_c_type *out, const struct leat_poets_device_type *own,
                            uint32_t to_supervisor_len, uint32_t from_supervisor_len)
{
    struct leat_poets_type *t = &out->type;
    *out = (struct leat_poets_c_type){ .own = own };
    *t = (struct leat_poets_type){ .abi = LEAT_POETS_ABI,
                                   .id = own->name,
                                   .state_len = own->state_len,
                                   .properties_len = own->properties_len,
                                   .input_count = leat_poets_input_count(own),
                                   .output_count = leat_poets_output_count(own),
                                   .to_supervisor = own->to_supervisor,
                                   .input = out->input,
                                   .output = out->output,
                                   .from_supervisor_len = from_supervisor_len,
                                   .ready = ready,
                                   .init = own->init ? init : NULL,
                                   .device_idle = own->device_idle ? device_idle : NULL,
                                   .hardware_idle = own->hardware_idle ? hardware_idle : NULL,
                                   .control = own->control ? control : NULL,
                                   .from_supervisor = own->from_supervisor ? from_supervisor
                                                                           : NULL };
    t->state_at = place(sizeof(struct leat_poets_block), LEAT_POETS_BLOCK_UNIT);
    t->properties_at = place(t->state_at + t->state_len, align_of(t->properties_len));
    t->pins_at = place(t->properties_at + t->properties_len, _Alignof(struct leat_poets_edges));
    for (uint32_t i = 0; i < t->input_count; i++)
        out->input[i] = input_of(&own->input[i], i);
    for (uint32_t i = 0; i < t->output_count; i++)
        out->output[i] = (struct leat_poets_pin){ .name = own->output[i].name,
                                                  .payload_len = own->output[i].message_len,
                                                  .indexed = own->output[i].indexed,
                                                  .send = send_pin[i] };
    if (!t->to_supervisor) return;
    out->output[t->output_count++] = (struct leat_poets_pin){ .name = "",
                                                              .payload_len = to_supervisor_len,
                                                              .send = to_supervisor };
}

/* ---- what device handlers call -------------------------------------------------------------- */

void leat_poets_log(const struct leat_poets_device *device, unsigned level, const char *format, ...)
{
    char text[LEAT_POETS_TEXT_LEN];
    va_list words;
    if (level > device->env->log_level) return;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    device->env->log(device->env, level, text);
}

void leat_poets_exit(const struct leat_poets_device *device, int code)
{
    device->env->exit(device->env, code);
}

void leat_poets_fail(struct leat_poets_device *device, const char *what)
{
    if (device->failed) return;
    device->failed = true;
    device->env->fail(device->env, what);
}

bool leat_poets_control(const struct leat_poets_device *device, uint8_t opcode, const void *payload,
                        size_t len)
{
    return device->env->control(device->env, opcode, payload, len);
}

/* ---- the supervisor ------------------------------------------------------------------------- */

static const struct leat_poets_supervisor_type *supervisor_of(const struct leat_poets_host *api)
{
    const struct leat_poets_graph_host *host = api->engine;
    const struct leat_poets_c_supervisor *s = (const void *)host->machine->handlers->supervisor;
    return s->own;
}

static struct leat_poets_supervising self_of(struct leat_poets_host *api, void *object)
{
    return (struct leat_poets_supervising){ .state = object, .graph = api->graph, .host = api };
}

static void *create(struct leat_poets_host *api)
{
    void *object = calloc(1, supervisor_of(api)->state_len + 1);
    if (!object) api->fail(api, "no memory");
    return object;
}

static void destroy(struct leat_poets_host *api, void *object)
{
    (void)api;
    free(object);
}

#define SUPERVISOR_TURN(handler)                                               \
    static int supervisor_##handler(struct leat_poets_host *api, void *object) \
    {                                                                          \
        struct leat_poets_supervising self = self_of(api, object);             \
        supervisor_of(api)->handler(&self);                                    \
        return 0;                                                              \
    }
SUPERVISOR_TURN(init)
SUPERVISOR_TURN(stop)
SUPERVISOR_TURN(idle)

static int supervisor_receive(struct leat_poets_host *api, void *object, const uint8_t *payload,
                              uint8_t *reply, uint8_t *broadcast)
{
    struct leat_poets_supervising self = self_of(api, object);
    self.reply = reply;
    self.broadcast = broadcast;
    self.answer_len = supervisor_of(api)->answer_len;
    supervisor_of(api)->receive(&self, payload);
    return 0;
}

static int supervisor_control(struct leat_poets_host *api, void *object, uint8_t opcode,
                              const uint8_t *payload)
{
    struct leat_poets_supervising self = self_of(api, object);
    struct aligned copy;
    supervisor_of(api)->control(&self, opcode, align(payload, LEAT_POETS_MESSAGE_MAX, &copy));
    return 0;
}

void leat_poets_c_supervisor_make(struct leat_poets_c_supervisor *out,
                                  const struct leat_poets_supervisor_type *own)
{
    *out = (struct leat_poets_c_supervisor){
        .supervisor = { .abi = LEAT_POETS_ABI,
                        .in_len = own->message_len,
                        .out_len = own->answer_len,
                        .create = create,
                        .destroy = destroy,
                        .init = own->init ? supervisor_init : NULL,
                        .stop = own->stop ? supervisor_stop : NULL,
                        .idle = own->idle ? supervisor_idle : NULL,
                        .control = own->control ? supervisor_control : NULL,
                        .receive = own->receive ? supervisor_receive : NULL },
        .own = own,
    };
}

void leat_poets_post(const struct leat_poets_supervising *self, const char *format, ...)
{
    char text[LEAT_POETS_POST_LEN];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    self->host->post(self->host, text);
}

void leat_poets_reply(const struct leat_poets_supervising *self, const void *answer)
{
    if (!self->reply) return; /* there is no sender to reply to */
    memcpy(self->reply, answer, self->answer_len);
    self->host->reply = true;
}

void leat_poets_broadcast(const struct leat_poets_supervising *self, const void *answer)
{
    if (!self->broadcast) return;
    memcpy(self->broadcast, answer, self->answer_len);
    self->host->bcast = true;
}

bool leat_poets_control_device(const struct leat_poets_supervising *self, uint32_t device,
                               uint8_t opcode, const void *payload, size_t len)
{
    return self->host->control(self->host, device, opcode, payload, len);
}

void leat_poets_stop(const struct leat_poets_supervising *self)
{
    self->host->stop(self->host);
}
