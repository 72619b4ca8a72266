#!/bin/sh
# Starts the workfile binary: the one on PATH, else the one in the plugin's data directory.
# A hook never fails and prints nothing of its own, but for one message at the start of a session.

if [ "$1" = hook ]; then
    # A binary that cannot be started must not look like a decision.
    trap 'exit 0' EXIT
    [ -z "${BASH_VERSION-}" ] || shopt -s execfail
fi

# The host puts a plugin's bin/ on the shell tool's PATH, and there may be several copies of this file: one that was
# passed through already is not started again.
seen=${WORKFILE_LAUNCHERS-}:$0

# Relative entries are left out: the current directory belongs to the repository.
set -f
IFS=:
for folder in ${PATH-} ${CLAUDE_PLUGIN_DATA:+"$CLAUDE_PLUGIN_DATA/bin"}; do
    case $folder in /*) ;; *) continue ;; esac
    program=${folder%/}/workfile
    [ -f "$program" ] && [ -x "$program" ] || continue
    for launcher in $seen; do
        [ ! "$program" -ef "$launcher" ] || continue 2
    done
    export WORKFILE_LAUNCHERS="$seen"
    exec "$program" "$@"
done

case "$1 $2" in
    "hook session-start")
        printf '%s\n' '@MISSING@'
        ;;
    "hook "*) ;;
    *)
        echo 'workfile: the binary is not installed; `cargo install --git https://github.com/illodev/workfile` puts it on PATH' >&2
        exit 127
        ;;
esac
exit 0
