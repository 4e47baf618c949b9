export type {
  ClientAnswer,
  ConnectedClient,
  GatewayCall,
  GatewayConnection,
  GatewayEnd,
  OpenConnection,
} from "./desk.ts";
export type { Pipes } from "./line-transport.ts";
export { makeReadingTools, type ReadingParts } from "./reading-tools.ts";
export { type HttpGateway, type HttpGatewayServer, serveOnHttp } from "./serve-http.ts";
export { type StdioGateway, serveOnPipes } from "./serve-stdio.ts";
