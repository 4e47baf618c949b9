import type { Clock } from "@assent/core";
import type { CardStack, StackedCard } from "../cards/stack.ts";
import type { Canvas } from "../draw/dialog.ts";
import type { LiveTheme } from "../draw/theme.ts";
import type { CompletedCommand, CompletionParts } from "../input/completion.ts";
import type { Action, Binding } from "../input/keys.ts";
import type { Block } from "../transcript/block.ts";
import { EMPTY_TRANSCRIPT, type Transcript } from "../transcript/transcript.ts";
import type { Reader } from "./reader.ts";
import type { ConversationView } from "./view.ts";

/** What the person does with the screen. */
export type ScreenHandlers = {
  readonly submit: (text: string) => void;
  readonly act: (action: Extract<Action, "interrupt" | "leave" | "mode" | "help">) => void;
  /** Interrupts, and what was to be said next comes back to be written on. */
  readonly stop: () => void;
};

/** What a screen is made of. */
export type ScreenParts = {
  readonly clock: Clock;
  readonly look: LiveTheme;
  readonly bindings: () => readonly Binding[];
  readonly cwd: string;
  readonly commands: readonly CompletedCommand[];
  readonly ids: CompletionParts["ids"];
  readonly handlers: ScreenHandlers;
  readonly configure: ConversationView["configure"];
  /** Rows that are on the screen already. */
  readonly shown: readonly string[];
};

/** A screen between two frames. */
export type ScreenState = {
  transcript: Transcript;
  /** What is in the scrollback, for whoever wants to see more of it. */
  readonly kept: Block[];
  last: Block | undefined;
  reader: Reader | undefined;
  /** What waits is put aside: the prompt has the keys. */
  aside: boolean;
  /** When the person last wrote something. */
  typedAt: number;
  /** The item of the stack that is on the screen, and the room it was given. */
  card: { readonly item: StackedCard; readonly canvas: Canvas } | undefined;
  hint: string;
  /** The last frame: what is open is left in the scrollback as it stands. */
  closing: boolean;
  /** When Ctrl-C was pressed with nothing to clear, and no other key since. */
  leavingAt: number;
};

/** A screen on which nothing happened but a greeting. */
export function initialState(isGreeted: boolean): ScreenState {
  return {
    transcript: EMPTY_TRANSCRIPT,
    kept: [],
    last: isGreeted ? { type: "page", title: "", text: "" } : undefined,
    reader: undefined,
    aside: false,
    typedAt: Number.NEGATIVE_INFINITY,
    card: undefined,
    hint: "",
    closing: false,
    leavingAt: Number.NEGATIVE_INFINITY,
  };
}

/** A person who writes is not interrupted before they pause. */
const IDLE_MS = 350;

/** What of the stack is to be on the screen now. */
export function cardToShow(state: ScreenState, stack: CardStack, now: number): StackedCard | undefined {
  const item = stack.front();
  if (!item || state.aside) return undefined;
  return state.card || now - state.typedAt >= IDLE_MS ? item : undefined;
}
