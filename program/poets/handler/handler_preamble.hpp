// Included in every source of handlers: the copy of poets_handler.h comes before this, the
// application's structs, shared code and handlers after it.
#include <cassert>
#include <cinttypes>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <execinfo.h>
#include <string>
#include <typeinfo>

// A handler that ends the process is reported by hooks of exit and quick_exit. These two functions
// have no such hooks.
extern "C" __attribute__((noreturn, visibility("hidden"))) void _exit(int code)
{
    quick_exit(code);
}
extern "C" __attribute__((noreturn, visibility("hidden"))) void _Exit(int code) noexcept
{
    quick_exit(code);
}

// For shared code; handlers have a parameter of this name, which is faster.
static thread_local leat_poets_env *leat_env;
static thread_local leat_poets_host *leat_host; // the same for the supervisor

#define LEAT_TEXT_OF(a) #a
#define LEAT_TEXT(a)    LEAT_TEXT_OF(a)

struct leat_stop { // ends a handler
};

// Records whose handler runs, before it does: an observer in another thread or a signal handler
// must see it, even if the handler never returns and the compiler would drop the store.
static inline void leat_enter(leat_poets_env *env, leat_poets_block *block)
{
    __atomic_store_n(&env->block, block, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// The stack of an exception that leaves a handler, as it was when it was thrown. Wrappers have
// catch (leat_seen &): before anything is unwound, the search for who catches asks the type_info of
// leat_seen, which is this one. It never agrees, but keeps the stack.
static thread_local void *leat_thrown[64];
static thread_local int leat_thrown_count;

struct leat_seen {
    virtual ~leat_seen(); // nowhere: so its type_info is not here either
};

#ifdef __GLIBCXX__
struct leat_watcher final : std::type_info {
    leat_watcher() : std::type_info("9leat_seen") {}
    __attribute__((cold)) bool __do_catch(const std::type_info *, void **, unsigned) const override
    {
        leat_thrown_count = backtrace(leat_thrown, sizeof leat_thrown / sizeof *leat_thrown);
        return false;
    }
};
__attribute__((visibility("hidden"), used)) leat_watcher leat_the_watcher __asm__("_ZTI9leat_seen");
#define LEAT_SEEN catch (leat_seen &) {}
#else
#define LEAT_SEEN
#endif

template <class Caller>
static inline void leat_fail_with(Caller *caller, const char *what, int thrown_count)
{
    caller->thrown = leat_thrown;
    caller->thrown_count = thrown_count;
    caller->fail(caller, what);
}

__attribute__((noinline, cold)) static void leat_report_failure(leat_poets_env *env,
                                                                const char *what,
                                                                int thrown_count = 0)
{
    if (env)
        leat_fail_with(env, what, thrown_count);
    else if (leat_host)
        leat_fail_with(leat_host, what, thrown_count);
}

[[noreturn]] __attribute__((noinline, cold)) static void leat_fail(leat_poets_env *env,
                                                                   const char *what)
{
    leat_report_failure(env, what);
    throw leat_stop();
}

__attribute__((noinline, cold)) static void leat_caught(leat_poets_env *env)
{
    const int thrown_count = leat_thrown_count;
    leat_thrown_count = 0;
    try {
        throw;
    } catch (const leat_stop &) { // already reported
    } catch (const std::exception &e) {
        leat_report_failure(env, e.what(), thrown_count);
    } catch (...) {
        leat_report_failure(env, "an exception", thrown_count);
    }
}

__attribute__((noinline, cold, format(printf, 3, 4))) static void
leat_log(leat_poets_env *env, unsigned level, const char *format, ...)
{
    char text[LEAT_POETS_TEXT_LEN];
    va_list list;
    if (level > env->log_level && std::strncmp(format, "_HANDLER_EXIT_", 14) != 0) return;
    va_start(list, format);
    if (env->log_raw)
        std::snprintf(text, sizeof text, "%s", format);
    else
        std::vsnprintf(text, sizeof text, format, list);
    va_end(list);
    env->log(env, level, text);
}

static const char leat_control_expects[] =
    "handler_control: expected an opcode from 0x01 to 0xEF, after OnInit, and fewer packets";

// An opcode of the application, with or without a struct, to the supervisor's OnCTL; not in OnInit,
// before the application runs.
static inline void leat_control(leat_poets_env *env, unsigned opcode)
{
    if (opcode > 0xff || !env->control(env, (uint8_t)opcode, nullptr, 0))
        leat_fail(env, leat_control_expects);
}
template <class T>
static inline void leat_control(leat_poets_env *env, unsigned opcode, const T &payload)
{
    static_assert(sizeof(T) <= 56, "E_LIMIT: a payload has more than 56 octets");
    if (opcode > 0xff || !env->control(env, (uint8_t)opcode, &payload, sizeof payload))
        leat_fail(env, leat_control_expects);
}

#define handler_control(...) leat_control(leat_env, __VA_ARGS__)
#define handler_log(...)        leat_log(leat_env, __VA_ARGS__)
#define handler_exit(code)      (leat_env->exit(leat_env, (code)))
#define handler_checkpoint(...) ((void)0)

#define GRAPHPROPERTIES(a)  (graphProperties->a)
#define DEVICEPROPERTIES(a) (deviceProperties->a)
#define DEVICESTATE(a)      (deviceState->a)
#define EDGEPROPERTIES(a)   (edgeProperties->a)
#define EDGESTATE(a)        (edgeState->a)
#define MSG(a)              (message->a)
#define PKT(a)              (message->a)
#define RTS(a)              (*readyToSend |= RTS_FLAG_##a)
#define RTSSUP()            (*readyToSend |= RTS_SUPER_IMPLICIT_SEND_FLAG)
#define SUPPROPERTIES(a)    (supervisorProperties->a)
#define SUPSTATE(a)         (supervisorState->a)
#define REPLY(a)            (reply->a)
#define BCAST(a)            (bcast->a)
#define RTSREPLY()          (leat_host->reply = true)
#define RTSBCAST()          (leat_host->bcast = true)

// The machine that the original ran on.
#define TinselClockFreq 240
#define tinselId()              ((uint32_t)leat_env->block->thread)
#define tinselCycleCount()      ((uint32_t)leat_env->cycles(leat_env))
#define tinselUartTryPut(octet) (leat_env->uart(leat_env, (octet)), true)
#define P_SW_MOTHERSHIP_SHIFT 31
#define P_SW_CNC_SHIFT        30
#define P_SW_TASK_SHIFT       24
#define P_SW_OPCODE_SHIFT     16
#define P_SW_DEVICE_SHIFT     0
#define P_SW_MOTHERSHIP_MASK  0x80000000u
#define P_SW_CNC_MASK         0x40000000u
#define P_SW_TASK_MASK        0x3f000000u
#define P_SW_OPCODE_MASK      0x00ff0000u
#define P_SW_DEVICE_MASK      0x0000ffffu
#define P_HD_TGTPIN_SHIFT     0
#define P_HD_DESTEDGEINDEX_SHIFT 8
#define P_HD_TGTPIN_MASK      0x000000ffu
#define P_HD_DESTEDGEINDEX_MASK 0xffffff00u
#define P_ADDR_BROADCAST      0xffffu

// deviceInstance, as the original's handlers see it: made from the block on request.
struct PThreadContext { // its queue has no fixed place here
    uint32_t numDevInsts = 0, rtsStart = 0, rtsEnd = 0, rtsBuffSize = 0, blockCount = 0;
};
struct PEdge {
    void *pin, *properties, *state;
};
struct PEdges {
    uint8_t *first;
    uint32_t len, state_at;
    PEdge operator[](uint32_t i) const
    {
        return PEdge{ nullptr, first + (size_t)i * len, first + (size_t)i * len + state_at };
    }
};
struct PInputPin {
    uint32_t numEdges;
    PEdges inEdges;
};
struct PInputPins {
    leat_poets_block *block;
    const leat_poets_type *type;
    PInputPin operator[](uint32_t i) const
    {
        uint8_t *octets = reinterpret_cast<uint8_t *>(block);
        const leat_poets_edges *pin =
            reinterpret_cast<const leat_poets_edges *>(octets + type->pins_at) + i;
        return PInputPin{ pin->count, { octets + pin->first, type->input[i].edge_len,
                                        type->input[i].state_at } };
    }
};
struct PDeviceInstance {
    PThreadContext *thread;
    const leat_poets_type *devType;
    uint32_t deviceID, deviceIdx, numInputs;
    PInputPins inputPins;
    uint32_t numOutputs;
    const void *properties;
    void *state;
    bool requestIdle;
};
typedef PDeviceInstance devInst_t;

static inline PDeviceInstance leat_view(leat_poets_block *block, const leat_poets_type *type,
                                        PThreadContext *thread)
{
    uint8_t *octets = reinterpret_cast<uint8_t *>(block);
    return PDeviceInstance{ thread,
                            type,
                            block->device,
                            block->index,
                            type->input_count,
                            { block, type },
                            type->output_count,
                            octets + type->properties_at,
                            octets + type->state_at,
                            false };
}

namespace Super
{
static inline void post(const std::string &text)
{
    leat_host->post(leat_host, text.c_str());
}
static inline void stop_application()
{
    leat_host->stop(leat_host);
}
// An opcode of the application, with or without a struct, to OnCtl of a device by its index in the
// file, or of all devices. False: opcode or index are wrong, or too many wait before the start.
static inline bool control(uint32_t index, unsigned opcode)
{
    return opcode <= 0xff &&
           leat_host->control(leat_host, index, (uint8_t)opcode, nullptr, 0);
}
template <class T>
static inline bool control(uint32_t index, unsigned opcode, const T &payload)
{
    static_assert(sizeof(T) <= 56, "E_LIMIT: a payload has more than 56 octets");
    return opcode <= 0xff &&
           leat_host->control(leat_host, index, (uint8_t)opcode, &payload, sizeof payload);
}
static inline bool control_all(unsigned opcode)
{
    return control(LEAT_POETS_ALL, opcode);
}
template <class T> static inline bool control_all(unsigned opcode, const T &payload)
{
    return control(LEAT_POETS_ALL, opcode, payload);
}
static inline std::string get_output_directory(const std::string &suffix = "")
{
    return leat_host->folder(leat_host, suffix.c_str());
}
} // namespace Super

constexpr uint32_t leat_round_up(uint32_t value, uint32_t align)
{
    return (value + align - 1) / align * align;
}
