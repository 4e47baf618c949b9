import type { Answer } from "@assent/core";
import { wrapWords } from "../../io/display-width.ts";
import type { Canvas, Key } from "../draw/dialog.ts";
import { fieldLines, type TextField, textField, typeKey } from "../input/text-field.ts";

/** What is being typed on a card: why not, or a command in the place of the one that was asked about. */
export type CardField = { readonly for: "no" | "stop" | "discard" | "command"; readonly text: TextField };

/** What a key does to a field. */
export type FieldResult =
  | { readonly field: CardField }
  | { readonly done: string }
  /** The text goes on in the person's editor. */
  | { readonly editor: string }
  | { readonly back: true };

/** A field for this, with a text to begin with. */
export function cardField(purpose: CardField["for"], text = ""): CardField {
  return { for: purpose, text: textField(text) };
}

const LONGEST = 2_000;
const MOST_ROWS = 4;

/** The field after a key. A key that is not for it changes nothing. */
export function pressField(field: CardField, key: Key): FieldResult {
  if ("name" in key && key.name === "enter") return { done: field.text.text };
  if ("name" in key && key.name === "escape") return { back: true };
  if ("name" in key && key.name === "ctrl+g" && field.for === "command") return { editor: field.text.text };
  const text = typeKey(field.text, key);
  return { field: text && text.text.length <= LONGEST ? { ...field, text } : field };
}

/** True for a command that can be edited where it stands. */
export function isShort(command: string): boolean {
  return command.length <= LONGEST / 2 && !command.includes("\n");
}

/** The field, under what it is for. */
export function cardFieldLines({ for: purpose, text }: CardField, editor: boolean, { columns, rows, theme }: Canvas): readonly string[] {
  const room = Math.max(1, Math.min(MOST_ROWS, Math.floor(rows / 4)));
  return [...wrapWords(fieldHeading(purpose, editor), columns).map(theme.bold), ...fieldLines(text, columns, room)];
}

function fieldHeading(purpose: CardField["for"], editor: boolean): string {
  if (purpose === "command") return `Your command (Enter: check and show it;${editor ? " ctrl+g: your editor;" : ""} Esc: back):`;
  return `${REFUSED[purpose]} Reason for the model (Enter sends it, Esc goes back):`;
}

const REFUSED = { no: "Reject.", stop: "Reject and stop.", discard: "Discard." } as const;

/** A rejection, and whether it also discards the previewed change. */
export type Refusal = Pick<Answer, "outcome" | "reason" | "interrupt"> & { readonly discard?: true };

/** The no that a typed reason makes. */
export function refusal(purpose: CardField["for"], text: string): Refusal {
  const reason = text.trim();
  return {
    outcome: "reject",
    ...(reason !== "" && { reason }),
    ...(purpose === "stop" && { interrupt: true }),
    ...(purpose === "discard" && { discard: true }),
  };
}
