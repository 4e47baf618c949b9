import { ProcessTerminal } from "@earendil-works/pi-tui";
import { confirm } from "../cards/confirm-card.ts";
import { createDesk, type Desk } from "../cards/desk.ts";
import { markdownLines } from "../draw/markdown.ts";
import { themeOn } from "../draw/theme.ts";
import { promptCompletion } from "../input/completion.ts";
import { promptEditor } from "../input/prompt-editor.ts";
import { liveBlocks, withBlocks } from "../transcript/transcript.ts";
import { STARTING } from "./first-frame.ts";
import { makeInput } from "./input.ts";
import { LiveScreen } from "./live-screen.ts";
import { drawingOf, makePainter } from "./painter.ts";
import { openReader } from "./reader.ts";
import { isBusy, type Shown, type Stage } from "./stage.ts";
import { freshState, type ShellParts, type ShellState } from "./state.ts";

/** The screen of the terminal interface: the transcript, what waits, the prompt. */
export type Shell = Stage & {
  readonly desk: Desk;
  /** The theme that fits the terminal's ground, where it tells. */
  readonly ground: () => Promise<"dark" | "light" | undefined>;
  /** Gives the terminal away for as long as the work takes; the words stand there where the work shows nothing itself. */
  readonly aside: <T>(work: () => Promise<T>, words: string) => Promise<T>;
  /** Texts that were not sent go back to where the person writes. */
  readonly giveBack: (texts: readonly string[]) => void;
  /** Bytes for the terminal that draw nothing: a bell. */
  readonly ring: (sequence: string) => void;
  readonly close: () => void;
};

const GROUND_MS = 500;
const TICK_MS = 1_000;

/** Takes the terminal and begins to draw. */
export function openShell(parts: ShellParts): Shell {
  const { clock, look } = parts;
  const state = freshState(parts.shown.length > 0);
  const shown: Shown = { status: STARTING, queued: [], busySince: undefined, commands: 0, tasks: () => [], isMarkdown: () => false };
  const markdown = markdownLines(look.theme);
  const changed = (): void => screen.requestRender();
  const desk = createDesk({ clock, changed });
  const painter = makePainter({ parts, state, shown, desk, markdown, prompt: (columns) => editor.render(columns) });
  const screen = new LiveScreen(new ProcessTerminal(), painter, parts.shown);
  const editor = promptEditor(screen, look.theme);
  editor.setAutocompleteProvider(promptCompletion(parts));
  editor.onSubmit = parts.handlers.submit;
  screen.addChild(editor);
  screen.setFocus(editor);
  const draft = { text: () => editor.getText(), clear: () => editor.setText(""), completing: () => editor.isShowingAutocomplete() };
  const size = () => ({ columns: screen.terminal.columns, rows: screen.terminal.rows });
  const read = () => openReader([...state.kept, ...liveBlocks(state.transcript)], drawingOf({ parts, markdown, shown }, size()));
  const redraw = (): void => screen.requestRender(true);
  const take = makeInput({ parts, state, shown, desk, size, draft, read, redraw, changed });
  screen.addInputListener((data) => (take(data) ? { consume: true } : undefined));
  screen.start();
  const ticking = tick(parts, () => {
    if (isBusy(shown) || shown.tasks().length > 0) changed();
  });
  return {
    ...stageOn({ parts, state, shown, desk, changed, remember: (text) => editor.addToHistory(text) }),
    desk,
    ground: async () => {
      const ground = await screen.queryTerminalBackgroundColor({ timeoutMs: GROUND_MS });
      return ground && themeOn(ground);
    },
    aside: async (work, words) => {
      screen.renderNow();
      screen.stop();
      screen.terminal.write(words);
      return await work().finally(() => {
        screen.terminal.write("\r\u001b[2K");
        screen.start();
        screen.renderNow(); // one that was asked for meanwhile would never come
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

type StageParts = {
  readonly parts: ShellParts;
  readonly state: ShellState;
  readonly shown: Shown;
  readonly desk: Desk;
  readonly changed: () => void;
  readonly remember: (text: string) => void;
};

function stageOn({ parts, state, shown, desk, changed, remember }: StageParts): Stage {
  const hear: Stage["hear"] = (change) => {
    state.transcript = change(state.transcript);
    changed();
  };
  return {
    shown,
    changed,
    hear,
    say: (...blocks) => hear((transcript) => withBlocks(transcript, ...blocks)),
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
    confirm: (confirming) => confirm(desk, confirming),
  };
}

/** Every second, until it is stopped. */
function tick({ clock }: ShellParts, act: () => void): () => void {
  let cancel = clock.timer(TICK_MS, beat);
  function beat(): void {
    act();
    cancel = clock.timer(TICK_MS, beat);
  }
  return () => cancel();
}
