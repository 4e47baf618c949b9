import { type PathScope, pathScope, type SessionDirectories } from "./scope.ts";

/** A scope that follows its directories when settings are read again; they are compared by identity. */
export function liveScope(directories: () => SessionDirectories): PathScope {
  let known = directories();
  let scope = pathScope(known);
  return (path, cwd) => {
    const now = directories();
    if (now !== known) {
      known = now;
      scope = pathScope(now);
    }
    return scope(path, cwd);
  };
}
