#!/bin/sh
# The same without Slurm: `sh local HOST...` measures hosts over ssh, all at once; they must see this folder under this name. Without
# hosts it measures this machine. With GNU parallel:
#
#     parallel --nonall --sshlogin host1,host2 --workdir "$PWD" sh record-node
#     {{ program }} fleet join .
set -u
case $0 in
*/*) CDPATH='' cd -- "${0%/*}" || exit ;;
esac
program={{ program }}
mkdir -p logs nodes doctor records

if [ "$#" -eq 0 ]; then
    sh ./record-node
else
    # The folder's name as a word for the remote shell.
    folder="'$(printf %s "$PWD" | sed "s/'/'\\\\''/g")'"
    for host; do
        ssh -- "$host" "cd -- $folder && exec sh ./record-node" </dev/null &
    done
    wait
fi

# It names the nodes that failed.
exec "$program" fleet join .
