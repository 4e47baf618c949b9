import { sep } from "node:path";
import { type EventBodies, isObject, type JsonObject, type Ledger } from "@assent/core";
import { shellWord } from "../command-line/shell-word.ts";
import type { Context } from "../command-line/spec.ts";
import { storeFlag } from "../store/location.ts";

export type WorkerOffer = {
  /** It takes sessions whose workspace is one of these directories, or below one. */
  readonly workspaces: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
};

export type SessionNeeds = { readonly workspace: string; readonly labels: Readonly<Record<string, string>> };

/** A session that was submitted with `--detach`: its prompt and its limits. */
export type DetachedRun = JsonObject & { readonly prompt: string };

/** The options of a detached run; undefined for any other session. */
export function detachedRun(created: EventBodies["session.created"] | undefined): DetachedRun | undefined {
  const run = created?.options?.["detached"];
  return isObject(run) && typeof run["prompt"] === "string" ? { ...run, prompt: run["prompt"] } : undefined;
}

export async function readCreated(ledger: Ledger, id: string): Promise<EventBodies["session.created"] | undefined> {
  for await (const { body } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["session.created"] }))
    return (await ledger.resolve(body)) as unknown as EventBodies["session.created"]; // the store returns what was written
  return undefined;
}

/** Reads what a session needs. Undefined if no worker may continue it: a conversation, a host's run, or a call of another agent. */
export function readNeeds(created: EventBodies["session.created"] | undefined): SessionNeeds | undefined {
  if (!created || created.group || created.parent || created.options?.["host"] === true) return undefined;
  if (created.door !== "run" && created.door !== "call") return undefined;
  return { workspace: created.workspace, labels: readLabels(detachedRun(created)?.["labels"]) };
}

export function readLabels(labels: unknown): Readonly<Record<string, string>> {
  const entries = isObject(labels) ? Object.entries(labels) : [];
  return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
}

/** Names what the worker lacks for a session; undefined if it may take it. */
export function findLack({ workspaces, labels }: WorkerOffer, needs: SessionNeeds): "workspace" | "label" | undefined {
  const { workspace } = needs;
  if (
    !workspaces.some((directory) => workspace === directory || workspace.startsWith(directory.endsWith(sep) ? directory : directory + sep))
  )
    return "workspace";
  return Object.entries(needs.labels).every(([key, value]) => labels[key] === value) ? undefined : "label";
}

/** Says why no worker takes the session; undefined if one may. */
export function whyNoWorker(workers: readonly WorkerOffer[], needs: SessionNeeds): string | undefined {
  if (workers.length === 0) return "no worker is running";
  const missing = workers.map((worker) => findLack(worker, needs));
  if (missing.includes(undefined)) return undefined;
  return missing.includes("label")
    ? `no worker with the workspace ${needs.workspace} has the labels ${labelsText(needs.labels)}`
    : `no worker has the workspace ${needs.workspace}`;
}

export function startText(context: Pick<Context, "options">, { workspace, labels }: SessionNeeds): string {
  const words = Object.entries(labels).map(([key, value]) => ` --label ${shellWord(`${key}=${value}`)}`);
  return `Start one: assent worker --workspace ${shellWord(workspace)}${words.join("")}${storeFlag(context)}`;
}

export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}
