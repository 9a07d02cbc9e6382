#define _GNU_SOURCE /* ppoll */
#include "atm_ip.h"
#include "atm_tun.h"
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    RUN_NS = 2000000,       /* of the simulation, until devices are looked at again */
    FLYING_WAIT_NS = 20000, /* for packets in the network */
    IDLE_WAIT_NS = 100000000,
};

static struct tun_host *host_at(struct tun *tun, uint32_t port)
{
    for (uint32_t i = 0; i < tun->job->hosts; i++)
        if (tun->host[i].port == port) return &tun->host[i];
    return NULL;
}

/* ---- from the network ---------------------------------------------------------------------- */

/* The packet that a message is; it is free again. */
static struct tun_packet *end(struct tun *tun, const struct leat_port_message *message)
{
    struct tun_host *host = &tun->host[message->id / TUN_WINDOW];
    struct tun_packet *packet = &host->packet[message->id % TUN_WINDOW];
    packet->is_busy = false;
    host->busy--;
    return packet;
}

static void on_sent(void *context, const struct leat_port_message *message, leat_time at)
{
    (void)context, (void)message, (void)at;
}

static void on_arrived(void *context, const struct leat_port_message *message, leat_time at)
{
    struct tun *tun = context;
    struct tun_figures *f = &tun->figures;
    struct leat_atm_ip_pdu pdu;
    const leat_time latency = at - end(tun, message)->at;
    const struct tun_host *host = host_at(tun, message->to);
    if (leat_atm_ip_decode(message->octets, message->len, LEAT_ATM_IP_LLC, &pdu, NULL) ||
        write(host->fd, pdu.payload, pdu.payload_len) != (ssize_t)pdu.payload_len) {
        f->unsent++; /* octets that the network changed, or a device that is down */
        return;
    }
    f->received++;
    f->octets += pdu.payload_len;
    f->latency_sum += latency;
    if (latency > f->latency_max) f->latency_max = latency;
}

static void on_lost(void *context, const struct leat_port_message *message, const char *why,
                    leat_time at)
{
    struct tun *tun = context;
    (void)why, (void)at;
    end(tun, message);
    tun->figures.lost++;
}

static void on_stuck(void *context, enum leat_port_stuck how, const char *why, leat_time at)
{
    struct tun *tun = context;
    (void)how, (void)at;
    complain("%s: %s", tun->job->fabric, why);
    tun->is_stuck = true;
}

/* ---- to the network ------------------------------------------------------------------------ */

static uint32_t free_packet(const struct tun_host *host)
{
    uint32_t i = 0;
    while (host->packet[i].is_busy)
        i++;
    return i;
}

/* Hands an IP packet of the scratch to the network. */
static void send_packet(struct tun *tun, struct tun_host *host, size_t len, leat_time at)
{
    const struct leat_atm_ip_pdu pdu = { .type = *tun->scratch >> 4 == 6 ? LEAT_ATM_IP_TYPE_IPV6
                                                                         : LEAT_ATM_IP_TYPE_IPV4,
                                         .payload = tun->scratch,
                                         .payload_len = len };
    const uint32_t place = free_packet(host);
    struct tun_packet *packet = &host->packet[place];
    uint32_t to;
    size_t pdu_len = 0;
    if (!tun_port_of(tun->job, tun->scratch, len, &to) || !host_at(tun, to)) {
        tun->figures.no_way++;
        return;
    }
    const bool fits = !leat_atm_ip_encode(&pdu, LEAT_ATM_IP_LLC, packet->octets,
                                          tun->job->mtu + LEAT_ATM_IP_LLC_LEN, &pdu_len);
    const struct leat_port_message message = {
        .from = host->port,
        .to = to,
        .id = (uint64_t)(host - tun->host) * TUN_WINDOW + place,
        .octets = packet->octets,
        .len = pdu_len,
    };
    if (!fits || !leat_port_send(tun->net, &message, at)) {
        tun->figures.unsent++;
        return;
    }
    *packet = (struct tun_packet){ packet->octets, at, true };
    host->busy++;
    tun->figures.sent++;
}

static void take_packets(struct tun *tun, leat_time due)
{
    const leat_time at = due > tun->net->now ? due : tun->net->now;
    for (uint32_t i = 0; i < tun->job->hosts; i++) {
        struct tun_host *host = &tun->host[i];
        for (int k = 0; k < TUN_WINDOW && host->busy < TUN_WINDOW; k++) {
            const ssize_t len = read(host->fd, tun->scratch, tun->job->mtu);
            if (len <= 0) break;
            send_packet(tun, host, (size_t)len, at);
        }
    }
}

/* ---- real time ----------------------------------------------------------------------------- */

static void simulate(struct tun *tun, leat_time due)
{
    const uint64_t enough_ns = live_now_ns(CLOCK_MONOTONIC) + RUN_NS;
    while (tun->net->now < due && !tun->is_stuck && live_now_ns(CLOCK_MONOTONIC) < enough_ns)
        leat_port_run(tun->net, due);
    tun_clock_reached(&tun->clock, due, tun->net->now);
}

/* Until a host that may send has a packet, or simulated time has to go on. */
static void wait_for_packets(const struct tun *tun)
{
    struct pollfd waits[TUN_HOSTS_MAX];
    nfds_t count = 0;
    const struct timespec time = { .tv_nsec = tun->net->in_flight ? FLYING_WAIT_NS : IDLE_WAIT_NS };
    for (uint32_t i = 0; i < tun->job->hosts; i++)
        if (tun->host[i].busy < TUN_WINDOW)
            waits[count++] = (struct pollfd){ .fd = tun->host[i].fd, .events = POLLIN };
    ppoll(waits, count, &time, NULL);
}

void tun_run(struct tun *tun, bool (*is_over)(void *context), void *context)
{
    tun->net->observer = (struct leat_port_observer){
        .context = tun, .sent = on_sent, .arrived = on_arrived, .lost = on_lost, .stuck = on_stuck
    };
    tun->clock = (struct tun_clock){ .begun_ns = live_now_ns(CLOCK_MONOTONIC),
                                     .slower = tun->job->slower };
    while (!is_interrupted() && !tun->is_stuck && !is_over(context)) {
        const leat_time due = tun_clock_due(&tun->clock, live_now_ns(CLOCK_MONOTONIC));
        take_packets(tun, due);
        simulate(tun, due);
        if (tun->net->now >= due) wait_for_packets(tun);
    }
    tun->ended_ns = live_now_ns(CLOCK_MONOTONIC);
    simulate(tun, tun_clock_due(&tun->clock, tun->ended_ns));
}
