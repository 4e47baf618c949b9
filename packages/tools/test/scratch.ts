import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A test or a suite, as far as its end is concerned. */
export type Cleaned = { readonly after: (clean: () => void) => void };

/** A directory of this test alone, or of this suite, as its real path, removed at the end. */
export function scratch(t: Cleaned): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "assent-test-")));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A real ripgrep, as a package that the tests of other clients use brings it. */
export const RIPGREP: string = join(
  dirname(createRequire(import.meta.url).resolve("@qwen-code/sdk")),
  `cli/vendor/ripgrep/${process.arch}-${process.platform}`,
);
