// One tool whose effect can be counted, and files that stand for the database of an application.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";

export const [, , step = "start", folder = "."] = process.argv;
export const TO = "bob@example.test";
export const send = ({ to }) => {
  appendFileSync(`${folder}/sent.txt`, `${to}\n`);
  return `sent to ${to}`;
};
export const save = (text) => writeFileSync(`${folder}/saved.json`, text);
export const load = () => readFileSync(`${folder}/saved.json`, "utf8");
export const saveAnswer = (answer) => writeFileSync(`${folder}/answer.txt`, answer);
export const loadAnswer = () => readFileSync(`${folder}/answer.txt`, "utf8");

/** The result that a model is shown, if there is one. */
export const findResult = (messages) => JSON.stringify(messages).match(/sent to [\w@.]+/)?.[0];

/** Keeps a checkpointer of LangGraph in a file. Its packages for databases do this in an application. */
export async function withSavedCheckpoints(checkpointer, act) {
  const file = `${folder}/checkpoints.bin`;
  if (existsSync(file)) Object.assign(checkpointer, deserialize(readFileSync(file)));
  const result = await act();
  writeFileSync(file, serialize({ storage: checkpointer.storage, writes: checkpointer.writes }));
  return result;
}

/** A model of the AI SDK that makes one call and then repeats its result. */
export const aiModel = {
  ...{ specificationVersion: "v4", provider: "scripted", modelId: "one-call", supportedUrls: {} },
  doGenerate: async ({ prompt }) => {
    const result = findResult(prompt.filter(({ role }) => role === "tool"));
    const call = { type: "tool-call", toolCallId: "c1", toolName: "mail", input: JSON.stringify({ to: TO }) };
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const finishReason = { unified: result ? "stop" : "tool-calls" };
    return { content: [result ? { type: "text", text: result } : call], finishReason, usage, warnings: [] };
  },
};
