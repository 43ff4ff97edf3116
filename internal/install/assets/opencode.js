// lictor: written by `lictor install opencode`, removed by `lictor uninstall opencode`.
// Every tool call is sent to lictor first. Whatever is not a clear yes throws, and
// a call whose hook throws does not run.
import { spawn } from "node:child_process"

const command = __COMMAND__
const limit = __LIMIT__
const tell = __TELL__

function refuse(why) {
  return new Error("lictor: " + why)
}

function ask(event) {
  return new Promise((resolve, reject) => {
    let out = ""
    let err = ""
    const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      reject(refuse("no decision within " + limit + " ms"))
    }, limit)
    child.on("error", (e) => {
      clearTimeout(timer)
      reject(refuse("could not be run: " + e.message))
    })
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text))
    child.stderr.setEncoding("utf8").on("data", (text) => (err += text))
    child.on("close", (code) => {
      clearTimeout(timer)
      let answer
      try {
        answer = JSON.parse(out)
      } catch {
        return reject(refuse(err.trim() || "gave no answer (exit code " + code + ")"))
      }
      if (answer === null || typeof answer !== "object") return reject(refuse("gave no answer"))
      if (answer.decision !== "allow") return reject(new Error(String(answer.reason || "lictor: denied")))
      if (code !== 0) return reject(refuse("failed with exit code " + code))
      resolve(answer)
    })
    child.stdin.end(JSON.stringify(event))
  })
}

export const Lictor = async ({ directory, worktree }) => {
  const project = worktree && worktree !== "/" ? worktree : directory
  const agents = new Map()
  const base = (input) => ({
    tool: input.tool,
    sessionID: input.sessionID,
    callID: input.callID,
    cwd: directory,
    project,
    agent: agents.get(input.sessionID),
  })
  return {
    // The plan agent's calls are plan mode's.
    "chat.message": async (input, output) => {
      const agent = input?.agent ?? output?.message?.agent
      if (typeof agent === "string" && input?.sessionID) agents.set(input.sessionID, agent)
    },
    "tool.execute.before": async (input, output) => {
      const answer = await ask({ event: "tool.execute.before", ...base(input), args: output.args ?? {} })
      if (answer.args && typeof answer.args === "object") {
        for (const key of Object.keys(output.args)) delete output.args[key]
        Object.assign(output.args, answer.args)
      }
    },
    "tool.execute.after": async (input, output) => {
      if (!tell) return
      try {
        const response = { title: output?.title, output: output?.output }
        await ask({ event: "tool.execute.after", ...base(input), args: input.args ?? {}, output: response })
      } catch {
        // The call ran already: there is nothing left to stop.
      }
    },
  }
}
