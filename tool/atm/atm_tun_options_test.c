/* The command line of leat atm tun, and whose address is whose. */
#include "atm_tun.h"
#include "complaints_test.h"
#include "tap.h"
#include "words_test.h"

static struct tun_job job;

/* What it complains about; "": nothing. */
static const char *read_line(const char *line)
{
    struct arguments args;
    complaints_begin();
    const bool good = words_read(&verb_atm, line, &args) == DONE && tun_options_read(&args, &job);
    const char *said = complaints_end();
    OK(good == !*said);
    return said;
}

static void a_list_of_ports_has_numbers_and_ranges(void)
{
    OK(!*read_line("tun --ports 5,0,8-10"));
    EQ(job.hosts, 5);
    OK(job.port[0] == 5 && job.port[1] == 0 && job.port[2] == 8 && job.port[4] == 10);
    OK(!*read_line("tun"));
    OK(job.hosts == 2 && job.port[0] == 0 && job.port[1] == 1 && job.mtu == 9180);
    static const char *const bad[] = { "0,",  ",0", "0;1",        "0-",     "1-0",
                                       "0x1", "-1", "4294967295", "0-99999" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[64];
        snprintf(line, sizeof line, "tun --ports=%s", bad[i]);
        OK(strstr(read_line(line), "expected ports") != NULL);
    }
}

static void a_network_is_an_address_and_its_bits(void)
{
    OK(!*read_line("tun --network 192.168.7.9/24 --ports 0,253"));
    EQ(job.network, 0xc0a80700);
    OK(strstr(read_line("tun --network 192.168.7.9/24 --ports 254"), "has no address there"));
    static const char *const bad[] = { "10.0.0.0", "10.0.0.0/", "10.0.0.0/7", "10.0.0.0/31",
                                       "10.0.0/8", "/8",        "10.0.0.0/8x" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[64];
        snprintf(line, sizeof line, "tun --network %s", bad[i]);
        OK(strstr(read_line(line), "expected ADDRESS/BITS") != NULL);
    }
}

static void the_destination_of_a_packet_says_its_port(void)
{
    uint8_t ip[40] = { 0x45 };
    uint32_t port = 99;
    uint8_t ipv4[TUN_IPV4_LEN], ipv6[TUN_IPV6_LEN];
    OK(!*read_line("tun --network 10.9.0.0/16 --ports 300"));
    tun_addresses(&job, 300, ipv4, ipv6);
    OK(memcmp(ipv4, (uint8_t[]){ 10, 9, 1, 45 }, 4) == 0);
    memcpy(ip + 16, ipv4, sizeof ipv4);
    OK(tun_port_of(&job, ip, 20, &port));
    EQ(port, 300);
    OK(!tun_port_of(&job, ip, 19, &port));
    memcpy(ip + 16, (uint8_t[]){ 10, 9, 0, 0 }, 4); /* the network itself */
    OK(!tun_port_of(&job, ip, 20, &port));
    ip[0] = 0x60;
    memcpy(ip + 24, ipv6, sizeof ipv6);
    OK(tun_port_of(&job, ip, 40, &port));
    EQ(port, 300);
    OK(!tun_port_of(&job, ip, 39, &port));
    memcpy(ip + 24, (uint8_t[]){ 0xff, 2 }, 2); /* all routers */
    OK(!tun_port_of(&job, ip, 40, &port));
    ip[0] = 0x50;
    OK(!tun_port_of(&job, ip, 40, &port));
}

TAP_MAIN(T(a_list_of_ports_has_numbers_and_ranges), T(a_network_is_an_address_and_its_bits),
         T(the_destination_of_a_packet_says_its_port))
