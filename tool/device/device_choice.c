#include "device_choice.h"
#include "number.h"
#include <stdio.h>
#include <string.h>

static struct leat_device_info devices[LEAT_DEVICES_MAX];

static bool take_gpu(const struct arguments *args, uint32_t count, const struct leat_text *why,
                     struct device_choice *out)
{
    for (uint32_t i = 0; i < count && !out->is_there; i++)
        if (devices[i].is_gpu && !devices[i].lacks) {
            out->info = devices[i];
            out->is_there = true;
        }
    snprintf(out->lacks, sizeof out->lacks, "%.*s", (int)why->len, why->buf);
    if (out->is_there || out->where == DEVICE_AUTO) return true;
    return misused(args->verb,
                   "--device gpu: there is none%s%.*s (leat devices lists what is here)",
                   why->len ? ": " : "", (int)why->len, why->buf);
}

static bool take_number(const struct arguments *args, const char *word, uint32_t count,
                        const struct leat_text *why, struct device_choice *out)
{
    uint64_t number;
    if (!number_read(word, false, &number))
        return misused(args->verb, "--device '%s', expected cpu, gpu, auto or a number", word);
    if (number >= count)
        return misused(args->verb, "--device %s: %s%.*s (leat devices lists what is here)", word,
                       count ? "there is no such device" : "there is no device: ", (int)why->len,
                       why->buf);
    out->info = devices[number];
    out->is_there = true;
    if (!out->info.lacks) return true;
    return misused(args->verb, "--device %s: %s", word, out->info.lacks);
}

bool device_take(const struct arguments *args, struct device_choice *out)
{
    const char *word = argument(args, "--device");
    struct leat_text why = LEAT_TEXT(DEVICE_LACKS_CAP);
    *out = (struct device_choice){ .where = DEVICE_CPU };
    if (!word || strcmp(word, "cpu") == 0) return true;
    const uint32_t count = leat_devices_find(devices, LEAT_DEVICES_MAX, &why);
    out->where = strcmp(word, "auto") == 0 ? DEVICE_AUTO : DEVICE_ONE;
    if (out->where == DEVICE_AUTO || strcmp(word, "gpu") == 0)
        return take_gpu(args, count, &why, out);
    return take_number(args, word, count, &why, out);
}
