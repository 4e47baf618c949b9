import type { Role, Theme } from "./theme.ts";
import { themeOf } from "./theme.ts";

/** A theme that can change while it is in use. */
export type LiveTheme = { readonly theme: Theme; readonly choose: (name: "dark" | "light" | "none") => void };

/** Begins with this theme. */
export function liveTheme(name: "dark" | "light" | "none"): LiveTheme {
  let current = themeOf(name);
  const roles = Object.keys(current).map((role) => {
    // Parsing: the keys of a theme are roles.
    const known = role as Role;
    return [role, (text: string): string => current[known](text)] as const;
  });
  return {
    // Parsing: every role is there.
    theme: Object.freeze(Object.fromEntries(roles)) as Theme,
    choose: (next) => {
      current = themeOf(next);
    },
  };
}

/** The theme that an environment asks for; undefined: the terminal may know better. */
export function themeFrom(env: Readonly<Record<string, string | undefined>>): "dark" | "light" | "none" | undefined {
  if (env["NO_COLOR"] !== undefined || env["TERM"] === "dumb") return "none";
  const ground = Number(env["COLORFGBG"]?.split(";").at(-1) ?? "");
  if (env["COLORFGBG"] === undefined || !Number.isInteger(ground)) return undefined;
  return ground === 7 || ground === 15 ? "light" : "dark";
}

/** The theme for a ground of this colour, each part from 0 to 255. */
export function themeOn({ r, g, b }: { readonly r: number; readonly g: number; readonly b: number }): "dark" | "light" {
  return 0.299 * r + 0.587 * g + 0.114 * b > 128 ? "light" : "dark";
}
