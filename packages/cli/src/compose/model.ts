import { resolve } from "node:path";
import {
  type Capabilities,
  type ConversationDeps,
  createCapabilities,
  detectLocalModel,
  ModelError,
  playScript,
  readScript,
  resolveModel,
  type Script,
  ScriptError,
  type ScriptPlayer,
} from "@assent/agent";
import type { Clock } from "@assent/core";
import { httpFetch as fetch } from "@assent/host";
import type { Context } from "../command-line/spec.ts";
import { CommandError } from "../io/failure.ts";
import { readNamed } from "../io/read-input.ts";

export type RunModel = {
  readonly id: string;
  readonly model: ConversationDeps["model"];
  readonly capabilities: Capabilities;
  readonly script: ScriptPlayer | undefined;
};

const SCRIPT = "script:";

/** Resolves the model before anything is recorded; by default one of a local server. */
export async function resolveRunModel(context: Context, given: string | undefined, clock: Clock): Promise<RunModel> {
  const { env: environment } = context.io;
  const id = given ?? (await detectLocalModel(environment, { fetch }));
  if (id === undefined) {
    throw new CommandError("unknown_model", 2, {
      message: "No model is configured. Use --model provider:name, or set one in your settings.",
      hint: "Or start a local server (ollama, LM Studio), or play a scripted model with --model script:FILE.",
    });
  }
  if (id.startsWith(SCRIPT)) return await scriptedModel(context, id, clock);
  const first = await resolveModel(id, { environment, fetch }).catch(refuse);
  const model: ConversationDeps["model"] = (asked) =>
    asked === null || asked === id ? first : resolveModel(asked, { environment, fetch });
  return { id, model, capabilities: createCapabilities(), script: undefined };
}

function refuse(error: unknown): never {
  if (!(error instanceof ModelError)) throw error;
  throw new CommandError(error.type, 2, { message: error.message, hint: error.hint });
}

function parseScript(text: string, file: string): Script {
  try {
    return readScript(text, file);
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    throw new CommandError("usage", 2, { message: `assent run: ${error.message}` });
  }
}

async function scriptedModel({ io }: Context, id: string, clock: Clock): Promise<RunModel> {
  const file = id.slice(SCRIPT.length);
  if (file === "") throw new CommandError("usage", 2, { message: "assent run: the model 'script:' needs a file: --model script:FILE" });
  const script = parseScript(await readNamed(io, file, "run"), resolve(io.cwd, file));
  const player = playScript(script, clock);
  return {
    id,
    model: (asked) => player.model(asked === null || asked === id ? undefined : asked),
    capabilities: createCapabilities(script.capability),
    script: player,
  };
}
