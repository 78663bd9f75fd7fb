#!/bin/bash
# A sweep as a Slurm job array: every task computes its share of the blocks into one store.
#
#   sbatch slurm_array.sh
#
# Change: the lines of SBATCH to what your cluster wants (add --partition and --account), how flowlimit is activated,
# and the sweep at the end; or give another sweep behind the script's name, sbatch slurm_array.sh timescales --over ...
# STORE is a directory that all nodes see.
#
# If tasks failed or ran out of time, submit it again, with the same --array or any other range (--array=0 is one task
# that does all the rest): what is in the store is not computed again. `flowlimit table STORE` tells what is missing.

#SBATCH --job-name=flowlimit
#SBATCH --array=0-7
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=2G
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --output=flowlimit-%A_%a.log

set -euo pipefail
# . "$HOME/flowlimit/bin/activate"

STORE=${STORE:-$SLURM_SUBMIT_DIR/sweep.zarr}
export NPROC=${SLURM_CPUS_PER_TASK:-1} # threads of XLA, which would take every core of the node
export FLOWLIMIT_CACHE=${FLOWLIMIT_CACHE:-$HOME/.cache/flowlimit/programs} # tasks share what one compiled; `flowlimit warm` fills it

if [ $# -eq 0 ]; then
  set -- fixed-point --over model.init_scale=log:0.01:10:40 --over task.aspect_ratio=lin:0.1:2:40
fi
task=$(((SLURM_ARRAY_TASK_ID - SLURM_ARRAY_TASK_MIN) / SLURM_ARRAY_TASK_STEP))
exec flowlimit sweep "$@" --store "$STORE" --shard "$task/$SLURM_ARRAY_TASK_COUNT"
