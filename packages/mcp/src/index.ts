export type { ServerChannel } from "./connect/channel-transport.ts";
export { type ClientInFront, type Connection, type ConnectionDeps, connectServer, type ListKind } from "./connect/connect.ts";
export { ServerError, type ServerFailure } from "./connect/failure.ts";
export { type CredentialStore, type Credentials, createCredentialStore } from "./oauth/credentials.ts";
export { type LoginParts, login } from "./oauth/login.ts";
export { expandPrompt, promptCommand } from "./prompts/expand-prompt.ts";
export { type ExpandedServer, expandServer, type MissingVariable } from "./servers/expand.ts";
export { createServerRedactor } from "./servers/secrets.ts";
export {
  type ConfiguredServer,
  createServer,
  type RemoteCall,
  type SeenServer,
  type ServerAbout,
  type ServerConnection,
  type ServerDeps,
  type ServerLists,
  type ServerState,
} from "./servers/server.ts";
export { createServerSet, type McpServerSet, type OfferedTool, type ServerSetDeps } from "./servers/servers.ts";
export { type DisabledTool, qualifyToolName } from "./tools/names.ts";
export { toToolResult } from "./tools/result.ts";
