// Writes docs/api: a page per entry of the published packages, made from the types and their JSDoc. With --check it writes nothing and fails
// where a page is not what it would write. The compiler's own API reads the sources, so nothing has to be built first.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { SyntaxKind } from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";
import { PAGES } from "./api-topics.mjs";

const ROOT = resolve(import.meta.dirname, "..");
const FOLDER = join(ROOT, "docs/api");

const KINDS = new Map([
  [SyntaxKind.FunctionDeclaration, "function"],
  [SyntaxKind.TypeAliasDeclaration, "type"],
  [SyntaxKind.InterfaceDeclaration, "interface"],
  [SyntaxKind.ClassDeclaration, "class"],
]);

/** What a package exports, in the order of its file: the name outside, and where it is declared. */
function exportsOf(project, file) {
  const source = sourceOf(project, file);
  return source.statements.flatMap((statement) => {
    if (statement.kind === SyntaxKind.ExportDeclaration) return reexports(statement, file);
    return isExported(statement) ? namesOf(statement).map((name) => ({ name, file, inside: name })) : [];
  });
}

function sourceOf(project, file) {
  const source = project.program.getSourceFile(join(ROOT, file));
  if (!source) throw new Error(`${file} is not part of the project`);
  return source;
}

function reexports({ exportClause, moduleSpecifier }, file) {
  const from = moduleSpecifier?.text ?? "";
  if (!exportClause?.elements || !from.startsWith(".")) throw new Error(`${file}: only names of the own package are exported`);
  const target = join(dirname(file), from);
  return exportClause.elements.map(({ name, propertyName }) => ({ name: name.text, file: target, inside: (propertyName ?? name).text }));
}

function isExported({ modifiers }) {
  return modifiers?.some(({ kind }) => kind === SyntaxKind.ExportKeyword) ?? false;
}

function namesOf({ name, declarationList }) {
  return name ? [name.text] : (declarationList?.declarations ?? []).map((declaration) => declaration.name.text);
}

/** Follows a name to the file that declares it. */
function settled(project, exported) {
  const { file, inside } = exported;
  if (sourceOf(project, file).statements.some((statement) => isExported(statement) && namesOf(statement).includes(inside))) return exported;
  const passed = exportsOf(project, file).find(({ name }) => name === inside);
  if (!passed) throw new Error(`${file} does not export ${inside}`);
  return settled(project, { ...passed, name: exported.name });
}

/** Every declaration of a name: a function has one for each of its overloads. */
function declarationsOf(project, { file, inside }) {
  const source = sourceOf(project, file);
  const found = source.statements.filter((statement) => isExported(statement) && namesOf(statement).includes(inside));
  const shown = found.length > 1 ? found.filter(({ body }) => body === undefined) : found;
  return shown.map((statement) => ({ statement, text: source.text }));
}

const SHAPES = [SyntaxKind.TypeAliasDeclaration, SyntaxKind.InterfaceDeclaration];

/** Types of the same file that a signature names and that are not exported; they are shown with it. */
function unnamed(source, code, known) {
  const shown = new Map();
  const words = (text) => new Set(text.match(/\b[A-Z]\w+\b/g) ?? []);
  const look = (text) => {
    for (const statement of source.statements) {
      const name = SHAPES.includes(statement.kind) ? statement.name.text : "";
      if (name === "" || known.has(name) || shown.has(name) || !words(text).has(name)) continue;
      const own = source.text.slice(statement.getStart(), statement.end).replace(/^export /, "");
      shown.set(name, own);
      look(own);
    }
  };
  look(code);
  return [...shown.values()];
}

/** The name, kind, signature and sentences of an export. */
function entryOf(project, exported, known) {
  const declarations = declarationsOf(project, exported);
  const [{ statement, text }] = declarations;
  const kind = KINDS.get(statement.kind) ?? "constant";
  const about = declarations.map((one) => jsDocOf(one.text, one.statement)).find((sentences) => sentences !== "") ?? "";
  if (about === "") throw new Error(`${exported.file}: ${exported.inside} has no JSDoc sentence`);
  const own = declarations.map((one) => signatureOf(one.statement, one.text, exported)).join("\n");
  const code = [own, ...unnamed(sourceOf(project, exported.file), own, known)].join("\n\n");
  return {
    ...exported,
    kind,
    about,
    code,
    isError: kind === "class" && /\bextends \w*(Error|Failure)\b/.test(text.slice(statement.getStart(), statement.end)),
  };
}

/** The comment right before a declaration, as Markdown. */
function jsDocOf(text, statement) {
  const before = text.slice(statement.pos, statement.getStart());
  const comment = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(before)?.[1] ?? "";
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\*? ?/, "").trimEnd());
  return lines.join("\n").trim();
}

function signatureOf(statement, text, { name, inside }) {
  const start = statement.getStart();
  const whole = (end) =>
    text
      .slice(start, end)
      .replace(/^export (default |async )?/, "")
      .trimEnd();
  const code = written();
  return name === inside ? code : code.replace(new RegExp(`\\b${inside}\\b`), name);
  function written() {
    switch (statement.kind) {
      case SyntaxKind.FunctionDeclaration:
        return functionOf(statement, text);
      case SyntaxKind.ClassDeclaration:
        return classOf(statement, text);
      case SyntaxKind.VariableStatement:
        return constantOf(statement, text, inside);
      default:
        return whole(statement.end);
    }
  }
}

const LITERALS = new Map([
  [SyntaxKind.TrueKeyword, "boolean"],
  [SyntaxKind.FalseKeyword, "boolean"],
  [SyntaxKind.NumericLiteral, "number"],
  [SyntaxKind.StringLiteral, "string"],
]);
const LONGEST_LINE = 120;

/** A function as its caller sees it: what it takes apart inside has a plain name, and what it has a value for may be left out. */
function functionOf({ name, typeParameters, parameters, type }, text) {
  const cut = (node) => text.slice(node.getStart(), node.end);
  const generics = typeParameters ? `<${typeParameters.map(cut).join(", ")}>` : "";
  const taken = parameters.map((parameter) => {
    const isPlain = parameter.name.kind === SyntaxKind.Identifier;
    const kind = parameter.type ? cut(parameter.type) : (LITERALS.get(parameter.initializer?.kind) ?? "unknown");
    const called = isPlain ? parameter.name.text : plainName(kind);
    const optional = parameter.questionToken || parameter.initializer ? "?" : "";
    return `${parameter.dotDotDotToken ? "..." : ""}${called}${optional}: ${kind}`;
  });
  const line = `function ${name.text}${generics}(${taken.join(", ")}): ${type ? cut(type) : "void"};`;
  return line.length <= LONGEST_LINE
    ? line
    : line.replace(`(${taken.join(", ")})`, () => `(\n${taken.map((one) => `  ${one},\n`).join("")})`);
}

/** `parts` of `CardParts`: the last word of a type's name, or `options`. */
function plainName(type) {
  return /^(?:\w*[a-z])?([A-Z][a-z]+)$/.exec(type)?.[1]?.toLowerCase() ?? "options";
}

/** A class without what its members do; what is private is left out. */
function classOf({ name, heritageClauses, members, typeParameters }, text) {
  const heritage = (heritageClauses ?? []).map((clause) => ` ${text.slice(clause.getStart(), clause.end)}`).join("");
  const parameters = typeParameters ? `<${typeParameters.map((one) => text.slice(one.getStart(), one.end)).join(", ")}>` : "";
  const shown = members.filter(
    (member) => !(member.modifiers ?? []).some(({ kind }) => kind === SyntaxKind.PrivateKeyword) && !member.name?.text?.startsWith("#"),
  );
  const lines = shown.map((member) => {
    const [start, end] = [member.getStart(), member.body?.pos ?? member.initializer?.pos ?? member.end];
    const doc = jsDocOf(text, member);
    return `${doc === "" ? "" : `  /** ${doc.replaceAll("\n", " ")} */\n`}  ${text.slice(start, end).trimEnd().replace(/\s*=$/, "").replace(/;$/, "")};`;
  });
  return `class ${name.text}${parameters}${heritage} {\n${lines.join("\n")}\n}`;
}

const LONGEST_VALUE = 100;

/** With its type where it is written down, else with its value. */
function constantOf({ declarationList }, text, inside) {
  const declaration = declarationList.declarations.find(({ name }) => name.text === inside);
  if (declaration.type) return `const ${inside}: ${text.slice(declaration.type.getStart(), declaration.type.end)};`;
  const value = text.slice(declaration.initializer.getStart(), declaration.initializer.end);
  return value.length <= LONGEST_VALUE
    ? `const ${inside} = ${value};`
    : `const ${inside} = ${value.slice(0, LONGEST_VALUE).split("\n")[0]} …;`;
}

const PORTS = "Ports";
const ERRORS = "Errors";
const OTHER = "Other";

/** Ports and errors are topics of their own, wherever they are declared. */
function topicOf({ topics, source }, entry) {
  if (entry.isError) return ERRORS;
  if (/\/(?:[\w-]+-)?ports?\.ts$/.test(entry.file)) return PORTS;
  const path = `${entry.file.slice(dirname(source).length + 1)}#${entry.name}`;
  const found = topics.find(([, , places]) => places.some((place) => path.startsWith(place)));
  return found?.[0] ?? OTHER;
}

const ORDER = ["function", "class", "constant", "interface", "type"];

function pageText(page, entries) {
  const titles = [
    ...page.topics,
    [
      PORTS,
      "The interfaces that core uses. You can implement each one yourself and test it with the suites of `@assent/core/testing`.",
      [],
    ],
    [ERRORS, "Errors that the package throws.", []],
    [OTHER, "Exports that belong to no topic above.", []],
  ];
  const sections = titles.flatMap(([title, about]) => {
    const mine = entries
      .filter((entry) => topicOf(page, entry) === title)
      .toSorted((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind) || compare(one.name, other.name));
    return mine.length === 0 ? [] : [{ title, about, mine }];
  });
  const address = addresses(page.entry);
  const link = (title) => `[${title}](#${address(title)})`;
  const contents = sections.map(({ title, mine }) => `- ${link(title)}: ${mine.map(({ name }) => link(name)).join(", ")}`);
  return [
    `# ${page.entry}`,
    `${page.about}\n\nMade from the types and their comments by \`npm run api\`; [all packages](README.md).`,
    contents.join("\n"),
    ...sections.flatMap(({ title, about, mine }) => [`## ${title}`, about, ...mine.map(entryText)]),
  ]
    .join("\n\n")
    .concat("\n");
}

function entryText({ name, kind, about, code }) {
  return `### ${name}\n\n*${kind}.* ${about}\n\n\`\`\`ts\n${code}\n\`\`\``;
}

/** Gives out where headings are found, in their order; of those that differ only in case the later ones are numbered. */
function addresses(...above) {
  const used = new Map();
  const address = (title) => {
    const plain = title
      .toLowerCase()
      .replace(/[^\w -]/g, "")
      .replaceAll(" ", "-");
    const times = used.get(plain) ?? 0;
    used.set(plain, times + 1);
    return times === 0 ? plain : `${plain}-${times}`;
  };
  for (const title of above) address(title);
  return address;
}

function compare(one, other) {
  return one < other ? -1 : Number(one > other);
}

function contentsText(pages) {
  const rows = pages.map(({ page, entry, about, names }) => `| [${entry}](${page}.md) | ${about} | ${names.length} |`);
  return `# API reference\n\nWhat each package exports, with its types. How the parts are put together is in the [documentation](../README.md).\nMade from the sources by \`npm run api\`. [names.txt](names.txt) lists every public name; review its diff before you release.\n\n| import | what it is | exports |\n|---|---|---|\n${rows.join("\n")}\n`;
}

/** All pages by their file name. */
function pages() {
  const api = new API({ cwd: ROOT });
  try {
    const configs = [...new Set(PAGES.map(({ source }) => join(ROOT, source.split("/").slice(0, 2).join("/"), "tsconfig.json")))];
    const snapshot = api.updateSnapshot({ openProjects: configs });
    const made = PAGES.map((page) => {
      const project = snapshot.getProject(join(ROOT, page.source.split("/").slice(0, 2).join("/"), "tsconfig.json"));
      const exported = exportsOf(project, page.source).map((one) => settled(project, one));
      const known = new Set(exported.map(({ inside }) => inside));
      const entries = exported.map((one) => entryOf(project, one, known));
      return {
        ...page,
        names: entries.map(({ kind, name }) => `${page.entry} ${kind} ${name}`).toSorted(compare),
        text: pageText(page, entries),
      };
    });
    const names = `${made.flatMap((page) => page.names).join("\n")}\n`;
    return new Map([["README.md", contentsText(made)], ["names.txt", names], ...made.map(({ page, text }) => [`${page}.md`, text])]);
  } finally {
    api.close();
  }
}

function outdated(made) {
  const there = existsSync(FOLDER) ? readdirSync(FOLDER) : [];
  const wrong = [...made].filter(([name, text]) => !there.includes(name) || readFileSync(join(FOLDER, name), "utf8") !== text);
  return [...wrong.map(([name]) => name), ...there.filter((name) => !made.has(name))];
}

const made = pages();
const stale = outdated(made);
if (process.argv.includes("--check")) {
  if (stale.length > 0) process.stderr.write(`docs/api is not up to date (${stale.join(", ")}); run: npm run api\n`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  mkdirSync(FOLDER, { recursive: true });
  for (const name of stale) if (!made.has(name)) rmSync(join(FOLDER, name));
  for (const [name, text] of made) writeFileSync(join(FOLDER, name), text);
  process.stdout.write(`docs/api: ${made.size} pages, ${stale.length} changed\n`);
}
