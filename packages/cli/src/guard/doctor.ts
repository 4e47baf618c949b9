import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessEnd } from "@assent/core";
import { AGENTS, type AgentName, agentRun, shellCall, startFakeModel } from "@assent/guard";
import { findProgram } from "@assent/host";
import type { Context } from "../command-line/spec.ts";
import { withTimer } from "../compose/keep-alive.ts";
import { hostPortsFor } from "../compose/ports.ts";
import { cancelOnSignal } from "../io/cancel-on-signal.ts";
import { printJson } from "../io/output.ts";
import { stateDirectory } from "../store/location.ts";
import { agentNamed } from "./agent-name.ts";
import { type DoctorResult, writeDoctorResult } from "./doctor-results.ts";
import { DOCTOR_VARIABLE } from "./hook.ts";

/** An agent on a busy machine may take a minute to start. */
const LIMIT_MS = 300_000;
const PROGRESS_MS = 10_000;

/** Runs the real agent with a local model that proposes one command, which the hook denies, and looks whether the command ran. */
export async function examineAgent(context: Context): Promise<number> {
  const { io, options } = context;
  const result = await withTimer(() => examine(context, agentNamed(context.operands[0] ?? "")));
  await writeDoctorResult(context, result);
  if (options.flag("json")) await printJson(io, result);
  else await (result.ok ? io.stdout : io.stderr).write(`${result.detail}\n`);
  return result.ok ? 0 : 1;
}

async function examine(context: Context, agent: AgentName): Promise<DoctorResult> {
  const { title } = AGENTS[agent];
  const hooks = join(await stateDirectory(context), "hooks"); // a place that only this user can write, as Gemini CLI demands
  mkdirSync(hooks, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(hooks, "doctor-"));
  const [marker, seen] = [join(folder, "ran"), join(folder, "seen")];
  const model = await startFakeModel([{ calls: [shellCall(agent, `touch ${marker}`)] }]);
  const stopProgress = showProgress(context, () => {
    if (existsSync(seen)) return `${title} asked Assent and is still running.`;
    return model.requests.length > 0
      ? `${title} asked the local model and is still running.`
      : `${title} has not asked the local model yet.`;
  });
  try {
    const end = await runAgent(context, agent, { url: model.url, folder, seen });
    if (typeof end === "string") return { agent, ok: false, detail: end };
    const asked = model.requests.length > 0;
    return { agent, ...verdict({ title, ran: existsSync(marker), seen: existsSync(seen), asked, end }) };
  } finally {
    stopProgress();
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Says every ten seconds how far the agent is. */
function showProgress({ io, options }: Context, stage: () => string): () => void {
  if (options.flag("json")) return () => undefined;
  const started = performance.now();
  const timer = setInterval(() => {
    void io.stderr.write(`${stage()} (${Math.round((performance.now() - started) / 1_000)} s)\n`);
  }, PROGRESS_MS);
  return () => clearInterval(timer);
}

type Evidence = {
  readonly title: string;
  readonly ran: boolean;
  readonly seen: boolean;
  readonly asked: boolean;
  readonly end: ProcessEnd;
};

function verdict({ title, ran, seen, asked, end }: Evidence): Omit<DoctorResult, "agent"> {
  if (!ran && seen) return { ok: true, detail: `${title} asked Assent, and the denied command did not run.` };
  if (ran && seen)
    return { ok: false, detail: `${title} ran a command that Assent denied. Another hook or a setting of ${title} allows it.` };
  if (ran) {
    const why = "Its hooks are not installed, not trusted, or switched off. See: assent hook status";
    return { ok: false, detail: `${title} ran a command without asking Assent. ${why}` };
  }
  const last = end.output.trim().split("\n").slice(-5).join("\n");
  const what = asked ? "proposed no command" : "did not ask the local model";
  const late = end.ended === "timeout" ? " within its time limit (see --max-time)" : "";
  return { ok: false, detail: `${title} ${what}${late}, so this proves nothing. Its last output:\n${last}` };
}

type DoctorRun = { readonly url: string; readonly folder: string; readonly seen: string };

async function runAgent(context: Context, agent: AgentName, { url, folder, seen }: DoctorRun): Promise<ProcessEnd | string> {
  const { io } = context;
  const { program, args, env, config } = agentRun(agent, url);
  const file = findProgram(program, io.env["PATH"] ?? "");
  if (file === undefined) return `${program} was not found in PATH. Install ${AGENTS[agent].title} first.`;
  const configFile = join(folder, "config.json");
  if (config) writeFileSync(configFile, config.text);
  const { processes, clock } = hostPortsFor(context, await stateDirectory(context));
  const cancelling = cancelOnSignal(io, clock);
  const inherited = Object.fromEntries(Object.entries(io.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  try {
    return await processes.run(
      {
        file,
        args,
        cwd: io.cwd,
        env: { ...inherited, ...env, ...(config && { [config.variable]: configFile }), [DOCTOR_VARIABLE]: seen },
        timeoutMs: context.options.duration("max-time") ?? LIMIT_MS,
      },
      cancelling.signal,
    );
  } finally {
    cancelling.release();
  }
}
