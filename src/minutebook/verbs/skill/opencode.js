// Takes the minutes of a session whenever OpenCode has finished answering. Written by
// `minutebook install opencode`, and removed by `minutebook install opencode --uninstall`.
// OpenCode does not wait: the work is done by a process of its own, which writes to hook.log
// in the archive.
import { spawn } from "node:child_process"

const command = COMMAND

export const Minutebook = async () => ({
  event: async ({ event }) => {
    if (event.type !== "session.idle" || process.env.MINUTEBOOK_HOOK) return
    const told = { session_id: event.properties.sessionID, reason: "idle" }
    const env = { ...process.env, MINUTEBOOK_HOOK: "1", MINUTEBOOK_EVENT: JSON.stringify(told) }
    const [program, ...words] = [...command, "hook", "--agent", "opencode"]
    const child = spawn(program, words, { detached: true, stdio: "ignore", env })
    child.on("error", () => {})
    child.unref()
  },
})
