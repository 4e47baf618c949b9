import { playScript, readScript } from "@assent/agent";
import { createSystemClock } from "@assent/host";

/** A model of the AI SDK that plays these turns. */
export function scripted(turns: string): ReturnType<ReturnType<typeof playScript>["model"]> {
  return playScript(readScript(`turns:\n${turns}`, "script.yaml"), createSystemClock()).model();
}
