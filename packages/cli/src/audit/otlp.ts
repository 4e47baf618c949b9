import { isObject, type Json } from "@assent/core";
import { VERSION } from "../version.ts";
import type { StreamEntry } from "./entry.ts";

type Attribute = { readonly key: string; readonly value: { readonly stringValue: string } | { readonly intValue: string } };

/**
 * The entries as an `ExportLogsServiceRequest` of OTLP in JSON. 64-bit numbers are texts there. The body of an event is one text of JSON, because the
 * types of OTLP cannot hold every value.
 */
export function otlpRequest(entries: readonly StreamEntry[], now: number): object {
  return {
    resourceLogs: [...Map.groupBy(entries, ({ store }) => store)].map(([store, records]) => ({
      resource: { attributes: attributes({ "service.name": "assent", "service.version": VERSION, "assent.store": store }) },
      scopeLogs: [{ scope: { name: "assent", version: VERSION }, logRecords: records.map((entry) => logRecord(entry, now)) }],
    })),
  };
}

const INFO = { severityNumber: 9, severityText: "INFO" };

function logRecord(entry: StreamEntry, now: number): object {
  const observedTimeUnixNano = nanoseconds(now);
  if ("anchor" in entry) {
    const { at, pos } = entry.anchor;
    const body = { stringValue: JSON.stringify(entry.anchor) };
    const named = attributes({ "assent.pos": pos });
    return {
      timeUnixNano: nanoseconds(Date.parse(at)),
      observedTimeUnixNano,
      ...INFO,
      eventName: "assent.anchor",
      body,
      attributes: named,
    };
  }
  const { at, type, body, session, seq, pos, epoch, v, prev, hash } = entry.event;
  const place = { session, seq, pos, epoch, v, prev, hash };
  const about = Object.fromEntries(ABOUT.flatMap((name) => (typeof body[name] === "string" ? [[name, body[name]]] : [])));
  return {
    timeUnixNano: nanoseconds(Date.parse(at)),
    observedTimeUnixNano,
    ...INFO,
    eventName: `assent.${type}`,
    body: { stringValue: JSON.stringify(body) },
    attributes: attributes(Object.fromEntries(Object.entries({ ...place, ...about }).map(([name, value]) => [`assent.${name}`, value]))),
  };
}

/** Fields of events that people search by. */
const ABOUT = ["call", "tool", "verdict", "outcome", "approval", "policyVersion"];

function attributes(values: Readonly<Record<string, Json | undefined>>): readonly Attribute[] {
  return Object.entries(values).flatMap(([key, value]): readonly Attribute[] => {
    if (value === undefined) return [];
    return [{ key, value: typeof value === "number" ? { intValue: String(value) } : { stringValue: String(value) } }];
  });
}

function nanoseconds(ms: number): string {
  return `${Math.max(0, Math.trunc(ms))}000000`;
}

/** How many records the collector refused, and why; undefined if the answer is not one of OTLP. */
export function readOtlpAnswer(answer: string): { readonly rejected: number; readonly reason: string } | undefined {
  if (answer.trim() === "") return { rejected: 0, reason: "" };
  try {
    const value: unknown = JSON.parse(answer);
    if (!isObject(value)) return undefined;
    const partial: unknown = value["partialSuccess"];
    const { rejectedLogRecords = 0, errorMessage = "" } = isObject(partial) ? partial : {};
    return { rejected: Number(rejectedLogRecords) || 0, reason: String(errorMessage) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
