# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by `quick` and `faces`: lanes of tests that run beside each other. A lane runs the lines of its standard input one
# after another. The output of a test is printed whole when the test has ended, with its time.
failures=$(mktemp)
trap 'rm -f "$failures"' EXIT

once() { # SCRIPT ARGUMENT…
    local output from=$SECONDS verdict=ok
    output=$(mktemp)
    timeout 900 python3 "$@" >"$output" 2>&1 </dev/null || verdict=FAILED
    [ "$verdict" = ok ] || echo "$*" >>"$failures"
    (
        flock 9
        cat "$output"
        echo "$verdict $* ($((SECONDS - from)) s)"
        [ "$verdict" = ok ] || tail -n 8 "$output" | sed 's/^/FAILED |/'
    ) 9<"$failures"
    rm -f "$output"
}

lane() {
    local -a command
    while read -r -a command; do
        [ "${#command[@]}" = 0 ] || once "${command[@]}"
    done
}

lanes_end() { # the exit status of all of them
    wait
    [ ! -s "$failures" ]
}
