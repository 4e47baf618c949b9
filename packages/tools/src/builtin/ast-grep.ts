import { defineTool, type RunContext, type Tool, ToolError, type ToolResult } from "@assent/core";
import type { PathLookup } from "@assent/policy";
import { pathsFault, pathsField } from "../ast/input.ts";
import { type JudgedPlaces, judgedPlaces } from "../ast/judged-places.ts";
import { LANGUAGES, type Language, languageNamed, languageOf } from "../ast/languages.ts";
import { findPatternFailure } from "../ast/pattern-failure.ts";
import { type SearchedFiles, searchFiles } from "../ast/search-files.ts";
import { sensitivityTest } from "../ast/source-files.ts";
import { findTargets, type Targets } from "../ast/targets.ts";
import { failure, fileFailure } from "../failure.ts";
import { type Hides, hiddenText } from "../files/hidden-files.ts";
import { displayPath } from "../files/shown-path.ts";
import { type InputOf, object, optional, string } from "../schema/fields.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

const FIELDS = {
  pattern: string({ description: "The pattern: code with variables such as $NAME and $$$NAME.", minLength: 1, maxLength: 4096 }),
  paths: pathsField,
  language: optional(string({ description: "Only files of this language. Default: by file extension.", maxLength: 32 })),
};

type AstGrepInput = InputOf<typeof FIELDS>;

/** What `ast_grep` needs. */
export type AstGrepDeps = {
  readonly workspace: string;
  readonly scope: PathLookup;
  readonly maxFiles: () => number;
  readonly hides?: Hides;
};

export const AST_GREP: ToolListing = { name: "ast_grep", title: "AST grep", kind: "search", subject: "pattern" };

/** Searches code by its structure. Asks outside the workspace and for sensitive files, which it searches only if named. */
export function astGrepTool(deps: AstGrepDeps): Tool {
  const judged = judgedPlaces(deps.scope);
  return defineTool({
    ...listedFields(AST_GREP),
    input: object(FIELDS),
    isOutputMarkdown: false,
    check: (input) => checkInput(input),
    describe: ({ pattern, paths }) => `Search ${paths.join(", ")} for ${pattern}`,
    locations: ({ paths }) => paths.map((path) => ({ path })),
    permission: (input, { cwd }) => {
      const facts = judged.note(input, input.paths, cwd);
      return facts.every(({ inside, sensitive, ownOutput }) => ownOutput || (inside && !sensitive)) ? "allow" : "ask";
    },
    fails: ({ pattern, paths, language }) =>
      findPatternFailure([pattern], paths, language === undefined ? undefined : languageNamed(language)),
    run: (input, ctx) => runGrep({ ...deps, judged }, input, ctx),
  });
}

function checkInput({ pattern, paths, language }: AstGrepInput): string | undefined {
  if (pattern.trim() === "") return "pattern must not be empty";
  if (language !== undefined && !languageNamed(language)) return `language must be one of ${LANGUAGES.map(({ name }) => name).join(", ")}`;
  return pathsFault(paths);
}

async function runGrep(
  deps: AstGrepDeps & { readonly judged: JudgedPlaces },
  input: AstGrepInput,
  { cwd, signal }: RunContext,
): Promise<ToolResult> {
  const { moved, scope, harmless } = deps.judged.open(input, input.paths, cwd);
  if (moved !== undefined) return failure("execution_denied", `${moved} no longer leads where it did when the call was judged.`);
  const maxFiles = deps.maxFiles();
  try {
    const targets = await findTargets(input.paths, { ...deps, scope, cwd, signal, maxFiles, languageFor: languageFor(input.language) });
    if (targets.limitReached) return { content: `File limit of ${maxFiles} reached; narrow the paths.`, details: { limitReached: true } };
    const isSensitive = sensitivityTest(deps.scope, cwd, harmless);
    const searched = await searchFiles(targets.files, { pattern: input.pattern, signal, isSensitive });
    return searchResult(searched, targets, (path) => displayPath(deps.workspace, path));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolError) return failure(error.type, error.message);
    return fileFailure(error, { shown: "The paths", otherwise: "grep_execution_error" });
  }
}

/** Named files without a known extension are read as the requested language. */
function languageFor(name: string | undefined): (path: string, isNamed: boolean) => Language | undefined {
  const wanted = name === undefined ? undefined : languageNamed(name);
  if (!wanted) return languageOf;
  return (path, isNamed) => (languageOf(path) === wanted || (isNamed && languageOf(path) === undefined) ? wanted : undefined);
}

function searchResult(
  { matches, more, skipped, notes }: SearchedFiles,
  { unsupported, hidden }: Targets,
  shown: (path: string) => string,
): ToolResult {
  const lines = matches.map(({ path, line, column, text }) => `${shown(path)}:${line}:${column}: ${text}`);
  const left = unsupported + skipped;
  const ends = [
    ...(matches.length === 0 ? ["No matches found."] : []),
    ...(more > 0 ? [`[${more} more ${more === 1 ? "match" : "matches"}]`] : []),
    ...(left > 0 ? [`[${left} ${left === 1 ? "file" : "files"} skipped]`] : []),
    ...(hidden > 0 ? [`[${hiddenText(hidden)}]`] : []),
    ...notes.map((note) => `[${note}]`),
  ];
  return {
    content: [...lines, ...ends].join("\n"),
    display: `${matches.length + more} ${matches.length + more === 1 ? "match" : "matches"}`,
    details: { matches: matches.length + more, skipped: left },
  };
}
