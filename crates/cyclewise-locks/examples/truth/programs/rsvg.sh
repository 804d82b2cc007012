#!/bin/sh
# A drawing of shapes, gradients and text, by librsvg, cairo and pango.
#
#     rsvg.sh RSVG_CONVERT LIBRARIES
set -eu
[ -e work.svg ] || {
    echo '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300">'
    for i in $(seq 1600); do
        echo "<g opacity='0.9'><rect x='$((i * 7 % 290))' y='$((i * 13 % 290))' width='9' height='7' fill='#$((i % 900 + 100))'/>"
        echo "<text x='$((i * 11 % 280))' y='$((i * 17 % 290))' font-size='6'>label $i</text></g>"
    done
    echo '</svg>'
} > work.svg
LD_LIBRARY_PATH=$2 "$1" work.svg | cksum
