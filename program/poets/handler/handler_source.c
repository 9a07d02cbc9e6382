/* C++ sources of device types, of the supervisor, and of values. */
#include "handler.h"
#include <string.h>

/* ---- pieces --------------------------------------------------------------------------------- */

static void begin(const struct leat_graph *graph, FILE *out)
{
    fputs("#line 1 \"poets_handler.h\"\n", out);
    fputs(leat_handler_abi_text, out);
    fputs("#line 1 \"handler_preamble.hpp\"\n", out);
    fputs(leat_handler_preamble_text, out);
    leat_handler_ours(out);
    leat_handler_structs(graph, out);
}

static void put_code(const struct leat_graph *graph, const struct leat_graph_code *code, FILE *out)
{
    if (!code->text || !*code->text) return;
    leat_handler_at(graph, code->place, out);
    fputs(code->text, out);
    leat_handler_ours(out);
}

/* A failed assertion ends the device's handler, unless shared code disables assertions. */
static void put_assert(FILE *out)
{
    fputs("#undef assert\n"
          "#ifdef NDEBUG\n#define assert(a) ((void)0)\n"
          "#else\n#define assert(a) ((a) ? (void)0 : leat_fail(leat_env, \"assertion failed: \" "
          "#a \", \" __FILE__ \":\" LEAT_TEXT(__LINE__)))\n"
          "#endif\n",
          out);
}

/* The type of a pin's message, in C++. */
static void put_message(const struct leat_graph *graph, const struct leat_graph_pin *pin, FILE *out)
{
    if (pin && pin->message != LEAT_GRAPH_NONE)
        fprintf(out, "%s_%s_message_t", graph->id, graph->message[pin->message].id);
    else
        fputs("leat_unknown_message", out);
}

/* Length of a payload, without a pin 0: an empty message has none, though its struct has one octet.
 */
static void put_payload_len(const struct leat_graph *graph, const struct leat_graph_pin *pin,
                            FILE *out)
{
    const struct leat_graph_struct *data = pin && pin->message != LEAT_GRAPH_NONE
                                               ? &graph->message[pin->message].data
                                               : NULL;
    if (!pin || (data && data->plain && !data->layout.count)) {
        fputc('0', out);
        return;
    }
    fputs("sizeof(", out);
    put_message(graph, pin, out);
    fputc(')', out);
}

/* Of a device type: for messages of the supervisor. Of the supervisor: for those of devices. */
static const struct leat_graph_pin *from_pin(const struct leat_graph_type *t)
{
    return t->from_supervisor.count ? &t->from_supervisor.pin[0] : NULL;
}

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Skips a comment or a string that begins here; or returns the same place. */
static const char *skip_foreign(const char *at)
{
    if (at[0] == '/' && at[1] == '/') {
        while (*at && *at != '\n')
            at++;
    } else if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        at = end ? end + 2 : at + strlen(at);
    } else if (*at == '"' || *at == '\'') {
        const char quote = *at++;
        while (*at && *at != quote)
            at += at[0] == '\\' && at[1] ? 2 : 1;
        at += *at == quote;
    }
    return at;
}

/* An empty handler counts as none. */
static bool is_there(const struct leat_graph_code *code)
{
    return code->text && code->text[strspn(code->text, " \t\r\n")];
}

/* "return x;" somewhere: the body is that of a function with a result. */
static bool returns_value(const char *text)
{
    for (const char *at = text; *at;) {
        const char *after = skip_foreign(at);
        if (after != at) {
            at = after;
            continue;
        }
        if (strncmp(at, "return", 6) == 0 && !is_of_name(at[6]) &&
            (at == text || !is_of_name(at[-1]))) {
            for (at += 6; *at == ' ' || (*at >= '\t' && *at <= '\r');)
                at++;
            if (*at != ';') return true;
            continue;
        }
        at++;
    }
    return false;
}

/* "static int NAME(ARGUMENTS) { BODY return 1; }" or, where nothing is returned, a void one. */
static void put_function(const struct leat_graph *graph, const struct leat_graph_code *code,
                         const char *name, const char *arguments, FILE *out)
{
    const bool value = returns_value(code->text);
    fprintf(out, "static inline %s %s(%s) {", value ? "int" : "void", name, arguments);
    put_code(graph, code, out);
    fputs(value ? "; return 1; }\n" : "; }\n", out);
}

/* Its result, 1 if it has none. */
static void put_call(const struct leat_graph_code *code, const char *call, FILE *out)
{
    fprintf(out, returns_value(code->text) ? "%s" : "(%s, 1)", call);
}

/* ---- device types --------------------------------------------------------------------------- */

static const char device_arguments[] =
    "leat_poets_env *const leat_env, const GRAPH_PROPERTIES_T *const graphProperties, "
    "const DEVICE_PROPERTIES_T *const deviceProperties, DEVICE_STATE_T *const deviceState, "
    "PDeviceInstance *const deviceInstance";
static const char ready_arguments[] =
    "leat_poets_env *const leat_env, const GRAPH_PROPERTIES_T *const graphProperties, "
    "const DEVICE_PROPERTIES_T *const deviceProperties, const DEVICE_STATE_T *const deviceState, "
    "PDeviceInstance *const deviceInstance, uint32_t *const readyToSend, bool *const requestIdle";

/* Does any of it use deviceInstance? The view costs time. */
static bool needs_view(const struct leat_graph *graph, const struct leat_graph_type *t)
{
    const struct leat_graph_pins *const lists[] = { &t->input, &t->output, &t->from_supervisor,
                                                    &t->to_supervisor };
    const char *texts[LEAT_GRAPH_HANDLER_COUNT + 2] = { graph->shared.text, t->shared.text };
    for (int i = 0; i < LEAT_GRAPH_HANDLER_COUNT; i++)
        texts[i + 2] = t->handler[i].text;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] && strstr(texts[i], "deviceInstance")) return true;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (uint32_t i = 0; i < lists[k]->count; i++) {
            const char *text = lists[k]->pin[i].handler.text;
            if (text && strstr(text, "deviceInstance")) return true;
        }
    return false;
}

/* Shared code that may call the functions of handlers finds the environment in a variable. */
static bool needs_variable(const struct leat_graph *graph, const struct leat_graph_type *t)
{
    static const char *const words[] = { "handler_", "assert", "tinsel" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((graph->shared.text && strstr(graph->shared.text, words[i])) ||
            (t->shared.text && strstr(t->shared.text, words[i])))
            return true;
    return false;
}

/* The beginning of all wrappers: the environment, and the device as its handlers see it. */
static void put_setup(bool view, bool variable, FILE *out)
{
    if (variable) fputs("#define LEAT_SET_VARIABLE leat_env = env;\n", out);
    fputs(variable ? "" : "#define LEAT_SET_VARIABLE\n", out);
    fputs("#define LEAT_SETUP LEAT_SET_VARIABLE leat_enter(env, block); "
          "uint8_t *const leat_octets = reinterpret_cast<uint8_t *>(block); "
          "const GRAPH_PROPERTIES_T *const leat_g = "
          "static_cast<const GRAPH_PROPERTIES_T *>(env->graph); "
          "DEVICE_STATE_T *const leat_s = "
          "reinterpret_cast<DEVICE_STATE_T *>(leat_octets + leat_state_at); "
          "const DEVICE_PROPERTIES_T *const leat_p = "
          "reinterpret_cast<const DEVICE_PROPERTIES_T *>(leat_octets + leat_properties_at); ",
          out);
    fputs(view ? "PThreadContext leat_t; "
                 "PDeviceInstance leat_i = leat_view(block, &leat_type, &leat_t); "
                 "PDeviceInstance *const leat_d = &leat_i;\n"
               : "PDeviceInstance *const leat_d = nullptr; (void)leat_d;\n",
          out);
    fputs("#define LEAT_ARGUMENTS env, leat_g, leat_p, leat_s, leat_d\n", out);
}

static void put_aliases(const struct leat_graph *graph, const struct leat_graph_type *t, FILE *out)
{
    fprintf(out, "typedef %s_%s_properties_t DEVICE_PROPERTIES_T;\n", graph->id, t->id);
    fprintf(out, "typedef %s_%s_state_t DEVICE_STATE_T;\n", graph->id, t->id);
    leat_handler_pins(t, false, out);
    if (t->to_supervisor.count)
        fprintf(out,
                "enum : uint32_t { RTS_SUPER_IMPLICIT_SEND_INDEX = %u, "
                "RTS_SUPER_IMPLICIT_SEND_FLAG = 1u << %u };\n",
                t->output.count, t->output.count);
    fputs(
        "constexpr uint32_t leat_state_at = leat_round_up(sizeof(leat_poets_block), "
        "alignof(DEVICE_STATE_T));\n"
        "constexpr uint32_t leat_properties_at = leat_round_up(leat_state_at + "
        "sizeof(DEVICE_STATE_T), alignof(DEVICE_PROPERTIES_T));\n"
        "constexpr uint32_t leat_pins_at = leat_round_up(leat_properties_at + "
        "sizeof(DEVICE_PROPERTIES_T), 8);\n"
        "extern \"C\" __attribute__((visibility(\"default\"))) const leat_poets_type leat_type;\n",
        out);
}

/* ReadyToSend, called at the end of all others. */
static void put_ready(const struct leat_graph *graph, const struct leat_graph_type *t, FILE *out)
{
    const struct leat_graph_code *code = &t->handler[LEAT_GRAPH_READY_TO_SEND];
    const uint32_t pins = t->output.count + t->to_supervisor.count;
    if (is_there(code)) put_function(graph, code, "leat_do_ready", ready_arguments, out);
    fputs("#define LEAT_READY uint32_t leat_ready = 0; bool leat_idle = false; ", out);
    if (is_there(code)) fputs("leat_do_ready(LEAT_ARGUMENTS, &leat_ready, &leat_idle); ", out);
    fprintf(out, "return (leat_ready & 0x%xu) | (leat_idle ? LEAT_POETS_REQUEST_IDLE : 0);\n",
            pins < 32 ? (1u << pins) - 1 : UINT32_MAX);
    fputs(
        "#define LEAT_CATCH LEAT_SEEN catch (...) { leat_caught(env); return LEAT_POETS_FAILED; }\n"
        "static uint64_t leat_ready_fn(leat_poets_env *env, leat_poets_block *block) "
        "{ LEAT_SETUP try { LEAT_READY } LEAT_CATCH }\n",
        out);
}

/* How engines call handlers without further arguments: OnInit, OnDeviceIdle, OnStop, ... */
struct turns {
    const char *arguments;  /* of the handler */
    const char *parameters; /* of its wrapper */
    const char *end;        /* behind the call */
};

static void put_turn(const struct leat_graph *graph, const struct turns *turns,
                     const struct leat_graph_code *code, const char *name, FILE *out)
{
    char function[60];
    if (!is_there(code)) return;
    snprintf(function, sizeof function, "leat_do_%s", name);
    put_function(graph, code, function, turns->arguments, out);
    fprintf(out, "static int leat_%s(%s) { LEAT_SETUP try { return ", name, turns->parameters);
    snprintf(function, sizeof function, "leat_do_%s(LEAT_ARGUMENTS)", name);
    put_call(code, function, out);
    fputs(turns->end, out);
}

/* The wrapper that an engine calls for a received packet; `number` names it. */
static void put_receive(const struct leat_graph *graph, const struct leat_graph_type *t,
                        const struct leat_graph_pin *pin, const char *number, FILE *out)
{
    const bool edges = number[0] != 's';
    fprintf(out, "namespace leat_in_%s {\ntypedef ", number);
    put_message(graph, pin, out);
    fputs(" MESSAGE_T;\n", out);
    if (edges)
        fprintf(out,
                "typedef %s_%s_%s_properties_t PORT_PROPERTIES_T;\ntypedef %s_%s_%s_state_t "
                "PORT_STATE_T;\n"
                "constexpr uint32_t state_at = leat_round_up(sizeof(PORT_PROPERTIES_T), "
                "alignof(PORT_STATE_T));\n"
                "constexpr uint32_t align = alignof(PORT_PROPERTIES_T) > alignof(PORT_STATE_T) ? "
                "alignof(PORT_PROPERTIES_T) : alignof(PORT_STATE_T);\n",
                graph->id, t->id, pin->name, graph->id, t->id, pin->name);
    char arguments[700];
    snprintf(arguments, sizeof arguments, "%s, %sconst MESSAGE_T *const message", device_arguments,
             edges
                 ? "const PORT_PROPERTIES_T *const edgeProperties, PORT_STATE_T *const edgeState, "
                   "const void *const edgeInstance, "
                 : "");
    if (is_there(&pin->handler)) put_function(graph, &pin->handler, "on_receive", arguments, out);
    fputs("static uint64_t receive(leat_poets_env *env, leat_poets_block *block, uint8_t *edge, "
          "const uint8_t *payload) { LEAT_SETUP (void)edge; (void)payload; try { ",
          out);
    if (is_there(&pin->handler))
        fprintf(out, "on_receive(LEAT_ARGUMENTS, %sreinterpret_cast<const MESSAGE_T *>(payload)); ",
                edges ? "reinterpret_cast<const PORT_PROPERTIES_T *>(edge), "
                        "reinterpret_cast<PORT_STATE_T *>(edge + state_at), edge, "
                      : "");
    fputs("LEAT_READY } LEAT_CATCH }\n}\n", out);
}

static void put_send(const struct leat_graph *graph, const struct leat_graph_pin *pin,
                     uint32_t number, FILE *out)
{
    char arguments[600];
    fprintf(out, "namespace leat_out_%u {\ntypedef ", number);
    put_message(graph, pin, out);
    fputs(" MESSAGE_T;\n", out);
    snprintf(arguments, sizeof arguments,
             "%s, MESSAGE_T *const message, bool *const doSend, unsigned *const sendIndex",
             device_arguments);
    if (is_there(&pin->handler)) put_function(graph, &pin->handler, "on_send", arguments, out);
    fputs("static bool send(leat_poets_env *env, leat_poets_block *block, uint8_t *payload) "
          "{ LEAT_SETUP (void)payload; bool leat_go = true; unsigned leat_index = 0; try { ",
          out);
    if (is_there(&pin->handler))
        fprintf(out,
                "on_send(LEAT_ARGUMENTS, reinterpret_cast<MESSAGE_T *>(payload), &leat_go, %s); ",
                pin->indexed ? "&leat_index" : "nullptr");
    fputs("} LEAT_SEEN catch (...) { leat_caught(env); return false; } "
          "env->do_send = leat_go; env->send_index = leat_index; return true; }\n}\n",
          out);
}

static void put_control(const struct leat_graph *graph, const struct leat_graph_code *code,
                        FILE *out)
{
    char arguments[500];
    if (!is_there(code)) return;
    snprintf(arguments, sizeof arguments, "%s, const uint8_t opcode, const uint8_t *const payload",
             device_arguments);
    put_function(graph, code, "leat_do_ctl", arguments, out);
    fputs(
        "static uint64_t leat_ctl(leat_poets_env *env, leat_poets_block *block, uint8_t opcode, "
        "const uint8_t *payload) { LEAT_SETUP try { leat_do_ctl(LEAT_ARGUMENTS, opcode, payload); "
        "LEAT_READY } LEAT_CATCH }\n",
        out);
}

static void put_pin_tables(const struct leat_graph *graph, const struct leat_graph_type *t,
                           FILE *out)
{
    fputs("static const leat_poets_pin leat_inputs[] = {\n", out);
    for (uint32_t i = 0; i < t->input.count; i++) {
        fprintf(out, "{ \"%s\", ", t->input.pin[i].name);
        put_payload_len(graph, &t->input.pin[i], out);
        fprintf(out,
                ", false, leat_round_up(leat_in_%u::state_at + sizeof(leat_in_%u::PORT_STATE_T), "
                "leat_in_%u::align), leat_in_%u::align, sizeof(leat_in_%u::PORT_PROPERTIES_T), "
                "leat_in_%u::state_at, sizeof(leat_in_%u::PORT_STATE_T), leat_in_%u::receive, "
                "nullptr },\n",
                i, i, i, i, i, i, i, i);
    }
    fputs("{} };\nstatic const leat_poets_pin leat_outputs[] = {\n", out);
    for (uint32_t i = 0; i < t->output.count + t->to_supervisor.count; i++) {
        const struct leat_graph_pin *pin = i < t->output.count ? &t->output.pin[i]
                                                               : &t->to_supervisor.pin[0];
        fprintf(out, "{ \"%s\", ", pin->name);
        put_payload_len(graph, pin, out);
        fprintf(out, ", %s, 0, 1, 0, 0, 0, nullptr, leat_out_%u::send },\n",
                pin->indexed ? "true" : "false", i);
    }
    fputs("{} };\n", out);
}

static void put_type_table(const struct leat_graph *graph, const struct leat_graph_type *t,
                           FILE *out)
{
    static const struct {
        enum leat_graph_handler handler;
        const char *name;
    } turns[] = { { LEAT_GRAPH_ON_INIT, "leat_init" },
                  { LEAT_GRAPH_ON_DEVICE_IDLE, "leat_device_idle" },
                  { LEAT_GRAPH_ON_HARDWARE_IDLE, "leat_hardware_idle" } };
    fprintf(out,
            "const leat_poets_type leat_type = { LEAT_POETS_ABI, \"%s\", leat_state_at, "
            "sizeof(DEVICE_STATE_T), leat_properties_at, sizeof(DEVICE_PROPERTIES_T), "
            "leat_pins_at, %u, "
            "%u, %s, leat_inputs, leat_outputs, ",
            t->id, t->input.count, t->output.count + t->to_supervisor.count,
            t->to_supervisor.count ? "true" : "false");
    put_payload_len(graph, from_pin(t), out);
    fputs(", leat_ready_fn", out);
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
        fprintf(out, ", %s", is_there(&t->handler[turns[i].handler]) ? turns[i].name : "nullptr");
    fprintf(out, ", %s, %s };\n", is_there(&t->handler[LEAT_GRAPH_ON_CTL]) ? "leat_ctl" : "nullptr",
            from_pin(t) ? "leat_in_super::receive" : "nullptr");
}

bool leat_handler_type_source(const struct leat_graph *graph, uint32_t type, FILE *out)
{
    static const struct turns turns = {
        device_arguments, "leat_poets_env *env, leat_poets_block *block",
        " ? 1 : 0; } LEAT_SEEN catch (...) { leat_caught(env); return -1; } }\n"
    };
    const struct leat_graph_type *t = &graph->type[type];
    char number[16];
    begin(graph, out);
    put_aliases(graph, t, out);
    put_assert(out);
    put_code(graph, &graph->shared, out);
    put_code(graph, &t->shared, out);
    put_assert(out); /* again, since shared code may include the standard one */
    put_setup(needs_view(graph, t), needs_variable(graph, t), out);
    put_ready(graph, t, out);
    put_turn(graph, &turns, &t->handler[LEAT_GRAPH_ON_INIT], "init", out);
    put_turn(graph, &turns, &t->handler[LEAT_GRAPH_ON_DEVICE_IDLE], "device_idle", out);
    put_turn(graph, &turns, &t->handler[LEAT_GRAPH_ON_HARDWARE_IDLE], "hardware_idle", out);
    put_control(graph, &t->handler[LEAT_GRAPH_ON_CTL], out);
    for (uint32_t i = 0; i < t->input.count; i++) {
        snprintf(number, sizeof number, "%u", i);
        put_receive(graph, t, &t->input.pin[i], number, out);
    }
    if (from_pin(t)) put_receive(graph, t, from_pin(t), "super", out);
    for (uint32_t i = 0; i < t->output.count; i++)
        put_send(graph, &t->output.pin[i], i, out);
    if (t->to_supervisor.count) put_send(graph, &t->to_supervisor.pin[0], t->output.count, out);
    put_pin_tables(graph, t, out);
    put_type_table(graph, t, out);
    return !ferror(out);
}

/* ---- the supervisor ------------------------------------------------------------------------- */

#define SUPERVISOR_ARGUMENTS                                                                 \
    "const GRAPH_PROPERTIES_T *const graphProperties, const SUPERVISOR_PROPERTIES_T *const " \
    "supervisorProperties, SUPERVISOR_STATE_T *const supervisorState"
#define SUPERVISOR_END "; } LEAT_SEEN catch (...) { leat_caught(nullptr); return -1; } }\n"

static void put_supervisor_struct(const struct leat_graph *graph,
                                  const struct leat_graph_struct *data, const char *name, FILE *out)
{
    fprintf(out, "struct %s {", name);
    put_code(graph, &data->code, out);
    fputs("};\n", out);
}

static void put_supervisor_control(const struct leat_graph *graph,
                                   const struct leat_graph_code *code, FILE *out)
{
    if (!is_there(code)) return;
    put_function(graph, code, "leat_do_control",
                 SUPERVISOR_ARGUMENTS ", const uint8_t opcode, const uint8_t *const payload", out);
    fputs("static int leat_control(leat_poets_host *host, void *object, uint8_t opcode, "
          "const uint8_t *payload) { LEAT_SETUP try { return ",
          out);
    put_call(code, "leat_do_control(LEAT_ARGUMENTS, opcode, payload)", out);
    fputs(SUPERVISOR_END, out);
}

/* The message it sends: SupervisorOutPin's, else SupervisorInPin's. */
static const struct leat_graph_pin *reply_pin(const struct leat_graph_type *t)
{
    if (t->to_supervisor.count) return &t->to_supervisor.pin[0];
    return from_pin(t);
}

static void put_supervisor_receive(const struct leat_graph *graph, const struct leat_graph_type *t,
                                   FILE *out)
{
    const struct leat_graph_pin *pin = from_pin(t);
    if (!pin || !is_there(&pin->handler)) return;
    const struct leat_graph_code *code = &pin->handler;
    fputs("typedef ", out);
    put_message(graph, pin, out);
    fputs(" MESSAGE_T;\ntypedef ", out);
    put_message(graph, reply_pin(t), out);
    fputs(" REPLY_T;\n", out);
    fputs("#define broadcast bcast\n", out);
    put_function(graph, code, "leat_do_receive",
                 SUPERVISOR_ARGUMENTS ", const MESSAGE_T *const message, REPLY_T *const reply, "
                                      "REPLY_T *const bcast",
                 out);
    fputs("#undef broadcast\n"
          "static int leat_receive(leat_poets_host *host, void *object, const uint8_t *payload, "
          "uint8_t *leat_reply, uint8_t *leat_bcast) { LEAT_SETUP try { return ",
          out);
    put_call(code,
             "leat_do_receive(LEAT_ARGUMENTS, reinterpret_cast<const MESSAGE_T *>(payload), "
             "reinterpret_cast<REPLY_T *>(leat_reply), reinterpret_cast<REPLY_T *>(leat_bcast))",
             out);
    fputs(SUPERVISOR_END, out);
}

static void put_supervisor_table(const struct leat_graph *graph, const struct leat_graph_type *t,
                                 FILE *out)
{
    const bool receives = from_pin(t) && is_there(&from_pin(t)->handler);
    fputs("extern \"C\" __attribute__((visibility(\"default\"))) const leat_poets_supervisor "
          "leat_supervisor;\nconst leat_poets_supervisor leat_supervisor = { LEAT_POETS_ABI, ",
          out);
    put_payload_len(graph, from_pin(t), out);
    fputs(", ", out);
    put_payload_len(graph, reply_pin(t), out);
    fprintf(out, ", leat_create, leat_destroy, %s, %s, %s, %s, %s };\n",
            is_there(&t->handler[LEAT_GRAPH_ON_INIT]) ? "leat_init" : "nullptr",
            is_there(&t->handler[LEAT_GRAPH_ON_STOP]) ? "leat_on_stop" : "nullptr",
            is_there(&t->handler[LEAT_GRAPH_ON_SUPERVISOR_IDLE]) ? "leat_idle" : "nullptr",
            is_there(&t->handler[LEAT_GRAPH_ON_CTL]) ? "leat_control" : "nullptr",
            receives ? "leat_receive" : "nullptr");
}

bool leat_handler_supervisor_source(const struct leat_graph *graph, uint32_t type, FILE *out)
{
    static const struct turns turns = { SUPERVISOR_ARGUMENTS, "leat_poets_host *host, void *object",
                                        SUPERVISOR_END };
    const struct leat_graph_type *t = &graph->type[type];
    begin(graph, out);
    fputs("#include <algorithm>\n#include <fstream>\n#include <iostream>\n#include <map>\n"
          "#include <mutex>\n#include <sstream>\n#include <thread>\n#include <vector>\n",
          out);
    fputs("using Super::post; using Super::stop_application; using Super::get_output_directory;\n",
          out);
    put_assert(out);
    put_code(graph, &t->shared, out);
    put_supervisor_struct(graph, &t->properties, "SUPERVISOR_PROPERTIES_T", out);
    put_supervisor_struct(graph, &t->state, "SUPERVISOR_STATE_T", out);
    put_code(graph, &graph->shared, out);
    put_assert(out);
    fputs("struct leat_object { SUPERVISOR_PROPERTIES_T properties{}; SUPERVISOR_STATE_T state{}; "
          "};\n"
          "#define LEAT_SETUP leat_env = nullptr; leat_host = host; "
          "leat_object *const leat_o = static_cast<leat_object *>(object); (void)leat_o;\n"
          "#define LEAT_ARGUMENTS static_cast<const GRAPH_PROPERTIES_T *>(host->graph), "
          "&leat_o->properties, &leat_o->state\n"
          "static void *leat_create(leat_poets_host *host) { leat_env = nullptr; leat_host = host; "
          "try { return new leat_object(); } LEAT_SEEN catch (...) { leat_caught(nullptr); return "
          "nullptr; } "
          "}\n"
          "static void leat_destroy(leat_poets_host *host, void *object) { LEAT_SETUP "
          "try { delete leat_o; } LEAT_SEEN catch (...) { leat_caught(nullptr); } }\n",
          out);
    put_turn(graph, &turns, &t->handler[LEAT_GRAPH_ON_INIT], "init", out);
    put_turn(graph, &turns, &t->handler[LEAT_GRAPH_ON_STOP], "on_stop", out);
    put_turn(graph, &turns, &t->handler[LEAT_GRAPH_ON_SUPERVISOR_IDLE], "idle", out);
    put_supervisor_control(graph, &t->handler[LEAT_GRAPH_ON_CTL], out);
    put_supervisor_receive(graph, t, out);
    put_supervisor_table(graph, t, out);
    return !ferror(out);
}

/* ---- values --------------------------------------------------------------------------------- */

static void put_values(const struct leat_graph *graph, const struct leat_handler_table *table,
                       uint32_t number, FILE *out)
{
    fprintf(out, "static const %s leat_initial_%u{};\nstatic const %s leat_value_%u[] = {\n",
            table->name, number, table->name, number);
    for (uint32_t i = 0; i < table->count; i++) {
        const char *text = leat_graph_string(&graph->values, table->value[i]);
        leat_handler_at(graph, table->place, out);
        fprintf(out, *text == '{' ? "%s,\n" : "{%s},\n", text);
    }
    leat_handler_ours(out);
    fputs("{} };\n", out);
}

bool leat_handler_values_source(const struct leat_graph *graph,
                                const struct leat_handlers *handlers, FILE *out)
{
    begin(graph, out);
    put_code(graph, &graph->shared, out);
    for (uint32_t i = 0; i < handlers->table_count; i++)
        put_values(graph, &handlers->table[i], i, out);
    fputs("static const leat_poets_value_table leat_tables[] = {\n", out);
    for (uint32_t i = 0; i < handlers->table_count; i++)
        fprintf(out, "{ sizeof(%s), alignof(%s), %u, &leat_initial_%u, leat_value_%u },\n",
                handlers->table[i].name, handlers->table[i].name, handlers->table[i].count, i, i);
    fprintf(out,
            "{} };\nextern \"C\" __attribute__((visibility(\"default\"))) const leat_poets_values "
            "leat_values;\nconst leat_poets_values leat_values = { LEAT_POETS_ABI, %u, leat_tables "
            "};\n",
            handlers->table_count);
    return !ferror(out);
}
