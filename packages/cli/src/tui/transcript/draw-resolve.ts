import { oneLine } from "@assent/core";
import { cut, wrapWords } from "../../display-width.ts";
import type { Role } from "../theme.ts";
import type { CallBlock } from "./block.ts";
import type { Drawing } from "./draw-block.ts";

const REASON_ROWS = 3;

/** A call of `resolve` and what came of it, in one block: the verb, what it was about, why. */
export function drawResolve(block: CallBlock, { columns, theme, open }: Drawing): readonly string[] {
  const { verb, role } = verbOf(block);
  const { sourceToolName, label } = block.details ?? {};
  const isNothing = block.errorType === "nothing_to_discard" && sourceToolName === undefined;
  const badge = typeof sourceToolName === "string" ? ` ${theme.badge(`[${oneLine(sourceToolName)}]`)}` : "";
  const about = isNothing ? "nothing pending" : typeof label === "string" ? oneLine(label) : "";
  const room = columns - verb.length - 2 - (typeof sourceToolName === "string" ? oneLine(sourceToolName).length + 3 : 0);
  const { reason } = block.input;
  const said = typeof reason === "string" && reason.trim() !== "" ? oneLine(reason) : "(no reason)";
  const rows = wrapWords(said, columns - 2);
  const shown = open ? rows : rows.slice(0, REASON_ROWS);
  const failed = verb === "Failed" ? [`  ${cut(oneLine(firstLine(block.text ?? "")), columns - 2)}`] : [];
  return [
    `${theme[role](verb)}${badge} ${cut(about, Math.max(room, 4))}`.trimEnd(),
    ...shown.map((row) => `  ${theme.italic(row)}`),
    ...failed,
  ];
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}

function verbOf({ state, outcome, input }: CallBlock): { readonly verb: string; readonly role: Role } {
  if (state !== "ended") return { verb: "Resolving…", role: "accent" };
  if (outcome !== "succeeded") return { verb: "Failed", role: "error" };
  return input["action"] === "discard" ? { verb: "Discard", role: "warning" } : { verb: "Accept", role: "success" };
}
