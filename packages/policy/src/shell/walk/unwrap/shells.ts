import type { Wrapper } from "../../programs/program.ts";
import { unwrapInput } from "./input.ts";
import { unwrapScanned } from "./prefix.ts";
import { hasOption, scanWrapper } from "./scan.ts";
import { asScript, joinWords, mergeResults, NOTHING, type UnwrapResult, type WrapperCall } from "./unwrapped.ts";

/** `sh -c TEXT`, else the text on its input if no file is given. */
export function unwrapShell(wrapping: WrapperCall, shell: Wrapper): UnwrapResult {
  const { name, words } = wrapping;
  const scan = scanWrapper(shell, words, 1);
  if (hasOption(scan, shell.inert)) return NOTHING;
  const inside = unwrapScanned({ wrapping, wrapper: shell, scan, label: `${name} -c` });
  const readsToo = hasOption(scan, "-s");
  if (hasOption(scan, shell.scriptFlags) || scan.found.some(({ role }) => role === "script")) {
    const isKnown = scan.starts.length > 0 || inside.inner.length > 0;
    const text = isKnown ? inside : { inner: [], doubts: [`${name} -c gets its text from elsewhere`] };
    return readsToo ? mergeResults([text, unwrapInput(wrapping, undefined)]) : text;
  }
  return mergeResults([inside, unwrapInput(wrapping, readsToo ? undefined : words[scan.starts[0] ?? words.length])]);
}

/** `source FILE`. */
export function unwrapSource(wrapping: WrapperCall): UnwrapResult {
  const file = wrapping.words[wrapping.words[1]?.value === "--" ? 2 : 1];
  return file ? unwrapInput(wrapping, file) : NOTHING;
}

/** `eval WORDS`: joined by blanks and parsed again. */
export function unwrapEval({ name, words }: WrapperCall): UnwrapResult {
  const rest = words.slice(words[1]?.value === "--" ? 2 : 1);
  return rest.length === 0 ? NOTHING : asScript(name, joinWords(rest));
}

/** `alias x=TEXT`. */
export function unwrapAlias({ name, words }: WrapperCall): UnwrapResult {
  const texts = words.slice(1).filter(({ value }) => value.includes("="));
  return mergeResults(
    texts.map(({ word, value, hazards }) => asScript(name, { word, value: value.slice(value.indexOf("=") + 1), hazards })),
  );
}

/** `jobs -x COMMAND`. */
export function unwrapJobs({ name, words }: WrapperCall): UnwrapResult {
  return words[1]?.value === "-x" ? { inner: [{ label: name, words, from: 2 }] } : NOTHING;
}
