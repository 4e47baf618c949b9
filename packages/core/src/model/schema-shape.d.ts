type Schema = Readonly<Record<string, unknown>>;
/** Everything a schema says about one place, with references and combinations folded into one union. */
export type Shape = {
  readonly nodes: readonly Schema[];
  readonly types: ReadonlySet<string>;
  /** Some part could not be followed, so any type may be accepted here. */
  readonly open: boolean;
  /** Every property and every item that some part names; all others have one shape together. */
  readonly names: ReadonlySet<string>;
  readonly fixed: number;
  readonly children: Map<string | number | undefined, Shape | undefined>;
};
/** The shapes found so far, so that no part of a schema is folded twice. */
export type Shapes = {
  readonly root: unknown;
  readonly known: Map<Schema | string, Shape>;
  readonly numbers: Map<Schema, number>;
  visits: number;
};
/** The shape of the whole value. */
export declare function rootShape(shapes: Shapes): Shape | undefined;
/** The shape of a property. */
export declare function childShape(shapes: Shapes, shape: Shape, key: string): Shape | undefined;
/** The shape of an item of a list. */
export declare function itemShape(shapes: Shapes, shape: Shape, index: number): Shape | undefined;
/** What a reference inside the same schema points at; undefined when it cannot be told. */
export declare function resolve(root: unknown, reference: string): unknown;
