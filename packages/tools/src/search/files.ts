import { compileNameGlob, compilePathGlob, expandBraces } from "../files/path-glob.ts";

export type PathFilter = (names: readonly string[]) => boolean;

/** Batch limits: a command line cannot be arbitrarily long. */
const BATCH_FILES = 1000;
const BATCH_CHARS = 100_000;

/** Compiles a file glob. Without a slash it matches names at any depth, with one the path from the top. `!` negates it. */
export function pathFilter(glob: string): PathFilter {
  const isNot = glob.startsWith("!");
  const tests = expandBraces(isNot ? glob.slice(1) : glob).map(compileFilter);
  return (names) => tests.some((test) => test(names)) !== isNot;
}

function compileFilter(pattern: string): PathFilter {
  const path = pattern.replace(/^\.?\//, "").replace(/\/$/, "/**");
  if (pattern.includes("/")) return compilePathGlob(path);
  const name = compileNameGlob(pattern);
  return (names) => name(names.at(-1) ?? "");
}

export async function* groupPaths(paths: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let batch: string[] = [];
  let chars = 0;
  for await (const path of paths) {
    batch.push(path);
    chars += path.length + 1;
    if (batch.length < BATCH_FILES && chars < BATCH_CHARS) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}
