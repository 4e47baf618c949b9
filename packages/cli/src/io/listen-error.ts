import { errorCode } from "@assent/core";
import { CommandError } from "./failure.ts";

/** Says what to do about a port that cannot be used. */
export function listenError(error: unknown, port: number | undefined): unknown {
  const code = errorCode(error);
  if (code !== "EADDRINUSE" && code !== "EACCES") return error;
  const why = code === "EACCES" ? "may not be used by this user" : "is in use";
  return new CommandError("port_unavailable", 1, { message: `Port ${port} ${why}.`, hint: "Choose another --port, or leave it out." });
}
