import type { TaskView } from "@assent/agent";
import type { YesNoQuestion } from "../cards/confirm-card.ts";
import type { Block } from "../transcript/block.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { Status } from "./status-line.ts";

/** What a view shows besides the transcript; changes are drawn with the next frame. */
export type ViewState = {
  status: Omit<Status, "keys" | "waiting">;
  queued: readonly string[];
  /** When the model started working, in milliseconds. */
  busySince: number | undefined;
  commands: number;
  tasks: () => readonly TaskView[];
  /** True for a tool whose text output is markdown. */
  isMarkdown: (tool: string) => boolean;
};

export function isBusy({ busySince, commands }: Pick<ViewState, "busySince" | "commands">): boolean {
  return busySince !== undefined || commands > 0;
}

export type ViewSettings = { readonly "tui.theme": "auto" | "light" | "dark"; readonly "tui.keys": Readonly<Record<string, string>> };

/** Where a conversation is shown: a drawn screen, or printed lines. */
export type ConversationView = {
  readonly state: ViewState;
  readonly update: (change: (transcript: Transcript) => Transcript) => void;
  readonly append: (...blocks: readonly Block[]) => void;
  readonly hint: (text: string) => void;
  /** Earlier prompts, newest last. */
  readonly remember: (texts: readonly string[]) => void;
  readonly changed: () => void;
  readonly configure: (settings: ViewSettings) => void;
  readonly confirm: (confirming: YesNoQuestion) => Promise<boolean>;
};
