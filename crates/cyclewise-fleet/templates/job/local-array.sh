#!/bin/sh
# The same without Slurm, on this machine: `sh local [TASKS]` computes TASKS shards at a time [default: one for each CPU], and joins.
#
# On several machines that see this folder under this name, with GNU parallel:
#
#     seq {{ shards }} | parallel --sshlogin host1,host2 --workdir "$PWD" sh array.sbatch {}
#     {{ program }} fleet join .
set -u
case $0 in
*/*) CDPATH='' cd -P -- "${0%/*}" || exit ;;
esac
tasks=${1:-$(getconf _NPROCESSORS_ONLN)}
mkdir -p logs shards
program={{ program }}

# xargs starts no more tasks once a signal ends one, so a shell around each says 1 instead.
i=1
while [ "$i" -le {{ shards }} ]; do
    echo "$i"
    i=$((i + 1))
done | xargs -P "$tasks" -n 1 sh -c 'sh array.sbatch "$1" || exit 1' sh

# It names the shards that failed.
exec "$program" fleet join .
