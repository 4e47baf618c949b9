import { findProgram } from "../../io/find-program.ts";
import type { Io } from "../../io/io.ts";

/** What is looked for where a person named no editor: what their system calls its editor, then those that explain themselves. */
const USUAL: readonly string[] = ["editor", "nano", "vi", "vim", "nvim", "emacs"];

/** The command line of the person's editor: of the settings, else of the environment, else one that is there. Undefined: there is none. */
export function findEditor(environment: Io["env"], setting: string | undefined): string | undefined {
  const named = [setting, environment["VISUAL"], environment["EDITOR"]].find((line) => line !== undefined && line.trim() !== "");
  return named ?? USUAL.find((name) => findProgram(name, environment["PATH"] ?? "") !== undefined);
}
