import { createSystemClock } from "@assent/host";
import type { Context } from "../command-line/spec.ts";
import { keepAlive } from "../compose/keep-alive.ts";
import { readPlace, type WorkPlace } from "../compose/place.ts";
import { createConfinedOffer } from "../desk/approvals/confined-offer.ts";
import { runFlags } from "../headless/run/flags.ts";
import type { Output } from "../io/io.ts";
import { writeIfRead } from "../io/process-io.ts";
import { withStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { type App, createApp } from "./conversation/app.ts";
import { farewellText } from "./conversation/leaving.ts";
import { liveTheme, themeFromEnvironment } from "./draw/theme.ts";
import { type Action, applyChosenKeys, type Binding, type ChosenKeys, readKeyFile } from "./input/keys.ts";
import type { ShownRows } from "./screen/live-screen.ts";
import { openTerminalScreen, type TerminalScreen } from "./screen/open-screen.ts";
import { screenDoor } from "./screen/screen-door.ts";
import type { ConversationView } from "./screen/view.ts";
import { SLASH_COMMANDS } from "./slash/commands.ts";

export type TuiStart = {
  /** Rows painted before this module was loaded. */
  readonly shown: ShownRows;
  readonly session: string | undefined;
  readonly prompt: string | undefined;
  readonly handOver: () => void;
  /** The screen has restored the terminal. */
  readonly released: () => void;
  readonly giveBack: () => void;
};

/** Runs the terminal interface until the person leaves. Resolves with the exit code. */
export async function runTui(given: Context, start: TuiStart): Promise<number> {
  const { io } = given;
  const clock = given.overrides.clock ?? createSystemClock();
  const { place, keys } = await readPlaceAndKeys(given).catch((error: unknown) => {
    start.giveBack();
    throw error;
  });
  const asked = themeFromEnvironment(io.env);
  const leaving = Promise.withResolvers<void>();
  const app = Promise.withResolvers<App>();
  let isReady = false;
  app.promise.then(
    () => {
      isReady = true;
    },
    () => undefined,
  );
  const act = (action: Action): void => {
    if (action === "leave" && !isReady) leaving.resolve();
    else void app.promise.then((ready) => ready.act(action));
  };
  const look = liveTheme(asked ?? "dark");
  let isChosen = asked !== undefined;
  let bindings = keys.bindings;
  const configure: ConversationView["configure"] = ({ "tui.theme": theme, "tui.keys": own }) => {
    const chosen = applyChosenKeys(own, "tui.keys", keys.bindings);
    bindings = chosen.bindings;
    for (const text of chosen.warnings) screen.hint(text);
    if (theme === "auto" || asked === "none") return;
    isChosen = true;
    look.choose(theme);
  };
  start.handOver();
  const screen = openTerminalScreen({
    ...{ clock, look, bindings: () => bindings, configure, cwd: place.cwd, commands: SLASH_COMMANDS, shown: start.shown },
    ids: (kind) => app.promise.then((ready) => ready.ids(kind)),
    handlers: {
      act,
      stop: () => void app.promise.then((ready) => screen.giveBack(ready.stop())),
      submit: (text) => void app.promise.then((ready) => ready.submit(text)),
    },
  });
  const context: Context = { ...given, io: { ...io, stdinIsTTY: false, stderr: outputAsNotes(screen, io.stderr) } };
  for (const text of keys.warnings) screen.append({ type: "note", text, role: "warning" });
  if (!isChosen)
    void screen.ground().then((theme) => {
      if (theme && !isChosen) look.choose(theme);
      screen.changed();
    });
  let lastWords = "";
  try {
    return await withStore(context, async (store) => {
      const left = await converse(context, { ...start, store, screen, place, bindings: () => bindings, app, leaving });
      lastWords = farewellText(given, left);
      return left.exit;
    });
  } finally {
    screen.close();
    start.released();
    await writeIfRead(io.stdout, lastWords);
  }
}

async function readPlaceAndKeys(given: Context): Promise<{ readonly place: WorkPlace; readonly keys: ChosenKeys }> {
  return { place: readPlace(given), keys: await readKeyFile(given.io.env) };
}

type ConverseParts = TuiStart & {
  readonly store: Store;
  readonly screen: TerminalScreen;
  readonly place: WorkPlace;
  readonly bindings: () => readonly Binding[];
  readonly app: PromiseWithResolvers<App>;
  readonly leaving: PromiseWithResolvers<void>;
};

async function converse(
  context: Context,
  { store, screen, place, bindings, app, leaving, session, prompt }: ConverseParts,
): ReturnType<App["end"]> {
  const run = await runFlags(context, "tui");
  return await keepAlive(context, store, async ({ ports, cancelling }) => {
    cancelling.signal.addEventListener("abort", () => leaving.resolve());
    process.stdin.once("end", cancelling.park); // the terminal is gone, and no shell passed on SIGHUP
    const made = createApp({
      ...{ context, store, ports, cancelling, bindings, place, run },
      view: screen,
      door: screenDoor({
        ...{ screen, clock: ports.clock, env: context.io.env, approvalTimeoutMs: run.approvalTimeoutMs },
        confinedOffer: createConfinedOffer(context, store.directory, ports),
      }),
      columns: () => (context.io.stdout.columns() ?? 80) - 2, // a page is indented
      leave: leaving.resolve,
    });
    try {
      const started = made.start({ session, prompt });
      app.resolve(made);
      await Promise.race([leaving.promise, started.then(() => leaving.promise)]);
      store.ledger.leave?.();
      return await made.end();
    } finally {
      process.stdin.off("end", cancelling.park);
    }
  });
}

/** Warnings written to stderr become notes on the screen. */
function outputAsNotes(screen: TerminalScreen, output: Output): Output {
  return {
    ...output,
    isTTY: false,
    write: async (text) => {
      const said = text.replace(/^assent: warning: /, "").trimEnd();
      if (said !== "") screen.append({ type: "note", text: said, role: "warning" });
    },
  };
}
