import type { JsonObject } from "@assent/core";

const HEADER = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm;

/** The files that a patch in the format of `apply_patch` names. Empty if there is none, so nothing is known to be inside the workspace. */
export function patchedFiles(input: JsonObject): readonly string[] {
  const texts = Object.values(input).flatMap((value) => (typeof value === "string" ? [value] : []));
  return [...new Set(texts.flatMap((text) => [...text.matchAll(HEADER)].map(([, file = ""]) => file.trim())))];
}
