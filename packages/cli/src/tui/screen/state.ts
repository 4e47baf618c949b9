import type { Clock } from "@assent/core";
import type { CardStack, StackedCard } from "../cards/stack.ts";
import type { Canvas } from "../draw/dialog.ts";
import type { LiveTheme } from "../draw/theme.ts";
import type { CompletedCommand, CompletionParts } from "../input/completion.ts";
import type { Action, Binding } from "../input/keys.ts";
import type { Block } from "../transcript/block.ts";
import { EMPTY_TRANSCRIPT, type Transcript } from "../transcript/transcript.ts";
import type { ShownRows } from "./live-screen.ts";
import type { Reader } from "./reader.ts";
import type { ConversationView } from "./view.ts";

export type ScreenHandlers = {
  readonly submit: (text: string) => void;
  readonly act: (action: Extract<Action, "interrupt" | "leave" | "mode" | "help">) => void;
  /** Interrupts and puts queued prompts back into the editor. */
  readonly stop: () => void;
};

export type ScreenParts = {
  readonly clock: Clock;
  readonly look: LiveTheme;
  readonly bindings: () => readonly Binding[];
  readonly cwd: string;
  readonly commands: readonly CompletedCommand[];
  readonly ids: CompletionParts["ids"];
  readonly handlers: ScreenHandlers;
  readonly configure: ConversationView["configure"];
  /** Rows already on the screen. */
  readonly shown: ShownRows;
};

export type ScreenState = {
  transcript: Transcript;
  /** Blocks in the scrollback, for the reader. */
  readonly kept: Block[];
  last: Block | undefined;
  reader: Reader | undefined;
  /** Cards are hidden; the prompt has the keys. */
  aside: boolean;
  typedAt: number;
  card: { readonly item: StackedCard; readonly canvas: Canvas } | undefined;
  hint: string;
  /** The last frame leaves open blocks in the scrollback. */
  closing: boolean;
  /** When Ctrl-C was last pressed with nothing to clear. */
  leavingAt: number;
};

export function initialState(): ScreenState {
  return {
    transcript: EMPTY_TRANSCRIPT,
    kept: [],
    last: { type: "page", title: "", text: "" },
    reader: undefined,
    aside: false,
    typedAt: Number.NEGATIVE_INFINITY,
    card: undefined,
    hint: "",
    closing: false,
    leavingAt: Number.NEGATIVE_INFINITY,
  };
}

/** A card appears only after a pause in typing. */
const IDLE_MS = 350;

export function cardToShow(state: ScreenState, stack: CardStack, now: number): StackedCard | undefined {
  const item = stack.front();
  if (!item || state.aside) return undefined;
  return state.card || now - state.typedAt >= IDLE_MS ? item : undefined;
}
