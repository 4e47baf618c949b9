import type { Engine } from "./engine.ts";
import type { EditOp } from "./input.ts";
import type { Language } from "./languages.ts";
import { type CompiledPattern, compilePattern } from "./pattern.ts";
import { readTemplate, type Template, variablesOf } from "./rewrite.ts";

/** A note for the caller about a file or an operation. */
export type Issue = { readonly path?: string; readonly op?: number; readonly message: string };

export type PreparedOp = { readonly op: number; readonly template: Template; readonly pattern: CompiledPattern };

/** Operations by language, prepared on first use. */
export type PreparedOps = {
  readonly in: (language: Language) => readonly PreparedOp[];
  readonly issues: () => readonly Issue[];
};

/** Prepares operations per language. A pattern that does not parse in a language becomes an issue there. */
export function prepareOps(engine: Engine, ops: readonly EditOp[]): PreparedOps {
  const known = new Map<Language, readonly PreparedOp[]>();
  const issues: Issue[] = [];
  const templates = ops.map(({ out }) => readTemplate(out));
  const make = (language: Language): readonly PreparedOp[] => {
    if (!engine.knows(language)) {
      issues.push({ message: `${language.title} files were not searched. Install ${language.package}` });
      return [];
    }
    return ops.flatMap(({ pat }, op) => {
      const template = templates[op] ?? [];
      const pattern = compilePattern(engine, language, pat, variablesOf(template));
      if (typeof pattern !== "string") return [{ op, template, pattern }];
      issues.push({ op, message: pattern });
      return [];
    });
  };
  return {
    in: (language) => {
      const prepared = known.get(language) ?? make(language);
      known.set(language, prepared);
      return prepared;
    },
    issues: () => issues.toSorted((a, b) => (a.op ?? -1) - (b.op ?? -1)),
  };
}
