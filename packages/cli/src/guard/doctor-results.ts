import { join } from "node:path";
import { isObject } from "@assent/core";
import type { AgentName } from "@assent/guard";
import type { Context } from "../command-line/spec.ts";
import { hostPortsFor } from "../compose/ports.ts";
import { stateDirectory } from "../store/location.ts";
import { readText } from "./read-text.ts";

export type DoctorResult = { readonly agent: AgentName; readonly ok: boolean; readonly detail: string };

export type RecordedExamination = { readonly at: string; readonly ok: boolean; readonly detail: string };

export type DoctorResults = Readonly<Partial<Record<AgentName, RecordedExamination>>>;

/** Keeps the newest result per agent for `assent hook status`. */
export async function writeDoctorResult(context: Context, { agent, ok, detail }: DoctorResult): Promise<void> {
  const { clock } = hostPortsFor(context, await stateDirectory(context));
  const at = new Date(clock.now()).toISOString();
  await writeResults(context, { ...(await readDoctorResults(context)), [agent]: { at, ok, detail } });
}

async function writeResults(context: Context, results: DoctorResults): Promise<void> {
  const directory = await stateDirectory(context);
  const { files } = hostPortsFor(context, directory);
  await files.replace(resultsFile(directory), `${JSON.stringify(results, null, 2)}\n`, { mode: 0o600 });
}

/** A result says nothing about hooks that were installed or removed since. */
export async function forgetDoctorResult(context: Context, agent: AgentName): Promise<void> {
  const { [agent]: old, ...others } = await readDoctorResults(context);
  if (old) await writeResults(context, others);
}

export async function readDoctorResults(context: Context): Promise<DoctorResults> {
  const text = readText(resultsFile(await stateDirectory(context)));
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function resultsFile(directory: string): string {
  return join(directory, "hooks", "doctor.json");
}
