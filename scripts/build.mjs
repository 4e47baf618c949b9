// Builds what is published: removes what sources no longer make, compiles, and joins the modules of @assent/core into a few files (a hundred small ones cost
// more to load than to run). Types stay where tsc puts them.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** A build never takes anything away, so a module that was renamed or deleted would be published for ever. */
function removeStale() {
  for (const output of globSync("packages/*/dist/**/*.{js,d.ts}", { cwd: root })) {
    const source = output.replace("/dist/", "/src/").replace(/\.(?:d\.ts|js)$/, ".ts");
    if (!existsSync(join(root, source))) rmSync(join(root, output));
  }
}

function compile() {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { status } = spawnSync(process.execPath, [compiler, "-b", "packages/sdk", "packages/cli"], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

/** A constant of a module that a call makes. No such call does more than make it, and bundlers that are told so leave out what nobody uses. */
const INITIALISER = /^(var [\w$]+ = )(?=(?:new )?[\w$.]+\()/gm;

async function joinCore() {
  const dist = join(root, "packages/core/dist");
  const entries = { index: "index.js", testing: "testing/index.js", text: "text.js", ungoverned: "ungoverned.js" };
  const { outputFiles } = await build({
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(dist, file)])),
    outdir: join(dist, "bundle"),
    bundle: true,
    splitting: true, // one LedgerError, whichever entry it is imported from
    format: "esm",
    target: "es2024",
    external: ["node:*"],
    logLevel: "warning",
    write: false,
  });
  mkdirSync(join(dist, "bundle"), { recursive: true });
  for (const { path, text } of outputFiles) writeFileSync(path, text.replace(INITIALISER, "$1/* @__PURE__ */ "));
}

removeStale(); // the joined files have no source of their own name: they go, too, and are made again
compile();
await joinCore();
