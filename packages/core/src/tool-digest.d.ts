import type { Digest } from "./ports.ts";
import type { Tool } from "./tool-definition.ts";
/** Names one state of a tool's definition, so that a waiting call can tell that its tool was changed. Functions have no digest and do not count. */
export declare function toolDigest(tool: Tool, digest: Digest): string;
