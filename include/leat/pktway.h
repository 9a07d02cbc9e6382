/* The name of <leat/packetway.h> up to version 0.1. */
#include <leat/packetway.h>
