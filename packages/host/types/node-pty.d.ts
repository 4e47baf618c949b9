/** The part of the package that makes a terminal without starting a program in it. */
declare module "@lydell/node-pty/requireBinary.js" {
  export function requireBinary(file: "pty.node"): {
    readonly open: (columns: number, rows: number) => { readonly master: number; readonly slave: number; readonly pty: string };
  };
}
