#!/bin/sh
# A search of several threads in many small files, sorted, because threads end in any order.
#
#     rg.sh RG LIBRARIES
set -eu
if [ ! -e texts ]; then
    mkdir texts.new
    for i in $(seq 400); do seq "$i" 3 40000 > texts.new/$i; done
    mv texts.new texts
fi
LD_LIBRARY_PATH=$2 "$1" --no-config -j 4 -c '^(1.3|[24].*[68]9)' texts | sort | cksum
