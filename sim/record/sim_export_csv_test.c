/* A recording as a table; tool/export/recording.py reads larger ones by another reader. */
#include "sim_export_csv.h"
#include "sim_export_test.h"

static struct leat_sim_export_csv x;

#define NAMES "time_ps,event,track,name,value,message,peer,length,tag\r\n"

static void export(const struct leat_sim_event *e, void *user)
{
    (void)user;
    leat_sim_export_csv_event(&x, e);
}

static const char *export_all(void)
{
    export_from_the_beginning();
    leat_sim_export_csv_init(&x, &reading, &exported_text);
    EQ(read_recorded(export, NULL), LEAT_ERR_OK);
    return exported_string();
}

static void the_sample_is_this_table(void)
{
    record_sample();
    is_text(export_all(),
            NAMES "0,begin,net.bmx[0].port 1,busy,,,,,\r\n"
                  "0,place,net.bmx[0].port 1,\"\"\"header\"\"\",,,,,\r\n"
                  "0,leaves,net.bmx[0].port 1,,,18446744073709551615,net.bmx[0].2,300,7\r\n"
                  "3333,begin,net.bmx[0].port 1,\"\"\"header\"\"\",,,,,\r\n"
                  "3333,value,net.bmx[0].size,,511,,,,\r\n"
                  "1016666,end,net.bmx[0].port 1,\"\"\"header\"\"\",,,,,\r\n"
                  "1016666,frame,net.bmx[0].port 1,in,,,,6,\r\n"
                  "2000000,value,total,,18446744073709551615,,,,\r\n"
                  "2000000,frame,net.bmx[0].2,out,,,,5,\r\n"
                  "2000000,instant,net.bmx[0].2,\"\"\"header\"\"\",,,,,\r\n"
                  "2000001,frame,net.bmx[0].2,,,,,0,\r\n"
                  "2000001,arrives,net.bmx[0].2,,,18446744073709551615,,0,\r\n"
                  "3000000,close,,,,,,,\r\n");
}

static void an_empty_recording_is_a_table_of_its_end(void)
{
    record_from_the_beginning();
    leat_sim_recorder_close(&recorder, 5);
    is_text(export_all(), NAMES "5,close,,,,,,,\r\n");
}

static void names_with_commas_are_quoted(void)
{
    record_from_the_beginning();
    const uint32_t lane = leat_sim_recorder_lane(&recorder, 0, 0, 0, "a,b");
    const uint32_t name = leat_sim_recorder_name(&recorder, "one, \"two\"");
    leat_sim_record_instant(&recorder, 1, lane, name);
    leat_sim_recorder_close(&recorder, 1);
    is_text(export_all(), NAMES "1,instant,\"a,b\",\"one, \"\"two\"\"\",,,,,\r\n"
                                "1,close,,,,,,,\r\n");
}

TAP_MAIN(T(the_sample_is_this_table), T(an_empty_recording_is_a_table_of_its_end),
         T(names_with_commas_are_quoted))
