import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { detectLocalModel } from "../../src/index.ts";
import { type ModelServer, modelServer, type Reply } from "../wire/model-server.ts";

const TAGS: Reply = { status: 200, body: { models: [{ name: "nomic-embed-text:latest" }, { name: "qwen3:8b" }] } };
const MODELS: Reply = {
  status: 200,
  body: {
    object: "list",
    data: [
      { id: "text-embedding-a", object: "model" },
      { id: "gemma", object: "model" },
    ],
  },
};
const PATHS = { OLLAMA: "/api/tags", LMSTUDIO: "/v1/models", VLLM: "/v1/models" } as const;
type Server = keyof typeof PATHS;

/** A server with one reply, or an address where nobody listens. */
async function listening(reply: Reply | undefined): Promise<ModelServer> {
  const server = await modelServer();
  if (reply) server.replies.push(reply);
  else await server.close();
  return server;
}

describe("a model on this machine", () => {
  const rows: readonly [sentence: string, replies: Partial<Record<Server, Reply>>, found: string | undefined][] = [
    ["Ollama's first that can talk", { OLLAMA: TAGS }, "ollama:qwen3:8b"],
    ["LM Studio's", { LMSTUDIO: MODELS }, "lmstudio:gemma"],
    ["vLLM's", { VLLM: MODELS }, "vllm:gemma"],
    ["the first of several servers, in the order of the list", { VLLM: MODELS, OLLAMA: TAGS }, "ollama:qwen3:8b"],
    ["a server without models offers none", { OLLAMA: { status: 200, body: { models: [] } }, VLLM: MODELS }, "vllm:gemma"],
    ["something else on the port is no model server", { VLLM: { status: 200, body: { hello: "world" } } }, undefined],
    ["a refusal is none", { OLLAMA: { status: 401, body: TAGS } }, undefined],
    ["a server that is silent is not waited for", { OLLAMA: { frames: [""], end: "hang" }, LMSTUDIO: MODELS }, "lmstudio:gemma"],
    ["nobody there", {}, undefined],
  ];
  for (const [sentence, replies, found] of rows) {
    test(sentence, async (t) => {
      const [ollama, lmstudio, vllm] = await Promise.all([listening(replies.OLLAMA), listening(replies.LMSTUDIO), listening(replies.VLLM)]);
      t.after(() => Promise.all([ollama.close(), lmstudio.close(), vllm.close()]));
      const environment = {
        OLLAMA_BASE_URL: `${ollama.origin}/v1`,
        LMSTUDIO_BASE_URL: `${lmstudio.origin}/v1`,
        VLLM_BASE_URL: `${vllm.origin}/v1`,
      };
      assert.equal(await detectLocalModel(environment), found);
      const asked = { OLLAMA: ollama.received[0]?.url, LMSTUDIO: lmstudio.received[0]?.url, VLLM: vllm.received[0]?.url };
      for (const name of Object.keys(replies) as Server[]) assert.equal(asked[name], PATHS[name]);
    });
  }

  test("nothing is sent to another machine", async () => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = (input) => {
      asked.push(String(input));
      return Promise.reject(new Error("nobody there"));
    };
    const environment = { OLLAMA_BASE_URL: "https://ollama.example/v1", LMSTUDIO_BASE_URL: "http://192.0.2.1:1234/v1" };
    assert.equal(await detectLocalModel(environment, { fetch }), undefined);
    assert.deepEqual(asked, ["http://127.0.0.1:8000/v1/models"]);
  });
});
