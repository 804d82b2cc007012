#!/bin/sh
# The same without Slurm: `sh local HOST...` measures hosts over ssh, all at once; they must see this folder under this name. Without
# hosts it measures this machine. With GNU parallel:
#
#     parallel --nonall --sshlogin host1,host2 --workdir "$PWD" sh record-node
#     {{ program }} fleet join .
set -u
case $0 in
*/*) CDPATH='' cd -P -- "${0%/*}" || exit ;;
esac
program={{ program }}
mkdir -p logs nodes doctor records || exit

# Ctrl-C ends what was started too.
started=
# shellcheck disable=SC2086 # One word is one process.
trap 'trap "" INT TERM; kill $started 2>/dev/null; wait; exit 130' INT TERM

if [ "$#" -eq 0 ]; then
    sh ./record-node &
    started=$!
else
    # The folder's name as a word for the remote shell.
    folder="'$(printf %s "$PWD" | sed "s/'/'\\\\''/g")'"
    # The hosts that must have a record: one that is not reached stays under the name that was given.
    for host; do
{%- if let Some(key) = key %}
        node=$("$program" fleet names --key {{ key }} "$host") || exit
{%- else %}
        node=$host
{%- endif %}
        list=nodes/local-$(printf %s "$node" | tr -c '[:alnum:].@_-' _)
        printf '%s\n' "$node" >"$list" || exit
        # With a terminal (-tt) what runs there ends with the connection.
        ssh -tt -- "$host" "cd -P -- $folder && exec sh ./record-node $list" </dev/null &
        started="$started $!"
    done
fi
wait

# It names the nodes that failed.
exec "$program" fleet join .
