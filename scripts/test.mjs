// Runs the tests: all of them, or only those of the packages and files that are named.
//
//   npm test                    everything but the long forms; builds first, and starts the program from its build as an installed one would
//   npm test -- core store      the tests of two packages; the program runs from the sources
//   npm test -- test/crash      the tests of a folder
//   npm test -- test/docs.test.ts
//   npm run test:long           everything, at full size
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "..");
const cache = join(root, "node_modules/.cache/assent-test");
const long = process.argv.includes("--long");
const names = process.argv.slice(2).filter((word) => word !== "--long");

/** Test files that share a process, because loading the modules under test takes longer than most of them. They leave the process as they found it. */
const TOGETHER = [
  "packages/agent/test/!(providers)/**",
  "packages/core/test/**",
  "packages/policy/test/**",
  "packages/store/test/**",
  "packages/tools/test/!(custom|files|shell)/**",
];

const files = globSync(names.length === 0 ? ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"] : names.map(testsOf), { cwd: root });
if (files.length === 0) {
  console.error(`There are no tests in ${names.join(", ")}.`);
  process.exit(2);
}
const notRun = join(cache, "not-run.txt");
mkdirSync(cache, { recursive: true });
rmSync(notRun, { force: true });

// A command from the build starts in a third of the time, and there are thousands of them.
const isWhole = names.length === 0;
if (isWhole) build();

const reporters = [
  ["spec", "stdout"],
  ["./scripts/not-run-reporter.mjs", notRun],
];
const { status, signal } = spawnSync(
  process.execPath,
  [
    "--conditions=@assent/source",
    "--test",
    "--test-concurrency=4", // for two cores: tests often wait for other processes and for the disk
    `--test-timeout=${long ? 3_600_000 : 180_000}`,
    ...reporters.flatMap(([reporter, destination]) => [`--test-reporter=${reporter}`, `--test-reporter-destination=${destination}`]),
    ...inGroups(files.sort()),
  ],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, NODE_COMPILE_CACHE: cache, ...(isWhole && { ASSENT_DIST: "1" }), ...(long && { ASSENT_TEST_LONG: "1" }) },
  },
);
if (existsSync(notRun)) process.stdout.write(readFileSync(notRun, "utf8"));
process.exitCode = signal === null ? (status ?? 1) : 1;

function build() {
  const { status } = spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * Replaces the files of each group by one file that imports them.
 * @param {string[]} all
 */
function inGroups(all) {
  const directory = join(cache, "groups");
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  return TOGETHER.reduce((left, glob, index) => {
    const group = left.filter((file) => matchesGlob(file, glob));
    if (group.length < 2) return left;
    const written = join(directory, `${index}.test.mjs`);
    writeFileSync(written, group.map((file) => `await import(${JSON.stringify(pathToFileURL(join(root, file)).href)});\n`).join(""));
    return [written, ...left.filter((file) => !group.includes(file))];
  }, all);
}

/** @param {string} name */
function testsOf(name) {
  if (existsSync(join(root, "packages", name, "test"))) return `packages/${name}/test/**/*.test.ts`;
  const found = statSync(join(root, name), { throwIfNoEntry: false });
  if (found) return found.isDirectory() ? `${name}/**/*.test.ts` : name;
  console.error(`There is no package, folder or test file named ${name}. Name a folder of packages/, a folder of tests, or a test file.`);
  return process.exit(2);
}
