#!/bin/sh
# install.sh ROOT PRODUCTS PROGRAM: `make install` puts the emulator where the GNU variables say, with and without
# DESTDIR, for root and for another user; PROGRAM runs there, also when the prefix has moved; an installation that is cut
# short leaves whole files; `make uninstall` leaves what it found. It works on a copy of ROOT and of what PRODUCTS holds.
# shellcheck source=tests/tools/shared.sh
. "$(dirname "$0")/shared.sh"
root=$1 products=$2 program=$3
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR PREFIX
umask 022
chmod 755 "$scratch"
tree="$scratch/the tree"
copy "$tree"
cp "$program" "$scratch/program"
cd "$tree" || exit 1

# found DIR: its files and links, then its folders, a line each, sorted
found() {
    (cd "$1" && find . ! -type d | LC_ALL=C sort && find . -type d -name sm100emu | LC_ALL=C sort)
}
whole='./bin/sm100emu
./bin/sm100emu-log
./lib/sm100emu/libcuda.so.1
./lib/sm100emu/libcudart.so.12
./lib/sm100emu/libcudart.so.13
./lib/sm100emu/libcute_dsl_runtime.so
./lib/sm100emu/libsm100emu-static.so
./lib/sm100emu/libsm100emu.so
./lib/sm100emu/ptxas
./lib/sm100emu/python/sitecustomize.py
./share/doc/sm100emu/LICENSE
./share/man/man1/sm100emu-log.1
./share/man/man1/sm100emu.1
./lib/sm100emu
./share/doc/sm100emu'
# whole WHAT DIR: all that is wanted, and nothing else
whole() {
    [ "$(found "$2")" = "$whole" ] || failed "$1: $2 holds: $(found "$2")"
}
# gone WHAT DIR
gone() {
    [ -z "$(found "$2")" ] || failed "$1: uninstall leaves $(found "$2")"
}
# runs WHAT LAUNCHER: the step passes on it, and nothing but its own libraries is in play
runs() {
    (cd "$scratch" && "$2" ./program) >"$scratch/log" 2>&1 && grep -q '^PASS' "$scratch/log" ||
        failed "$1: $2 ./program: $(tail -3 "$scratch/log")"
}
# making ARGS: make, quiet where all is well
making() { answers 0 '*' make "$@"; }

making install PREFIX="$scratch/a prefix"
whole 'PREFIX' "$scratch/a prefix"
runs 'PREFIX' "$scratch/a prefix/bin/sm100emu"
same 'the versions of the launcher and the man page' \
    "$("$scratch/a prefix/bin/sm100emu" --version):$(grep '^\.Os' "$scratch/a prefix/share/man/man1/sm100emu.1")" \
    "sm100emu $(cat VERSION):.Os \"sm100emu $(cat VERSION)\""
making install PREFIX="$scratch/a prefix"
whole 'a second time' "$scratch/a prefix"
mv "$scratch/a prefix" "$scratch/moved"
runs 'moved' "$scratch/moved/bin/sm100emu"
mkdir "$scratch/path"
ln -s ../moved/bin/sm100emu "$scratch/path/sm100emu"
runs 'by a link' "$scratch/path/sm100emu"
: >"$scratch/moved/bin/other"
: >"$scratch/moved/lib/sm100emu/other"
making uninstall PREFIX="$scratch/moved"
[ "$(found "$scratch/moved")" = './bin/other
./lib/sm100emu/other
./lib/sm100emu' ] || failed "uninstall beside others' files: $(found "$scratch/moved")"

making install DESTDIR="$scratch/stage" PREFIX=/opt/emulator
whole 'DESTDIR' "$scratch/stage/opt/emulator"
runs 'DESTDIR' "$scratch/stage/opt/emulator/bin/sm100emu"
making uninstall DESTDIR="$scratch/stage" PREFIX=/opt/emulator
gone 'DESTDIR' "$scratch/stage"

dirs="prefix=/usr libdir=/usr/lib64/deep mandir=/usr/man bindir=/usr/games"
# shellcheck disable=SC2086
making install DESTDIR="$scratch/stage" $dirs
[ -f "$scratch/stage/usr/man/man1/sm100emu.1" ] || failed 'mandir is not heeded'
[ -f "$scratch/stage/usr/lib64/deep/sm100emu/libsm100emu.so" ] || failed 'libdir is not heeded'
runs 'bindir and libdir' "$scratch/stage/usr/games/sm100emu"
# shellcheck disable=SC2086
making uninstall DESTDIR="$scratch/stage" $dirs
gone 'bindir and libdir' "$scratch/stage"

# Cut short: the old emulator is one byte longer than the new, which `install` hands over by halves until it is stopped.
mkdir "$scratch/bin"
stand_in "$scratch/bin/install" <<'STAND_IN'
# install -m MODE SOURCE TARGET: half of SOURCE, and the end of the script at the file that STOP_AT names
[ "${3##*/}" = "$STOP_AT" ] || exec /usr/bin/env PATH="${PATH#*:}" install "$@"
head -c 500 "$3" >"$4"
kill -"$SIGNAL" $PPID
STAND_IN
for stop in libsm100emu.so sm100emu.1 LICENSE sm100emu; do
    for signal in TERM KILL; do
        making install PREFIX="$scratch/cut"
        for file in $(cd "$scratch/cut" && find . -type f); do echo >>"$scratch/cut/$file"; done
        cp -a "$scratch/cut" "$scratch/old"
        PATH="$scratch/bin:$PATH" STOP_AT=$stop SIGNAL=$signal \
            make install PREFIX="$scratch/cut" >"$scratch/log" 2>&1 &&
            failed "an installation stopped at $stop by $signal succeeds"
        for file in bin/sm100emu=sm100emu lib/sm100emu/libsm100emu.so=emulator/libsm100emu.so; do
            cmp -s "$scratch/cut/${file%=*}" "$scratch/old/${file%=*}" ||
                cmp -s "$scratch/cut/${file%=*}" "build/${file#*=}" ||
                failed "stopped at $stop by $signal: ${file%=*} is neither old nor new"
        done
        [ $signal = KILL ] || whole "stopped at $stop by $signal" "$scratch/cut"
        runs "stopped at $stop by $signal" "$scratch/cut/bin/sm100emu"
        if [ $stop = LICENSE ]; then
            making install PREFIX="$scratch/cut"
            whole "after $signal" "$scratch/cut"
        fi
        making uninstall PREFIX="$scratch/cut"
        gone "stopped at $stop by $signal" "$scratch/cut"
        rm -rf "$scratch/cut" "$scratch/old"
    done
done

# Another user, in a tree of that user's own.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    mkdir "$scratch/home"
    chown -R 65534:65534 "$tree" "$scratch/home"
    as="setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=$scratch/home"
    $as make install PREFIX="$scratch/home/.local" >"$scratch/log" 2>&1 || failed "as another: $(cat "$scratch/log")"
    whole 'as another user' "$scratch/home/.local"
    (cd "$scratch" && $as "$scratch/home/.local/bin/sm100emu" ./program) 2>&1 | grep -q '^PASS' ||
        failed 'another user cannot run the program'
    $as make install PREFIX="$scratch/denied" >"$scratch/log" 2>&1 && failed 'no permission is no failure'
    [ ! -e "$scratch/denied" ] || failed 'something came without permission'
    $as make uninstall PREFIX="$scratch/home/.local" >"$scratch/log" 2>&1 || failed "another: $(cat "$scratch/log")"
    gone 'as another user' "$scratch/home/.local"
else
    echo 'not tried as another user: that takes root and setpriv'
fi
exit $bad
