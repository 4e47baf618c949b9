import type { TaskView } from "@assent/agent";
import type { YesNoQuestion } from "../cards/confirm-card.ts";
import type { Block } from "../transcript/block.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Status } from "./status-line.ts";

/** What the screen shows beside the transcript; changed at any time, drawn with the next frame. */
export type ViewState = {
  status: Omit<Status, "keys" | "waiting">;
  queued: readonly string[];
  /** Since when the model works, in milliseconds. */
  busySince: number | undefined;
  /** How many commands of the person's own run. */
  commands: number;
  tasks: () => readonly TaskView[];
  /** True for a tool that declares its text displays to be markdown. */
  isMarkdown: (tool: string) => boolean;
};

/** Something runs that the person can interrupt. */
export function isBusy({ busySince, commands }: Pick<ViewState, "busySince" | "commands">): boolean {
  return busySince !== undefined || commands > 0;
}

/** How a person wants a screen to look and to be used. */
export type ViewSettings = { readonly "tui.theme": "auto" | "light" | "dark"; readonly "tui.keys": Readonly<Record<string, string>> };

/** Where a conversation is shown and a person is asked: a screen that is drawn, or lines that are printed. */
export type ConversationView = {
  readonly state: ViewState;
  readonly update: (change: (transcript: Transcript) => Transcript) => void;
  readonly append: (...blocks: readonly Block[]) => void;
  /** Something to say for a moment. */
  readonly hint: (text: string) => void;
  /** What was written before, the newest last. */
  readonly remember: (texts: readonly string[]) => void;
  readonly changed: () => void;
  /** The person's settings are known. */
  readonly configure: (settings: ViewSettings) => void;
  /** A question of the program itself. */
  readonly confirm: (confirming: YesNoQuestion) => Promise<boolean>;
};
