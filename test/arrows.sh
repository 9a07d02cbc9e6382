#!/bin/sh
# Dependencies point downwards only. An include of our own may name a header of the file's own
# folder or of a folder that stands below it; rooms of proto/ do not know each other.
set -eu
below() {
    case $1 in
    core) ;;
    proto/*) echo core ;;
    proto) echo core proto/atm proto/aton proto/esp proto/packetway proto/poets ;;
    port) echo core ;;
    sim) echo core proto proto/atm proto/aton proto/esp proto/packetway proto/poets port ;;
    sim/net) echo core sim port ;;
    sim/ring) echo core proto/aton sim port ;;
    sim/ether) echo core sim port ;;
    sim/esp) echo core proto/esp sim ;;
    sim/pktway) echo core proto/atm proto/aton proto/packetway sim sim/net sim/ring sim/ether port ;;
    live) echo core proto proto/atm proto/aton proto/esp proto/packetway proto/poets port ;;
    live/ring) echo core proto/aton live ;;
    live/esp) echo core proto/esp live ;;
    live/pktway) echo core proto/packetway live ;;
    program) echo core proto proto/atm proto/aton proto/esp proto/packetway proto/poets port ;;
    program/poets) echo core proto/poets port ;;
    program/mpi) echo program/poets ;;
    program/*) echo core port program program/clock ;;
    tool) echo core proto proto/atm proto/aton proto/esp proto/packetway proto/poets port sim sim/net sim/ring sim/ether sim/esp sim/pktway live live/ring live/esp live/pktway program program/pvm program/atm program/poets ;;
    bench) echo core proto proto/atm proto/aton proto/esp proto/packetway proto/poets port sim sim/net sim/ring sim/ether sim/esp sim/pktway live live/ring live/esp live/pktway program ;;
    *) echo "unknown layer $1" >&2; exit 1 ;;
    esac
}
bad=0
for dir in core proto proto/* port sim sim/net sim/ring sim/ether sim/esp sim/pktway live live/* program program/* tool bench; do
    [ -d "$dir" ] || continue
    allowed="$dir $(below "$dir")"
    for file in "$dir"/*.c "$dir"/*.h; do
        [ -e "$file" ] || continue
        for header in $(sed -n 's/^#include "\(.*\)"$/\1/p' "$file"); do
            case $file in *_test.[ch]) [ -e "test/$header" ] && continue ;; esac
            # Programs reach networks through port/, but their tests need one.
            case $file in program/*_test.[ch]) [ -e "sim/$header" ] && continue ;; esac
            found=
            for where in $allowed; do
                [ -e "$where/$header" ] && found=yes && break
            done
            [ -n "$found" ] || { echo "$file: \"$header\" does not lie below $dir"; bad=1; }
        done
    done
done
# Clocks, threads, files and sockets do not exist in core/, proto/ and sim/ (tests apart).
for header in time.h pthread.h threads.h stdio.h unistd.h fcntl.h sys/socket.h; do
    hits=$(grep -ln "^#include <$header>" core/*.[ch] proto/*.[ch] proto/*/*.[ch] sim/*.[ch] sim/*/*.[ch] | grep -v '_test\.[ch]$\|_fuzz\.c$' || true)
    [ -z "$hits" ] || { echo "<$header> in: $hits"; bad=1; }
done
exit $bad
