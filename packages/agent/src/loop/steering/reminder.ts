import type { ProposalRow } from "@assent/core";

/** What leads a model to `resolve`; with several pending it names them, the newest first. */
export function resolveReminder(rows: readonly ProposalRow[]): string {
  const list =
    rows.length < 2 ? [] : ["Pending, newest first:", ...rows.toReversed().map(({ id, label }) => `- ${id}: ${escapeXml(label)}`)];
  return systemReminder(["This is a preview. Call the `resolve` tool to apply or discard these changes.", ...list]);
}

/** Words of the runtime in the envelope that models know. */
export function systemReminder(lines: readonly string[]): string {
  return ["<system-reminder>", ...lines, "</system-reminder>"].join("\n");
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** A text that cannot end or begin an envelope. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
