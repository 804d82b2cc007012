#!/bin/sh
# Submits the shards, then the job that joins them once all have ended, well or not. Prints the ids of both.
set -eu
case $0 in
*/*) CDPATH='' cd -- "${0%/*}" ;;
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

ids=
offset=0
while [ "$offset" -lt {{ shards }} ]; do
    last=$(({{ shards }} - offset))
    if [ "$last" -gt {{ array }} ]; then last={{ array }}; fi
    id=$(sbatch --parsable --array="1-$last" array.sbatch "+$offset")
    id=${id%%;*}
    echo "shards $((offset + 1)) to $((offset + last)): job $id"
    ids=$ids:$id
    offset=$((offset + last))
done
id=$(sbatch --parsable --dependency="afterany$ids" join.sbatch)
echo "join: job ${id%%;*}; its result is logs/join-${id%%;*}.log and joined.json"
