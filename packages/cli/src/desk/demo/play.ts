import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { shellWord } from "../../command-line/shell-word.ts";
import type { Context } from "../../command-line/spec.ts";
import { usageError } from "../../io/failure.ts";
import type { Output } from "../../io/io.ts";
import { printJson } from "../../io/output.ts";
import { visible } from "../../io/visible-text.ts";
import { isPostgresUrl, stateDirectory } from "../../store/location.ts";
import { hasRecord } from "../../store/open.ts";
import { DEMO, type DemoStep, type Scene } from "./steps.ts";

type PlayedStep = { readonly command: string; readonly exit: number; readonly output: string; readonly world?: string };

/** Uses a scripted model but real commands, files and store. Keeps the directory. */
export async function playDemo(context: Context): Promise<number> {
  const { io, options } = context;
  const named = options.text("store");
  if (named !== undefined && isPostgresUrl(named)) throw usageError("demo", "the demo needs a new directory for its record, not a URL.");
  const given = named === undefined ? undefined : await stateDirectory(context);
  if (given !== undefined && hasRecord(context, given))
    throw usageError("demo", `'${given}' already holds a record; the demo needs a new directory.`);
  const root = mkdtempSync(join(tmpdir(), "assent-demo-"));
  const clean = (): void => rmSync(root, { recursive: true, force: true });
  const offSignal = io.onSignal(() => {
    clean();
    io.exitNow(130);
  });
  try {
    const tell = options.flag("json") ? async () => undefined : io.stdout.write;
    const store = given ?? join(root, "store");
    const steps = await play(context, { root, store }, tell);
    if (options.flag("json")) await printJson(io, { ok: true, directory: root, store, steps });
    return 0;
  } catch (error) {
    clean();
    throw error;
  } finally {
    offSignal();
  }
}

type DemoPlace = { readonly root: string; readonly store: string };

/** A build does not copy these files. */
function beside(name: string): string {
  return fileURLToPath(new URL(`../../../src/demo/${name}`, import.meta.url));
}

async function play(context: Context, stage: DemoPlace, tell: (text: string) => Promise<unknown>): Promise<PlayedStep[]> {
  const { root, store } = stage;
  const workspace = join(root, "workspace");
  cpSync(beside("workspace"), workspace, { recursive: true });
  cpSync(beside("script.yaml"), join(root, "script.yaml"));
  const scene: Scene = { workspace, script: "../script.yaml", ids: { approval: "", session: "", proposal: "" } };
  const steps: PlayedStep[] = [];
  await tell("A demonstration, offline, in a temporary directory: a model proposes, a person decides.\n");
  for (const [index, step] of DEMO.entries()) {
    const command = `assent ${step.argv(scene).map(shellWord).join(" ")}`;
    await tell(`\n${index + 1}. ${step.tell}\n   $ ${command}\n`);
    const played = await playStep(context, { ...stage, scene, step });
    const exit = played.exit === 0 ? "" : `   exit ${played.exit}\n`;
    await tell(`${indented(played.output)}${exit}${played.world === undefined ? "" : `   → ${played.world}\n`}`);
    steps.push({ command, ...played });
  }
  await tell(`\nEverything above really ran, in ${root}. Its record is in ${store}; look at it with\n`);
  await tell(
    `   assent sessions export ${scene.ids.session} --store ${shellWord(store)}\nand delete the directory when you like. Next: assent --help\n`,
  );
  return steps;
}

type StepRun = DemoPlace & { readonly scene: Scene; readonly step: DemoStep };

async function playStep({ io, main }: Context, { root, store, scene, step }: StepRun): Promise<Omit<PlayedStep, "command">> {
  let output = "";
  const capture: Output = {
    isTTY: false,
    columns: () => Math.max((io.stdout.columns() ?? 100) - 5, 40),
    rows: () => undefined,
    write: async (text) => {
      output += text;
    },
  };
  const env = { PATH: io.env["PATH"], HOME: root, ASSENT_STORE: store };
  const nothing = { stdinIsTTY: false, readStdin: async () => new Uint8Array(), stdin: async function* () {} };
  const exit = await main(step.argv(scene), { ...io, ...nothing, env, cwd: scene.workspace, stdout: capture, stderr: capture });
  if (exit !== step.exit) throw new Error(`a step of the demonstration ended with exit ${exit} instead of ${step.exit}: ${output}`);
  scene.ids.approval = /assent approve ([aq]_\w+)/.exec(output)?.[1] ?? scene.ids.approval;
  scene.ids.session = /assent resume (s_\w+)/.exec(output)?.[1] ?? scene.ids.session;
  scene.ids.proposal = /\b(p_[a-z2-7]{20})\b/.exec(output)?.[1] ?? scene.ids.proposal;
  return { exit, output, ...(step.world && { world: step.world(scene) }) };
}

function indented(output: string): string {
  return visible(output)
    .trimEnd()
    .split("\n")
    .map((line) => `   │ ${line}\n`)
    .join("");
}
