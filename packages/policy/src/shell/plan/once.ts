import type { PathLookup } from "../../paths/lookup.ts";

/** A scope that looks at each path once: within one line the same name means the same file. */
export function once(look: PathLookup): PathLookup {
  const inDirectory = onceNamed((cwd) => onceNamed((path) => look(path, cwd)));
  return (path, cwd) => inDirectory(cwd)(path);
}

/** The same for anything that is found by its name. A line mostly asks for one name again and again: further ones are put aside. */
export function onceNamed<T>(find: (name: string) => T): (name: string) => T {
  let last: Found<T> | undefined;
  let others: Map<string, Found<T>> | undefined;
  return (name) => {
    if (last?.name === name) return last.found;
    if (last) others = (others ?? new Map<string, Found<T>>()).set(last.name, last);
    last = others?.get(name) ?? { name, found: find(name) };
    return last.found;
  };
}

type Found<T> = { readonly name: string; readonly found: T };
