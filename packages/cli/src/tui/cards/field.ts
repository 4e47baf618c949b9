import type { Answer } from "@assent/core";
import { wrapWords } from "../../io/display-width.ts";
import type { Canvas, Key } from "../draw/dialog.ts";
import { fieldLines, type TextField, textField, typeKey } from "../input/text-field.ts";

export type CardField = { readonly for: "no" | "stop" | "discard" | "command"; readonly text: TextField };

export type FieldResult =
  | { readonly field: CardField }
  | { readonly done: string }
  /** Continue in the person's editor. */
  | { readonly editor: string }
  | { readonly back: true };

export function cardField(purpose: CardField["for"], text = ""): CardField {
  return { for: purpose, text: textField(text) };
}

const LONGEST = 2_000;
const MOST_ROWS = 4;

export function pressField(field: CardField, key: Key): FieldResult {
  if ("name" in key && key.name === "enter") return { done: field.text.text };
  if ("name" in key && key.name === "escape") return { back: true };
  if ("name" in key && key.name === "ctrl+g" && field.for === "command") return { editor: field.text.text };
  const text = typeKey(field.text, key);
  return { field: text && text.text.length <= LONGEST ? { ...field, text } : field };
}

/** True for a command that can be edited on the card. */
export function isShort(command: string): boolean {
  return command.length <= LONGEST / 2 && !command.includes("\n");
}

export function cardFieldLines({ for: purpose, text }: CardField, editor: boolean, { columns, rows, theme }: Canvas): readonly string[] {
  const room = Math.max(1, Math.min(MOST_ROWS, Math.floor(rows / 4)));
  return [...wrapWords(fieldHeading(purpose, editor), columns).map(theme.bold), ...fieldLines(text, columns, room)];
}

function fieldHeading(purpose: CardField["for"], editor: boolean): string {
  if (purpose === "command") return `Your command (Enter: check and show it;${editor ? " ctrl+g: your editor;" : ""} Esc: back):`;
  return `${REFUSED[purpose]} Reason for the model (Enter sends it, Esc goes back):`;
}

const REFUSED = { no: "Reject.", stop: "Reject and stop.", discard: "Discard." } as const;

/** A rejection; `discard` also discards the previewed change. */
export type Refusal = Pick<Answer, "outcome" | "reason" | "interrupt"> & { readonly discard?: true };

export function refusal(purpose: CardField["for"], text: string): Refusal {
  const reason = text.trim();
  return {
    outcome: "reject",
    ...(reason !== "" && { reason }),
    ...(purpose === "stop" && { interrupt: true }),
    ...(purpose === "discard" && { discard: true }),
  };
}
