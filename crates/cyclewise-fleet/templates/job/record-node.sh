#!/bin/sh
# One node's part: what `doctor` says of it, and its record. `sh record-node` does it on this machine without Slurm, and writes the
# node's name to nodes/, or to the file that is its argument, so that `fleet join` names the node if it has no record.
set -u
case $0 in
*/*) CDPATH='' cd -P -- "${0%/*}" || exit ;;
esac
program={{ program }}
node=$(uname -n)
if [ -n "${SLURM_JOB_ID:-}" ]; then node=${SLURMD_NODENAME:-$node}; fi
# A name that many machines have stands in no record.
case $(printf %s "$node" | tr '[:upper:]' '[:lower:]') in
localhost | localhost.localdomain | "(none)" | linux) named= ;;
*) named=yes ;;
esac
{%- if let Some(key) = key %}
node=$("$program" fleet names --key {{ key }} "$node") || exit
job=${SLURM_JOB_ID:+$("$program" fleet names --key {{ key }} "$SLURM_JOB_ID")} || exit
{%- else %}
job=${SLURM_JOB_ID:-}
{%- endif %}
name=$node-${job:-$(date -u +%Y%m%dT%H%M%SZ)}
# No two attempts have it: hosts may have one name, and containers of a host one boot.
unique=$(cut -c1-13 /proc/sys/kernel/random/uuid) || exit
mkdir -p nodes doctor records || exit

list=${1:-}
if [ -z "$list$job" ]; then list=nodes/local-$node; fi
if [ -n "$list" ] && [ -n "$named" ]; then
    printf '%s\n' "$node" >"nodes/.$unique.new" || exit
    mv "nodes/.$unique.new" "$list" || exit
elif [ -n "$list" ]; then
    rm -f "$list"
fi

# A job that was requeued does not measure again what it has.
for found in "records/$name"-?????????????.json.gz; do
    if [ -n "$job" ] && [ -e "$found" ]; then exit 0; fi
done
name=$name-$unique

# Files appear at once and whole; `run` does so itself.
(set -C && "$program" doctor --json{% if let Some(key) = key %} --anonymous {{ key }}{% endif %} >"doctor/.$name.new") && mv "doctor/.$name.new" "doctor/$name.json"

# Our option goes first: after a -- it would be none.
exec "$program" {{ subcommand }} --json "records/$name.json.gz" {{ arguments }}
