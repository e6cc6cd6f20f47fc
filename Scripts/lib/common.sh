# SPDX-License-Identifier: MIT
# What every script shares: strict mode, the repository's root, headings with seconds. Sourced, never run.
#
# Every Mac has bash 3.2 and the tools of BSD. What these do not know is refused by Scripts/lib/shell.py; above all, an
# array that may be empty is written ${name[@]+"${name[@]}"}.
# shellcheck shell=bash

set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"

is_mac() {
    [ "$(uname -s)" = Darwin ]
}

# A Mac gives a process 256 descriptors, and tests of connections open more.
if is_mac; then ulimit -S -n 4096 2> /dev/null || true; fi

# Warnings are errors here and a private scratch folder keeps these builds from evicting the ones of an editor or a
# plain `swift build`, which use other flags. The nested packages use the same folder and flags, so that Curlew is built
# once for all; SwiftPM would take its plan for one package for that of the next, so it keeps none.
scratch=".build/strict"
# shellcheck disable=SC2034
strict=(
    --scratch-path "$scratch" --disable-build-manifest-caching
    -Xswiftc -warnings-as-errors -Xcc -Wall -Xcc -Wextra -Xcc -Werror
)

# The interpreter that the system's python3-h2 belongs to; a version manager's python3 would not see it.
python() {
    if [ -x /usr/bin/python3 ]; then /usr/bin/python3 "$@"; else python3 "$@"; fi
}

# For what has a meaning on Linux only: elsewhere the script ends with one sentence, and with status 1.
needs_linux() {
    if [ "$(uname -s)" != Linux ]; then die "this needs Linux: $*"; fi
}

# Runs a program for so many seconds at most, and ends it then, with status 142. Not `timeout`, which no Mac has.
bounded() {
    perl -e 'alarm shift; exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\n"' "$@"
}

# Ends the script with one line that says what to do.
die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Runs one named step: a heading, the command, the seconds it took. The first command that fails, also inside a function
# given here, ends the script with its status. (Testing the status with `if` or `||` would switch that off in functions;
# hence the trap.)
step() {
    step_title="$1"
    step_started="$SECONDS"
    shift
    trap report_failed_step EXIT
    printf '\n==> %s\n' "$step_title"
    "$@"
    trap - EXIT
    printf '==> %s: %d s\n' "$step_title" "$((SECONDS - step_started))"
}

report_failed_step() {
    local status=$?
    # The trap runs only when the step did not come to its end; bash 3.2 tells 0 here after an unbound variable.
    if [ "$status" -eq 0 ]; then status=1; fi
    printf '==> FAILED after %d s: %s (status %d)\n' "$((SECONDS - step_started))" "$step_title" "$status" >&2
    exit "$status"
}

# Builds, and prints the folder with the symbol graphs of the modules under Sources: what the compiler knows of public
# declarations. `swift package dump-symbol-graph` would turn on all traits, and so fetch their packages.
symbol_graphs() {
    local log="$scratch/symbolgraph.log" bin map module options=()
    mkdir -p "$scratch"
    if ! swift build --build-tests "${strict[@]}" < /dev/null > "$log" 2>&1; then
        tail -n 40 "$log" >&2
        return 1
    fi
    bin="$(swift build "${strict[@]}" --show-bin-path)"
    if is_mac; then options+=(-sdk "$(xcrun --show-sdk-path)"); fi
    for map in "$bin"/*.build/module.modulemap; do options+=(-Xcc "-fmodule-map-file=$map"); done
    rm -rf "$scratch/symbolgraph"
    mkdir "$scratch/symbolgraph"
    for module in Sources/*; do
        module="${module#Sources/}"
        if [ ! -e "$bin/Modules/$module.swiftmodule" ]; then continue; fi
        if ! swift symbolgraph-extract -module-name "$module" -I "$bin/Modules" ${options[@]+"${options[@]}"} \
            -target "$(swift -print-target-info | sed -n 's/^ *"triple": "\(.*\)",/\1/p' | head -n 1)" \
            -minimum-access-level public -skip-synthesized-members -output-dir "$scratch/symbolgraph" \
            >> "$log" 2>&1 < /dev/null; then
            tail -n 40 "$log" >&2
            return 1
        fi
    done
    echo "$scratch/symbolgraph"
}

# From every line that reports a failure up to the next one that reports progress, then the last lines (a crash, a
# compiler error).
show_failures() {
    awk '
        /^(✘|=+$|WARNING: ThreadSanitizer)/ || / error: / { shown = 1 }
        /^(◇|✔)/ { shown = 0 }
        shown && lines++ < 400
    ' "$1" >&2
    echo "--- last lines" >&2
    tail -n 25 "$1" >&2
}

# Prints the comment block at the head of the running script, as its help text.
usage() {
    awk 'NR > 2 && /^#/ { sub(/^# ?/, ""); print; next } NR > 2 { exit }' "$0"
}
