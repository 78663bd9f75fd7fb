#!/bin/bash
# One big problem over the devices of several nodes: a process a task, joined by jax.distributed.
#
#   sbatch slurm_distributed.sh
#
# Change: the lines of SBATCH (a task for each GPU, --gpus-per-task=1; or one for each node), how flowlimit is activated,
# and in slurm_distributed.py, which lies beside this script, the problem. If one process dies, all end: for many problems
# use slurm_array.sh or slurm_dask.py.

#SBATCH --job-name=flowlimit
#SBATCH --ntasks=2
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=4G
#SBATCH --time=01:00:00
#SBATCH --output=flowlimit-%j.log

set -euo pipefail
# . "$HOME/flowlimit/bin/activate"

export NPROC=${SLURM_CPUS_PER_TASK:-1} # threads of XLA on a CPU
srun --kill-on-bad-exit=1 python "${SCRIPT:-$SLURM_SUBMIT_DIR/slurm_distributed.py}" "$@"
