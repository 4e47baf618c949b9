import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Row, ratioRow } from "./measure.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Milliseconds of the fastest of several runs of Node with these arguments. */
function startOf(args: readonly string[]): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 15; round += 1) {
    const start = process.hrtime.bigint();
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, ASSENT_DIST: "1" },
    });
    const elapsed = Number(process.hrtime.bigint() - start) / 1e6;
    if (status !== 0) throw new Error(`node ${args.join(" ")} failed: ${stderr}`);
    best = Math.min(best, elapsed);
  }
  return best;
}

/** The rows about starting, as published: they need `npm run build` first. */
export function startupRows(): readonly Row[] {
  if (!existsSync(`${root}/packages/cli/dist/main.js`)) throw new Error("Nothing is built. Run: npm run build");
  const bare = startOf(["-e", "0"]);
  const core = startOf(["--input-type=module", "-e", "await import('@assent/core')"]);
  const version = startOf(["packages/cli/bin/assent.js", "--version"]);
  return [
    ratioRow("import of @assent/core", { value: core, base: bare, unit: "ms" }, { of: "bare node", most: 1.3 }),
    ratioRow("assent --version, as published", { value: version, base: bare, unit: "ms" }, { of: "bare node", most: 2 }),
  ];
}
