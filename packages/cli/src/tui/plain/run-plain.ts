import { ParkRequest } from "@assent/core";
import { createSystemClock } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { withTimer } from "../../compose/keep-alive.ts";
import { readPlace } from "../../compose/place.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { createConfinedOffer } from "../../desk/approvals/confined-offer.ts";
import type { TypedLine } from "../../desk/terminal/prompt.ts";
import { runFlags } from "../../headless/run/flags.ts";
import { isParkSignal } from "../../io/cancel-on-signal.ts";
import type { Io, Output } from "../../io/io.ts";
import { writeIfRead } from "../../io/process-io.ts";
import { withStore } from "../../store/open.ts";
import { createApp } from "../conversation/app.ts";
import { farewellText } from "../conversation/leaving.ts";
import { isBusy } from "../screen/view.ts";
import { type LineTerminal, openLineTerminal } from "./line-terminal.ts";
import { makePlainView } from "./plain-view.ts";

export type PlainStart = { readonly session: string | undefined; readonly prompt: string | undefined };

/** Runs a conversation line by line, for screen readers and simple terminals. Resolves with the exit code. */
export async function runPlain(given: Context, start: PlainStart): Promise<number> {
  const place = readPlace(given);
  const run = await runFlags(given, "tui");
  const clock = given.overrides.clock ?? createSystemClock();
  const stopping: { act: () => void } = { act: () => undefined };
  const io: Io = { ...given.io, stdout: withoutColors(given.io.stdout), stderr: withoutColors(given.io.stderr) };
  const terminal = openLineTerminal(io, { clock, cancel: () => stopping.act() });
  const context: Context = { ...given, io: { ...io, stderr: writeBetweenQuestions(io.stderr, terminal.between) } };
  const view = makePlainView({ output: io.stdout, cwd: place.cwd, ask: terminal.ask, between: terminal.between });
  const leaving = new AbortController();
  const left = await withStore(context, async (store) => {
    const ports = hostPortsFor(context, store.directory);
    const park = (): void => leaving.abort(new ParkRequest());
    const cancelling = { signal: leaving.signal, cancel: () => stopping.act(), park, release: () => undefined };
    const app = createApp({
      ...{ context, store, ports, cancelling, view, bindings: () => [], place, run },
      door: terminal.door(createConfinedOffer(context, store.directory, ports)),
      columns: () => io.stdout.columns() ?? 80,
      leave: () => leaving.abort(),
    });
    stopping.act = () => app.act("interrupt");
    const release = io.onSignal((received) => {
      if (isParkSignal(received)) park();
      else if (!isBusy(view.state) || terminal.isOpen()) leaving.abort();
      else app.act("interrupt");
    });
    return await withTimer(async () => {
      view.hint(GREETING);
      await app.start(start);
      for (let typed = await line(); "line" in typed; typed = await line()) await app.submit(typed.line);
      return await app.end();
    }).finally(release);
    async function line(): Promise<TypedLine> {
      await view.idle();
      return leaving.signal.aborted ? { none: "closed" } : await terminal.ask("You: ", leaving.signal);
    }
  });
  await view.idle();
  if (left.session !== undefined) await writeIfRead(io.stdout, `\n${farewellText(context, left)}`);
  return left.exit;
}

/** Screen readers read codes and box characters aloud, so they are replaced. */
function withoutColors(output: Output): Output {
  return { ...output, isTTY: false, write: (text) => output.write(text.replaceAll(/^│ /gm, "| ")) };
}

/** Writes when no question is open, without blocking the caller. */
function writeBetweenQuestions(output: Output, between: LineTerminal["between"]): Output {
  return { ...output, write: async (text) => void between(() => output.write(text)).catch(() => undefined) };
}

const GREETING = "Assent. Type what you want done, then Enter. /help: commands, Ctrl-D: leave.";
