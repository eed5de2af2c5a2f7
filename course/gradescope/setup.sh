#!/bin/sh
# setup.sh: run once by Gradescope, as root, when it makes the image: compilers, and all that can be built before a
# hand-in.
set -eu
apt-get install -y make gcc g++ python3 python3-pip
cd /autograder/source/course
make all
