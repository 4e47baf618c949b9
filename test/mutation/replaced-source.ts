import { registerHooks } from "node:module";

const { ASSENT_MUTANT } = process.env;
if (ASSENT_MUTANT) {
  const { url: mutated, from, to, text } = JSON.parse(ASSENT_MUTANT);
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (url !== mutated) return loaded;
      const source = String(loaded.source);
      return { ...loaded, source: source.slice(0, from) + text + source.slice(to) };
    },
  });
}
