import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { describe, test } from "node:test";
import { ModelError, resolveModel } from "../../src/index.ts";
import { PROVIDERS } from "../../src/providers/provider-table.ts";
import { requireV4 } from "../../src/providers/resolve-model.ts";

const ALL = {
  ANTHROPIC_API_KEY: "a",
  OPENAI_API_KEY: "o",
  GEMINI_API_KEY: "g",
  OPENROUTER_API_KEY: "r",
  OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:9/v1",
};

describe("a model by its id", () => {
  test("an absent package is named, with how to install it", async () => {
    const hooks = registerHooks({
      resolve: (specifier, context, next) => {
        if (specifier !== "@ai-sdk/google") return next(specifier, context);
        throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: "ERR_MODULE_NOT_FOUND" });
      },
    });
    try {
      await assert.rejects(
        resolveModel("google:gemini-2.5-pro", { environment: ALL }),
        (error) => error instanceof ModelError && error.type === "unknown_model" && error.hint === "Run npm i @ai-sdk/google@4.0.117",
      );
    } finally {
      hooks.deregister();
    }
  });

  test("the versions to install are those the package asks for", () => {
    const { peerDependencies } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      peerDependencies: Record<string, string>;
    };
    const asked = Object.fromEntries(Object.values(PROVIDERS).map((row) => [row.package, row.version]));
    assert.deepEqual(asked, peerDependencies);
  });

  const known: readonly [id: string, provider: string, modelId: string][] = [
    ["anthropic:claude-opus-5", "anthropic.messages", "claude-opus-5"],
    ["openai:gpt-5.5", "openai.responses", "gpt-5.5"],
    ["openrouter:moonshotai/kimi-k2.6", "openrouter.chat", "moonshotai/kimi-k2.6"],
    ["ollama:qwen3:8b", "ollama.chat", "qwen3:8b"],
    ["lmstudio:google/gemma-4-12b", "lmstudio.chat", "google/gemma-4-12b"],
    ["vllm:Qwen/Qwen3-8B", "vllm.chat", "Qwen/Qwen3-8B"],
    ["openai-compatible:m", "openaiCompatible.chat", "m"],
  ];
  for (const [id, provider, modelId] of known) {
    test(`${id} is ${modelId} of ${provider}`, async () => {
      const model = await resolveModel(id, { environment: ALL });
      assert.deepEqual([model.provider, model.modelId, model.specificationVersion], [provider, modelId, "v4"]);
    });
  }

  const refused: readonly [sentence: string, id: string, environment: Record<string, string>, type: string, hint: RegExp][] = [
    [
      "no provider",
      "gpt-5.5",
      ALL,
      "unknown_model",
      /^A model is named PROVIDER:NAME\. Known providers: anthropic, openai, google, openrouter, ollama, /,
    ],
    ["an unknown provider", "nobody:m", ALL, "unknown_model", /Known providers/],
    ["a script that is misspelt", "scrpt:x", ALL, "unknown_model", /; assent also takes script:FILE\.$/],
    ["a word every object has", "constructor:m", ALL, "unknown_model", /Known providers/],
    ["no name", "openai:", ALL, "unknown_model", /PROVIDER:NAME/],
    ["no key", "anthropic:m", {}, "provider_auth", /^Set ANTHROPIC_API_KEY in your environment\.$/],
    ["an empty key", "openai:m", { OPENAI_API_KEY: " " }, "provider_auth", /OPENAI_API_KEY/],
    ["either of two keys", "google:m", {}, "provider_auth", /^Set GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY in/],
    ["no address", "openai-compatible:m", {}, "unknown_model", /OPENAI_COMPATIBLE_BASE_URL/],
    ["an address that is none", "vllm:m", { VLLM_BASE_URL: "localhost" }, "unknown_model", /VLLM_BASE_URL/],
    ["an address of another kind", "vllm:m", { VLLM_BASE_URL: "file:///etc/passwd" }, "unknown_model", /VLLM_BASE_URL/],
  ];
  for (const [sentence, id, environment, type, hint] of refused) {
    test(`${sentence} is refused with what to do`, async () => {
      await assert.rejects(
        resolveModel(id, { environment }),
        (error) => error instanceof ModelError && error.type === type && hint.test(error.hint),
      );
    });
  }

  const unaddressed: readonly [sentence: string, environment: Record<string, string>, message: string][] = [
    ["none", {}, "There is no address for 'openai-compatible:m'."],
    [
      "one that is no address",
      { OPENAI_COMPATIBLE_BASE_URL: "foo" },
      "OPENAI_COMPATIBLE_BASE_URL is set, but not to an http or https address.",
    ],
    [
      "one with a password, which is not told",
      { OPENAI_COMPATIBLE_BASE_URL: "http://me:hush@host/v1" },
      "OPENAI_COMPATIBLE_BASE_URL contains a user name or password, which is not supported.",
    ],
  ];
  for (const [sentence, environment, message] of unaddressed) {
    test(`what is wrong with an address is said: ${sentence}`, () =>
      assert.rejects(resolveModel("openai-compatible:m", { environment }), { message, type: "unknown_model" }));
  }

  test("a key in the process that was not given is not used", async () => {
    const held = process.env["ANTHROPIC_API_KEY"];
    process.env["ANTHROPIC_API_KEY"] = "of the process";
    try {
      await assert.rejects(
        resolveModel("anthropic:m", { environment: {} }),
        (error) => error instanceof ModelError && error.type === "provider_auth",
      );
    } finally {
      if (held === undefined) delete process.env["ANTHROPIC_API_KEY"];
      else process.env["ANTHROPIC_API_KEY"] = held;
    }
  });

  test("an address in the process that was not given is not asked", async () => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = (input) => {
      asked.push(new Request(input).url);
      return Promise.resolve(new Response("{}", { status: 400 }));
    };
    process.env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9/elsewhere";
    process.env["OPENAI_BASE_URL"] = "http://127.0.0.1:9/elsewhere";
    try {
      for (const id of ["anthropic:m", "openai:m"]) {
        const model = await resolveModel(id, { environment: ALL, fetch });
        await assert.rejects(async () => model.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "a" }] }] }));
      }
    } finally {
      delete process.env["ANTHROPIC_BASE_URL"];
      delete process.env["OPENAI_BASE_URL"];
    }
    assert.deepEqual(asked, ["https://api.anthropic.com/v1/messages", "https://api.openai.com/v1/responses"]);
  });

  test("a model of another specification is refused by its version", () => {
    assert.throws(
      () => requireV4({ specificationVersion: "v3" }, { package: "@ai-sdk/openai", version: "4.0.114" }),
      (error) =>
        error instanceof ModelError && error.type === "unknown_model" && /specification v3, but v4 is required/.test(error.message),
    );
  });

  test("an abort before anything is loaded ends it", async () => {
    await assert.rejects(resolveModel("openai:m", { environment: ALL, signal: AbortSignal.abort() }), { name: "AbortError" });
  });
});
