#!/bin/sh
# The text of a document of drawings, by poppler. The machine's own rsvg-convert makes the document.
#
#     pdf.sh PDFTOTEXT LIBRARIES TIMES
set -eu
[ -e work.pdf ] || {
    {
        echo '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="2000">'
        for i in $(seq 1500); do echo "<text x='$((i * 11 % 500))' y='$((i * 17 % 1990))' font-size='6'>label $i of many</text>"; done
        echo '</svg>'
    } > work.svg
    rsvg-convert -f pdf -o work.pdf work.svg
}
for _ in $(seq "$3"); do LD_LIBRARY_PATH=$2 "$1" work.pdf -; done | cksum
