#!/bin/sh
# JSON read into boxed values of GLib and written again, many times.
#
#     json.sh JSON_GLIB_FORMAT LIBRARIES TIMES
set -eu
[ -e work.json ] || {
    echo '['
    for i in $(seq 2000); do echo "{\"id\": $i, \"name\": \"item $i\", \"tags\": [$((i % 7)), $((i % 11)), null, true], \"price\": $i.5},"; done
    echo '0]'
} > work.json
LD_LIBRARY_PATH=$2 "$1" -p $(yes work.json | head -n "$3") | cksum
