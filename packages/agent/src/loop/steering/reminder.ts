import type { ProposalRow } from "@assent/core";

/** Reminds a model to call `resolve`. With several proposals it lists them, newest first. */
export function resolveReminder(rows: readonly ProposalRow[]): string {
  const list =
    rows.length < 2 ? [] : ["Pending, newest first:", ...rows.toReversed().map(({ id, label }) => `- ${id}: ${escapeXml(label)}`)];
  return systemReminder(["This is a preview. Call the `resolve` tool to apply or discard these changes.", ...list]);
}

/** Wraps texts of the runtime in the tag that models know. */
export function systemReminder(lines: readonly string[]): string {
  return ["<system-reminder>", ...lines, "</system-reminder>"].join("\n");
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** Escapes a text so that it cannot open or close a tag. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
