#!/bin/sh
# Takes the minutes of a session when it ends. Written by `minutebook install claude-code`;
# `minutebook install claude-code --uninstall` removes it. Returns at once: the work is done
# by a process of its own, which writes to hook.log in the archive.
[ -n "$MINUTEBOOK_HOOK" ] && exit 0
MINUTEBOOK_HOOK=1
MINUTEBOOK_EVENT=$(head -c 65536)
export MINUTEBOOK_HOOK MINUTEBOOK_EVENT
if command -v setsid >/dev/null 2>&1; then
  setsid nohup COMMAND hook </dev/null >/dev/null 2>&1 &
else
  nohup COMMAND hook </dev/null >/dev/null 2>&1 &
fi
exit 0
