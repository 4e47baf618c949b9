import { createRequire, registerHooks } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const MARK = /\?assent=(\d+)$/;

/**
 * Imports a file, and the files it imports by their path, as they are now: Node keeps every module it has met under its address for ever, and old code must not pose
 * as new. So each import has its own number in the address, which modules hand on to those they import.
 */
export async function freshImport(file: string): Promise<unknown> {
  if (latest === 0) registerHooks({ resolve: handOn });
  latest += 1;
  return await import(renewed(pathToFileURL(file).href, String(latest)));
}

let latest = 0;

type Resolve = NonNullable<Parameters<typeof registerHooks>[0]["resolve"]>;

function handOn(...[specifier, context, next]: Parameters<Resolve>): ReturnType<Resolve> {
  const found = next(specifier, context);
  const number = MARK.exec(context.parentURL ?? "")?.[1];
  if (number === undefined || !OWN.test(specifier) || !found.url.startsWith("file:") || found.url.includes("?")) return found;
  return { ...found, url: renewed(found.url, number) };
}

/** Packages stay what they are. */
const OWN = /^(?:\.{0,2}\/|file:|#)/;

function renewed(url: string, number: string): string {
  const file = fileURLToPath(url);
  if (made.get(file) !== number) forget(file);
  made.set(file, number);
  return `${url}?assent=${number}`;
}

/** For which import a file was made last. */
const made = new Map<string, string>();

/** CommonJS modules are kept by their file, whatever the address. */
function forget(file: string): void {
  const { cache } = createRequire(import.meta.url);
  const module = cache[file];
  if (!module) return;
  delete cache[file];
  for (const child of module.children) if (!child.filename.includes("/node_modules/")) forget(child.filename);
}
