import { readdirSync, readFileSync, statSync } from "node:fs";
import { type Clock, errorCode } from "@assent/core";
import type { ClaudeSurroundings, ForeignCall } from "@assent/guard";
import { listAncestors } from "@assent/host";
import type { Context } from "../command-line/spec.ts";
import { userHome } from "../store/location.ts";

/** What this hook process can see of the Claude Code that started it. */
export function claudeSurroundings({ io: { env } }: Context, clock: Clock, call: ForeignCall): ClaudeSurroundings {
  return {
    home: userHome(env),
    env,
    read: readIfPresent,
    list: (path) => {
      try {
        return readdirSync(path);
      } catch (error) {
        if (errorCode(error) === "ENOENT") return [];
        throw error;
      }
    },
    startedWith: () => commandLine(Number(env["CLAUDE_PID"])),
    transcript: () => readTranscript(call, clock),
  };
}

function readIfPresent(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new Error(`${path} is not a regular file.`); // opening a FIFO would block this process
  return found ? readFileSync(path, "utf8") : null;
}

/** Only of a process above this one, because the environment may be wrong. Undefined where there is no /proc. */
function commandLine(pid: number): readonly string[] | undefined {
  if (!listAncestors().some((row) => row.pid === pid)) return undefined;
  return readIfPresent(`/proc/${pid}/cmdline`)?.split("\0");
}

const TRIES = 20;
const WAIT_MS = 50;

/** Claude Code writes its transcript a moment after it starts the hook. */
async function readTranscript({ transcript, callId }: ForeignCall, clock: Clock): Promise<string | undefined> {
  if (transcript === undefined || callId === undefined) return undefined;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const text = readIfPresent(transcript);
    if (text?.includes(JSON.stringify(callId))) return text;
    await new Promise<void>((resolve) => clock.timer(WAIT_MS, resolve, { keepsAlive: true }));
  }
  return undefined;
}
