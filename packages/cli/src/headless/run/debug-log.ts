import { appendFileSync } from "node:fs";
import { resolve } from "node:path";
import { errorCode, type LedgerEvent } from "@assent/core";
import { createRedactor, type Settings } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";

/** Fields that may be logged: names, ids and states. Secrets in them are redacted. */
const TOLD: readonly string[] = [
  ...["tool", "kind", "verdict", "outcome", "reason", "source", "type", "mode", "from", "to", "turn", "model", "exit", "durationMs"],
  ...["call", "callId", "approval", "question", "proposal", "task", "schedule", "notice", "session", "stop", "status", "hook", "event"],
];

/** Logs every event in one line to the file in ASSENT_LOG, or with `--verbose` to stderr. */
export function debugLog({ io, options }: Context, settings: () => Settings): (event: LedgerEvent) => void {
  const { ASSENT_LOG: file } = io.env;
  if (!file && !options.flag("verbose")) return () => undefined;
  const write = file ? toFile(resolve(io.cwd, file)) : inOrder(io.stderr.write);
  return (event) => write(logLine(event, createRedactor(settings()["redaction.patterns"])));
}

type Write = (line: string) => void;

/** Writes synchronously, so that no line is lost. Errors are ignored. */
function toFile(path: string): Write {
  return (line) => {
    try {
      appendFileSync(path, line, { mode: 0o600 });
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
    }
  };
}

function inOrder(write: (line: string) => Promise<void>): Write {
  let last: Promise<void> = Promise.resolve();
  return (line) => {
    last = last.then(() => write(line)).catch(() => undefined);
  };
}

function logLine({ at, session, seq, type, body }: LedgerEvent, redact: (text: string) => string): string {
  const fields = Object.entries(body).flatMap(([name, value]) =>
    TOLD.includes(name) && (typeof value === "string" || typeof value === "number")
      ? [`${name}=${JSON.stringify(typeof value === "string" ? redact(value) : value).slice(0, 200)}`]
      : [],
  );
  return `${at} ${session}#${seq} ${type} ${fields.join(" ")}\n`;
}
