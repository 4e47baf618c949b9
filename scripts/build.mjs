// Builds what is published: removes what sources no longer make, compiles, and joins the modules of @assent/core, of @assent/agent, those of @assent/gate with what it needs, and those of the program with
// the packages it is made of, into a few files each (hundreds of small ones cost more to load than to run). Types stay where tsc puts them.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildPage } from "./build-page.mjs";
import { inParts, isJoined, licensesOf } from "./joined-libraries.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Removes outputs whose source was renamed or deleted; the compiler leaves them. */
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

/** A constant that a call without side effects creates. Marked as pure, it can be left out by bundlers if it is unused. */
const INITIALISER = /^(var [\w$]+ = )(?=(?:new )?[\w$.]+\()/gm;

/** A frozen value inside such a constant. */
const FROZEN_VALUE = /(\w: )(?=Object\.freeze\()/g;

/** How modules are joined: in chunks, so that every entry has the same LedgerError. */
const JOINING = { bundle: true, splitting: true, format: "esm", target: "es2024", logLevel: "warning", metafile: true, write: false };

/** Removes the comments with which esbuild names each module, because they contain paths of this machine. */
function withoutPlaces(text, { inputs }) {
  return text.replace(/^\/\/ (\S+)\n/gm, (whole, file) => (file in inputs ? "" : whole));
}

/** Makes each of these modules import another entry, which is loaded before it. Shared modules become part of that entry, not of a third file. */
const onTopOfEntry = (entry, modules) => ({
  name: "on top of entry",
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) =>
      modules.includes(path) ? { contents: `${readFileSync(path, "utf8")}\nimport ${JSON.stringify(entry)};\n` } : undefined,
    );
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
  const above = { parts: "src/parts.js", testing: "testing/index.js", ungoverned: "src/ungoverned.js" };
  const entry = (file) => join(dist, file);
  const all = await joined({ index: "src/index.js", setup: "src/setup.js", ...above }, [
    onTopOfEntry(entry("src/setup.js"), [entry("src/index.js")]),
    onTopOfEntry(entry("src/index.js"), Object.values(above).map(entry)),
  ]);
  const texts = await joined({ text: "src/text.js" }, []); // five functions: there may be two of them
  mkdirSync(outdir, { recursive: true });
  for (const { path, text } of [...all, ...texts])
    writeFileSync(path, inAscii(text).replace(INITIALISER, "$1/* @__PURE__ */ ").replace(FROZEN_VALUE, "$1/* @__PURE__ */ "));
}

/** The path of a module of ours before it was joined; files that it reads at run time stay in its package. Core stays outside, because custom tools import the same one. */
const OURS = /\/packages\/([a-z]+)\/dist\/(.+)$/;

const programDist = join(root, "packages/cli/dist");
const agentDist = join(root, "packages/agent/dist");

/** Modules that sources load lazily but that are too small for a file of their own; they are joined with their importer. */
const AT_ONCE = /^(?:command-line\/(?:help|completions)|store\/location|notify\/attendance|version)$/;

/** Modules with a file of their own, by the layer that is loaded before them. */
const ALONE = {
  program: /\bcli\/dist\/(?:tui\/open-tui|headless\/clients\/options|index)\.js$/,
  session:
    /\b(?:cli\/dist\/(?:desk\/mcp\/login|guard\/doctor|mcp-gateway\/serve|headless\/host\/open|inbox\/run-inbox|watch\/run-watch|tui\/(?:plain\/run-plain|run-tui))|tools\/dist\/fetch\/(?:fetch-text|public-address)|node_modules\/@ai-sdk\/[^/]+\/dist\/index)\.js$/,
};

/** People wait for these modules most often: they approve and reject. */
const ANSWERING = ["command-line/own-process", "desk/approvals/approve"];

/** Agents wait for this module before each call. */
const GUARDING = ["guard/hook"];

/** Each group of lazily loaded modules, by the layer that is loaded before it. */
const BENEATH = { session: "guard", guard: "record", record: "answer", answer: "program" };

/**
 * Groups the other lazily loaded modules: those that need a policy, those that save an answer, and those that only read the record. Each group is one file,
 * because forty small files take longer to load than some unneeded code.
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
  const groups = { answer: ANSWERING, record: [], guard: GUARDING, session: ["@assent/tools"] };
  for (const file of [...lazy].sort()) {
    const [, name] = /^packages\/cli\/dist\/(.+)\.js$/.exec(file) ?? [];
    if (
      name === undefined ||
      AT_ONCE.test(name) ||
      [...ANSWERING, ...GUARDING].includes(name) ||
      Object.values(ALONE).some((files) => files.test(file))
    )
      continue;
    groups[[...reached(file)].some((one) => /^packages\/(?:agent|policy|tools)\//.test(one)) ? "session" : "record"].push(name);
  }
  return groups;
}

const atOnce = (name) => `at_once_${name.replaceAll(/[/-]/g, "_")}`;

/** Replaces a dynamic import of a grouped module by an import of its group. */
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

/** Makes a module import the layer that is loaded before it. Otherwise esbuild puts what two modules share into a file of its own. */
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
        onTopOf(BENEATH[path]),
      ].join("\n"),
      resolveDir: programDist,
    }));
  },
});

/** Modules of Node that most commands never call. Only functions and classes may be imported from them. */
const AT_FIRST_CALL = /^node:(?:child_process|fs\/promises|tty|worker_threads)$/;

/** A function, or a class by its capital letter, that loads its module when it is called. */
function atFirstCall(name, holder) {
  if (!/^\w+$/.test(name)) throw new Error(`'${name}' cannot be fetched at its first call`);
  return `function ${name}(...given) { return ${/^[A-Z]/.test(name) ? `new (${holder}.${name})` : `${holder}.${name}`}(...given); }`;
}

/**
 * Replaces imports of Node's modules by `process.getBuiltinModule`. An import creates a namespace, which reads every export and so loads more modules: the line editor for
 * `node:fs`, the web ciphers for `node:crypto`.
 */
function byName(text, path, later = AT_FIRST_CALL) {
  const [head] = /^(?:(?:import\b|var __|\/[/*]|[\s}*]).*\n|\n)*/.exec(text); // var __: helpers of the compiler. Templates further down may contain code of other programs.
  const asked = head.replace(/^import \{([^}]+)\} from "(node:[^"]+)";$/gm, (_, names, module) =>
    later.test(module)
      ? names
          .split(",")
          .map((name) => atFirstCall(name.trim(), `process.getBuiltinModule("${module}")`))
          .join("\n")
      : `const {${names.replaceAll(" as ", ": ")}} = process.getBuiltinModule("${module}");`,
  );
  if (/^import\b.* from "node:/m.test(asked)) throw new Error(`${path} imports a module of Node in another way than by its names`);
  return asked + text.slice(head.length);
}

/** Imports names from the modules that have them, and not through the list of a package, which would load all of it. */
function byModule(text) {
  return text.replace(/^import \{([^}]+)\} from "@assent\/(guard|host|policy|store|tools)";$/gm, (_, names, folder) => {
    const dist = join(root, "packages", folder, "dist");
    const list = readFileSync(join(dist, "index.js"), "utf8");
    const importOf = (name) => {
      const [, file] = new RegExp(`^export \\{[^}]*\\b${name.split(" ")[0]}\\b[^}]*\\} from "\\./([^"]+)";$`, "m").exec(list) ?? [];
      if (file === undefined) throw new Error(`@assent/${folder} exports no '${name}'`);
      return `import { ${name} } from ${JSON.stringify(join(dist, file))};`;
    };
    return names
      .split(",")
      .map((name) => importOf(name.trim()))
      .join(" ");
  });
}

const descriptionsOfTools = join(root, "packages/tools/dist/description.js");

/** Joins the descriptions of tools for models as code, because every run needs all of them. */
function allDescriptions() {
  const folder = join(root, "packages/tools/src/builtin");
  const texts = globSync("*.md", { cwd: folder }).sort();
  const table = Object.fromEntries(texts.map((file) => [file.replace(/\.md$/, ""), readFileSync(join(folder, file), "utf8").trim()]));
  return `const DESCRIPTIONS = ${JSON.stringify(table)};\nexport function description(tool) { return DESCRIPTIONS[tool]; }`;
}

/** The URL that a module of a joined package had, relative to the file it is in now. */
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
      if (path === "@assent/core/setup") return { path: "@assent/core", external: true }; // which the program loads anyway
      const inside =
        kind === "entry-point" ||
        (path.startsWith("@assent/") && !/^@assent\/(?:core(?:\/parts)?|mcp(?:\/gateway)?|store-postgres)$/.test(path));
      return inside || isJoined({ path, importer }) ? undefined : { path, external: true };
    });
    onLoad({ filter: OURS }, ({ path }) => {
      const [, folder, file] = OURS.exec(path) ?? [];
      const base = placeOf(folder, file);
      if (path === descriptionsOfTools) return { contents: allDescriptions() };
      const text = readFileSync(path, "utf8");
      if (/import\.meta\.(?!url\b)/.test(text)) throw new Error(`${path} asks for its place by other means than import.meta.url`);
      const joined = loadedTogether(groups, byName(byModule(text), path), path).replaceAll("import.meta.url", `(${base}.href)`);
      return { contents: `${joined}${placed(path)}` };
    });
  },
});

/** Large libraries that most commands never use. Only functions and classes may be imported from them. */
const AT_FIRST_USE = /^(?:jsonc-parser|unbash|yaml)$/;

/** Those of them that every hook of another agent needs, by their modules. They are joined, because twenty files take longer to find than to load. */
const BESIDE_PROGRAM = {
  "jsonc-parser": join(root, "node_modules/jsonc-parser/lib/esm/main.js"),
  unbash: join(root, "node_modules/unbash/dist/parser.js"),
};

const atFirstUse = (beside = {}) => ({
  name: "at first use",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: AT_FIRST_USE }, ({ path }) => ({ path, namespace: "at-first-use", sideEffects: false }));
    onLoad({ filter: /^/, namespace: "at-first-use" }, async ({ path }) => {
      const exported = Object.entries(await import(path)).filter(([name, value]) => typeof value === "function" && name !== "default");
      const made = (name, value) => (/^class\b/.test(value) ? `new (load().${name})(...given)` : `load().${name}(...given)`);
      const contents = [
        `let loaded;`,
        `const load = () => (loaded ??= process.getBuiltinModule("node:module").createRequire(import.meta.url)("${path in beside ? `./${path}.js` : path}"));`,
        ...exported.map(([name, value]) => `export function ${name}(...given) { return ${made(name, value)}; }`),
      ];
      return { contents: contents.join("\n"), resolveDir: root };
    });
  },
});

/** Escapes characters outside ASCII. With a single one, Node keeps the whole file in twice the memory and reads it at half the speed. */
function inAscii(text) {
  return text.replace(/[^\0-\x7f]/g, (wide) => `\\u${wide.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** If an entry only re-exports another file, that file takes its name, so that one file is loaded instead of two. */
function withoutFacade(entry, files) {
  const facade = files.find(({ path }) => basename(path) === `${entry}.js`);
  const [, names, behind, again] = /^import \{([^}]+)\} from "\.\/([\w-]+\.js)";\nexport \{([^}]+)\};\n$/.exec(facade?.text ?? "") ?? [];
  if (behind === undefined || names !== again)
    throw new Error(`${entry}.js does more than re-export another file. Was a lazily loaded module renamed? See ALONE.`);
  return files
    .filter((file) => file !== facade)
    .map(({ path, text }) => ({
      path: basename(path) === behind ? facade.path : path,
      text: text.replaceAll(`"./${behind}"`, `"./${entry}.js"`),
    }));
}

/** Joins the agent package. What it imports stays outside, and the YAML parser is loaded with the first script. */
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
    plugins: [atFirstUse(), placed],
  });
  mkdirSync(join(agentDist, "bundle"), { recursive: true });
  for (const { path, text } of outputFiles)
    writeFileSync(path, withoutPlaces(inAscii(text), metafile).replace(INITIALISER, "$1/* @__PURE__ */ "));
}

/** A gate that is only set up needs no random numbers, digests or user names. */
const AT_FIRST_CALL_OF_GATE = /^node:(?:child_process|worker_threads|crypto|os|module)$/;

const gateDist = join(root, "packages/gate/dist");

/** Imports from core what it offers before the first call; the rest of core is loaded with the modules that need it. */
function fromSetup(text) {
  const list = readFileSync(join(root, "packages/core/dist/src/setup.js"), "utf8");
  const offered = new Set([...list.matchAll(/^export \{([^}]+)\}/gm)].flatMap(([, names]) => names.split(",").map((name) => name.trim())));
  return text.replace(/^import \{([^}]+)\} from "(@assent\/core(?:\/parts)?)";$/gm, (_, names, entry) => {
    const all = names.split(",").map((name) => name.trim());
    const parts = Object.entries(Object.groupBy(all, (name) => (offered.has(name.split(" ")[0]) ? "@assent/core/setup" : entry)));
    return parts.map(([from, some]) => `import { ${some.join(", ")} } from "${from}";`).join(" ");
  });
}

/** What a gate loads later imports the gate itself, so that modules of both are in the gate's file and not in a third one. */
const ON_TOP_OF_GATE = '\nimport "gate:index";\n';
const LATER_IN_GATE = /\/packages\/(?:(?:host|store)\/dist\/index|gate\/dist\/(?:open-session|gate-approvals|explain-call))\.js$/;
const policyDist = join(root, "packages/policy/dist");

/** Modules of shell analysis that rules and facts need at once. They are small. */
const SHELL_AT_ONCE = /\/shell\/(?:plan\/find-program|match\/rule-words|effects\/package-scripts|read\/command-name)\.js$/;

/** The modules of shell analysis that the rest of the policy calls. */
function shellModules() {
  const outside = globSync("**/*.js", { cwd: policyDist }).filter((file) => !file.startsWith("shell/"));
  const imported = outside.flatMap((file) => {
    const text = readFileSync(join(policyDist, file), "utf8");
    return [...text.matchAll(/ from "(\.[^"]*\/shell\/[^"]+)"/g)].map(([, path]) => join(policyDist, dirname(file), path));
  });
  return [...new Set(imported)].filter((path) => !SHELL_AT_ONCE.test(path)).sort();
}

/** Shell analysis is most of the policy. A gate loads it with the first command, in a file of its own. */
const shellAtFirstUse = (modules) => ({
  name: "shell at first use",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^gate:shell$/ }, () => ({ path: "shell", namespace: "gate" }));
    onLoad({ filter: /^/, namespace: "gate" }, () => ({
      contents: `${modules.map((path, at) => `export * as m${at} from ${JSON.stringify(path)};`).join("\n")}${ON_TOP_OF_GATE}`,
      resolveDir: root,
    }));
    onResolve({ filter: /\/shell\// }, ({ path, importer }) => {
      const file = join(dirname(importer), path);
      const isInside = importer.startsWith(join(policyDist, "shell/")) || importer === "shell";
      return isInside || !modules.includes(file) ? undefined : { path: file, namespace: "at-first-command", sideEffects: false };
    });
    onLoad({ filter: /^/, namespace: "at-first-command" }, async ({ path }) => {
      const exported = Object.entries(await import(path));
      const functions = exported.filter(([, value]) => typeof value === "function");
      const tables = exported.filter(([, value]) => value instanceof Map); // only read by key
      const contents = [
        `const load = () => process.getBuiltinModule("node:module").createRequire(import.meta.url)("./shell.js").m${modules.indexOf(path)};`,
        ...functions.map(([name]) => `export function ${name}(...given) { return load().${name}(...given); }`),
        ...tables.map(([name]) => `export const ${name} = { get: (key) => load().${name}.get(key) };`),
      ];
      return { contents: contents.join("\n"), resolveDir: root };
    });
  },
});

/** The gate with the packages that it needs, except core: one file for most programs, others for commands, files and the store. */
async function joinGate() {
  const placed = {
    name: "placed",
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^gate:index$/ }, () => ({ path: join(gateDist, "index.js"), sideEffects: true }));
      onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
        const isOurs = kind === "entry-point" || /^@assent\/(?:host|policy|store)$/.test(path);
        return isOurs ? undefined : { path, external: true, sideEffects: false }; // importing @assent/core for nothing would load it
      });
      onLoad({ filter: OURS }, ({ path }) => {
        const text = readFileSync(path, "utf8");
        if (text.includes("import.meta") && !path.endsWith("/schema/ajv-schemas.js")) throw new Error(`${path} asks for its place`);
        return {
          contents: `${byName(byModule(fromSetup(text)), path, AT_FIRST_CALL_OF_GATE)}${LATER_IN_GATE.test(path) ? ON_TOP_OF_GATE : ""}`,
        };
      });
    },
  };
  const modules = shellModules();
  const { metafile, outputFiles } = await build({
    entryPoints: { index: "gate:index", shell: "gate:shell" },
    outdir: join(gateDist, "bundle"),
    absWorkingDir: root,
    ...JOINING,
    platform: "node",
    minify: true,
    lineLimit: 200, // an uncaught error prints its line
    plugins: [shellAtFirstUse(modules), atFirstUse(), placed],
  });
  const first = Object.values(metafile.outputs).find(({ inputs }) => "packages/gate/dist/create-gate.js" in inputs);
  if (first.imports.some(({ path, kind }) => kind === "import-statement" && /^@assent\/core(?:\/parts)?$/.test(path)))
    throw new Error("createGate loads all of core. Import what it needs later, or list it in packages/core/src/setup.ts.");
  mkdirSync(join(gateDist, "bundle"), { recursive: true });
  for (const { path, text } of outputFiles) writeFileSync(path, withoutPlaces(inAscii(text), metafile));
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
  const plugins = [atFirstUse(BESIDE_PROGRAM), inParts(placed, root), together(groups), inPlace(groups)];
  const { metafile, outputFiles } = await build({ ...options, plugins });
  const libraries = await build({ ...options, entryPoints: BESIDE_PROGRAM });
  const inputs = { ...metafile.inputs, ...libraries.metafile.inputs };
  mkdirSync(options.outdir, { recursive: true });
  for (const { path, text } of [...withoutFacade("program", outputFiles), ...libraries.outputFiles])
    writeFileSync(path, withoutPlaces(inAscii(text), { inputs }));
  writeFileSync(join(options.outdir, "licenses.txt"), licensesOf({ inputs }, root));
}

/** The page of the inbox, beside the server that sends it. */
async function writePage() {
  const { script, style } = await buildPage();
  const outdir = join(root, "packages/inbox/dist/web");
  mkdirSync(outdir, { recursive: true });
  writeFileSync(join(outdir, "app.js"), script);
  writeFileSync(join(outdir, "app.css"), style);
}

removeStale(); // the joined files have no source of their own name: they go, too, and are made again
compile();
await joinCore();
await joinAgent();
await joinGate();
await joinProgram();
await writePage();
