import { messageOf } from "@assent/core";
import { createSystemClock } from "@assent/host";
import { ProcessTerminal } from "@earendil-works/pi-tui";
import type { Context } from "../command-line/spec.ts";
import { withTimer } from "../compose/keep-alive.ts";
import { createRedactions } from "../compose/redaction.ts";
import { followRecord } from "../inbox/inbox-desk.ts";
import { createSessionViews, createWaitingList, NAMES } from "../inbox/rows.ts";
import { cut } from "../io/display-width.ts";
import { CommandError } from "../io/failure.ts";
import { personBy } from "../io/who.ts";
import { withStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { createCardStack } from "../tui/cards/stack.ts";
import type { Canvas, Key, Size } from "../tui/draw/dialog.ts";
import { makeTheme, themeFromEnvironment } from "../tui/draw/theme.ts";
import { readKey } from "../tui/input/read-key.ts";
import { takeTerminal } from "../tui/screen/first-frame.ts";
import { LiveScreen } from "../tui/screen/live-screen.ts";
import { answeredElsewhere, answerOnCard } from "./answer-on-card.ts";
import { EMPTY_LIST, listLines, placeLine, pressList, stepTo, type WatchState, withRows } from "./list.ts";

/** Shows what waits as a live list until the person leaves. */
export function runWatch(context: Context): Promise<number> {
  const { io } = context;
  if (!io.stdinIsTTY || !io.stdout.isTTY || io.env["TERM"] === "dumb")
    throw new CommandError("no_terminal", 2, {
      message: "'assent watch' needs a terminal.",
      hint: "Use 'assent approvals' for a list, or 'assent inbox' for a page.",
    });
  return withStore(context, (store) => withTimer(() => watch(context, store)));
}

const TICK_MS = 10_000;
const BACK: readonly string[] = ["escape", "q", "ctrl+c", "ctrl+d"];

/** A card that is open: it is withdrawn if it was answered elsewhere, or if its request changed. */
type OpenCard = { readonly id: string; readonly gone: AbortController; next: string | undefined };

async function watch(given: Context, store: Store): Promise<number> {
  const { io, options } = given;
  const clock = given.overrides.clock ?? createSystemClock();
  const theme = makeTheme(themeFromEnvironment(io.env) ?? "dark");
  const leaving = Promise.withResolvers<void>();
  const readWaiting = createWaitingList(store.ledger, createSessionViews(store.ledger), createRedactions(io, NAMES));
  let state: WatchState = EMPTY_LIST;
  let open: OpenCard | undefined;
  const set = (change: Partial<WatchState>): void => {
    state = { ...state, ...change };
    screen.requestRender();
  };
  // Nothing may be printed over the screen: what commands say becomes the notice.
  const stderr = { ...io.stderr, write: async (text: string) => set({ notice: text.trim() }) };
  const context: Context = { ...given, io: { ...io, stdinIsTTY: false, stderr, stdout: { ...io.stdout, isTTY: false } } };
  const stack = createCardStack({ clock, changed: () => screen.requestRender() });
  const cardCanvas = ({ columns, rows }: Size): Canvas => ({ columns, rows: rows - 1, theme });
  const page = (size: Size): readonly string[] => {
    if (!stack.front()) return listLines(state, { ...size, theme }, clock.now());
    return [theme.dim(cut(placeLine(state, open?.id ?? ""), size.columns)), ...stack.view(cardCanvas(size))];
  };
  const size = (): Size => ({ columns: screen.terminal.columns, rows: screen.terminal.rows });
  const terminal = await takeTerminal();
  process.on("exit", leavePage);
  terminal.handOver();
  const screen = new LiveScreen(new ProcessTerminal(), {
    frame: (room) => ({ printed: [], lines: [], page: page(room) }),
    painted: () => stack.painted(cardCanvas(size())),
  });
  const aside = async <T>(work: () => Promise<T>): Promise<T> => {
    screen.stop();
    return await work().finally(() => {
      screen.start();
      screen.renderNow(true);
    });
  };
  const by = personBy({ name: options.text("by"), door: "watch", from: "terminal" });
  const show = async (id: string): Promise<void> => {
    for (let next: string | undefined = id; next !== undefined; ) {
      const card: OpenCard = { id: next, gone: new AbortController(), next: undefined };
      open = card;
      set({ current: next, notice: "" });
      const said = await answerOnCard({ context, store, by, clock, stack, aside }, next, card.gone.signal).catch(messageOf);
      if (said !== "") set({ notice: said });
      next = card.next;
    }
    open = undefined;
    refresh();
  };
  const leaveCard = (next?: string): void => {
    if (!open) return;
    open.next = next;
    open.gone.abort();
  };
  const look = async (): Promise<void> => {
    try {
      const rows = await readWaiting();
      set(withRows(state, rows));
      const card = open;
      if (!card || rows.some(({ id }) => id === card.id)) return;
      const said = await answeredElsewhere(store, card.id);
      leaveCard();
      if (said !== "") set({ notice: said });
    } catch (error) {
      set({ notice: `The record cannot be read: ${messageOf(error)}` });
    }
  };
  let looking = Promise.resolve();
  let isDue = false;
  const refresh = (): void => {
    if (isDue) return;
    isDue = true;
    looking = looking.then(() => {
      isDue = false;
      return look();
    });
  };
  const pressCard = (key: Key): void => {
    const isFree = stack.front()?.isIdle?.() === true;
    const name = "name" in key ? key.name : "";
    const step = name === "j" ? 1 : name === "k" ? -1 : undefined;
    if (name === "ctrl+t" || (isFree && BACK.includes(name))) leaveCard();
    else if (isFree && step !== undefined) leaveCard(stepTo(state, step));
    else stack.key(key, cardCanvas(size()));
  };
  const press = (key: Key): void => {
    if (stack.front()) {
      pressCard(key);
      return;
    }
    if (open) return; // its card is about to appear
    const pressed = pressList(state, key);
    set(pressed.state);
    if (pressed.act === "leave") leaving.resolve();
    else if (pressed.act) void show(pressed.act.open);
  };
  screen.addInputListener((data) => {
    const key = readKey(data);
    if (key) press(key);
    return { consume: true };
  });
  screen.start();
  const following = followRecord(store.ledger, refresh, (error) =>
    set({ notice: `The record can no longer be followed: ${messageOf(error)}` }),
  );
  const ticking = setInterval(() => screen.requestRender(), TICK_MS);
  const offSignal = io.onSignal(() => leaving.resolve());
  try {
    await leaving.promise;
  } finally {
    offSignal();
    clearInterval(ticking);
    following.close();
    leaveCard();
    await looking;
    screen.stop();
    terminal.released();
    process.off("exit", leavePage);
  }
  return 0;
}

/** However the process ends, the terminal shows its normal screen again. */
function leavePage(): void {
  process.stdout.write("\u001b[?1049l");
}
