/*
 * Sends a message over a simulated torus and prints how long it takes:
 *
 *     cc fabric_message.c $(pkg-config --cflags --libs leat-fabric) -o fabric_message
 *     ./fabric_message torus:4,4 1000
 *
 * `leat fabric time torus:4,4 --bytes 1000` prints the same time.
 */
#include <leat/fabric.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "torus:4,4";
    const size_t len = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
    char why[LEAT_FABRIC_WHY_LEN];
    struct leat_fabric_delivery delivery;
    struct leat_fabric_net *net = leat_fabric_net_open(name, why);
    void *octets = calloc(len + 1, 1);
    if (!net || !octets) {
        fprintf(stderr, "%s\n", net ? "no memory" : why);
        return 1;
    }
    const uint32_t last = leat_fabric_net_ports(net) - 1;
    const bool ran = leat_fabric_net_send(net, 0, last, octets, len, 1) &&
                     leat_fabric_net_run(net, &delivery);
    if (ran && !delivery.lost)
        printf("%s: %zu octets from port 0 to port %u in %llu.%06llu microseconds\n",
               leat_fabric_net_name(net), len, last, (unsigned long long)(delivery.at_ps / 1000000),
               (unsigned long long)(delivery.at_ps % 1000000));
    else
        fprintf(stderr, "%s\n", ran ? delivery.lost : "it could not be sent");
    leat_fabric_net_close(net);
    free(octets);
    return ran && !delivery.lost ? 0 : 1;
}
