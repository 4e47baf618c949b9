import { oneLine } from "@assent/core";
import { cut, wrapWords } from "../../io/display-width.ts";
import type { Role } from "../draw/theme.ts";
import type { CallBlock } from "./block.ts";
import type { Drawing } from "./drawing.ts";

const REASON_ROWS = 3;

/** Draws a call of `resolve`: verb, change, reason. */
export function drawResolve(block: CallBlock, { columns, theme, open }: Drawing): readonly string[] {
  const { verb, role } = verbOf(block);
  const { label } = block.details ?? {};
  const tool = toolOf(block, verb);
  const isNothing = block.errorType === "nothing_to_discard" && tool === undefined;
  const badge = tool === undefined ? "" : ` ${theme.badge(`[${tool}]`)}`;
  const about = isNothing ? "nothing pending" : typeof label === "string" ? oneLine(label) : "";
  const room = columns - verb.length - 2 - (tool === undefined ? 0 : tool.length + 3);
  const { reason } = block.input;
  const said = typeof reason === "string" && reason.trim() !== "" ? oneLine(reason) : "(no reason)";
  const rows = wrapWords(said, columns - 2);
  const shown = open ? rows : rows.slice(0, REASON_ROWS);
  const failed = verb === "Failed" ? [`  ${cut(oneLine(block.text?.split("\n")[0] ?? ""), columns - 2)}`] : [];
  return [
    `${theme[role](verb)}${badge} ${cut(about, Math.max(room, 4))}`.trimEnd(),
    ...shown.map((row) => `  ${theme.italic(row)}`),
    ...failed,
  ];
}

function toolOf({ details }: CallBlock, verb: string): string | undefined {
  const source = details?.["sourceToolName"];
  if (typeof source === "string") return oneLine(source);
  return verb === "Failed" ? "resolve" : undefined;
}

function verbOf({ state, outcome, input }: CallBlock): { readonly verb: string; readonly role: Role } {
  if (state !== "ended") return { verb: "Resolving…", role: "accent" };
  if (outcome !== "succeeded") return { verb: "Failed", role: "error" };
  return input["action"] === "discard" ? { verb: "Discard", role: "warning" } : { verb: "Accept", role: "success" };
}
