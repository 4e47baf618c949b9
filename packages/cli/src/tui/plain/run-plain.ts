import { ParkRequest } from "@assent/core";
import { createSystemClock } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { readPlace } from "../../compose/place.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import type { Typed } from "../../desk/terminal/prompt.ts";
import { runFlags } from "../../headless/run/flags.ts";
import { isParkSignal } from "../../io/cancel-on-signal.ts";
import type { Io, Output } from "../../io/io.ts";
import { writeIfRead } from "../../io/process-io.ts";
import { withStore } from "../../store/open.ts";
import { createApp } from "../conversation/app.ts";
import { farewell } from "../conversation/leaving.ts";
import { isBusy } from "../screen/stage.ts";
import { type LineDesk, lineDesk } from "./line-desk.ts";
import { plainStage } from "./plain-stage.ts";

/** What a conversation begins with. */
export type PlainStart = { readonly session: string | undefined; readonly prompt: string | undefined };

/** A conversation line by line: for screen readers, and for terminals that draw nothing. Resolves with the exit code. */
export async function runPlain(given: Context, start: PlainStart): Promise<number> {
  const place = readPlace(given);
  const run = await runFlags(given, "tui");
  const clock = given.overrides.clock ?? createSystemClock();
  const stopping: { act: () => void } = { act: () => undefined };
  const io: Io = { ...given.io, stdout: uncoloured(given.io.stdout), stderr: uncoloured(given.io.stderr) };
  const desk = lineDesk(io, { clock, cancel: () => stopping.act() });
  const context: Context = { ...given, io: { ...io, stderr: heldBack(io.stderr, desk.between) } };
  const stage = plainStage({ output: io.stdout, cwd: place.cwd, ask: desk.ask, between: desk.between });
  const leaving = new AbortController();
  const left = await withStore(context, async (store) => {
    const ports = hostPortsFor(context, store.directory);
    const park = (): void => leaving.abort(new ParkRequest());
    const cancelling = { signal: leaving.signal, cancel: () => stopping.act(), park, release: () => undefined };
    const app = createApp({
      ...{ context, store, ports, cancelling, stage, bindings: () => [], place, run, door: desk.door },
      columns: () => io.stdout.columns() ?? 80,
      leave: () => leaving.abort(),
    });
    stopping.act = () => app.act("interrupt");
    const release = io.onSignal((received) => {
      if (isParkSignal(received)) park();
      else if (!isBusy(stage.shown) || desk.isOpen()) leaving.abort();
      else app.act("interrupt");
    });
    const alive = setInterval(() => undefined, LONGEST_MS);
    try {
      stage.hint(GREETING);
      await app.start(start);
      for (let typed = await line(); "line" in typed; typed = await line()) await app.submit(typed.line);
      return await app.end();
    } finally {
      clearInterval(alive);
      release();
    }
    async function line(): Promise<Typed> {
      await stage.idle();
      return leaving.signal.aborted ? { none: "closed" } : await desk.ask("You: ", leaving.signal);
    }
  });
  await stage.idle();
  if (left.session !== undefined) await writeIfRead(io.stdout, `\n${farewell(context, left)}`);
  return left.exit;
}

/** A reader reads codes and box characters aloud: what is written here is words, and a plain mark before rows of foreign text. */
function uncoloured(output: Output): Output {
  return { ...output, isTTY: false, write: (text) => output.write(text.replaceAll(/^│ /gm, "| ")) };
}

/** What is written meanwhile waits for its place, and holds nobody up. */
function heldBack(output: Output, between: LineDesk["between"]): Output {
  return { ...output, write: async (text) => void between(() => output.write(text)).catch(() => undefined) };
}

const GREETING = "Assent. Type what you want done, then Enter. /help: commands, Ctrl-D: leave.";

const LONGEST_MS = 2 ** 30;
