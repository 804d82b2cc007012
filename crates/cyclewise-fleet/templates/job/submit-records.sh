#!/bin/sh
# Submits the records' job, then the job that joins them once it has ended, well or not. Prints the ids of both.
set -eu
case $0 in
*/*) CDPATH='' cd -P -- "${0%/*}" ;;
esac
if ! [ -f plan.json ]; then
    echo "$PWD has no plan.json: run this in the folder of the plan" >&2
    exit 2
fi
mkdir -p logs nodes doctor records

id=$(sbatch --parsable records.sbatch)
id=${id%%;*}
echo "records: job $id"
join=$(sbatch --parsable --dependency="afterany:$id" join.sbatch) || {
    folder="'$(printf %s "$PWD" | sed "s/'/'\\\\''/g")'"
    echo "job $id is submitted, but not the job that joins:" >&2
    printf '    %s\n' "cd -P -- $folder && sbatch --dependency=afterany:$id join.sbatch" >&2
    exit 1
}
join=${join%%;*}
echo "join: job $join; its result is logs/join-$join.log and fleet.jsonl"
