#!/bin/sh
# One node's part: what `doctor` says of it, and its record. `sh record-node` does it on this machine without Slurm.
set -u
case $0 in
*/*) CDPATH='' cd -- "${0%/*}" || exit ;;
esac
program={{ program }}
{%- if let Some(key) = key %}
node=$("$program" fleet names --key {{ key }} "${SLURMD_NODENAME:-$(uname -n)}") || exit
job=${SLURM_JOB_ID:+$("$program" fleet names --key {{ key }} "$SLURM_JOB_ID")} || exit
{%- else %}
node=${SLURMD_NODENAME:-$(uname -n)}
job=${SLURM_JOB_ID:-}
{%- endif %}
name=$node-${job:-$(date -u +%Y%m%dT%H%M%SZ)}
mkdir -p doctor records || exit

# Files appear at once and whole; `run` does so itself.
"$program" doctor --json{% if let Some(key) = key %} --anonymous {{ key }}{% endif %} >"doctor/.$name.new" && mv "doctor/.$name.new" "doctor/$name.json"

# A job that was requeued does not measure again what it has.
if [ -e "records/$name.json.gz" ]; then
    exit 0
fi
exec "$program" {{ command }} --json "records/$name.json.gz"
