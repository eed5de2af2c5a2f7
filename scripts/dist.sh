#!/bin/sh
# dist.sh: the commit that is checked out as build/sm100emu-VERSION.tar.gz. Its bytes depend on the commit alone: the
# files' time is the commit's, their modes are git's own, and gzip notes neither name nor time.
set -eu
cd "$(dirname "$0")/.."

die() {
    echo "dist: the tarball is made of a commit, $1" >&2
    exit 1
}
below=$(git rev-parse --show-prefix 2>&1) || die "and git says: $below"
[ -z "$below" ] || die "and this folder is no repository, but lies in another's $below"
[ -z "$(git status --porcelain)" ] || echo "dist: what is not committed is left out" >&2

name=sm100emu-$(git show HEAD:VERSION)
mkdir -p build
git -c tar.umask=0022 -c core.autocrlf=false archive --format=tar --prefix="$name/" -o "build/$name.tar" HEAD
gzip -nf9 "build/$name.tar"
echo "build/$name.tar.gz"
