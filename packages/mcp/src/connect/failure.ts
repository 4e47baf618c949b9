import { errorCode, messageOf } from "@assent/core";
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from "@modelcontextprotocol/client";
import type { ProgramReport } from "./process-transport.ts";

/** Why a server cannot be used, as sentences, and what a person can do. */
export type ServerFailure = {
  readonly reason: string;
  readonly advice: string;
  /** Trying again without a change would fail again. */
  readonly final?: true;
  /** The server wants a person to log in. */
  readonly needsLogin?: true;
};

/** Carries a `ServerFailure`. */
export class ServerError extends Error {
  readonly failure: ServerFailure;
  constructor(failure: ServerFailure, options?: ErrorOptions) {
    super(`${failure.reason} ${failure.advice}`, options);
    this.name = "ServerError";
    this.failure = failure;
  }
}

/** Describes why a program could not be started, did not answer, or ended. */
export function describeProgramFailure(
  error: unknown,
  { report, redact, seconds }: { readonly report: ProgramReport; readonly redact: (text: string) => string; readonly seconds: number },
): ServerFailure {
  if (errorCode(error) === "ENOENT")
    return {
      reason: redact(messageOf(error)).replace(/[^.]$/, "$&: there is no such file."),
      advice: 'Install it, or write its full path as "command".',
      final: true,
    };
  const evidence = [
    report.garbage !== undefined && `Its standard output is not MCP: "${redact(report.garbage)}".`,
    report.errors.trim() !== "" && `Its standard error ends with "${lastLines(redact(report.errors))}".`,
  ].filter((text) => text !== false);
  const advice = 'Start the program by hand to see what is wrong. Check "command", "args" and "env".';
  // Check these two before `end`: after either, Assent itself ends the program.
  if (error instanceof ProtocolError)
    return { reason: [`The program cannot be used: ${redact(error.message)}.`, ...evidence].join(" "), advice };
  if (isTimeout(error)) return { reason: [`The program did not answer within ${seconds} s.`, ...evidence].join(" "), advice };
  if (report.end !== undefined) return { reason: [`The program ${report.end}.`, ...evidence].join(" "), advice };
  return { reason: [`The connection failed: ${redact(messageOf(error))}.`, ...evidence].join(" "), advice };
}

/** Describes why a server's answer to a request for its lists cannot be used. */
export function describeListFailure(error: unknown): ServerFailure {
  const reason = `It did not list what it offers: ${messageOf(error)
    .replace(/\[\s*\{.*$/s, summarizeIssues)
    .slice(0, 500)}.`;
  return { reason, advice: "The server is broken; ask its author." };
}

/** The first of the problems that the SDK's message has as JSON. */
function summarizeIssues(json: string): string {
  try {
    const [{ path, message }] = JSON.parse(json);
    return `${path.join(".")}: ${message}`;
  } catch {
    return json;
  }
}

/** Describes why an address could not be reached. */
export function describeHttpFailure(
  error: unknown,
  { url, server, hasKey, seconds }: { readonly url: string; readonly server: string; readonly hasKey: boolean; readonly seconds: number },
): ServerFailure {
  if (hasKey && statusOf(error) === 401)
    return { reason: `${url} refuses the header "Authorization" (status 401).`, advice: 'Check "headers".', final: true };
  if (error instanceof UnauthorizedError || statusOf(error) === 401)
    return { reason: `${url} wants you to log in.`, advice: `Run: assent mcp login ${server}`, final: true, needsLogin: true };
  if (isTimeout(error)) return { reason: `${url} did not answer within ${seconds} s.`, advice: "Check the address and your connection." };
  const status = statusOf(error);
  if (status === 403)
    return { reason: `${url} refuses access (status 403).`, advice: `Check "headers", or run: assent mcp login ${server}`, final: true };
  if (status !== undefined)
    return { reason: `${url} answered with status ${status}.`, advice: 'Check "url": it must be the address of an MCP server.' };
  return { reason: `${url} could not be reached: ${innermostMessage(error)}.`, advice: "Check the address and your connection." };
}

function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

function statusOf(error: unknown): number | undefined {
  return error instanceof SdkHttpError ? error.status : undefined;
}

/** Returns the message of the innermost cause, because the outer ones only say `fetch failed`. */
export function innermostMessage(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? messageOf(error) : innermostMessage(cause);
}

const SHOWN_LINES = 3;

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-SHOWN_LINES).join("\n");
}
