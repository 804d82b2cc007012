#!/usr/bin/env bash
# GLib before and after: builds Debian's source package of GLib twice, unchanged and with gatomic-cyclewise.h in its gatomic.h,
# and times programs on both, and on the second in single mode. Nothing of GLib is changed but three lines.
#
#     examples/glib/before-after.sh [--work DIR] [--runs N] [--tests] [--only-build]
#
#     --work DIR     where sources and builds go (default: target/glib); a second run uses what is there
#     --runs N       runs of each command (default 15)
#     --tests        run GLib's own tests of glib and gobject three ways before the measurement
#     --only-build   stop after the builds (and the tests)
#
# Records and what they say go to DIR/records. Exit status: 0 done, 1 a build or a test failed, 3 something is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
crate=$(cd "$here/../.." && pwd)
root=$(cd "$crate/../.." && pwd)

target=${CARGO_TARGET_DIR:-$root/target}
work=$target/glib
runs=15
tests=no
measure=yes
while [ $# -gt 0 ]; do
    case $1 in
        --work) work=$2 && shift ;;
        --runs) runs=$2 && shift ;;
        --tests) tests=yes ;;
        --only-build) measure=no ;;
        *) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    esac
    shift
done

missing=
for package in dpkg-dev gcc meson ninja-build pkg-config libffi-dev libpcre2-dev zlib1g-dev; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
    echo "before-after.sh: packages are missing; on Debian: apt-get install$missing" >&2
    exit 3
fi
mkdir -p "$work"
work=$(cd "$work" && pwd)
cd "$work"

# The source package, by sources of this script's own: most machines list binary packages only.
source_package() {
    mkdir -p apt/parts apt/lists apt/archives/partial
    find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.sources' -exec sed 's/^Types: deb$/Types: deb-src/' {} + \
        >apt/parts/all.sources 2>/dev/null || true
    find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.list' -exec sed -n 's/^deb /deb-src /p' {} + \
        >apt/parts/all.list 2>/dev/null || true
    local own=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/apt/parts"
        -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache=$work/apt")
    apt-get -q "${own[@]}" update && apt-get -q "${own[@]}" source --download-only glib2.0
}
if ! ls glib2.0_*.orig.tar.* >/dev/null 2>&1; then
    source_package >apt.log 2>&1 || {
        echo "before-after.sh: apt-get cannot fetch the source of glib2.0 ($work/apt.log); put glib2.0_VERSION.orig.tar.xz into $work" >&2
        exit 3
    }
fi
for kind in unchanged cyclewise; do
    [ -d "source-$kind" ] && continue
    mkdir "source-$kind"
    tar xf "$(ls glib2.0_*.orig.tar.* | head -1)" --strip-components=1 -C "source-$kind"
done
# Not in C++, where GLib's own macros stay, with LOCK: some of its tests are C++98.
hook='#include <gatomic-cyclewise.h>'
header=source-cyclewise/glib/gatomic.h
grep -qF "$hook" "$header" || sed -i "\$s|^#endif.*|#ifndef __cplusplus\n$hook\n#endif\n&|" "$header"
grep -qF "$hook" "$header" || { echo "before-after.sh: the last line of $header is not #endif: another version of GLib?" >&2 && exit 1; }

echo "== the library and the lab"
(cd "$root" && CARGO_TARGET_DIR=$target cargo build --release --quiet -p cyclewise-c -p cyclewise-lab)
flags="-I$crate/include -I$here"
libraries="-L$target/release -lcyclewise_c -Wl,-rpath,$target/release"
cc -O2 -fPIC -c "$crate/hooks/cyclewise-hooks.c" -o hooks.o
# shellcheck disable=SC2086
cc -O2 -fPIC -shared $flags hooks.o "$here/single.c" $libraries -o single.so

for kind in unchanged cyclewise; do
    echo "== GLib, $kind"
    also=
    [ $kind = unchanged ] || also=$flags
    [ -f "build-$kind/build.ninja" ] || meson setup "build-$kind" "source-$kind" --buildtype=debugoptimized \
        -Dnls=disabled -Dselinux=disabled -Dlibmount=disabled -Dtests=$([ $tests = yes ] && echo true || echo false) \
        "-Dc_args=$also" >"setup-$kind.log"
    # gio depends on the others. Tests run helper programs that they do not depend on.
    built=gio/libgio
    [ $tests = no ] || built='glib/|gobject/|gio/libgio'
    meson introspect "build-$kind" --targets | python3 -c '
import json, re, sys
for target in json.load(sys.stdin):
    for file in target["filename"]:
        file = file.split("/build-'$kind'/")[1]
        if re.match(sys.argv[1], file) and target["type"] in ("executable", "shared library", "shared module"):
            print(file)' "$built" >"targets-$kind.txt"
    xargs ninja -C "build-$kind" <"targets-$kind.txt" >"build-$kind.log" || { tail -n 20 "build-$kind.log" >&2 && exit 1; }
done

# Where the dynamic linker finds a build's libraries.
paths() { printf '%s' "$work/build-$1/gio:$work/build-$1/gobject:$work/build-$1/glib:$work/build-$1/gmodule"; }
b=build-unchanged
# shellcheck disable=SC2086
cc -O2 "$here/workloads.c" -Isource-unchanged{,/glib,/gobject,/gmodule} -I$b -I$b/glib -I$b/gobject -I$b/gio \
    -L$b/gio -L$b/gobject -L$b/glib -Wl,-rpath-link,$b/gmodule -lgio-2.0 -lgobject-2.0 -lglib-2.0 -o workloads

echo "== what is elided"
CW_REPORT=1 LD_LIBRARY_PATH=$(paths cyclewise) LD_PRELOAD=$work/single.so ./workloads hash-table 1 2>&1 | tee elided.txt

# GLib's own tests, without those that fail unchanged.
if [ $tests = yes ]; then
    suite() { # name, build, preload
        meson test -C "build-$2" --suite glib:glib --suite glib:gobject ${3:+"--wrapper=env LD_PRELOAD=$3"} \
            >"tests-$1.log" 2>&1 || true
        sed -n 's/^ *[0-9]*\/[0-9]* *\(.*[^ ]\)  *\(FAIL\|TIMEOUT\|ERROR\).*/\1/p' "tests-$1.log" | sort >"failed-$1.txt"
        grep -q '^Ok:' "tests-$1.log" || { echo "before-after.sh: the tests do not build: $work/tests-$1.log" >&2 && exit 1; }
        printf '%-10s %s\n' "$1" "$(sed -n 's/^\(Ok\|Fail\|Timeout\|Skipped\): */\1 /p' "tests-$1.log" | paste -sd' ')"
    }
    echo "== GLib's own tests"
    suite unchanged unchanged ""
    suite locked cyclewise ""
    suite single cyclewise "$work/single.so"
    new=$(comm -13 failed-unchanged.txt <(sort -u failed-locked.txt failed-single.txt))
    [ -z "$new" ] || { printf 'these fail only with cyclewise:\n%s\n' "$new" >&2 && exit 1; }
fi

[ $measure = yes ] || exit 0
# The three ways as commands of their own, so that records hold no path of this machine.
way() { # name, build, preload
    printf '#!/bin/sh\nexec env LD_LIBRARY_PATH=%s%s ./workloads "$@"\n' "$(paths "$2")" "${3:+ LD_PRELOAD=$3}" >"run-$1"
    chmod +x "run-$1"
}
way unchanged unchanged
way locked cyclewise
way single cyclewise "$work/single.so"
mkdir -p records
for workload in $(./run-unchanged --list); do
    echo "== $workload: unchanged; cyclewise's instructions with LOCK; in single mode"
    "$target/release/cyclewise" time -N -n "$runs" --warmup 1 --json "records/$workload.json" \
        "./run-unchanged $workload" "./run-locked $workload" "./run-single $workload"
    "$target/release/cyclewise" report "records/$workload.json"
done
