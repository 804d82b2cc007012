#!/bin/sh
# One node's part: what `doctor` says of it, and its record. `sh record-node` does it on this machine without Slurm.
set -u
case $0 in
*/*) CDPATH='' cd -- "${0%/*}" || exit ;;
esac
program={{ program }}
name=${SLURMD_NODENAME:-$(uname -n)}-${SLURM_JOB_ID:-$(date -u +%Y%m%dT%H%M%SZ)}
mkdir -p doctor records || exit

# Files appear at once and whole; `run` does so itself.
"$program" doctor --json >"doctor/.$name.new" && mv "doctor/.$name.new" "doctor/$name.json"

# A job that was requeued does not measure again what it has.
if [ -e "records/$name.json.gz" ]; then
    exit 0
fi
exec "$program" {{ command }} --json "records/$name.json.gz"
