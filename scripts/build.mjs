// Builds what is published: removes what sources no longer make, compiles, and joins the modules of @assent/core, and those of the program with the packages
// it is made of, into a few files each (hundreds of small ones cost more to load than to run). Types stay where tsc puts them.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/** Where a module of ours was before it was joined: what it reads at run time lies beside its package. Core is joined already, and is the same for tools of users. */
const OURS = /\/packages\/([a-z]+)\/dist\/(.+)$/;

const inPlace = {
  name: "in place",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || (path.startsWith("@assent/") && !path.startsWith("@assent/core")) ? undefined : { path, external: true },
    );
    onLoad({ filter: OURS }, ({ path }) => {
      const [, folder, file] = OURS.exec(path) ?? [];
      const base =
        folder === "cli" ? `new URL("../${file}", import.meta.url)` : `new URL("./${file}", import.meta.resolve("@assent/${folder}"))`;
      const text = readFileSync(path, "utf8");
      if (/import\.meta\.(?!url\b)/.test(text)) throw new Error(`${path} asks for its place by other means than import.meta.url`);
      return { contents: text.replaceAll("import.meta.url", `(${base}.href)`) };
    });
  },
};

async function joinProgram() {
  const dist = join(root, "packages/cli/dist");
  await build({
    entryPoints: { index: join(dist, "index.js"), program: join(dist, "program.js") },
    outdir: join(dist, "bundle"),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "es2024",
    plugins: [inPlace],
    logLevel: "warning",
  });
}

removeStale(); // the joined files have no source of their own name: they go, too, and are made again
compile();
await joinCore();
await joinProgram();
