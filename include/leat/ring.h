/* The name of <leat/aton.h> up to version 0.1. */
#include <leat/aton.h>
