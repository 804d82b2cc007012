#!/bin/sh
# Buffers from one thread to another, by GStreamer. `-q` prints nothing, so the script does.
#
#     gst.sh GST_LAUNCH LIBRARIES BUFFERS
set -eu
# A copy does not find its elements by where it is.
GST_PLUGIN_SYSTEM_PATH=$(echo /usr/lib*/gstreamer-1.0 /usr/lib/*/gstreamer-1.0 | tr ' ' ':')
export GST_PLUGIN_SYSTEM_PATH
LD_LIBRARY_PATH=$2 "$1" -q fakesrc num-buffers="$3" ! identity ! queue ! fakesink
echo "$3 buffers"
