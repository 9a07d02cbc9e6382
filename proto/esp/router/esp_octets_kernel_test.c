/* leat_esp_crc_four and leat_esp_crc_word, which only the kernel needs, and all that builds on
 * them. */
#define LEAT_ESP_AS_IN_KERNEL
#include "esp_octets_test.h"

TAP_MAIN(T(the_checks_are_the_codecs), T(every_truncation_is_short_or_worse),
         T(what_is_written_back_is_what_the_codec_encodes), T(words_are_big_endian_in_the_octets),
         T(the_crc_is_that_of_the_vectors))
