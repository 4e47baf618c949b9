/** Node's flags that choose the code for a child process: the build in a run of all tests, where a start takes a third of the time, and otherwise the sources. */
export const CODE_FLAGS: readonly string[] = process.env["ASSENT_DIST"] === "1" ? [] : ["--conditions=@assent/source"];
