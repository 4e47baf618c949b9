import { appendFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { LedgerEvent } from "@assent/core";
import type { Context } from "../command-spec.ts";

/** What may stand in a log: names, ids and states, never what somebody wrote. So there is nothing in it that would have to be hidden. */
const TOLD: readonly string[] = [
  ...["tool", "kind", "verdict", "outcome", "reason", "source", "type", "mode", "from", "to", "turn", "model", "exit", "durationMs"],
  ...["call", "callId", "approval", "question", "proposal", "task", "schedule", "notice", "session", "stop", "status", "hook", "event"],
];

/** Every event of a run in one line, for whoever looks for a fault: to the file that ASSENT_LOG names, or with `--verbose` to stderr. */
export function debugLog({ io, options }: Context): (event: LedgerEvent) => void {
  const { ASSENT_LOG: file } = io.env;
  if (!file && !options.flag("verbose")) return () => undefined;
  let last: Promise<void> = Promise.resolve();
  const write = (line: string): Promise<void> => (file ? appendFile(resolve(io.cwd, file), line, { mode: 0o600 }) : io.stderr.write(line));
  return (event) => {
    const line = logLine(event);
    last = last.then(() => write(line)).catch(() => undefined); // a log that cannot be written changes nothing
  };
}

function logLine({ at, session, seq, type, body }: LedgerEvent): string {
  const told = Object.entries(body).flatMap(([name, value]) =>
    TOLD.includes(name) && (typeof value === "string" || typeof value === "number")
      ? [`${name}=${JSON.stringify(value).slice(0, 200)}`]
      : [],
  );
  return `${at} ${session}#${seq} ${type} ${told.join(" ")}\n`;
}
