import type { CallContext, Files, SpilledOutput } from "@assent/core";

/** Saves the full output of a call in a file. */
export async function saveOutput(files: Files, text: string, { sessionId, callId }: CallContext): Promise<SpilledOutput> {
  const file = await files.spill(sessionId, callId);
  await file.write(text);
  return await file.end();
}
