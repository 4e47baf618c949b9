import { ToolError } from "@assent/core";
import type { SgRoot } from "@ast-grep/napi";
import type { Language } from "./languages.ts";
import { reportTreeWeight } from "./syntax-tree.ts";

export type Engine = {
  /** False if the grammar's package is not installed. */
  readonly knows: (language: Language) => boolean;
  /** Parses on another thread. */
  readonly parse: (language: Language, text: string) => Promise<SgRoot>;
  /** Parses synchronously, for short texts such as patterns. */
  readonly parseNow: (language: Language, text: string) => SgRoot;
};

type Registration = {
  readonly libraryPath: string;
  readonly extensions: string[];
  readonly languageSymbol?: string;
  readonly expandoChar?: string;
};

/** Literal import names, so that bundlers and knip find them. */
const GRAMMARS: Readonly<Record<string, () => Promise<{ readonly default: Registration }>>> = {
  python: () => import("@ast-grep/lang-python"),
  go: () => import("@ast-grep/lang-go"),
  rust: () => import("@ast-grep/lang-rust"),
};

let loading: Promise<Engine> | undefined;

/** Loads the engine on first use. Languages can be registered only once per process, so this registers all installed ones. */
export function loadEngine(): Promise<Engine> {
  loading ??= startEngine();
  return loading;
}

async function startEngine(): Promise<Engine> {
  const napi = await import("@ast-grep/napi").catch((cause: unknown) => {
    throw new ToolError("Structural search needs the package @ast-grep/napi. Install it: npm i @ast-grep/napi@0.51.0", "execution_failed", {
      cause,
    });
  });
  const registrations = await loadGrammars();
  napi.registerDynamicLanguage(registrations);
  return {
    knows: (language) => language.package === undefined || Object.hasOwn(registrations, language.grammar),
    parse: ({ grammar }, text) => {
      reportTreeWeight(text);
      return napi.parseAsync(grammar, text);
    },
    parseNow: ({ grammar }, text) => napi.parse(grammar, text),
  };
}

async function loadGrammars(): Promise<Record<string, Registration>> {
  const found: Record<string, Registration> = {};
  for (const [name, load] of Object.entries(GRAMMARS)) {
    try {
      const { default: registration } = await load();
      found[name] = { ...registration, libraryPath: registration.libraryPath };
    } catch {
      // not installed or not available for this system: reported when a file needs it
    }
  }
  return found;
}
