/**
 * A constructor of plain objects: what it makes has no prototype but that of every object. An object that is written out as a literal, and that mostly lives on,
 * V8 begins to put among what lives long, where those of closed sessions stay until everything is collected; what a constructor makes it puts where everything
 * new is. The fields given are read once and, where the call is compiled, never made into an object.
 */
export function plain<Fields extends object, Made extends object = Fields>(
  fill: (this: Made, fields: Fields) => void,
): Plain<Fields, Made> {
  const made: unknown = Object.defineProperty(fill, "prototype", { value: Object.prototype });
  return made as Plain<Fields, Made>;
}

/** Makes one plain object of the fields it is given. */
export type Plain<Fields extends object, Made extends object = Fields> = new (fields: Fields) => Made;
