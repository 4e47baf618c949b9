import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { errorCode, messageOf } from "@assent/core";
import type { AuditDestination } from "@assent/policy";
import { cut } from "../io/display-width.ts";
import type { Io } from "../io/io.ts";
import { hideSecrets, readSecretSource } from "../io/secret-source.ts";
import { postSigned } from "../io/signed-post.ts";
import { entryLine, type StreamEntry } from "./entry.ts";
import { otlpRequest, readOtlpAnswer } from "./otlp.ts";

/** Undefined if the destination has the entries. `isTooLarge`: it may accept fewer at once. `note`: what it said although it has them. */
export type DeliveryProblem = { readonly reason: string; readonly isTooLarge?: boolean };
export type Delivery = { readonly problem?: DeliveryProblem; readonly note?: string };

export type DeliveryOptions = { readonly env: Io["env"]; readonly now: number; readonly signal: AbortSignal };

/** Where a destination is, for people. The path and query of a URL can be secret. */
export function destinationName(to: AuditDestination): string {
  if ("file" in to) return to.file;
  const { origin } = new URL("webhook" in to ? to.webhook : to.otlp);
  return `${"webhook" in to ? "webhook" : "otlp"} ${origin}`;
}

/** Sends entries to a destination. Problems are results: nothing here may disturb a run. */
export async function deliver(to: AuditDestination, entries: readonly StreamEntry[], options: DeliveryOptions): Promise<Delivery> {
  if ("file" in to) return appendToFile(to.file, entries);
  const source = "webhook" in to ? to.secret : to.token;
  const found = source === undefined ? undefined : readSecretSource(source, options.env);
  if (found && "problem" in found) return { problem: { reason: found.problem } };
  if ("otlp" in to) return await postOtlp(to.otlp, entries, found?.secret, options);
  return await postLines(to.webhook, entries, found?.secret ?? "", options);
}

const ANSWER_MS = 10_000;
const TOO_LARGE = 413;

async function postLines(
  url: string,
  entries: readonly StreamEntry[],
  secret: string,
  { now, signal }: DeliveryOptions,
): Promise<Delivery> {
  const body = entries.map(entryLine).join("");
  const signed = { id: messageId(entries), secret };
  const result = await postSigned({ url, type: "application/x-ndjson", body, signed, now, signal, timeoutMs: ANSWER_MS });
  return result.sent ? {} : { problem: { reason: result.reason, isTooLarge: result.status === TOO_LARGE } };
}

/** Names the part of the record in the message: a receiver may drop a message whose id it has seen. */
function messageId(entries: readonly StreamEntry[]): string {
  const positions = entries.map((entry) => ("event" in entry ? entry.event.pos : entry.anchor.pos));
  return `${entries[0]?.store}-${positions[0]}-${positions.at(-1)}`;
}

async function postOtlp(
  url: string,
  entries: readonly StreamEntry[],
  token: string | undefined,
  { now, signal }: DeliveryOptions,
): Promise<Delivery> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const body = JSON.stringify(otlpRequest(entries, now));
  const result = await postSigned({ url, type: "application/json", body, headers, now, signal, timeoutMs: ANSWER_MS });
  if (!result.sent) return { problem: { reason: result.reason, isTooLarge: result.status === TOO_LARGE } };
  const answer = readOtlpAnswer(result.answer);
  if (!answer) return { problem: { reason: "its answer is not one of an OTLP collector; the URL usually ends with /v1/logs" } };
  return answer.rejected > 0
    ? { note: `it refused ${answer.rejected} records: ${cut(hideSecrets(answer.reason, token === undefined ? [] : [token]), 200)}` }
    : {};
}

/** Opens the file each time, so that it can be rotated by renaming it. */
function appendToFile(file: string, entries: readonly StreamEntry[]): Delivery {
  const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW } = constants;
  try {
    const descriptor = openSync(file, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600);
    try {
      if (!fstatSync(descriptor).isFile()) return { problem: { reason: "it is not a regular file" } };
      const text = `${endsInLine(descriptor) ? "" : "\n"}${entries.map(entryLine).join("")}`;
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
      fdatasyncSync(descriptor);
      return {};
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return { problem: { reason: errorCode(error) === "ELOOP" ? "it is a link" : messageOf(error) } };
  }
}

/** A process that was killed may have left the beginning of a line. */
function endsInLine(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return last[0] === 0x0a;
}
