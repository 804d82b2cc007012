#!/bin/sh
# A redis server that answers a fixed number of SET, GET and INCR over loopback and is then shut down. This process becomes the server, and the
# client is no child of it: who waits for this process gets the server's CPU time alone.
#
#     redis.sh SERVER LIBRARIES REQUESTS PORT
set -eu
server=$1 libraries=$2 requests=$3 port=$4
self=$$

ask() { redis-cli -h 127.0.0.1 -p "$port" "$@"; }

load() {
    tries=0
    # Another server may have the port: it is not to be loaded, and not to be shut down.
    until ask info server 2>/dev/null | grep -q "^process_id:$self[^0-9]*\$"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 600 ] || ! kill -0 "$self" 2>/dev/null; then
            echo "redis.sh: the server does not answer on port $port" >&2
            kill "$self" 2>/dev/null || true
            return
        fi
        sleep 0.1
    done
    redis-benchmark -h 127.0.0.1 -p "$port" -q -P 16 -n "$requests" -t set,get,incr >/dev/null 2>&1 || true
    echo "$(ask get counter:__rand_int__) increments, $(ask dbsize) keys"
    ask shutdown nosave >/dev/null 2>&1 || true
}

# The inner shell's parent ends at once.
(load &)
[ -z "$libraries" ] || export LD_LIBRARY_PATH="$libraries"
exec "$server" --port "$port" --bind 127.0.0.1 --save '' --appendonly no --daemonize no --loglevel warning >&2
