#!/bin/sh
# Random networks on devices have the results of the processor, with other seeds until so many were compared.
# usage: devices.sh DEVICE_NET_TEST NETWORKS SEED
set -eu
done=0
seed=$3
while [ "$done" -lt "$2" ]; do
    out=$(LEAT_SEED=$seed "$1") || {
        echo "$out"
        exit 1
    }
    case $out in *skipped*)
        echo "$out"
        exit 0
        ;;
    esac
    done=$((done + $(echo "$out" | sed -n 's/^# .*: \([0-9]*\) networks$/\1/p' | head -1)))
    seed=$((seed + 1))
done
echo "$done networks on each device, seeds $3 to $((seed - 1)): no difference"
