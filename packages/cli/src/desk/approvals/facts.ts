import { type Containment, isObject, type Json, type OpenApproval } from "@assent/core";
import { oneLine } from "../../io/visible-text.ts";

export type FactNote = readonly [label: string, text: string];

/** Where the command runs, risks, scripts and link targets that the request itself does not show. */
export function factNotes(facts: Json | undefined): readonly FactNote[] {
  if (!isObject(facts)) return [];
  const { hazards, scripts, paths, containment } = facts;
  const place: readonly FactNote[] = isObject(containment) ? [["sandbox", containmentText(containment as Containment)]] : []; // as the facts wrote it
  return [
    ...place,
    ...unique(objects(hazards).map(({ text }): FactNote => ["risk", String(text)])),
    ...objects(scripts).map(scriptNote),
    ...objects(paths).flatMap(pathNotes),
  ];
}

export const ALLOW_CONFINED_OFFER = 'To run confined commands without asking, set "allowConfined": true.';

export function mayAllowConfined(containment: unknown): boolean {
  if (!isObject(containment) || containment["confined"] !== true || containment["network"] !== false) return false;
  return containment["lasting"] !== true && containment["secret"] !== true;
}

/** True if the setting `allowConfined` would have answered this approval. */
export function isAskedAboutConfined({ reason, facts }: Pick<OpenApproval, "reason" | "facts">): boolean {
  return reason === "default" && isObject(facts) && mayAllowConfined(facts["containment"]);
}

export function containmentText(containment: Containment): string {
  if (!containment.confined) return `none, it runs with your permissions: ${oneLine(containment.reason)}`;
  const network = containment.network ? "with network" : "no network";
  return `confined: writes only in the workspace and a private /tmp, ${network}`;
}

type FactFields = Readonly<Record<string, unknown>>;

function objects(value: unknown): readonly FactFields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function scriptNote({ file, digest, before }: FactFields): FactNote {
  return ["runs", `${String(file)} (${String(digest)})${before === undefined ? "" : `, changed since ${String(before)}`}`];
}

function pathNotes({ lexical, real, inside, control }: FactFields): readonly FactNote[] {
  const leads: readonly FactNote[] =
    real === lexical ? [] : [["leads", `to ${real === null ? "a place that cannot be read" : String(real)}`]];
  const outside: readonly FactNote[] = inside === false ? [["risk", "outside the workspace"]] : [];
  return [...leads, ...outside, ...(control === true ? [["risk", "a control file: it can steer agents or run code later"] as const] : [])];
}

function unique(notes: readonly FactNote[]): readonly FactNote[] {
  return notes.filter(([, text], i) => notes.findIndex(([, other]) => other === text) === i);
}
