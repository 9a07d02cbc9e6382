/*
 * An open station, for the files of this folder: what leat_aton_host_command and its kin wait for,
 * in two halves, so that a process may do other things meanwhile.
 */
#ifndef LEAT_LIVE_ATON_STATION_H
#define LEAT_LIVE_ATON_STATION_H

#include "live_aton_driver.h"

struct leat_aton_host {
    const struct aton_driver *driver;
    struct aton_seat seat;
    int send_fd, receive_fd;
    uint8_t flags; /* of its frames: 0, or the number of its group plus one */
    struct aton_frame frame;
};

/* From now on packets and messages are those of a group, 0 to ATON_GROUPS - 1. False: see `why`. */
bool aton_station_turn_to_group(struct leat_aton_host *station, uint8_t group, char *why);

/* Octets of an image that a frame has room for. */
uint32_t aton_station_image_max(const struct aton_config *config);

/* The contents of a packet with a message: with a key, a serial first. Returns their length. */
size_t aton_station_letter(struct leat_aton_host *station, const void *octets, size_t len,
                           uint8_t *letter);

/* Sends the image of `len` octets in station->frame. False: see `why`. */
bool aton_station_send(struct leat_aton_host *station, size_t len, uint32_t *sequence, char *why);

/* Waits until one of these packets is back, in station->frame. False: the time is up. 0: does not
 * wait. */
bool aton_station_await(struct leat_aton_host *station, const uint32_t *sequence, unsigned count,
                        uint64_t until_ns);

#endif
