/* A recording as a trace for Perfetto; tool/export/export_test.sh checks more with a JSON
 * reader. */
#include "sim_export_perfetto.h"
#include "sim_export_test.h"

static struct leat_sim_export_perfetto x;

static void export(const struct leat_sim_event *e, void *user)
{
    (void)user;
    leat_sim_export_perfetto_event(&x, e);
}

static const char *export_all(void)
{
    export_from_the_beginning();
    leat_sim_export_perfetto_init(&x, &reading, &exported_text);
    EQ(read_recorded(export, NULL), LEAT_ERR_OK);
    return exported_string();
}

static void the_sample_is_this_trace(void)
{
    static const char wanted[] =
        "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"args\":{\"name\":\"net\"}},\n"
        "{\"ph\":\"M\",\"pid\":2,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":1}},\n"
        "{\"ph\":\"M\",\"pid\":3,\"name\":\"process_name\",\"args\":{\"name\":\"net.bmx[0]\"}},\n"
        "{\"ph\":\"M\",\"pid\":3,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":2}},\n"
        "{\"ph\":\"M\",\"pid\":3,\"tid\":4,\"name\":\"thread_name\",\"args\":{\"name\":\"port "
        "1\"}},\n"
        "{\"ph\":\"M\",\"pid\":3,\"tid\":4,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":"
        "3}},\n"
        "{\"ph\":\"M\",\"pid\":3,\"tid\":5,\"name\":\"thread_name\",\"args\":{\"name\":\"2\"}},\n"
        "{\"ph\":\"M\",\"pid\":3,\"tid\":5,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":"
        "4}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"recording\"}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":0}},\n"
        "{\"ph\":\"B\",\"pid\":3,\"tid\":4,\"ts\":0.000000,\"name\":\"busy\",\"args\":{\"track\":3,"
        "\"cycle\":0}},\n"
        "{\"ph\":\"i\",\"pid\":3,\"tid\":4,\"ts\":0.000000,\"name\":\"at "
        "\\\"header\\\"\",\"s\":\"t\","
        "\"args\":{\"track\":3,\"cycle\":0}},\n"
        "{\"ph\":\"s\",\"pid\":3,\"tid\":4,\"ts\":0.000000,\"name\":\"message\",\"cat\":"
        "\"message\",\"id\":\"0xffffffffffffffff\",\"args\":{\"track\":3,\"cycle\":0,\"length\":"
        "300,"
        "\"tag\":7}},\n"
        "{\"ph\":\"B\",\"pid\":3,\"tid\":4,\"ts\":0.003333,\"name\":\"\\\"header\\\"\",\"args\":{"
        "\"track\":3,\"cycle\":1}},\n"
        "{\"ph\":\"C\",\"pid\":3,\"tid\":6,\"ts\":0.003333,\"name\":\"size\",\"args\":{\"value\":"
        "511}},\n"
        "{\"ph\":\"E\",\"pid\":3,\"tid\":4,\"ts\":1.016666,\"name\":\"\\\"header\\\"\",\"args\":{"
        "\"track\":3,\"cycle\":305}},\n"
        "{\"ph\":\"i\",\"pid\":3,\"tid\":4,\"ts\":1.016666,\"name\":\"frame "
        "in\",\"s\":\"t\",\"args\":{\"track\":3,\"cycle\":305,\"length\":6,\"link_type\":147}},\n"
        "{\"ph\":\"C\",\"pid\":1,\"tid\":7,\"ts\":2.000000,\"name\":\"total\",\"args\":{\"value\":"
        "18446744073709551615}},\n"
        "{\"ph\":\"i\",\"pid\":3,\"tid\":5,\"ts\":2.000000,\"name\":\"frame "
        "out\",\"s\":\"t\",\"args\":{\"track\":4,\"length\":5,\"link_type\":147}},\n"
        "{\"ph\":\"i\",\"pid\":3,\"tid\":5,\"ts\":2.000000,\"name\":\"\\\"header\\\"\",\"s\":\"t\","
        "\"args\":{\"track\":4}},\n"
        "{\"ph\":\"i\",\"pid\":3,\"tid\":5,\"ts\":2.000001,\"name\":\"frame\",\"s\":\"t\",\"args\":"
        "{\"track\":4,\"length\":0,\"link_type\":147}},\n"
        "{\"ph\":\"f\",\"pid\":3,\"tid\":5,\"ts\":2.000001,\"name\":\"message\",\"cat\":"
        "\"message\",\"id\":\"0xffffffffffffffff\",\"bp\":\"e\",\"args\":{\"track\":4,\"length\":0}"
        "},\n"
        "{\"ph\":\"E\",\"pid\":3,\"tid\":4,\"ts\":3.000000,\"name\":\"busy\",\"args\":{\"track\":3,"
        "\"cycle\":900}}\n"
        "]}\n";
    record_sample();
    is_text(export_all(), wanted);
}

static void an_empty_recording_is_an_empty_trace(void)
{
    record_from_the_beginning();
    leat_sim_recorder_close(&recorder, 0);
    is_text(export_all(), "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n");
}

static void spans_that_are_open_at_the_end_are_ended_from_within(void)
{
    record_from_the_beginning();
    const uint32_t lane = leat_sim_recorder_lane(&recorder, 0, 0, 0, "lane");
    const uint32_t outer = leat_sim_recorder_name(&recorder, "outer");
    const uint32_t inner = leat_sim_recorder_name(&recorder, "inner");
    leat_sim_record_begin(&recorder, 0, lane, outer);
    leat_sim_record_begin(&recorder, 1, lane, inner);
    leat_sim_recorder_close(&recorder, 123456789);
    const char *text = export_all();
    const char *first = strstr(text, "\"ph\":\"E\""),
               *second = first ? strstr(first + 1, "\"ph\":\"E\"") : NULL;
    OK(first && second);
    if (!second) return;
    OK(strstr(first, "\"ts\":123.456789,\"name\":\"inner\"") < second);
    OK(strstr(second, "\"ts\":123.456789,\"name\":\"outer\"") != NULL);
}

static void collective_operations_have_a_group_and_a_number(void)
{
    const struct leat_sim_flow flow = { .message = leat_sim_operation_flow(3, 0x80000005, 7),
                                        .len = 8 };
    record_from_the_beginning();
    const uint32_t lane = leat_sim_recorder_lane(&recorder, 0, 0, 0, "rank 1");
    leat_sim_record_flow(&recorder, 0, lane, LEAT_SIM_LEAVES, &flow);
    leat_sim_recorder_close(&recorder, 1);
    OK(leat_sim_is_operation(&flow));
    OK(strstr(export_all(), "\"name\":\"operation\",\"cat\":\"operation\",\"id\":"
                            "\"0x4000380000005007\",\"args\":{\"track\":1,\"length\":8,"
                            "\"group\":3,\"number\":2147483653}") != NULL);
}

static void packets_outside_of_spans_have_a_moment_that_arrows_can_hold(void)
{
    const struct leat_sim_flow flow = { .message = LEAT_SIM_FIRST_PACKET + 5, .len = 8 };
    record_from_the_beginning();
    const uint32_t lane = leat_sim_recorder_lane(&recorder, 0, 0, 0, "0>1");
    const uint32_t busy = leat_sim_recorder_name(&recorder, "busy");
    leat_sim_record_flow(&recorder, 0, lane, LEAT_SIM_PASSES, &flow);
    leat_sim_record_begin(&recorder, 1, lane, busy);
    leat_sim_record_flow(&recorder, 2, lane, LEAT_SIM_PASSES, &flow);
    leat_sim_recorder_close(&recorder, 3);
    OK(leat_sim_is_packet(&flow) && !leat_sim_is_operation(&flow));
    const char *text = export_all();
    const char *moment = strstr(text, "\"ph\":\"X\"");
    OK(moment && !strstr(moment + 1, "\"ph\":\"X\""));
    OK(moment && strstr(moment, "\"ph\":\"t\"") && strstr(text, "\"name\":\"packet\",\"cat\":"));
    OK(strstr(text, "\"dur\":0") != NULL);
}

TAP_MAIN(T(the_sample_is_this_trace), T(an_empty_recording_is_an_empty_trace),
         T(spans_that_are_open_at_the_end_are_ended_from_within),
         T(collective_operations_have_a_group_and_a_number),
         T(packets_outside_of_spans_have_a_moment_that_arrows_can_hold))
