import type { TraceEntry } from "../model/decision.ts";

type Trace = readonly TraceEntry[];

let newest: Trace = Object.freeze([]);

/** Most calls are judged as the one before was: a trace that says the same is the same list, kept once however many records name it. */
export function sharedTrace(trace: Trace): Trace {
  if (trace.length !== newest.length || trace.some(differs)) newest = Object.freeze([...trace]);
  return newest;
}

function differs(entry: TraceEntry, at: number): boolean {
  return entry !== newest[at];
}
