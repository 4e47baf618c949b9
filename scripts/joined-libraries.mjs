// The packages that speak to providers are joined with the program, too: as they are published, one of them is a hundred files of a schema library with the words of
// fifty languages, and finding those takes longer than all the rest of a start.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The packages that are joined; what they import themselves is joined with them. */
const JOINED = /^@ai-sdk\//;

/** True for what is taken into the joined files. */
export function isJoined({ path, importer }) {
  return !path.startsWith("node:") && (JOINED.test(path) || importer.includes("/node_modules/"));
}

/** An imported object holds all of a library; a namespace only what is used of it. */
const WHOLE_LIBRARY = /^import \{ z \} from "zod\/v4";$/m;

/** Where headers are put together. */
const WITH_HEADERS = /\/node_modules\/@ai-sdk\/provider-utils\/dist\/index\.m?js$/;

/** Node's own `Headers` come with all of its `fetch`; those of `httpFetch` are there already. */
const plainHeaders = (root) => `import { PlainHeaders as Headers } from "${join(root, "packages/host/dist/http/headers.js")}";\n`;

export const inParts = (placed, root) => ({
  name: "in parts",
  setup({ onLoad }) {
    onLoad({ filter: WITH_HEADERS }, ({ path }) => ({ contents: `${plainHeaders(root)}${readFileSync(path, "utf8")}` }));
    onLoad({ filter: /\/node_modules\/@ai-sdk\/(?:anthropic|google|openai|openai-compatible)\/dist\/index\.m?js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!WHOLE_LIBRARY.test(text)) throw new Error(`${path} imports its schema library in another way than it did`);
      return { contents: `${text.replace(WHOLE_LIBRARY, 'import * as z from "zod/v4";')}${placed(path)}` };
    });
  },
});

/** The licenses of the joined libraries, which must be distributed with them. */
export function licensesOf({ inputs }, root) {
  const folders = new Set(Object.keys(inputs).flatMap((file) => /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  return [...folders]
    .sort()
    .map((folder) => licenseOf(join(root, folder)))
    .join(`\n${"-".repeat(80)}\n\n`);
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (typeof license !== "string") throw new Error(`${name} does not say what its license is`);
  const [file] = globSync("LICENSE*", { cwd: folder });
  const text = file === undefined ? "" : `\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  return `${name} ${version}: ${license}\n${text}`;
}
