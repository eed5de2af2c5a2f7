#!/bin/sh
# install.sh put|take BUILD: puts what make built in BUILD into bindir, libdir, mandir and docdir (variables of the
# environment), each below DESTDIR, or takes it away again with the folders that are its own.
#
# A file comes under another name and gets its own by one rename, the launcher last: an installation that is cut short
# leaves each file whole, old or new, and a program that runs keeps the library it has. What a kill leaves under the
# other name, the next put or take removes.
set -eu
umask 022
do=$1 build=$2
library=$DESTDIR$libdir/sm100emu
doc=$DESTDIR$docdir
new=
trap '[ -z "$new" ] || rm -f "$new"' EXIT
trap 'exit 1' HUP INT TERM

# place FOLDER NAME COMMAND...: the file NAME in FOLDER, which COMMAND makes under the name it is given last
place() {
    new=$1/.$2.new name=$1/$2
    if [ "$do" = take ]; then
        rm -f "$new" "$name"
        return
    fi
    mkdir -p "$1"
    rm -f "$new"
    shift 2
    "$@" "$new"
    mv -fT "$new" "$name"
    new=
}

place "$library" libsm100emu.so install -m 755 "$build/emulator/libsm100emu.so"
place "$library" libsm100emu-static.so install -m 755 "$build/emulator/libsm100emu-static.so"
for link in libcudart.so.12 libcudart.so.13 libcuda.so.1 libcute_dsl_runtime.so; do
    place "$library" $link ln -s libsm100emu.so
done
place "$library/python" sitecustomize.py install -m 644 "$build/emulator/python/sitecustomize.py"
place "$library" ptxas install -m 755 "$build/emulator/ptxas"
place "$DESTDIR$mandir/man1" sm100emu.1 install -m 644 "$build/sm100emu.1"
place "$DESTDIR$mandir/man1" sm100emu-log.1 install -m 644 "$build/sm100emu-log.1"
place "$doc" LICENSE install -m 644 LICENSE
place "$DESTDIR$bindir" sm100emu-log install -m 755 "$build/sm100emu-log"
place "$DESTDIR$bindir" sm100emu install -m 755 "$build/sm100emu"

if [ "$do" = put ]; then
    echo "installed: $DESTDIR$bindir/sm100emu, its libraries in $library"
else
    rmdir "$library/python" "$library" "$doc" 2>/dev/null || :
fi
