/** What a part of the screen means; the theme decides how it looks. */
export type Role =
  | "title"
  | "dim"
  | "italic"
  | "bold"
  | "accent"
  | "success"
  | "warning"
  | "error"
  | "added"
  | "removed"
  | "addedWord"
  | "removedWord"
  | "badge"
  | "selected"
  | "person"
  | "notice"
  | "border"
  | "keyword"
  | "string"
  | "comment"
  | "number";

export type Theme = Readonly<Record<Role, (text: string) => string>>;

type Code = readonly [on: string, off: string];

const attribute = (on: number, off: number): Code => [`${on}`, `${off}`];
const foreground = (index: number): Code => [`38;5;${index}`, "39"];
const background = (index: number): Code => [`48;5;${index}`, "49"];

const SHARED: Pick<Record<Role, Code>, "title" | "dim" | "italic" | "bold" | "selected"> = {
  title: attribute(1, 22),
  dim: attribute(2, 22),
  italic: attribute(3, 23),
  bold: attribute(1, 22),
  selected: attribute(7, 27),
};

/** Colors of the 256-color palette that are readable on the background. */
const PALETTES: Readonly<Record<"dark" | "light", Readonly<Record<Role, Code>>>> = {
  dark: {
    ...SHARED,
    accent: foreground(75),
    success: foreground(114),
    warning: foreground(179),
    error: foreground(203),
    added: foreground(114),
    removed: foreground(203),
    addedWord: background(22),
    removedWord: background(52),
    badge: foreground(75),
    person: foreground(183),
    notice: foreground(109),
    border: foreground(240),
    keyword: foreground(176),
    string: foreground(150),
    comment: foreground(245),
    number: foreground(180),
  },
  light: {
    ...SHARED,
    accent: foreground(25),
    success: foreground(28),
    warning: foreground(130),
    error: foreground(160),
    added: foreground(28),
    removed: foreground(160),
    addedWord: background(194),
    removedWord: background(224),
    badge: foreground(25),
    person: foreground(90),
    notice: foreground(30),
    border: foreground(250),
    keyword: foreground(90),
    string: foreground(22),
    comment: foreground(243),
    number: foreground(94),
  },
};

function painter([on, off]: Code): (text: string) => string {
  return (text) => (text === "" ? text : `\u001b[${on}m${text}\u001b[${off}m`);
}

const plain = (text: string): string => text;

/** Makes a theme; `none` has no codes at all (NO_COLOR, plain mode). */
export function makeTheme(name: "dark" | "light" | "none"): Theme {
  const roles = Object.entries(PALETTES[name === "light" ? "light" : "dark"]);
  // Parsing: every role is in every palette.
  return Object.freeze(Object.fromEntries(roles.map(([role, code]) => [role, name === "none" ? plain : painter(code)]))) as Theme;
}

/** A theme that can change while it is in use. */
export type LiveTheme = { readonly theme: Theme; readonly choose: (name: "dark" | "light" | "none") => void };

export function liveTheme(name: "dark" | "light" | "none"): LiveTheme {
  let current = makeTheme(name);
  const roles = Object.keys(current).map((role) => {
    // Parsing: the keys of a theme are roles.
    const known = role as Role;
    return [role, (text: string): string => current[known](text)] as const;
  });
  return {
    // Parsing: every role is there.
    theme: Object.freeze(Object.fromEntries(roles)) as Theme,
    choose: (next) => {
      current = makeTheme(next);
    },
  };
}

/** The theme the environment asks for; undefined if it does not say. */
export function themeFromEnvironment(env: Readonly<Record<string, string | undefined>>): "dark" | "light" | "none" | undefined {
  if (env["NO_COLOR"] !== undefined || env["TERM"] === "dumb") return "none";
  const ground = Number(env["COLORFGBG"]?.split(";").at(-1) ?? "");
  if (env["COLORFGBG"] === undefined || !Number.isInteger(ground)) return undefined;
  return ground === 7 || ground === 15 ? "light" : "dark";
}

export function themeForBackground({ r, g, b }: { readonly r: number; readonly g: number; readonly b: number }): "dark" | "light" {
  return 0.299 * r + 0.587 * g + 0.114 * b > 128 ? "light" : "dark";
}
