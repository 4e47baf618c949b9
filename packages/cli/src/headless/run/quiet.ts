import type { Context } from "../../command-line/spec.ts";

/** With `--quiet` nothing is said on stderr but errors. */
export function quietly(context: Context): Context {
  if (!context.options.flag("quiet")) return context;
  const { stderr } = context.io;
  const write = (text: string): Promise<void> => (isError(text) ? stderr.write(text) : Promise.resolve());
  return { ...context, io: { ...context.io, stderr: { ...stderr, write } } };
}

function isError(text: string): boolean {
  return text.startsWith("assent: ") && !text.startsWith("assent: warning:");
}
