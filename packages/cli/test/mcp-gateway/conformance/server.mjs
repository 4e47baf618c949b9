// The tools, resources and prompts that MCP's conformance tests look for: over stdio, or with `--http` on a loopback address that is printed.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import {
  hostHeaderValidationResponse,
  originValidationResponse,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const LOCAL = ["127.0.0.1", "localhost"];

const text = (value) => ({ type: "text", text: value });
const image = { type: "image", data: PIXEL, mimeType: "image/png" };
const resource = (uri, value) => ({ type: "resource", resource: { uri, mimeType: "text/plain", text: value } });
const content = (...blocks) => ({ content: blocks });
const form = (message, properties, required = []) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties, required } },
});
const titled = (count) => Array.from({ length: count }, (_, at) => ({ const: `value${at + 1}`, title: `Option ${at + 1}` }));
const words = (count) => Array.from({ length: count }, (_, at) => `option${at + 1}`);

async function elicit(context, request) {
  const { action, content: given } = await context.mcpReq.send(request);
  return content(text(`action=${action}, content=${JSON.stringify(given ?? {})}`));
}

const NOTHING = { type: "object" };
const oneText = (name) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });

/** Each with its schema and what it does. */
const TOOLS = {
  test_simple_text: [NOTHING, () => content(text("This is a simple text response for testing."))],
  test_image_content: [NOTHING, () => content(image)],
  test_audio_content: [NOTHING, () => content({ type: "audio", data: SOUND, mimeType: "audio/wav" })],
  test_embedded_resource: [NOTHING, () => content(resource("test://embedded-resource", "This is an embedded resource content."))],
  test_multiple_content_types: [
    NOTHING,
    () => content(text("Several kinds:"), image, resource("test://mixed-content-resource", '{"test":"data","value":123}')),
  ],
  test_error_handling: [NOTHING, () => ({ ...content(text("This tool intentionally returns an error for testing")), isError: true })],
  test_tool_with_logging: [
    NOTHING,
    async (_input, { mcpReq }) => {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"])
        await mcpReq.notify({ method: "notifications/message", params: { level: "info", data } });
      return content(text("done"));
    },
  ],
  test_tool_with_progress: [
    NOTHING,
    async (_input, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken ?? 0;
      for (const progress of [0, 50, 100])
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      return content(text("done"));
    },
  ],
  test_sampling: [
    oneText("prompt"),
    async ({ prompt }, { mcpReq }) => {
      const messages = [{ role: "user", content: text(prompt) }];
      const { content: said } = await mcpReq.send({ method: "sampling/createMessage", params: { messages, maxTokens: 100 } });
      return content(text(`LLM response: ${said.text}`));
    },
  ],
  test_elicitation: [
    oneText("message"),
    ({ message }, context) =>
      elicit(context, form(message, { username: { type: "string" }, email: { type: "string" } }, ["username", "email"])),
  ],
  test_elicitation_sep1034_defaults: [
    NOTHING,
    (_input, context) =>
      elicit(
        context,
        form("Fields with defaults", {
          name: { type: "string", default: "John Doe" },
          age: { type: "integer", default: 30 },
          score: { type: "number", default: 95.5 },
          status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", default: true },
        }),
      ),
  ],
  test_elicitation_sep1330_enums: [
    NOTHING,
    (_input, context) =>
      elicit(
        context,
        form("All kinds of choices", {
          untitledSingle: { type: "string", enum: words(3) },
          titledSingle: { type: "string", oneOf: titled(3) },
          legacyEnum: { type: "string", enum: ["opt1", "opt2"], enumNames: ["Option One", "Option Two"] },
          untitledMulti: { type: "array", items: { type: "string", enum: words(3) } },
          titledMulti: { type: "array", items: { anyOf: titled(3) } },
        }),
      ),
  ],
  json_schema_2020_12_tool: [
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false,
    },
    () => content(text("done")),
  ],
};

const said = (...blocks) => ({ messages: blocks.map((block) => ({ role: "user", content: block })) });
const PROMPTS = {
  test_simple_prompt: [[], () => said(text("This is a simple prompt for testing."))],
  test_prompt_with_arguments: [["arg1", "arg2"], ({ arg1, arg2 }) => said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  test_prompt_with_embedded_resource: [["resourceUri"], ({ resourceUri }) => said(resource(resourceUri, "Embedded."), text("Read it."))],
  test_prompt_with_image: [[], () => said(image, text("Look at it."))],
};

const RESOURCES = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PIXEL },
  "test://watched-resource": { mimeType: "text/plain", text: "Watched." },
};

function makeServer() {
  const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} };
  const server = new Server({ name: "conformance", version: "1" }, { capabilities });
  server.setRequestHandler("tools/list", () => ({
    tools: Object.entries(TOOLS).map(([name, [inputSchema]]) => ({ name, description: name, inputSchema })),
  }));
  server.setRequestHandler("tools/call", ({ params }, context) => TOOLS[params.name][1](params.arguments ?? {}, context));
  server.setRequestHandler("resources/list", () => ({
    resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, name: uri, description: uri, mimeType })),
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }],
  }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    const [, id] = /^test:\/\/template\/(.*)\/data$/.exec(uri) ?? [];
    const found =
      id === undefined ? RESOURCES[uri] : { mimeType: "application/json", text: JSON.stringify({ id, data: `Data for ${id}` }) };
    return { contents: [{ uri, ...found }] };
  });
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
  server.setRequestHandler("prompts/list", () => ({
    prompts: Object.entries(PROMPTS).map(([name, [names]]) => ({
      name,
      description: name,
      arguments: names.map((one) => ({ name: one, description: one, required: true })),
    })),
  }));
  server.setRequestHandler("prompts/get", ({ params }) => PROMPTS[params.name][1](params.arguments ?? {}));
  server.setRequestHandler("completion/complete", () => ({ completion: { values: ["paris", "park"], total: 2, hasMore: false } }));
  server.setRequestHandler("logging/setLevel", () => ({}));
  return server;
}

if (process.argv.includes("--http")) {
  const sessions = new Map();
  const answer = async (request) => {
    const foreign = hostHeaderValidationResponse(request, LOCAL) ?? originValidationResponse(request, LOCAL);
    if (foreign) return foreign;
    const known = sessions.get(request.headers.get("mcp-session-id"));
    if (known) return await known.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await makeServer().connect(transport);
    return await transport.handleRequest(request);
  };
  const server = createServer(getRequestListener(answer));
  server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`));
} else serveStdio(makeServer);
