import type { Runs } from "../programs/program.ts";
import { PROGRAMS, runsOf } from "../programs/table.ts";
import { hasSubscript, type ShellWord } from "../read/bash-tree.ts";
import { commandName } from "../read/command-name.ts";
import { unwrapCode } from "./unwrap/code.ts";
import { unwrapGit } from "./unwrap/git.ts";
import { unwrapInput } from "./unwrap/input.ts";
import { unwrapDebugger, unwrapOptions, unwrapSsh, unwrapWords } from "./unwrap/options.ts";
import { addSplitDoubt, unwrapPrefix, unwrapRunner } from "./unwrap/prefix.ts";
import { unwrapFind, unwrapParallel, unwrapXargs } from "./unwrap/searches.ts";
import { unwrapAlias, unwrapEval, unwrapJobs, unwrapShell, unwrapSource } from "./unwrap/shells.ts";
import { asScript, type CommandInput, mergeResults, type UnwrapResult, type WrapperCall } from "./unwrap/unwrapped.ts";
import { variableScript } from "./unwrap/variables.ts";

/** Finds everything that a command runs because of its words. Undefined: nothing that Assent knows of. */
export function unwrap(words: readonly ShellWord[], { stdin, openEnd }: CommandInput): UnwrapResult | undefined {
  const first = words[0];
  if (!first || first.word.dynamic) return undefined;
  const name = commandName(first.value);
  const runs = runsOf(name);
  const { subscripts, sets } = PROGRAMS.get(name) ?? {};
  if (!(runs || subscripts || sets)) return undefined;
  const inside = runs && unwrapBy(runs, { name, words, stdin, openEnd });
  if (!(subscripts || sets)) return inside;
  return mergeResults([...(inside ? [inside] : []), ...(subscripts ? [subscriptsIn(words)] : []), ...(sets ? variablesIn(words) : [])]);
}

function unwrapBy(runs: Runs, wrapping: WrapperCall): UnwrapResult {
  switch (runs.how) {
    case "prefix":
      return unwrapPrefix(wrapping, runs);
    case "runner":
      return runs.languages
        ? mergeResults([unwrapRunner(wrapping, runs.after), unwrapCode(wrapping, { how: "code", languages: runs.languages })])
        : unwrapRunner(wrapping, runs.after);
    case "options":
      return unwrapOptions(wrapping, runs);
    case "words":
      return unwrapWords(wrapping, runs.names);
    case "code":
      return unwrapCode(wrapping, runs);
    case "shell":
      return unwrapShell(wrapping, runs);
    case "source":
      return unwrapSource(wrapping);
    case "eval":
      return unwrapEval(wrapping);
    case "alias":
      return unwrapAlias(wrapping);
    case "jobs":
      return unwrapJobs(wrapping);
    case "input":
      return unwrapInput(wrapping, undefined);
    case "xargs":
      return addSplitDoubt(wrapping, unwrapXargs(wrapping, runs));
    case "find":
      return unwrapFind(wrapping);
    case "parallel":
      return addSplitDoubt(wrapping, unwrapParallel(wrapping, runs));
    case "git":
      return unwrapGit(wrapping);
    case "ssh":
      return unwrapSsh(wrapping);
    case "debugger":
      return unwrapDebugger(wrapping);
    default:
      return runs satisfies never;
  }
}

function subscriptsIn(words: readonly ShellWord[]): UnwrapResult {
  return { inner: words.filter(({ value }) => hasSubscript(value)).map(({ value }) => ({ label: "[]", script: `: ${value}` })) };
}

function variablesIn(words: readonly ShellWord[]): readonly UnwrapResult[] {
  return words.flatMap((word) => {
    const name = /^\w+(?==)/.exec(word.value)?.[0] ?? "";
    const script = name === "" ? undefined : variableScript(name, word.value.slice(name.length + 1));
    return script === undefined ? [] : [asScript(`${name}=`, { ...word, value: script })];
  });
}
