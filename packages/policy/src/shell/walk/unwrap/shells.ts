import type { Wrapper } from "../../programs/program.ts";
import { readsInput } from "./input.ts";
import { commandInside } from "./prefix.ts";
import { hasOption, scanWrapper } from "./scan.ts";
import { joined, NOTHING, scriptOf, together, type Unwrapped, type Wrapping } from "./unwrapped.ts";

/** `sh -c TEXT`, else the text on the shell's input if no file is named. */
export function unwrapShell(wrapping: Wrapping, shell: Wrapper): Unwrapped {
  const { name, words } = wrapping;
  const scan = scanWrapper(shell, words, 1);
  if (hasOption(scan, shell.inert)) return NOTHING;
  const inside = commandInside({ wrapping, wrapper: shell, scan, label: `${name} -c` });
  const readsToo = hasOption(scan, "-s");
  if (hasOption(scan, shell.scriptFlags) || scan.found.some(({ role }) => role === "script")) {
    const isKnown = scan.starts.length > 0 || inside.inner.length > 0;
    const text = isKnown ? inside : { inner: [], doubts: [`${name} -c gets its text from elsewhere`] };
    return readsToo ? together([text, readsInput(wrapping, undefined)]) : text;
  }
  return together([inside, readsInput(wrapping, readsToo ? undefined : words[scan.starts[0] ?? words.length])]);
}

/** `source FILE` reads like a shell that is given a file. */
export function unwrapSource(wrapping: Wrapping): Unwrapped {
  const file = wrapping.words[wrapping.words[1]?.value === "--" ? 2 : 1];
  return file ? readsInput(wrapping, file) : NOTHING;
}

/** The words of `eval` are joined by blanks and read again. */
export function unwrapEval({ name, words }: Wrapping): Unwrapped {
  const rest = words.slice(words[1]?.value === "--" ? 2 : 1);
  return rest.length === 0 ? NOTHING : scriptOf(name, joined(rest));
}

/** `alias x=TEXT`: the text is what `x` will run. */
export function unwrapAlias({ name, words }: Wrapping): Unwrapped {
  const texts = words.slice(1).filter(({ value }) => value.includes("="));
  return together(texts.map(({ word, value, hazards }) => scriptOf(name, { word, value: value.slice(value.indexOf("=") + 1), hazards })));
}

/** `jobs -x COMMAND`. */
export function unwrapJobs({ name, words }: Wrapping): Unwrapped {
  return words[1]?.value === "-x" ? { inner: [{ label: name, words, from: 2 }] } : NOTHING;
}
