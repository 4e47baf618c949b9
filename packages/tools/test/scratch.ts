import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** A directory of this test alone, as its real path, removed at the end. */
export function scratch(t: TestContext): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "assent-test-")));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
