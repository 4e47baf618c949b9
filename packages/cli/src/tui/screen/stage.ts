import type { Confirming } from "../cards/confirm-card.ts";
import type { Block } from "../transcript/block.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Shown } from "./state.ts";

/** How a person wants a screen to look and to be used. */
export type StageSettings = { readonly "tui.theme": "auto" | "light" | "dark"; readonly "tui.keys": Readonly<Record<string, string>> };

/** Where a conversation is shown and a person is asked: a screen that is drawn, or lines that are printed. */
export type Stage = {
  readonly shown: Shown;
  readonly hear: (change: (transcript: Transcript) => Transcript) => void;
  readonly say: (...blocks: readonly Block[]) => void;
  /** Something to say for a moment. */
  readonly hint: (text: string) => void;
  /** What was written before, the newest last. */
  readonly remember: (texts: readonly string[]) => void;
  readonly changed: () => void;
  /** The person's settings are known. */
  readonly configure: (settings: StageSettings) => void;
  /** A question of the program itself. */
  readonly confirm: (confirming: Confirming) => Promise<boolean>;
};
