// Joins the modules of @assent/core into a few files: a hundred small ones cost more to load than to run. Types stay where tsc puts them.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const dist = fileURLToPath(new URL("../packages/core/dist/", import.meta.url));
rmSync(`${dist}bundle`, { recursive: true, force: true });
await build({
  entryPoints: { index: `${dist}index.js`, testing: `${dist}testing/index.js`, text: `${dist}text.js`, ungoverned: `${dist}ungoverned.js` },
  outdir: `${dist}bundle`,
  bundle: true,
  splitting: true, // one LedgerError, whichever entry it is imported from
  format: "esm",
  target: "es2024",
  external: ["node:*"],
  logLevel: "warning",
});
