import type { OpenApproval } from "@assent/core";
import { type FileDiff, parseDiff } from "@assent/core/parts";
import { oneLine } from "../../io/visible-text.ts";
import { type ChosenParts, chooseAll } from "../../tui/diff/choice.ts";
import type { ReviewedChange } from "../proposals/review.ts";
import { readChoice } from "../proposals/review-lines.ts";
import { type Prompt, quoteTyped, type TypedLine } from "./prompt.ts";

/** `again`: the person went back. */
type NoChoice = { readonly again: true } | Extract<TypedLine, { none: unknown }>;

export function hunksOf({ details }: OpenApproval): readonly FileDiff[] {
  const files = details.type === "edit" ? parseDiff(details.fileDiff) : [];
  return chooseAll(files).size > 1 ? files : [];
}

export async function askParts(
  prompt: Prompt,
  files: readonly FileDiff[],
  verb: "Apply" | "Write",
): Promise<{ readonly chosen: ChosenParts } | NoChoice> {
  for (let note = ""; ; ) {
    const typed = await prompt.ask(`\n${note}${verb} which? Numbers from the list, such as 1 3.2 (Enter goes back): `);
    if ("none" in typed) return typed;
    if (typed.line.trim() === "") return { again: true };
    const chosen = readChoice(files, typed.line);
    if (typeof chosen !== "string") return { chosen };
    note = `${chosen}\n`;
  }
}

export async function askFile(
  prompt: Prompt,
  review: readonly ReviewedChange[],
  texts: readonly ReviewedChange[],
): Promise<{ readonly editFile: ReviewedChange } | NoChoice> {
  const [only, ...more] = texts;
  if (only && more.length === 0) return { editFile: only };
  for (let note = ""; ; ) {
    const typed = await prompt.ask(`\n${note}Edit which file? Its number from the list (Enter goes back): `);
    if ("none" in typed) return typed;
    const said = typed.line.trim();
    if (said === "") return { again: true };
    const file = /^\d+$/.test(said) ? review[Number(said) - 1] : undefined;
    if (file && texts.includes(file)) return { editFile: file };
    note = file ? `${oneLine(file.name)} can't be edited.\n` : `${quoteTyped(said)} is not a number from the list.\n`;
  }
}
