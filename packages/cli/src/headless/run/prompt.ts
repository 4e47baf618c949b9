import type { Context } from "../../command-line/spec.ts";
import { usageError } from "../../io/failure.ts";

const MOST_BYTES = 10 * 1024 * 1024;

/** The argument, else stdin; both where both are given. */
export async function givenPrompt({ io, operands }: Context): Promise<string | undefined> {
  const given = operands[0];
  const piped = io.stdinIsTTY ? new Uint8Array() : await io.readStdin(MOST_BYTES);
  if (piped.length > MOST_BYTES) throw usageError("run", "stdin has more than 10 MiB.");
  const text = new TextDecoder().decode(piped);
  const prompt = [given, text.trim() === "" ? undefined : text].filter((part) => part !== undefined).join("\n\n");
  return prompt.trim() === "" ? undefined : prompt;
}
