import { APICallError } from "@ai-sdk/provider";
import type { Capability } from "../../script/script.ts";

/**
 * Models that cannot be forced to call a named tool. The first matching row counts. Most of them think before every answer. A gateway puts
 * the maker before a model's name.
 */
const KNOWN: readonly { readonly provider: RegExp; readonly model: RegExp; readonly capability: Capability }[] = [
  { provider: /./, model: /claude-(?:opus|sonnet)-5[.-]5|claude-(?:fable|mythos)-5[.-][12]/, capability: "auto" },
  { provider: /^anthropic/, model: /thinking/, capability: "auto" },
  { provider: /^ollama/, model: /./, capability: "auto" }, // ignores the field
  { provider: /^lmstudio/, model: /./, capability: "required" }, // refuses a name
  { provider: /deepseek/, model: /reasoner|r1|v4/, capability: "auto" },
  { provider: /./, model: /(?:^|[/-])(?:qwq|deepseek-(?:r1|reasoner|v4))/, capability: "auto" },
  { provider: /./, model: /(?:^|[/-])kimi-k2(?:\.\d|-thinking)/, capability: "auto" },
  { provider: /./, model: /(?:^|[/-])kimi-k3/, capability: "required" },
];

const LOWER: Readonly<Record<Capability, Capability | undefined>> = { named: "required", required: "auto", auto: undefined };

/** How far models can be forced to call a tool: from the table, and from what providers refused in this process. */
export type Capabilities = {
  readonly of: (model: { readonly provider: string; readonly modelId: string }) => Capability;
  /** Lowers the capability after a refusal. Returns false if it is lowest already. */
  readonly lower: (model: { readonly provider: string; readonly modelId: string }) => boolean;
};

/** Creates the capabilities; `fixed` is what a script says of itself. */
export function createCapabilities(fixed?: Capability): Capabilities {
  const learned = new Map<string, Capability>();
  const of: Capabilities["of"] = ({ provider, modelId }) => {
    const key = `${provider}\n${modelId}`;
    const known = learned.get(key);
    if (known !== undefined) return known;
    const initial = fixed ?? KNOWN.find((row) => row.provider.test(provider) && row.model.test(modelId))?.capability ?? "named";
    learned.set(key, initial);
    return initial;
  };
  return {
    of,
    lower: (model) => {
      const next = LOWER[of(model)];
      if (next === undefined) return false;
      learned.set(`${model.provider}\n${model.modelId}`, next);
      return true;
    },
  };
}

/** True if a provider refused the request because of its tool choice. */
export function refusesToolChoice(error: unknown): boolean {
  if (!APICallError.isInstance(error) || ![400, 404, 422].includes(error.statusCode ?? 0)) return false;
  return /tool[_ ]?choice|function_call|function ?calling|forced/i.test(`${error.message} ${error.responseBody ?? ""}`);
}
