#!/usr/bin/env node
// Written for any Node from 12 on (no `?.`, `??` or top-level await), so that one too old to run Assent can still find a newer one or say what to do.
//
// Which code runs: inside the repository (the directory three levels up is the workspace root) the sources in src/, unless ASSENT_DIST=1 asks for the
// build; anywhere else, that is as an installed package, the build in dist/. So a stale build never hides edited sources.

const WANTED = [22, 19];
const SOURCE_CONDITION = "@assent/source";

if (isOldNode(process.versions.node)) continueWithNewerNode();
else start();

function isOldNode(version) {
  const found = version.split(".").map(Number);
  return found[0] < WANTED[0] || (found[0] === WANTED[0] && found[1] < WANTED[1]);
}

function start() {
  load()
    .then((program) => program.runProgram())
    .catch((error) => {
      console.error(error);
      process.exitCode = 1;
    });
}

function load() {
  const fs = process.getBuiltinModule("node:fs");
  const nodeModule = process.getBuiltinModule("node:module");
  if (process.env.ASSENT_DIST === "1" || !isRepository(fs)) {
    keepCompiled(fs, nodeModule);
    return import(new URL("../dist/bundle/program.js", import.meta.url).href);
  }
  resolveToSources(nodeModule);
  return import("../src/program.ts");
}

function isRepository(fs) {
  try {
    return JSON.parse(fs.readFileSync(new URL("../../../package.json", import.meta.url), "utf8")).name === "assent-workspace";
  } catch (_absent) {
    return false;
  }
}

/**
 * Keeps compiled code in the user's state directory, so that later starts are faster. Anyone who can write there could run code in this process, so the directory must
 * exist, belong to this user and be closed to others. A store that --store or ASSENT_STORE names is never used: reading another person's ledger must not run their code.
 */
function keepCompiled(fs, nodeModule) {
  const state = defaultState(process.env);
  if (state === undefined || process.env.ASSENT_STORE !== undefined || process.argv.some((word) => word.startsWith("--store"))) return;
  try {
    if (!fs.lstatSync(`${state}/ledger.db`).isFile() || !isPrivate(fs, state)) return;
    const kept = `${state}/compiled`;
    if (!fs.existsSync(kept)) fs.mkdirSync(kept, { mode: 0o700 });
    if (isPrivate(fs, kept)) nodeModule.enableCompileCache(kept);
  } catch (_unusable) {
    // No store yet, or no right to write: without a cache, only the start takes longer.
  }
}

/** The state directory without options; undefined if the environment names none. The same as in src/store/location.ts. */
function defaultState(env) {
  if (String(env.XDG_STATE_HOME).startsWith("/")) return `${env.XDG_STATE_HOME}/assent`;
  return String(env.HOME).startsWith("/") ? `${env.HOME}/.local/state/assent` : undefined;
}

function isPrivate(fs, path) {
  const stats = fs.lstatSync(path);
  return stats.isDirectory() && (stats.mode & 0o077) === 0 && stats.uid === process.getuid();
}

/** The same as `node --conditions=@assent/source`, without a second process between the terminal and the program. */
function resolveToSources(nodeModule) {
  nodeModule.registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, Object.assign({}, context, { conditions: context.conditions.concat(SOURCE_CONDITION) })),
  });
}

function continueWithNewerNode() {
  Promise.all([import("node:fs"), import("node:url"), import("node:child_process")])
    .then((builtins) => {
      const fs = builtins[0];
      const self = fs.realpathSync(builtins[1].fileURLToPath(import.meta.url));
      const node = findNode(fs, self);
      if (node) runWith(builtins[2], node, self);
      else refuse();
    })
    .catch(refuse);
}

/** The Node that the repository's `npm ci` installs, looked for from here upward. */
function findNode(fs, self) {
  const current = fs.realpathSync(process.execPath);
  const parts = self.split("/");
  for (let depth = parts.length - 1; depth > 0; depth--) {
    const candidate = `${parts.slice(0, depth).join("/")}/node_modules/.bin/node`;
    if (fs.existsSync(candidate) && fs.realpathSync(candidate) !== current) return candidate;
  }
  return undefined;
}

/** Old Node cannot replace itself by another program, so it passes signals on to the child and ends with its exit code. */
function runWith(childProcess, node, self) {
  const child = childProcess.spawn(node, [self].concat(process.argv.slice(2)), { stdio: "inherit" });
  const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
  const forward = (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  child.on("error", refuse);
  child.on("exit", (code, signal) => {
    for (const name of signals) process.removeListener(name, forward);
    if (signal) process.kill(process.pid, signal);
    else process.exitCode = code;
  });
}

function refuse() {
  console.error(`Assent needs Node ${WANTED.join(".")} or newer; this is v${process.versions.node}.`);
  console.error("Install Node 24, or run `npm ci` in the repository, which brings one.");
  process.exitCode = 1;
}
