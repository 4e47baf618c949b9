import type { Context } from "../command-line/spec.ts";
import { VERSION } from "../version.ts";
import { makeTheme, themeFromEnvironment } from "./draw/theme.ts";
import type { PlainStart } from "./plain/run-plain.ts";
import { firstFrame, takeTerminal } from "./screen/first-frame.ts";

/** Opens the terminal interface, with a session to resume or a first prompt. The input line appears before the rest of the program is loaded. */
export async function openTui(context: Context, start: PlainStart): Promise<number> {
  const { io } = context;
  if (isPlain(context)) return await (await import("./plain/run-plain.ts")).runPlain(context, start);
  const theme = makeTheme(themeFromEnvironment(io.env) ?? "dark");
  const [columns, rows] = [io.stdout.columns() ?? 80, io.stdout.rows() ?? 24];
  const { printed, lines } = firstFrame({ columns, theme, version: VERSION, cwd: io.cwd, home: io.env["HOME"] ?? "" });
  const taking = takeTerminal();
  await io.stdout.write([...printed, ...lines].join("\r\n"));
  const terminal = await taking;
  const { runTui } = await import("./run-tui.ts").catch((error: unknown) => {
    terminal.giveBack();
    throw error;
  });
  return await runTui(context, { ...start, shown: { lines, columns, rows }, ...terminal });
}

/** No redrawing where it was asked for, or where nothing could be drawn. */
function isPlain({ io, options }: Context): boolean {
  return options.flag("plain") || io.env["TERM"] === "dumb" || !io.stdout.isTTY || !io.stdinIsTTY;
}
