import type { PathScope } from "../path-scope.ts";

/** A scope that looks at each path once: within one line the same name means the same file. */
export function once(look: PathScope): PathScope {
  const directories = new Map<string, Facts>();
  let last: { readonly cwd: string; readonly facts: Facts } | undefined;
  return (path, cwd) => {
    if (last?.cwd !== cwd) last = { cwd, facts: factsOf(directories, cwd) };
    const known = last.facts.get(path);
    if (known) return known;
    const fact = look(path, cwd);
    last.facts.set(path, fact);
    return fact;
  };
}

type Facts = Map<string, ReturnType<PathScope>>;

function factsOf(directories: Map<string, Facts>, cwd: string): Facts {
  const facts: Facts = directories.get(cwd) ?? new Map();
  directories.set(cwd, facts);
  return facts;
}

/** The same for anything that is found by its name. */
export function onceNamed<T>(find: (name: string) => T): (name: string) => T {
  const seen = new Map<string, T>();
  return (name) => {
    if (seen.has(name)) return seen.get(name) as T;
    const found = find(name);
    seen.set(name, found);
    return found;
  };
}
