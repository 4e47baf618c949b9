import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type AnsiScreen, makeAnsiScreen } from "../src/ansi-screen.ts";

const E = "\x1b";
const PLAIN = { bold: false, italic: false, underline: false, dim: false, inverse: false, fg: "", bg: "" };
type Lines = ReturnType<AnsiScreen["lines"]>;
const textOf = (lines: Lines): readonly string[] => lines.map((runs) => runs.map(({ text }) => text).join(""));
const shown = (output: string): Lines => {
  const screen = makeAnsiScreen();
  screen.write(output);
  return screen.lines();
};

const STYLES: readonly (readonly [name: string, codes: string, style: Partial<typeof PLAIN>])[] = [
  ["bold", "1", { bold: true }],
  ["dim", "2", { dim: true }],
  ["italic", "3", { italic: true }],
  ["underline", "4", { underline: true }],
  ["a curly underline", "4:3", { underline: true }],
  ["a double underline", "21", { underline: true }],
  ["inverse", "7", { inverse: true }],
  ["hidden text, which is shown", "8", {}],
  ["several at once", "1;3;31", { bold: true, italic: true, fg: "#800000" }],
  ["a colour", "32", { fg: "#008000" }],
  ["a background", "44", { bg: "#000080" }],
  ["bright colours", "91;107", { fg: "#ff0000", bg: "#ffffff" }],
  ["one of 256 colours: a name", "38;5;9", { fg: "#ff0000" }],
  ["one of 256 colours: the cube", "38;5;208;48;5;16", { fg: "#ff8700", bg: "#000000" }],
  ["one of 256 colours: a grey", "48;5;232;38;5;255", { bg: "#080808", fg: "#eeeeee" }],
  ["any colour", "38;2;1;2;255", { fg: "#0102ff" }],
  ["any colour, and bold after it", "48;2;0;0;0;1", { bg: "#000000", bold: true }],
  ["any colour with colons", "38:2::10:20:30", { fg: "#0a141e" }],
  ["any colour with colons and without a space", "38:2:10:20:30", { fg: "#0a141e" }],
  ["256 colours with colons", "48:5:1;4", { bg: "#800000", underline: true }],
  ["the colour of an underline is not a style", "58;5;1;3", { italic: true }],
  ["a reset", "1;31;0", {}],
  ["an empty reset", "1;31;", {}],
  ["no longer bold", "1;2;22", {}],
  ["no longer anything else", "3;4;7;31;41;23;24;27;39;49", {}],
  ["an underline that is none", "4;4:0", {}],
  ["a colour that is none", "38;5;256", {}],
  ["half a colour", "38;2;1", {}],
  ["an unknown code", "999;1", { bold: true }],
  ["a private sequence of the same letter", ">4;1", {}],
];
for (const [name, codes, style] of STYLES) {
  test(`style: ${name}`, () => assert.deepEqual(shown(`${E}[${codes}mx`), [[{ ...PLAIN, ...style, text: "x" }]]));
}

test("a line is made of runs, joined where the look is the same; a style lasts over lines", () => {
  assert.deepEqual(shown(`a${E}[31mb${E}[31mc\nd${E}[me`), [
    [
      { ...PLAIN, text: "a" },
      { ...PLAIN, fg: "#800000", text: "bc" },
    ],
    [
      { ...PLAIN, fg: "#800000", text: "d" },
      { ...PLAIN, text: "e" },
    ],
  ]);
});

const TEXTS: readonly (readonly [name: string, input: string, lines: readonly string[]])[] = [
  ["nothing", "", []],
  ["lines, as pipes and as terminals end them", "a\nb\r\nc", ["a", "b", "c"]],
  ["blank lines between, not at the end", "a\n\nb\n\n\n", ["a", "", "b"]],
  ["a carriage return: the line is written over", "10%\r100%", ["100%"]],
  ["a carriage return: what is longer shows on", "12345\rab", ["ab345"]],
  ["a backspace", "ab\b\bxc", ["xc"]],
  ["a backspace at the margin", "\b\bx", ["x"]],
  ["a tab", "a\tb", ["a       b"]],
  ["a bell, NUL, DEL and other controls are dropped", "a\x07\x00\x7f\x0e\x80b", ["ab"]],
  ["erasing to the end of the line", `12345\r1${E}[Kx`, ["1x"]],
  ["erasing to the cursor", `12345\b\b${E}[1Kx`, ["   x5"]],
  ["erasing the line", `12345${E}[2K\rx`, ["x"]],
  ["up, and over an earlier line", `one\ntwo\n${E}[2A${E}[2KONE`, ["ONE", "two"]],
  ["up, as multi-line progress does it", `a 1\nb 1\n${E}[2Fa 2\nb 2\n`, ["a 2", "b 2"]],
  ["right and left", `a${E}[3Cb${E}[2Dc`, ["a  cb"]],
  ["to a column", `abc${E}[1Gx${E}[5Gy`, ["xbc y"]],
  ["clearing the screen", `old\nolder${E}[2J${E}[Hnew`, ["new"]],
  ["clearing below", `a\nb\nc${E}[2;1H${E}[J`, ["a"]],
  ["clearing above", `a\nb\nc${E}[2;1H${E}[1Jx`, ["", "x", "c"]],
  ["to a place", `${E}[2;3Hx`, ["", "  x"]],
  ["a kept place", `ab${E}7cd${E}8X${E}[sY${E}[uZ`, ["abXZ"]],
  ["characters deleted and blanked", `12345${E}[1G${E}[2P${E}[X`, [" 45"]],
  ["a title", `${E}]0;a title\x07x${E}]2;b${E}\\y`, ["xy"]],
  ["a link: its text stays", `${E}]8;;http://x/${E}\\text${E}]8;;${E}\\`, ["text"]],
  ["strings of other kinds", `${E}Pq#0${E}\\a${E}_x${E}\\b${E}^x${E}\\c${E}Xx${E}\\d`, ["abcd"]],
  ["eight-bit controls", "a\x9b31mb\x9d0;t\x9cc\x90x\x9cd", ["abcd"]],
  ["a string that never ends hides no further line", `a${E}]0;title\nb`, ["a", "b"]],
  ["a string that another sequence ends", `a${E}]0;t${E}[1mb`, ["ab"]],
  ["character sets, modes, keypads, reports", `${E}(B${E}[?25l${E}[?2004h${E}=${E}[6n${E}[!p${E}[>cx`, ["x"]],
  ["a sequence that breaks off", `a${E}[31\nb`, ["a", "b"]],
  ["an escape that breaks off", `a${E}\nb${E}`, ["a", "b"]],
  ["a sequence without end", `a${E}[${"1;".repeat(1000)}`, ["a"]],
  ["characters outside the basic plane", "🙂é漢", ["🙂é漢"]],
  ["a mark that combines, written over as one", "e\u0301\bx", ["x"]],
];
for (const [name, input, lines] of TEXTS) {
  test(`text: ${name}`, () => assert.deepEqual(textOf(shown(input)), lines));
}

const anything = fc.array(
  fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      E,
      `${E}[`,
      `${E}]`,
      `${E}P`,
      "\n",
      "\r",
      "\b",
      "\x9b",
      "\x9d",
      "\x07",
      `${E}\\`,
      "1;31",
      "m",
      "H",
      "999999999",
      "K",
      "J",
      "A",
      "B",
      "🙂",
    ),
  ),
  { maxLength: 40 },
);
const hasControl = (text: string): boolean => [...text].some((one) => one < " " || (one >= "\x7f" && one <= "\x9f"));

test("no escape and no control character survives, whatever is written", () => {
  fc.assert(
    fc.property(anything, (pieces) => {
      for (const text of textOf(shown(pieces.join("")))) assert.ok(!hasControl(text), JSON.stringify(text));
    }),
  );
});

test("it makes no difference where the output is cut", () => {
  fc.assert(
    fc.property(anything, fc.nat(), (pieces, where) => {
      const whole = pieces.join("");
      const at = whole.length === 0 ? 0 : where % whole.length;
      const screen = makeAnsiScreen();
      for (const piece of [whole.slice(0, at), whole.slice(at, at + 1), "", whole.slice(at + 1)]) screen.write(piece);
      assert.deepEqual(screen.lines(), shown(whole));
    }),
  );
});

test("only the newest lines are given, and looking changes nothing", () => {
  const screen = makeAnsiScreen();
  screen.write("1\n2\n3\n");
  assert.deepEqual(textOf(screen.lines(2)), ["2", "3"]);
  screen.write("4");
  assert.deepEqual([textOf(screen.lines(2)), textOf(screen.lines(0)), textOf(screen.lines(9))], [["3", "4"], [], ["1", "2", "3", "4"]]);
});

test("a terminal of a certain width breaks lines there", () => {
  const screen = makeAnsiScreen({ columns: 4 });
  screen.write(`123456\n1234\n5${E}[9Cx`);
  assert.deepEqual(textOf(screen.lines()), ["1234", "56", "1234", "5  x"]);
});

test("what has scrolled out is neither reached by row nor cleared", () => {
  const screen = makeAnsiScreen({ columns: 80, rows: 3 });
  screen.write(`1\n2\n3\n4\n5${E}[Htop`);
  assert.deepEqual(textOf(screen.lines()), ["1", "2", "top", "4", "5"]);
  screen.write(`${E}[2J${E}[99Hlow${E}[2;2Hmid`);
  assert.deepEqual(textOf(screen.lines()), ["1", "2", "", " mid", "low"]);
  screen.write(`${E}[H${E}[J${E}[Hx`);
  assert.deepEqual(textOf(screen.lines()), ["1", "2", "x"]);
});

test("memory is bounded by lines, by their length, and by how far a sequence may lead", () => {
  const screen = makeAnsiScreen();
  for (let i = 0; i < 30; i++) screen.write(`${i}\n`.repeat(1000));
  screen.write("x".repeat(10_000));
  screen.write(`\n${E}[99999999;99999999Hend`);
  screen.write(`e${"\u0301".repeat(10_000)}`);
  const lines = textOf(screen.lines());
  assert.equal(lines.length, 5000);
  assert.ok(lines.every((line) => line.length <= 4096 + 16));
  assert.equal(lines.filter((line) => /^x+$/.test(line)).length, 3);
});
