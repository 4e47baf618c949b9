import { isKeyRelease } from "@earendil-works/pi-tui";
import type { CardStack } from "../cards/stack.ts";
import type { Key, Size } from "../draw/dialog.ts";
import { type Action, findAction } from "../input/keys.ts";
import { readKey } from "../input/read-key.ts";
import type { Reader } from "./reader.ts";
import type { ScreenParts, ScreenState } from "./state.ts";
import { isBusy, type ViewState } from "./view.ts";

export type InputParts = {
  readonly parts: ScreenParts;
  readonly state: ScreenState;
  readonly view: ViewState;
  readonly stack: CardStack;
  readonly size: () => Size;
  readonly draft: { readonly text: () => string; readonly clear: () => void; readonly completing: () => boolean };
  readonly read: () => Reader;
  readonly redraw: () => void;
  readonly changed: () => void;
};

const TWICE_MS = 2_000;

/** Handles one key. False if it belongs to the prompt. */
export function makeInput(input: InputParts): (data: string) => boolean {
  return (data) => {
    if (isKeyRelease(data)) return true;
    const key = readKey(data);
    if (!key) return input.state.reader !== undefined || input.state.card !== undefined;
    input.state.hint = "";
    const isTaken = takeKey(input, key);
    if (!isTaken) input.state.typedAt = input.parts.clock.now();
    input.changed();
    return isTaken;
  };
}

function takeKey(input: InputParts, key: Key): boolean {
  const { state, parts, size } = input;
  if (state.reader) {
    if (!state.reader.press(key, size())) state.reader = undefined;
    return true;
  }
  const action = "name" in key ? findAction(parts.bindings(), key.name) : undefined;
  if (action !== "clear") state.leavingAt = Number.NEGATIVE_INFINITY;
  if (action === "clear") return pressClear(input, key);
  if (action === "leave" && input.draft.text() === "") {
    parts.handlers.act("leave");
    return true;
  }
  if (action !== undefined && EVERYWHERE[action]) return actAnywhere(input, action);
  return state.card ? pressOnCard(input, key, state.card.canvas) : pressOnPrompt(input, action);
}

/** Ctrl-C goes to the card, or leaves if pressed twice, or clears the prompt, or interrupts the turn. */
function pressClear(input: InputParts, key: Key): boolean {
  const { state, stack, draft, parts, view } = input;
  if (state.card?.item.cancels && stack.key(key, state.card.canvas)) return true;
  const now = parts.clock.now();
  if (now - state.leavingAt < TWICE_MS) parts.handlers.act("leave");
  else if (!state.card && draft.text() !== "") draft.clear();
  else {
    if (isBusy(view)) parts.handlers.stop();
    state.leavingAt = now;
    state.hint = "Press Ctrl-C again to leave.";
  }
  return true;
}

const EVERYWHERE: Readonly<Partial<Record<Action, true>>> = { turn: true, aside: true, open: true, redraw: true, mode: true };

function actAnywhere({ state, stack, parts, read, redraw }: InputParts, action: Action): boolean {
  if (action === "turn") stack.turn();
  if (action === "aside" && stack.front()) state.aside = !state.aside;
  if (action === "open") state.reader = read();
  if (action === "redraw") redraw();
  if (action === "mode") parts.handlers.act("mode");
  return true;
}

/** Characters typed before the card could be read go to the prompt; they never submit it. */
function pressOnCard({ stack, state }: InputParts, key: Key, size: Size): boolean {
  if (stack.key(key, size)) return true;
  const isText = "pasted" in key || [...key.name].length === 1 || key.name === "space" || key.name === "backspace";
  if (!isText) return true;
  state.hint = "";
  return false;
}

function pressOnPrompt({ draft, parts, view }: InputParts, action: Action | undefined): boolean {
  if (action === "interrupt") {
    if (draft.completing()) return false;
    if (isBusy(view)) parts.handlers.act("interrupt");
    return true;
  }
  if (action === "help" && draft.text() === "") {
    parts.handlers.act("help");
    return true;
  }
  return false;
}
