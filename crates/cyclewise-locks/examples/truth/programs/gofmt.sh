#!/bin/sh
# gofmt on the same source many times.
#
#     gofmt.sh GOFMT TIMES
set -eu
"$1" $(yes channels.go | head -n "$2") | cksum
