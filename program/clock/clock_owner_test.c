/* Which code is the program's own, with the clocks in a library, as in real runs. */
#include "clock_owner.h"
#include "tap.h"
#include <dlfcn.h>
#include <math.h>

static uintptr_t wanted;

static bool has_wanted(const uint8_t *code, size_t len)
{
    return wanted >= (uintptr_t)code && wanted - (uintptr_t)code < len;
}

static bool program_has(const void *address)
{
    wanted = (uintptr_t)address;
    return leat_clock_owner_program_has(has_wanted);
}

/* The function itself, not the program's jump to it. */
static bool program_has_function(const char *name)
{
    const void *function = dlsym(RTLD_DEFAULT, name);
    OK(function != NULL);
    return program_has(function);
}

static void the_program_and_its_libraries_are_searched(void)
{
    volatile double x = 1;
    OK(cos(x) > 0); /* so that libm is linked */
    OK(program_has((const void *)(uintptr_t)&program_has));
    OK(program_has_function("cos"));
}

/* The C library contains octets that look like instructions which read the counter. */
static void the_library_of_clocks_and_what_it_needs_are_not(void)
{
    OK(!program_has_function("leat_clock_owner_program_has"));
    OK(!program_has_function("rand"));
    OK(!program_has(NULL));
}

TAP_MAIN(T(the_program_and_its_libraries_are_searched),
         T(the_library_of_clocks_and_what_it_needs_are_not))
