#!/bin/sh
# Submits the records' job, then the job that joins them once it has ended, well or not. Prints the ids of both.
set -eu
case $0 in
*/*) CDPATH='' cd -- "${0%/*}" ;;
esac
if ! [ -f plan.json ]; then
    echo "$PWD has no plan.json: run this in the folder of the plan" >&2
    exit 2
fi
mkdir -p logs nodes doctor records

id=$(sbatch --parsable records.sbatch)
id=${id%%;*}
echo "records: job $id"
id=$(sbatch --parsable --dependency="afterany:$id" join.sbatch)
echo "join: job ${id%%;*}; its result is logs/join-${id%%;*}.log and fleet.jsonl"
