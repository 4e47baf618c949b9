import { MODES, type Mode } from "@assent/core";

export type TranslatedMode = { readonly mode: Mode; readonly unasked: boolean };

/** Modes of other programs, each as the strictest of ours that works. */
const OTHERS: Readonly<Record<string, TranslatedMode>> = {
  acceptEdits: { mode: "auto-edit", unasked: false },
  bypassPermissions: { mode: "yolo", unasked: false },
  dontAsk: { mode: "default", unasked: true },
  auto: { mode: "default", unasked: false },
};

/** Translates our or another program's mode; undefined if it is unknown. */
export function translateMode(word: unknown): TranslatedMode | undefined {
  const own = MODES.find((mode) => mode === word);
  if (own) return { mode: own, unasked: false };
  return typeof word === "string" && Object.hasOwn(OTHERS, word) ? OTHERS[word] : undefined;
}
