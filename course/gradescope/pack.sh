#!/bin/sh
# pack.sh LESSON: build/grade/autograder-NN.zip, to be uploaded to Gradescope as the autograder of a lesson.
# It holds this commit as course/, and beside it what Gradescope calls: setup.sh once, run_autograder for each hand-in.
set -eu
cd "$(dirname "$0")/../.."
lesson=${1:?usage: pack.sh LESSON, as in pack.sh 04}
mkdir -p build/grade
zip=$PWD/build/grade/autograder-$lesson.zip
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git archive --prefix=course/ HEAD | tar -x -C "$folder"
cp course/gradescope/setup.sh "$folder/setup.sh"
sed "s/@LESSON@/$lesson/" course/gradescope/run_autograder >"$folder/run_autograder"
chmod +x "$folder/setup.sh" "$folder/run_autograder"
rm -f "$zip"
(cd "$folder" && python3 -IS -m zipfile -c "$zip" setup.sh run_autograder course)
echo "$zip"
