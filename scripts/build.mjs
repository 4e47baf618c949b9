// Builds what is published: removes what sources no longer make, compiles, and joins the modules of @assent/core, of @assent/agent, and those of the program with
// the packages it is made of, into a few files each (hundreds of small ones cost more to load than to run). Types stay where tsc puts them.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { inParts, isJoined, licensesOf } from "./joined-libraries.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** A build never takes anything away, so a module that was renamed or deleted would be published for ever. */
function removeStale() {
  for (const output of globSync("packages/*/dist/**/*.{js,d.ts}", { cwd: root })) {
    const source = output
      .replace(/\/dist\/(?:src\/)?/, output.includes("/dist/testing/") ? "/" : "/src/")
      .replace(/\.(?:d\.ts|js)$/, ".ts");
    if (!existsSync(join(root, source))) rmSync(join(root, output));
  }
}

function compile() {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { status } = spawnSync(process.execPath, [compiler, "-b", "packages/sdk", "packages/gate", "packages/cli"], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** A constant of a module that a call makes. No such call does more than make it, and bundlers that are told so leave out what nobody uses. */
const INITIALISER = /^(var [\w$]+ = )(?=(?:new )?[\w$.]+\()/gm;

/** How modules are joined. In parts, so that there is one LedgerError, whichever entry it is imported from. */
const JOINING = { bundle: true, splitting: true, format: "esm", target: "es2024", logLevel: "warning", metafile: true, write: false };

/** Every module's name stands above it, as seen from where it was built: `// ../../home/me/…`. Nobody needs to know. */
function withoutPlaces(text, { inputs }) {
  return text.replace(/^\/\/ (\S+)\n/gm, (whole, file) => (file in inputs ? "" : whole));
}

/** What is there by the time an entry, or what is loaded later, is wanted: all that they share is part of that, and not of a third file. */
const BENEATH = {
  "testing/index.js": ["src/index.js"],
  "src/ungoverned.js": ["src/index.js"],
  "src/parts.js": ["src/index.js"],
};

const onTopOfEntries = (dist) => ({
  name: "on top of entries",
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const beneath = BENEATH[relative(dist, path)]?.map((entry) => `import ${JSON.stringify(join(dist, entry))};\n`);
      return beneath && { contents: `${readFileSync(path, "utf8")}\n${beneath.join("")}` };
    });
  },
});

async function joinCore() {
  const dist = join(root, "packages/core/dist");
  const outdir = join(dist, "bundle");
  const joined = async (entries, plugins) => {
    const entryPoints = Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(dist, file)]));
    const options = { ...JOINING, entryPoints, outdir, external: ["node:*"], plugins, ignoreAnnotations: true }; // nothing is left out
    const { metafile, outputFiles } = await build(options);
    return outputFiles.map(({ path, text }) => ({ path, text: withoutPlaces(text, metafile) }));
  };
  const all = await joined({ index: "src/index.js", parts: "src/parts.js", testing: "testing/index.js", ungoverned: "src/ungoverned.js" }, [
    onTopOfEntries(dist),
  ]);
  const texts = await joined({ text: "src/text.js" }, []); // five functions: there may be two of them
  mkdirSync(outdir, { recursive: true });
  for (const { path, text } of [...all, ...texts]) writeFileSync(path, text.replace(INITIALISER, "$1/* @__PURE__ */ "));
}

/** Where a module of ours was before it was joined: what it reads at run time lies beside its package. Core is joined already, and is the same for tools of users. */
const OURS = /\/packages\/([a-z]+)\/dist\/(.+)$/;

const programDist = join(root, "packages/cli/dist");
const agentDist = join(root, "packages/agent/dist");

/** Modules that are loaded lazily, and come with whatever asks for them when joined: a file of their own costs more than they do. */
const AT_ONCE = /^(?:store\/durable-ledger|command-line\/(?:help|completions)|version)$/;

/** Modules that are loaded by themselves, by what is there by then. */
const ALONE = {
  program: /\bcli\/dist\/(?:tui\/open-tui|headless\/clients\/options|index)\.js$/,
  session:
    /\b(?:cli\/dist\/(?:headless\/host\/open|tui\/(?:plain\/run-plain|run-tui))|tools\/dist\/fetch\/(?:fetch-text|refused-ahead)|node_modules\/@ai-sdk\/[^/]+\/dist\/index)\.js$/,
};

/**
 * The other modules that are loaded lazily, in two groups: what works with a policy, and what only looks at the record. Each group is loaded as a whole: apart,
 * what modules have in common lies in a file for every way to share it, and finding forty files takes longer than reading some lines too many.
 */
async function groupsOf(options) {
  const { inputs } = (await build({ ...options, plugins: [inPlace({})] })).metafile;
  const importsOf = (file, kind) =>
    (inputs[file]?.imports ?? []).filter((one) => one.kind === kind && !one.external).map(({ path }) => path);
  const reached = (file, seen = new Set()) => {
    if (!seen.has(file)) for (const next of importsOf(file, "import-statement")) reached(next, seen.add(file));
    return seen.add(file);
  };
  const lazy = new Set(Object.keys(inputs).flatMap((file) => importsOf(file, "dynamic-import")));
  const groups = { record: ["@assent/host", "@assent/store"], session: ["@assent/tools"] };
  for (const file of [...lazy].sort()) {
    const [, name] = /^packages\/cli\/dist\/(.+)\.js$/.exec(file) ?? [];
    if (name === undefined || AT_ONCE.test(name) || Object.values(ALONE).some((files) => files.test(file))) continue;
    groups[[...reached(file)].some((one) => /^packages\/(?:agent|policy|tools)\//.test(one)) ? "session" : "record"].push(name);
  }
  return groups;
}

const atOnce = (name) => `at_once_${name.replaceAll(/[/-]/g, "_")}`;

/** A dynamic import of a module that is loaded with others becomes one of the group. */
function loadedTogether(groups, text, path) {
  const before = new Set();
  const joined = text.replace(/\bimport\("((?:\.|@assent\/)[^"]+?)(?:\.js)?"\)/g, (whole, specifier) => {
    const name = specifier.startsWith(".") ? relative(programDist, join(dirname(path), specifier)) : specifier;
    if (AT_ONCE.test(name)) {
      before.add(`import * as ${atOnce(name)} from "${specifier}.js";\n`);
      return `Promise.resolve(${atOnce(name)})`;
    }
    const [group] = Object.entries(groups).find(([, names]) => names.includes(name)) ?? [];
    return group ? `import("together:${group}").then((all) => all[${JSON.stringify(name)}])` : whole;
  });
  return `${[...before].join("")}${joined}`;
}

/** A module says what is there by the time it is loaded. Otherwise what two of them share lies in a file of its own, for every way to share it. */
const onTopOf = (layer) => `\nimport * as beneath from "${layer === "program" ? join(programDist, "program.js") : `together:${layer}`}";\n`;

function placed(path) {
  const [layer] = Object.entries(ALONE).find(([, files]) => files.test(path)) ?? [];
  return layer === undefined ? "" : onTopOf(layer);
}

const together = (groups) => ({
  name: "together",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^together:/ }, ({ path }) => ({ path: path.slice("together:".length), namespace: "together" }));
    onLoad({ filter: /^/, namespace: "together" }, ({ path }) => ({
      contents: [
        ...groups[path].map((name) => `export * as ${JSON.stringify(name)} from "${name.startsWith("@") ? name : `./${name}.js`}";`),
        onTopOf(path === "session" ? "record" : "program"),
      ].join("\n"),
      resolveDir: programDist,
    }));
  },
});

/** Modules of Node that most commands never call; functions and classes are all that is taken from them. */
const AT_FIRST_CALL = /^node:(?:child_process|fs\/promises|worker_threads)$/;

/** A function, or a class by its capital letter, that is fetched when it is called. */
function atFirstCall(name, holder) {
  if (!/^\w+$/.test(name)) throw new Error(`'${name}' cannot be fetched at its first call`);
  return `function ${name}(...given) { return ${/^[A-Z]/.test(name) ? `new (${holder}.${name})` : `${holder}.${name}`}(...given); }`;
}

/**
 * Modules of Node are asked for by the names that are used of them. An import makes a namespace, which reads every name that there is, and so loads what only the others
 * need: the terminal's line editor for `node:fs`, the web's ciphers for `node:crypto`.
 */
function byName(text, path) {
  const asked = text.replace(/^import \{([^}]+)\} from "(node:[^"]+)";$/gm, (_, names, module) =>
    AT_FIRST_CALL.test(module)
      ? names
          .split(",")
          .map((name) => atFirstCall(name.trim(), `process.getBuiltinModule("${module}")`))
          .join("\n")
      : `const {${names.replaceAll(" as ", ": ")}} = process.getBuiltinModule("${module}");`,
  );
  if (/^(?:import|export)\b.* from "node:/m.test(asked))
    throw new Error(`${path} imports a module of Node in another way than by its names`);
  return asked;
}

const descriptionsOfTools = join(root, "packages/tools/dist/description.js");

/** What models are told about tools, two dozen texts that every run wants, is joined like code. */
function allDescriptions() {
  const folder = join(root, "packages/tools/src/builtin");
  const texts = globSync("*.md", { cwd: folder }).sort();
  const table = Object.fromEntries(texts.map((file) => [file.replace(/\.md$/, ""), readFileSync(join(folder, file), "utf8").trim()]));
  return `const DESCRIPTIONS = ${JSON.stringify(table)};\nexport function description(tool) { return DESCRIPTIONS[tool]; }`;
}

/** The place that a module of a joined package had, seen from the file it is in now. */
const fromBundle = (file) => `new URL("../${file}", import.meta.url)`;

function placeOf(folder, file) {
  if (folder === "cli") return fromBundle(file);
  return `new URL("${folder === "agent" ? ".." : "."}/${file}", import.meta.resolve("@assent/${folder}"))`;
}

const inPlace = (groups) => ({
  name: "in place",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      if (path === "@assent/agent") return { path: join(agentDist, "index.js"), sideEffects: false };
      const inside = kind === "entry-point" || (path.startsWith("@assent/") && !/^@assent\/core(?:\/parts)?$/.test(path));
      return inside || isJoined({ path, importer }) ? undefined : { path, external: true };
    });
    onLoad({ filter: OURS }, ({ path }) => {
      const [, folder, file] = OURS.exec(path) ?? [];
      const base = placeOf(folder, file);
      if (path === descriptionsOfTools) return { contents: allDescriptions() };
      const text = readFileSync(path, "utf8");
      if (/import\.meta\.(?!url\b)/.test(text)) throw new Error(`${path} asks for its place by other means than import.meta.url`);
      const joined = loadedTogether(groups, byName(text, path), path).replaceAll("import.meta.url", `(${base}.href)`);
      return { contents: `${joined}${placed(path)}` };
    });
  },
});

/** Libraries that most commands never use; each takes longer to load than all the rest of a start. They have functions and classes, and nothing else is taken from them. */
const AT_FIRST_USE = /^(?:jsonc-parser|unbash|yaml)$/;

const atFirstUse = {
  name: "at first use",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: AT_FIRST_USE }, ({ path }) => ({ path, namespace: "at-first-use", sideEffects: false }));
    onLoad({ filter: /^/, namespace: "at-first-use" }, async ({ path }) => {
      const exported = Object.entries(await import(path)).filter(([name, value]) => typeof value === "function" && name !== "default");
      const made = (name, value) => (/^class\b/.test(value) ? `new (load().${name})(...given)` : `load().${name}(...given)`);
      const contents = [
        `import { createRequire } from "node:module";`,
        `let loaded;`,
        `const load = () => (loaded ??= createRequire(import.meta.url)("${path}"));`,
        ...exported.map(([name, value]) => `export function ${name}(...given) { return ${made(name, value)}; }`),
      ];
      return { contents: contents.join("\n"), resolveDir: root };
    });
  },
};

/** One wider character, in a pattern or a comment where esbuild leaves it, and Node keeps a whole file in twice the memory and reads it at half the speed. */
function inAscii(text) {
  return text.replace(/[^\0-\x7f]/g, (wide) => `\\u${wide.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** An entry that only passes on what another file has: that file takes its name, and nobody has to find two. */
function withoutFacade(entry, files) {
  const facade = files.find(({ path }) => basename(path) === `${entry}.js`);
  const [, names, behind, again] = /^import \{([^}]+)\} from "\.\/([\w-]+\.js)";\nexport \{([^}]+)\};\n$/.exec(facade?.text ?? "") ?? [];
  if (behind === undefined || names !== again) throw new Error(`${entry}.js does more than pass on what another file has`);
  return files
    .filter((file) => file !== facade)
    .map(({ path, text }) => ({
      path: basename(path) === behind ? facade.path : path,
      text: text.replaceAll(`"./${behind}"`, `"./${entry}.js"`),
    }));
}

/** The library of the loop: what it imports stays outside, and its scripts' language is loaded with the first script. */
async function joinAgent() {
  const placed = {
    name: "placed",
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path, kind }) => (kind === "entry-point" ? undefined : { path, external: true }));
      onLoad({ filter: OURS }, ({ path }) => ({
        contents: readFileSync(path, "utf8").replaceAll("import.meta.url", `(${fromBundle(OURS.exec(path)?.[2])}.href)`),
      }));
    },
  };
  const { metafile, outputFiles } = await build({
    entryPoints: { index: join(agentDist, "index.js") },
    outdir: join(agentDist, "bundle"),
    ...JOINING,
    platform: "node",
    plugins: [atFirstUse, placed],
  });
  mkdirSync(join(agentDist, "bundle"), { recursive: true });
  for (const { path, text } of outputFiles)
    writeFileSync(path, withoutPlaces(inAscii(text), metafile).replace(INITIALISER, "$1/* @__PURE__ */ "));
}

async function joinProgram() {
  const options = {
    entryPoints: { index: join(programDist, "index.js"), program: join(programDist, "program.js") },
    outdir: join(programDist, "bundle"),
    absWorkingDir: root,
    ...JOINING,
    platform: "node",
  };
  const groups = await groupsOf(options);
  const plugins = [atFirstUse, inParts(placed, root), together(groups), inPlace(groups)];
  const { metafile, outputFiles } = await build({ ...options, plugins });
  mkdirSync(options.outdir, { recursive: true });
  for (const { path, text } of withoutFacade("program", outputFiles)) writeFileSync(path, withoutPlaces(inAscii(text), metafile));
  writeFileSync(join(options.outdir, "licenses.txt"), licensesOf(metafile, root));
}

removeStale(); // the joined files have no source of their own name: they go, too, and are made again
compile();
await joinCore();
await joinAgent();
await joinProgram();
