import { isObject } from "@assent/core";
import { sharedMode, sharedToolName } from "@assent/core/parts";
import type { WireMessage } from "../stream/message.ts";
import type { Client } from "./options.ts";

type MessageFields = Readonly<Record<string, unknown>>;

/** Translates messages for hosts of Claude Code's SDK: tool names, permission modes, suggestions, usage and cost. */
export function claudeDialect({ mode: began }: Client): (message: WireMessage) => WireMessage {
  const spent = new Map<string, ModelTotals>();
  return (message) => {
    switch (message.type) {
      case "system":
        return systemMessage(message, began);
      case "assistant":
        return { ...message, message: withNamedBlocks(message["message"]) };
      case "user":
        return message["origin"] === "notice" || message["origin"] === "schedule" ? { ...message, isSynthetic: true } : message;
      case "stream_event":
        return { ...message, event: withNamedBlock(message["event"]) };
      case "control_request":
        return { ...message, request: approvalRequest(message["request"]) };
      case "control_response":
        return { ...message, response: controlResponse(message["response"]) };
      case "result":
        return resultMessage(message, spent);
      default:
        return message;
    }
  };
}

function claudeToolName(value: unknown): unknown {
  return typeof value === "string" ? sharedToolName(value) : value;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function withToolName(value: unknown): unknown {
  return isObject(value) && "tool_name" in value ? { ...value, tool_name: claudeToolName(value["tool_name"]) } : value;
}

function systemMessage(message: WireMessage, began: string | undefined): WireMessage {
  const { subtype, permission_mode, tools, from, to, last_tool_name } = message;
  if (subtype === "init") {
    const permissionMode = began === "dontAsk" ? began : sharedMode(String(permission_mode));
    const theirs = {
      permissionMode,
      tools: listOf(tools).map(claudeToolName),
      apiKeySource: "none",
      output_style: "default",
      skills: [],
      plugins: [],
    };
    return { ...message, ...theirs };
  }
  if (subtype === "mode_changed") return { ...message, from: sharedMode(String(from)), to: sharedMode(String(to)) };
  if (subtype === "task_progress") return { ...message, last_tool_name: claudeToolName(last_tool_name) };
  return "tool_name" in message ? { ...message, tool_name: claudeToolName(message["tool_name"]) } : message;
}

function withNamedBlocks(message: unknown): unknown {
  return isObject(message) ? { ...message, content: listOf(message["content"]).map(toolUse) } : message;
}

function toolUse(block: unknown): unknown {
  return isObject(block) && block["type"] === "tool_use" ? { ...block, name: claudeToolName(block["name"]) } : block;
}

function withNamedBlock(event: unknown): unknown {
  return isObject(event) && event["type"] === "content_block_start" ? { ...event, content_block: toolUse(event["content_block"]) } : event;
}

/** An approval in the form that the SDK passes to `canUseTool`. */
function approvalRequest(request: unknown): unknown {
  if (!isObject(request) || request["subtype"] !== "can_use_tool") return request;
  const { tool_name, decision_reason, permission_suggestions, blocked_path, agent_id, ...rest } = request;
  return {
    ...rest,
    tool_name: claudeToolName(tool_name),
    tool: tool_name,
    permission_suggestions: permissionUpdates(listOf(permission_suggestions).filter(isObject)),
    ...(isObject(decision_reason) && { decision_reason: decision_reason["text"], decision: decision_reason }),
    ...(typeof blocked_path === "string" && { blocked_path }),
    ...(typeof agent_id === "string" && { agent_id }),
  };
}

/** Hosts of the SDK return all suggestions together, so only the narrowest one that remembers anything is sent. */
function permissionUpdates(suggestions: readonly MessageFields[]): readonly unknown[] {
  const wider = suggestions.find(({ rules, mode }) => rules !== undefined || mode !== undefined);
  if (!wider) return [];
  if (typeof wider["mode"] === "string") return [{ type: "setMode", mode: sharedMode(wider["mode"]), destination: "session" }];
  const rules = listOf(wider["rules"]).map((rule) => ruleValue(String(rule)));
  return [{ type: "addRules", rules, behavior: "allow", destination: "session" }];
}

function ruleValue(rule: string): object {
  const [, name = rule, content] = /^([\w-]+)\((.*)\)$/s.exec(rule) ?? [];
  const toolName = name === "Shell" ? "Bash" : name;
  return content === undefined ? { toolName } : { toolName, ruleContent: content };
}

function controlResponse(response: unknown): unknown {
  if (!isObject(response) || !isObject(response["response"])) return response;
  const { mode, tools, pending, ...rest } = response["response"];
  return {
    ...response,
    response: {
      ...rest,
      ...(typeof mode === "string" && { mode: sharedMode(mode) }),
      ...(tools !== undefined && { tools: listOf(tools).map(claudeToolName) }),
      ...(pending !== undefined && {
        pending: listOf(pending).map((each) => (isObject(each) ? { ...each, request: approvalRequest(each["request"]) } : each)),
      }),
    },
  };
}

type ModelTotals = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly cacheCreationInputTokens: 0;
  readonly webSearchRequests: 0;
  readonly costUSD: number;
};

/** As in the SDK, usage covers this result, and totals by model and cost cover the whole run. A model without a known price counts as 0. */
function resultMessage(message: WireMessage, spent: Map<string, ModelTotals>): WireMessage {
  const { usage, model_usage, permission_denials, unknown_outcomes } = message;
  const models = Object.entries(isObject(model_usage) ? model_usage : {});
  for (const [model, used] of models) spent.set(model, plus(spent.get(model), isObject(used) ? used : {}));
  const unpriced = models.flatMap(([model, used]) => (isObject(used) && used["cost_usd"] === undefined ? [model] : []));
  return {
    ...message,
    stop_reason: null,
    usage: { ...(isObject(usage) && { ...usage, input_tokens: uncached(usage) }), cache_creation_input_tokens: 0 },
    modelUsage: Object.fromEntries(spent),
    total_cost_usd: [...spent.values()].reduce((sum, { costUSD }) => sum + costUSD, 0),
    ...(unpriced.length > 0 && { unpriced_models: unpriced }),
    permission_denials: listOf(permission_denials).map(withToolName),
    unknown_outcomes: listOf(unknown_outcomes).map(withToolName),
  };
}

function plus(total: ModelTotals | undefined, used: MessageFields): ModelTotals {
  return {
    inputTokens: (total?.inputTokens ?? 0) + uncached(used),
    outputTokens: (total?.outputTokens ?? 0) + count(used["output_tokens"]),
    cacheReadInputTokens: (total?.cacheReadInputTokens ?? 0) + count(used["cache_read_input_tokens"]),
    cacheCreationInputTokens: 0,
    webSearchRequests: 0,
    costUSD: (total?.costUSD ?? 0) + count(used["cost_usd"]),
  };
}

/** The SDK does not count tokens read from a cache as input. */
function uncached(used: MessageFields): number {
  return Math.max(0, count(used["input_tokens"]) - count(used["cache_read_input_tokens"]));
}

function count(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
