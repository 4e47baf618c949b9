import type { Context } from "../command-line/spec.ts";
import { themeFrom } from "../tui/draw/live-theme.ts";
import { themeOf } from "../tui/draw/theme.ts";
import type { PlainStart } from "../tui/plain/run-plain.ts";
import { firstFrame, takeTerminal } from "../tui/screen/first-frame.ts";
import { VERSION } from "../version.ts";

/** A conversation with a model at this terminal. The prompt is on the screen before what is behind it is loaded. */
export function run(context: Context): Promise<number> {
  return openTui(context, { session: context.options.text("resume"), prompt: context.operands[0] });
}

/** The terminal interface, with a session to go on with or something to say first. */
export async function openTui(context: Context, start: PlainStart): Promise<number> {
  const { io } = context;
  if (isPlain(context)) return await (await import("../tui/plain/run-plain.ts")).runPlain(context, start);
  const theme = themeOf(themeFrom(io.env) ?? "dark");
  const columns = io.stdout.columns() ?? 80;
  const { printed, lines } = firstFrame({ columns, theme, version: VERSION, cwd: io.cwd, home: io.env["HOME"] ?? "" });
  const taking = takeTerminal();
  await io.stdout.write([...printed, ...lines].join("\r\n"));
  const terminal = await taking;
  const { runTui } = await import("../tui/run-tui.ts").catch((error: unknown) => {
    terminal.giveBack();
    throw error;
  });
  return await runTui(context, { ...start, shown: lines, ...terminal });
}

/** No redrawing where it was asked for, or where nothing could be drawn. */
function isPlain({ io, options }: Context): boolean {
  return options.flag("plain") || io.env["TERM"] === "dumb" || !io.stdout.isTTY || !io.stdinIsTTY;
}
