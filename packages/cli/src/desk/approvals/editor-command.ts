import { findProgram } from "@assent/host";
import type { Io } from "../../io/io.ts";

const USUAL: readonly string[] = ["editor", "nano", "vi", "vim", "nvim", "emacs"];

export function findEditor(environment: Io["env"], setting: string | undefined): string | undefined {
  const named = [setting, environment["VISUAL"], environment["EDITOR"]].find((line) => line !== undefined && line.trim() !== "");
  return named ?? USUAL.find((name) => findProgram(name, environment["PATH"] ?? "") !== undefined);
}
