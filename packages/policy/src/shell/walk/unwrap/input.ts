import type { Hazard } from "../../plan/plan.ts";
import { isOneWord, type ShellWord } from "../../read/bash-tree.ts";
import { NOTHING, type UnwrapResult, type WrapperCall } from "./unwrapped.ts";

const INPUT_FILE = /^\/(?:dev\/stdin|dev\/fd\/\d+|proc\/self\/fd\/\d+)$/;

/** What a shell would run from a file or its input. */
export function unwrapInput({ name, stdin }: WrapperCall, file: ShellWord | undefined): UnwrapResult {
  if (file?.word.dynamic)
    return isFile(name, file.word.text) ? NOTHING : { inner: [], doubts: [`What ${name} runs is only known at run time`] };
  if (file && !INPUT_FILE.test(file.value)) return NOTHING;
  if (stdin?.kind === "pipe") {
    const inner = stdin.text === undefined ? [] : [{ label: "pipe", script: stdin.text }];
    return { inner, doubts: [`${name} reads its program from a pipe`], hazards: [PIPE] };
  }
  if (stdin?.kind !== "text") return NOTHING;
  const doubts = stdin.literal ? [] : [`The text that ${name} reads is only known at run time`];
  return { inner: [{ label: "heredoc", script: stdin.text }], doubts };
}

/** They take no option before the file. */
const SOURCES: readonly string[] = ["source", "."];

/** Whether a dynamic word is at least a file name. */
function isFile(name: string, text: string): boolean {
  if (/[<>$]\(|`/.test(text)) return false;
  return SOURCES.includes(name) || isOneWord(text) || /^~[\w./-]*$/.test(text);
}

const PIPE: Hazard = { id: "pipe_to_shell", text: "A shell reads its program from a pipe" };
