#!/bin/sh
# dist.sh ROOT: `make dist` gives the commit's files and the same bytes twice, later, and in another clone with other
# settings; it refuses where there is no commit of its own; and the tarball installs without git and without nvcc. It
# works on a repository of its own, made of the files that git knows in ROOT.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1
unset MAKEFLAGS MFLAGS MAKELEVEL
git -C "$root" rev-parse HEAD >/dev/null 2>&1 || {
    echo 'skipped: no git, or no repository here'
    exit 77
}
tarball=build/sm100emu-$(cat "$root/VERSION").tar.gz
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CEILING_DIRECTORIES="$scratch"

# dist DIR [VAR=value]...: makes the tarball of DIR
dist() {
    where=$1
    shift
    (cd "$where" && env "$@" make dist) >"$scratch/log" 2>&1 || failed "make dist in $where: $(cat "$scratch/log")"
}
alike() { cmp "$scratch/first.tar.gz" "$2/$tarball" || failed "$1: other bytes"; }

mkdir "$scratch/one"
(cd "$root" && git ls-files -z | xargs -0 cp -a --parents -t "$scratch/one") || exit 1
cd "$scratch/one" || exit 1
git init -q . && git add -A && git -c user.name=n -c user.email=e commit -qm 'all' --date=2020-01-02T03:04:05Z || exit 1
dist .
cp "$tarball" "$scratch/first.tar.gz"
[ "$(tar tzf "$tarball" | grep -v '/$' | sort)" = \
    "$(git ls-files | sed "s|^|sm100emu-$(cat VERSION)/|" | sort)" ] || failed 'the tarball is not what git knows'

sleep 1
find . -path ./.git -prune -o -type f -exec touch {} +
chmod -R go-rwx common
dist .
alike 'a second later' .
(umask 077 && git clone -q "$scratch/one" "$scratch/two")
git -C "$scratch/two" config tar.umask 0077
git -C "$scratch/two" config core.autocrlf true
dist "$scratch/two" TZ=Asia/Tokyo
alike 'in another clone' "$scratch/two"
echo >>README.md
dist .
alike 'with a change that is not committed' .
grep -q 'what is not committed is left out' "$scratch/log" || failed 'nothing is said of the change'

tar xzf "$tarball" -C "$scratch" || failed 'tar'
cd "$scratch/sm100emu-"* || exit 1
refused='*dist: the tarball is made of a commit, and *'
answers 2 "$refused" make dist # outside git
git init -q "$scratch"
answers 2 "$refused" env GIT_CEILING_DIRECTORIES='' make dist # in another's repository

# Commands that must not be needed say that they were called. Compiled without optimisation, which is soon done.
mkdir "$scratch/bin"
for tool in git nvcc python3 pip curl wget; do
    printf 'echo "%s $*" >>"%s/called"\nexit 1\n' $tool "$scratch" | stand_in "$scratch/bin/$tool"
done
PATH="$scratch/bin:$PATH" make install PREFIX="$scratch/prefix" OPT=-O0 >"$scratch/log" 2>&1 ||
    failed "the tarball does not install: $(tail -20 "$scratch/log")"
[ ! -e "$scratch/called" ] || failed "make install called: $(cat "$scratch/called")"
[ "$("$scratch/prefix/bin/sm100emu" --version)" = "sm100emu $(cat VERSION)" ] || failed 'it does not run'
exit $bad
