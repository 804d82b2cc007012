#!/bin/sh
# Submits the shards, then the job that joins them once all have ended, well or not. Prints the ids of both. `sh submit OFFSET IDS`
# goes on after the first OFFSET shards, which the jobs IDS make; it is printed where a submission fails.
set -eu
case $0 in
*/*) CDPATH='' cd -P -- "${0%/*}" ;;
esac
if ! [ -f plan.json ]; then
    echo "$PWD has no plan.json: run this in the folder of the plan" >&2
    exit 2
fi
mkdir -p logs shards

# Slurm refuses array indices from MaxArraySize on.
most=$(scontrol show config | sed -n 's/^MaxArraySize *= *//p')
if [ "${most:-1001}" -le {{ array }} ]; then
    echo "this cluster has MaxArraySize=$most, so arrays end at $((most - 1)), but this one ends at {{ array }}: plan again with" \
        "--shards $((most - 1)), or less" >&2
    exit 3
fi

offset=${1:-0}
ids=${2:-}
failed() {
    if [ -n "$ids" ]; then
        folder="'$(printf %s "$PWD" | sed "s/'/'\\\\''/g")'"
        echo "submitted are shards 1 to $offset as jobs$(printf %s "$ids" | tr : ' '), but not the rest, nor the job that joins. All the rest:" >&2
        printf '    %s\n' "cd -P -- $folder && sh submit $offset $ids" >&2
        echo "Only the join of what is submitted:" >&2
        printf '    %s\n' "cd -P -- $folder && sbatch --dependency=afterany$ids join.sbatch" >&2
    fi
    exit 1
}
while [ "$offset" -lt {{ shards }} ]; do
    last=$(({{ shards }} - offset))
    if [ "$last" -gt {{ array }} ]; then last={{ array }}; fi
    id=$(sbatch --parsable --array="1-$last" array.sbatch "+$offset") || failed
    id=${id%%;*}
    echo "shards $((offset + 1)) to $((offset + last)): job $id"
    ids=$ids:$id
    offset=$((offset + last))
done
id=$(sbatch --parsable --dependency="afterany$ids" join.sbatch) || failed
echo "join: job ${id%%;*}; its result is logs/join-${id%%;*}.log and joined.json"
