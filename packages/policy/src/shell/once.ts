import type { PathScope } from "../path-scope.ts";

/** A scope that looks at each path once: within one line the same name means the same file. */
export function once(look: PathScope): PathScope {
  const seen = new Map<string, ReturnType<PathScope>>();
  return (path, cwd) => {
    const key = `${cwd}\0${path}`;
    const known = seen.get(key);
    if (known) return known;
    const fact = look(path, cwd);
    seen.set(key, fact);
    return fact;
  };
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
