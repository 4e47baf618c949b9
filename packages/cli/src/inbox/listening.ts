import { withTimer } from "../compose/keep-alive.ts";
import { CommandError } from "../io/failure.ts";

/** Keeps the process alive until the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return withTimer(() => new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve()))));
}

/** Says what to do about a port that cannot be used. */
export function listenError(error: unknown, port: number | undefined): unknown {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  if (code !== "EADDRINUSE" && code !== "EACCES") return error;
  const why = code === "EACCES" ? "may not be used by this user" : "is in use";
  return new CommandError("port_unavailable", 1, { message: `Port ${port} ${why}.`, hint: "Choose another --port, or leave it out." });
}
