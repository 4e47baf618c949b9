import { resolve } from "node:path";
import { type Capabilities, createCapabilities, playScript, readScript, type ScriptPlayer } from "@assent/agent";
import type { Clock } from "@assent/core";
import { readNamed } from "../call-input.ts";
import type { Context } from "../command-spec.ts";
import { CommandError } from "../failure.ts";

/** The model of a run, and what is known of it. */
export type RunModel = {
  readonly id: string;
  readonly model: (id: string | null) => ReturnType<ScriptPlayer["model"]>;
  readonly capabilities: Capabilities;
  /** Only a script has turns that can be left over. */
  readonly script: ScriptPlayer | undefined;
};

const SCRIPT = "script:";

/** The model that was asked for. */
export async function runModel({ io }: Context, id: string | undefined, clock: Clock): Promise<RunModel> {
  if (id === undefined) {
    throw new CommandError("unknown_model", 2, {
      message: "assent run: no model. Give one with --model, or name it in your settings.",
      hint: "A rehearsal needs none: --model script:FILE plays a conversation that you wrote down.",
    });
  }
  if (!id.startsWith(SCRIPT))
    throw new CommandError("unknown_model", 2, { message: `assent run: there is no model '${id}'.`, hint: "Known are: script:FILE" });
  const file = id.slice(SCRIPT.length);
  const text = await readNamed(io, file, "run");
  const script = readScript(text, resolve(io.cwd, file));
  const player = playScript(script, clock);
  return {
    id,
    model: (asked) => player.model(asked === null || asked === id ? undefined : asked),
    capabilities: createCapabilities(script.capability),
    script: player,
  };
}
