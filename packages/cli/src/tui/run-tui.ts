import { createSystemClock } from "@assent/host";
import type { Context } from "../command-line/spec.ts";
import { readPlace, type WorkPlace } from "../compose/place.ts";
import { hostPortsFor } from "../compose/ports.ts";
import { runFlags } from "../headless/run/flags.ts";
import { cancelOnSignal } from "../io/cancel-on-signal.ts";
import type { Output } from "../io/io.ts";
import { writeIfRead } from "../io/process-io.ts";
import { type Store, withStore } from "../store/open.ts";
import { type App, createApp } from "./conversation/app.ts";
import { farewell } from "./conversation/leaving.ts";
import { liveTheme, themeFrom } from "./draw/theme.ts";
import { type Action, type Binding, type ChosenKeys, chosenKeys, readKeys } from "./input/keys.ts";
import { openShell, type Shell } from "./screen/open-screen.ts";
import { screenDoor } from "./screen/screen-door.ts";
import type { Stage } from "./screen/stage.ts";
import { SLASH_COMMANDS } from "./slash/commands.ts";

/** How the screen begins. */
export type TuiStart = {
  /** Rows that were painted before this was loaded. */
  readonly shown: readonly string[];
  readonly session: string | undefined;
  readonly prompt: string | undefined;
  /** The screen reads the keys from now on. */
  readonly handOver: () => void;
  /** The terminal was given back, or is to be. */
  readonly released: () => void;
  readonly giveBack: () => void;
};

/** The terminal interface, from the first frame until the person leaves. Resolves with the exit code. */
export async function runTui(given: Context, start: TuiStart): Promise<number> {
  const { io } = given;
  const clock = given.overrides.clock ?? createSystemClock();
  const { place, keys } = await beginning(given).catch((error: unknown) => {
    start.giveBack();
    throw error;
  });
  const asked = themeFrom(io.env);
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
  const configure: Stage["configure"] = ({ "tui.theme": theme, "tui.keys": own }) => {
    const chosen = chosenKeys(own, "tui.keys", keys.bindings);
    bindings = chosen.bindings;
    for (const text of chosen.warnings) shell.hint(text);
    if (theme === "auto" || asked === "none") return;
    isChosen = true;
    look.choose(theme);
  };
  start.handOver();
  const shell = openShell({
    ...{ clock, look, bindings: () => bindings, configure, cwd: place.cwd, commands: SLASH_COMMANDS, shown: start.shown },
    ids: (kind) => app.promise.then((ready) => ready.ids(kind)),
    handlers: {
      act,
      stop: () => void app.promise.then((ready) => shell.giveBack(ready.stop())),
      submit: (text) => void app.promise.then((ready) => ready.submit(text)),
    },
  });
  const context: Context = { ...given, io: { ...io, stdinIsTTY: false, stderr: noteOutput(shell, io.stderr) } };
  for (const text of keys.warnings) shell.say({ type: "note", text, role: "warning" });
  if (!isChosen)
    void shell.ground().then((theme) => {
      if (theme && !isChosen) look.choose(theme);
      shell.changed();
    });
  let lastWords = "";
  try {
    return await withStore(context, async (store) => {
      const left = await converse(context, { ...start, store, shell, place, bindings: () => bindings, app, leaving });
      lastWords = farewell(given, left);
      return left.exit;
    });
  } finally {
    shell.close();
    start.released();
    await writeIfRead(io.stdout, lastWords);
  }
}

async function beginning(given: Context): Promise<{ readonly place: WorkPlace; readonly keys: ChosenKeys }> {
  return { place: readPlace(given), keys: await readKeys(given.io.env) };
}

type Conversing = TuiStart & {
  readonly store: Store;
  readonly shell: Shell;
  readonly place: WorkPlace;
  readonly bindings: () => readonly Binding[];
  readonly app: PromiseWithResolvers<App>;
  readonly leaving: PromiseWithResolvers<void>;
};

async function converse(
  context: Context,
  { store, shell, place, bindings, app, leaving, session, prompt }: Conversing,
): ReturnType<App["end"]> {
  const ports = hostPortsFor(context, store.directory);
  const run = await runFlags(context, "tui");
  const cancelling = cancelOnSignal(context.io, ports.clock);
  const alive = setInterval(() => undefined, LONGEST_MS); // timers of the runtime do not keep a process alive; a screen does
  cancelling.signal.addEventListener("abort", () => leaving.resolve());
  process.stdin.once("end", cancelling.park); // a terminal that is gone, where no shell passed its SIGHUP on
  const made = createApp({
    ...{ context, store, ports, cancelling, bindings, place, run },
    stage: shell,
    door: screenDoor({ shell, clock: ports.clock, env: context.io.env, approvalTimeoutMs: run.approvalTimeoutMs }),
    columns: () => context.io.stdout.columns() ?? 80,
    leave: leaving.resolve,
  });
  try {
    const started = made.start({ session, prompt });
    app.resolve(made);
    await Promise.race([leaving.promise, started.then(() => leaving.promise)]);
    return await made.end();
  } finally {
    clearInterval(alive);
    process.stdin.off("end", cancelling.park);
    cancelling.release();
  }
}

const LONGEST_MS = 2 ** 30;

/** What is written for people while the screen is up becomes part of it. */
function noteOutput(shell: Shell, output: Output): Output {
  return {
    ...output,
    isTTY: false,
    write: async (text) => {
      const said = text.replace(/^assent: warning: /, "").trimEnd();
      if (said !== "") shell.say({ type: "note", text: said, role: "warning" });
    },
  };
}
