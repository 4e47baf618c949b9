import { fileURLToPath } from "node:url";
import { type Message, type Query, type QueryOptions, query, SdkError } from "@assent/sdk";

/** A step of the program beside this file. */
export type Step = { readonly [action: string]: unknown };

const DOOR = fileURLToPath(new URL("./door.mjs", import.meta.url));

/** How most conversations begin and end. */
export const HELLO: Step = { respond: ["initialize", { protocol: 1, version: "9.9.9" }] };

/** Starts a query against a program that plays these steps. */
export function atDoor(steps: readonly Step[], options: Partial<QueryOptions> = {}): Query {
  const { env, ...rest } = options;
  return query({ prompt: "Hi", executable: DOOR, env: { ...env, DOOR: JSON.stringify(steps) }, ...rest });
}

/** Everything a query yields, and what it threw at the end. */
export async function drain(from: Query): Promise<{ readonly messages: readonly Message[]; readonly error: SdkError | undefined }> {
  const messages: Message[] = [];
  try {
    for await (const message of from) messages.push(message);
    return { messages, error: undefined };
  } catch (error) {
    if (!(error instanceof SdkError)) throw error;
    return { messages, error };
  }
}

/** What the program heard, of the lines it echoed. */
export function echoes(messages: readonly Message[]): readonly unknown[] {
  return messages.flatMap((message) =>
    message.type === "system" && message.subtype === "warning" && message.code === "echo" ? [JSON.parse(message.message)] : [],
  );
}
