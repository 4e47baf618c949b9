// Who is measured, with what, and what has no meaning for whom. One row is one table row of docs/benchmarks.md.

const NO_WAITING_STATE = "an approval is a promise in the process: there is no stored state to resume";

/** `layer`: `loop` asks a model, `dispatch` is given the calls. `import`: what a program imports. `only`: the packages counted as its install; absent: all. */
export const ROWS = [
  { id: "bare", folder: "bare", variant: "-", label: "bare loop", layer: "loop", packages: ["zod"], absent: {} },
  {
    ...{ id: "assent-core", folder: "assent", variant: "core-memory-read", label: "Assent core, memory ledger", layer: "dispatch" },
    ...{ packages: ["@assent/core"], import: "@assent/core", only: ["@assent/core"], absent: {} },
  },
  {
    ...{ id: "assent-core-sqlite", folder: "assent", variant: "core-sqlite-unsafe", label: "Assent core, SQLite, unsafe tool", layer: "dispatch" },
    ...{ packages: ["@assent/core", "@assent/store"], absent: {} },
  },
  {
    ...{ id: "assent", folder: "assent", variant: "agent-memory-read", label: "Assent agent, memory ledger", layer: "loop" },
    ...{ packages: ["@assent/agent"], import: "@assent/agent", absent: {} },
  },
  {
    ...{ id: "assent-sqlite", folder: "assent", variant: "agent-sqlite-read", label: "Assent agent, SQLite, safe tool", layer: "loop" },
    ...{ packages: ["@assent/agent", "@assent/store"], absent: {} },
  },
  {
    ...{ id: "assent-sqlite-unsafe", folder: "assent", variant: "agent-sqlite-unsafe", label: "Assent agent, SQLite, unsafe tool", layer: "loop" },
    ...{ packages: ["@assent/agent", "@assent/store"], absent: {} },
  },
  { id: "ai-sdk", folder: "ai-sdk", variant: "-", label: "ai", layer: "loop", packages: ["ai"], import: "ai", absent: {} },
  {
    ...{ id: "openai-agents", folder: "openai-agents", variant: "-", label: "@openai/agents", layer: "loop" },
    ...{ packages: ["@openai/agents"], import: "@openai/agents", absent: {} },
  },
  {
    ...{ id: "langgraph", folder: "langgraph", variant: "plain", label: "@langchain/langgraph", layer: "loop" },
    ...{ packages: ["@langchain/langgraph", "@langchain/core"], import: "@langchain/langgraph" },
    absent: { approval: "interrupts need a checkpointer: see the next row", cycle: "see the next row", again: "see the next row" },
  },
  {
    ...{ id: "langgraph-memory", folder: "langgraph", variant: "memory", label: "@langchain/langgraph, MemorySaver", layer: "loop" },
    ...{ packages: ["@langchain/langgraph", "@langchain/core"], absent: {} },
  },
  {
    ...{ id: "mastra", folder: "mastra", variant: "-", label: "@mastra/core", layer: "loop", packages: ["@mastra/core"] },
    ...{ import: "@mastra/core/agent", absent: {} },
  },
  {
    ...{ id: "pi", folder: "pi", variant: "-", label: "pi-agent-core", layer: "loop", packages: ["@earendil-works/pi-agent-core"] },
    ...{ import: "@earendil-works/pi-agent-core", absent: { cycle: NO_WAITING_STATE, again: NO_WAITING_STATE } },
  },
  {
    ...{ id: "gemini-cli", folder: "gemini-cli", variant: "-", label: "gemini-cli-core, Scheduler", layer: "dispatch" },
    ...{ packages: ["@google/gemini-cli-core"], import: "@google/gemini-cli-core", absent: { cycle: NO_WAITING_STATE, again: NO_WAITING_STATE } },
  },
  {
    ...{ id: "qwen-code", folder: "qwen-code", variant: "-", label: "qwen-code-core, CoreToolScheduler", layer: "dispatch" },
    ...{ packages: ["@qwen-code/qwen-code-core"], import: "@qwen-code/qwen-code-core", absent: { cycle: NO_WAITING_STATE, again: NO_WAITING_STATE } },
  },
];

/** What is measured. `bare`: the work of the bare loop that it is compared with. */
export const WORKS = [
  { id: "turns 1", bare: "turns 1" },
  { id: "turns 10", bare: "turns 10" },
  { id: "turns 100", bare: "turns 100" },
  { id: "turns 1000", bare: "turns 1000" },
  { id: "batch 100", bare: "batch 100" },
  { id: "approval 10", bare: "turns 10" },
  { id: "cycle 1", bare: "turns 1" },
];

/** Newer versions that could not be installed, with the first line of the error. */
export const NOT_INSTALLED = [
  {
    ...{ name: "@earendil-works/pi-agent-core", version: "1.5.0", instead: "0.87.1" },
    error: "404 Not Found: @earendil-works/pi-schema@1.5.0 (1.0.3: the same; 1.4.0 and 1.3.0: no matching version of @earendil-works/pi-telemetry)",
  },
];
