import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "../../support/assent.ts";
import { type OpenScreen, openScreen, type Screen } from "./screen.ts";

/** One answer of the scripted model; see docs/scripted-model.md. */
export type Turn = {
  readonly say?: string;
  readonly calls?: readonly { readonly tool: string; readonly id: string; readonly input: object }[];
  readonly expect?: object;
  readonly delayMs?: number;
  readonly error?: object;
  readonly usage?: object;
};

/** What a conversation begins with. */
export type Opening = Partial<Omit<OpenScreen, "cwd" | "program">> & {
  readonly turns?: readonly Turn[];
  readonly agents?: Readonly<Record<string, { readonly turns: readonly Turn[]; readonly allowUnused?: boolean }>>;
  /** The person's own settings. */
  readonly settings?: object;
};

/** The program on a terminal of its own, with a model that says what is written down for it. */
export function converse(at: Place, { turns = [], agents, settings, args = [], env, ...size }: Opening): Screen {
  writeFileSync(join(at.root, "script.json"), JSON.stringify({ turns, allowUnused: true, ...(agents && { agents }) }));
  if (settings) writeFileSync(join(at.root, "policy.json"), JSON.stringify({ version: 1, ...settings }));
  const given = [...(settings ? ["--policy", "../policy.json"] : []), "--model", "script:../script.json"];
  return openScreen({ cwd: at.workspace, env: { ...at.env, EDITOR: "vi", ...env }, args: [...args, ...given], ...size });
}

/** Writes a prompt and sends it, once the program is ready for one. */
export async function say(screen: Screen, prompt: string): Promise<void> {
  screen.type(prompt);
  await screen.until(prompt);
  screen.press("enter");
}

/** The status line shows the model once the program is ready. */
export const READY = "script:";

/** A conversation whose first prompt is sent. */
export async function converseAbout(at: Place, prompt: string, opening: Opening): Promise<Screen> {
  const screen = converse(at, opening);
  try {
    await screen.until(READY);
    await say(screen, prompt);
    return screen;
  } catch (error) {
    screen[Symbol.dispose]();
    throw error;
  }
}

/** How a call ended, as the record says. */
export type Ended = {
  readonly outcome: string;
  readonly type: string | null;
  readonly content: string;
  readonly details?: ReturnType<typeof JSON.parse>;
};

type Recorded = { readonly type: string; readonly session: string; readonly body: ReturnType<typeof JSON.parse> };

/** Everything on record, oldest first. */
export async function record(at: Place): Promise<readonly Recorded[]> {
  const { stdout } = await at.here(["log", "--json"]);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The end of each call, by its id. */
export async function endedCalls(at: Place): Promise<ReadonlyMap<string, Ended>> {
  const events = await record(at);
  return new Map(events.filter(({ type }) => type === "call.ended").map(({ body }) => [body.call, body]));
}
