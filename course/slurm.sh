#!/bin/sh
# slurm.sh SUBMISSIONS [OPTIONS]: a part of a class's marks, as one task of a Slurm array. OPTIONS: of
# python/sm100repo/course/grade_all.py.
#
#   make all                                          # once, on the file system that the nodes share
#   sbatch --array=1-40 course/slurm.sh SUBMISSIONS   # from the repository's root; 40 tasks of two cores each
#   make grade-all SUBMISSIONS=SUBMISSIONS            # when they are done: marks what is not marked yet, writes the CSV
#
# A task marks every fortieth file and keeps each mark, so an array that was stopped is queued again as it is.
#SBATCH --job-name=grade
#SBATCH --cpus-per-task=2
#SBATCH --mem=6G
#SBATCH --time=01:00:00
#SBATCH --output=grade-%A-%a.log
set -eu
cd "${SLURM_SUBMIT_DIR:-.}" # Slurm runs a copy of this file from a folder of its own
submissions=$1
shift
exec python3 -ISB python/sm100repo course.grade_all --build build --jobs "${SLURM_CPUS_PER_TASK:-2}" \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" "$@" "$submissions"
