import { CURSOR_MARKER, type Editor, ProcessTerminal } from "@earendil-works/pi-tui";
import { askYesNo } from "../cards/confirm-card.ts";
import { type CardStack, createCardStack } from "../cards/stack.ts";
import { markdownLines } from "../draw/markdown.ts";
import { themeForBackground } from "../draw/theme.ts";
import { promptCompletion } from "../input/completion.ts";
import { promptEditor } from "../input/prompt-editor.ts";
import { appendBlocks, liveBlocks } from "../transcript/transcript.ts";
import { STARTING } from "./first-frame.ts";
import { makeInput } from "./input.ts";
import { LiveScreen } from "./live-screen.ts";
import { drawingOf, makePainter } from "./painter.ts";
import { openReader } from "./reader.ts";
import { initialState, type ScreenParts, type ScreenState } from "./state.ts";
import { type ConversationView, isBusy, type ViewState } from "./view.ts";

export type TerminalScreen = ConversationView & {
  readonly stack: CardStack;
  /** The theme that fits the terminal's background, if it reports one. */
  readonly ground: () => Promise<"dark" | "light" | undefined>;
  /** Gives the terminal to other work, such as an editor, with a message for work that shows nothing. */
  readonly aside: <T>(work: () => Promise<T>, words: string) => Promise<T>;
  /** Puts unsent prompts back into the editor. */
  readonly giveBack: (texts: readonly string[]) => void;
  /** Sends a bell or notification. */
  readonly ring: (sequence: string) => void;
  readonly close: () => void;
};

const GROUND_MS = 500;
const TICK_MS = 1_000;

/** Takes the terminal and starts drawing. */
export function openTerminalScreen(parts: ScreenParts): TerminalScreen {
  const { clock, look } = parts;
  const state = initialState();
  const shown: ViewState = { status: STARTING, queued: [], busySince: undefined, commands: 0, tasks: () => [], isMarkdown: () => false };
  const markdown = markdownLines(look.theme);
  const changed = (): void => screen.requestRender();
  const stack = createCardStack({ clock, changed });
  const painter = makePainter({ parts, state, view: shown, stack, markdown, prompt: (columns) => promptRows(editor, columns) });
  const screen = new LiveScreen(new ProcessTerminal(), painter, parts.shown);
  const editor = promptEditor(screen, look.theme);
  editor.setAutocompleteProvider(promptCompletion(parts));
  editor.onSubmit = parts.handlers.submit;
  screen.addChild(editor);
  screen.setFocus(editor);
  const draft = { text: () => editor.getText(), clear: () => editor.setText(""), completing: () => editor.isShowingAutocomplete() };
  const size = () => ({ columns: screen.terminal.columns, rows: screen.terminal.rows });
  const read = () => openReader([...state.kept, ...liveBlocks(state.transcript)], drawingOf({ parts, markdown, view: shown }, size()));
  const redraw = (): void => screen.requestRender(true);
  const take = makeInput({ parts, state, view: shown, stack, size, draft, read, redraw, changed });
  screen.addInputListener((data) => (take(data) ? { consume: true } : undefined));
  screen.start();
  const ticking = tick(parts, () => {
    if (isBusy(shown) || shown.tasks().length > 0) changed();
  });
  return {
    ...makeView({ parts, state, shown, stack, changed, remember: (text) => editor.addToHistory(text) }),
    stack,
    ground: async () => {
      const ground = await screen.queryTerminalBackgroundColor({ timeoutMs: GROUND_MS });
      return ground && themeForBackground(ground);
    },
    aside: async (work, words) => {
      screen.renderNow();
      screen.stop();
      screen.terminal.write(words);
      return await work().finally(() => {
        screen.terminal.write("\r\u001b[2K");
        screen.start();
        screen.renderNow(); // a render requested meanwhile was dropped
      });
    },
    giveBack: (texts) => {
      if (texts.length > 0) editor.setText([...texts, editor.getText()].filter((text) => text !== "").join("\n"));
      changed();
    },
    ring: (sequence) => screen.terminal.write(sequence),
    close: () => {
      ticking();
      state.reader = undefined;
      state.closing = true;
      screen.renderNow();
      screen.stop();
    },
  };
}

/** Only a prompt with text has the terminal's cursor; see `LiveScreen`. */
function promptRows(editor: Editor, columns: number): readonly string[] {
  const rows = editor.render(columns);
  return editor.getText() === "" ? rows.map((row) => row.replace(CURSOR_MARKER, "")) : rows;
}

type ViewParts = {
  readonly parts: ScreenParts;
  readonly state: ScreenState;
  readonly shown: ViewState;
  readonly stack: CardStack;
  readonly changed: () => void;
  readonly remember: (text: string) => void;
};

function makeView({ parts, state, shown, stack, changed, remember }: ViewParts): ConversationView {
  const update: ConversationView["update"] = (change) => {
    state.transcript = change(state.transcript);
    changed();
  };
  return {
    state: shown,
    changed,
    update,
    append: (...blocks) => update((transcript) => appendBlocks(transcript, ...blocks)),
    hint: (text) => {
      state.hint = text;
      changed();
    },
    remember: (texts) => {
      for (const text of texts) remember(text);
    },
    configure: (settings) => {
      parts.configure(settings);
      changed();
    },
    confirm: (confirming) => askYesNo(stack, confirming),
  };
}

function tick({ clock }: ScreenParts, act: () => void): () => void {
  let cancel = clock.timer(TICK_MS, beat);
  function beat(): void {
    act();
    cancel = clock.timer(TICK_MS, beat);
  }
  return () => cancel();
}
