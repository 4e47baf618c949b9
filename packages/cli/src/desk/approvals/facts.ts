import { isObject, type Json } from "@assent/core";

export type FactNote = readonly [label: string, text: string];

/** Risks, scripts and link targets that the request itself does not show. */
export function factNotes(facts: Json | undefined): readonly FactNote[] {
  if (!isObject(facts)) return [];
  const { hazards, scripts, paths } = facts;
  return [...unique(objects(hazards).map(hazardNote)), ...objects(scripts).map(scriptNote), ...objects(paths).flatMap(pathNotes)];
}

type Fields = Readonly<Record<string, unknown>>;

function objects(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function hazardNote({ text }: Fields): FactNote {
  return ["risk", String(text)];
}

function scriptNote({ file, digest, before }: Fields): FactNote {
  return ["runs", `${String(file)} (${String(digest)})${before === undefined ? "" : `, changed since ${String(before)}`}`];
}

function pathNotes({ lexical, real, inside, control }: Fields): readonly FactNote[] {
  const leads: readonly FactNote[] =
    real === lexical ? [] : [["leads", `to ${real === null ? "a place that cannot be read" : String(real)}`]];
  const outside: readonly FactNote[] = inside === false ? [["risk", "outside the workspace"]] : [];
  return [...leads, ...outside, ...(control === true ? [["risk", "a control file: it can steer agents or run code later"] as const] : [])];
}

function unique(notes: readonly FactNote[]): readonly FactNote[] {
  return notes.filter(([, text], i) => notes.findIndex(([, other]) => other === text) === i);
}
