#!/bin/sh
# Takes the minutes of a session. Written by `minutebook install AGENT`, and removed by
# `minutebook install AGENT --uninstall`. Returns at once: the work is done by a process of
# its own, which writes to hook.log in the archive.
[ -n "$MINUTEBOOK_HOOK" ] && exit 0
MINUTEBOOK_HOOK=1
MINUTEBOOK_EVENT=$(if [ $# -gt 0 ]; then printf %s "$1"; else cat; fi | head -c 65536)
export MINUTEBOOK_HOOK MINUTEBOOK_EVENT
if command -v setsid >/dev/null 2>&1; then
  setsid nohup COMMAND hook --agent AGENT </dev/null >/dev/null 2>&1 &
else
  nohup COMMAND hook --agent AGENT </dev/null >/dev/null 2>&1 &
fi
exit 0
