/* leat devices: the OpenCL devices that are here. */
#include "device.h"
#include "json_out.h"
#include "tool.h"

static const char *kind_of(const struct leat_device_info *d)
{
    return d->is_gpu ? "GPU" : d->is_processor ? "processor" : "accelerator";
}

static void put_text(uint32_t number, const struct leat_device_info *d)
{
    printf("%-3u %-11s %s, %.1f GB, %u units", number, kind_of(d), d->name, (double)d->memory / 1e9,
           d->units);
    if (d->close_memory)
        printf(", %u KB near each group of threads", (unsigned)(d->close_memory >> 10));
    printf("\n    %s, driver %s\n", d->platform, d->driver);
    printf("    leat %s%s\n", d->lacks ? "cannot use it: " : "sim and leat sweep can use it",
           d->lacks ? d->lacks : "");
}

static void put_json(uint32_t number, const struct leat_device_info *d)
{
    struct json_out out;
    struct leat_json *j = json_open(&out, stdout);
    leat_json_uint(j, "device_number", number);
    leat_json_string(j, "name", d->name);
    leat_json_string(j, "platform", d->platform);
    leat_json_string(j, "driver_version", d->driver);
    leat_json_string(j, "kind", d->is_gpu ? "gpu" : d->is_processor ? "processor" : "other");
    LEAT_JSON_UINTS(j, { "device_bytes", d->memory }, { "buffer_bytes_max", d->allocation_max },
                    { "group_bytes", d->close_memory }, { "compute_units", d->units },
                    { "group_threads_max", d->group_max });
    leat_json_bool(j, "usable", !d->lacks);
    if (d->lacks) leat_json_string(j, "lacks", d->lacks);
    json_close(&out, json_status());
}

static int run_devices(const struct arguments *args)
{
    static struct leat_device_info device[LEAT_DEVICES_MAX];
    struct leat_text why = LEAT_TEXT(300);
    if (args->operand_count) return misuse(args->verb, "expected no operand");
    const uint32_t count = leat_devices_find(device, LEAT_DEVICES_MAX, &why);
    if (!count) return fail("no device: %.*s", (int)why.len, why.buf);
    for (uint32_t i = 0; i < count; i++)
        (argument(args, "--json") ? put_json : put_text)(i, &device[i]);
    return finish(DONE);
}

const struct verb verb_devices = {
    .name = "devices",
    .summary = "list the devices that networks can run on",
    .synopsis = "[--json]",
    .help = help_devices,
    .options = { OPTION_JSON("one JSON object per device") },
    .run = run_devices,
};
