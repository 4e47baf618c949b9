import type { Ref } from "preact";
import { useState } from "preact/hooks";
import type { WaitingRow } from "../src/desk.ts";
import { choicesOf, type Filter, groupRows } from "../src/list.ts";
import { age, visible } from "./text.ts";

/** With more rows, the page reacts slowly to keys. */
const PAGE_ROWS = 1_000;

type WaitingProps = {
  /** All rows, for the choices of the filter. */
  readonly all: readonly WaitingRow[];
  readonly rows: readonly WaitingRow[];
  readonly filter: Filter;
  readonly setFilter: (filter: Filter) => void;
  readonly current: string | undefined;
  readonly selected: ReadonlySet<string>;
  readonly select: (selected: ReadonlySet<string>) => void;
  readonly searchField: Ref<HTMLInputElement>;
};

export function Waiting({ all, rows, filter, setFilter, current, selected, select, searchField }: WaitingProps) {
  const [most, setMost] = useState(PAGE_ROWS);
  const listed = rows.slice(0, Math.max(most, rows.findIndex(({ id }) => id === current) + 1));
  const toggle = (id: string): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    select(next);
  };
  return (
    <section class="waiting" aria-label="Waiting for you">
      <search class="filter">
        <input
          ref={searchField}
          type="search"
          aria-label="Search"
          placeholder="Search (/)"
          value={filter.text}
          onInput={({ currentTarget }) => setFilter({ ...filter, text: currentTarget.value })}
        />
        {(["agent", "tool", "directory"] as const).map((column) => (
          <select
            key={column}
            aria-label={column}
            value={filter[column]}
            onChange={({ currentTarget }) => setFilter({ ...filter, [column]: currentTarget.value })}
          >
            <option value="">any {column}</option>
            {choicesOf(all, column).map((value) => (
              <option key={value} value={value}>
                {visible(value)}
              </option>
            ))}
          </select>
        ))}
      </search>
      {selected.size > 0 && (
        <p class="selection">
          <a href="#/review">Review and answer {selected.size} together</a>{" "}
          <button type="button" onClick={() => select(new Set())}>
            Clear
          </button>
        </p>
      )}
      {rows.length === 0 && <p class="empty">{all.length === 0 ? "Nothing waits for an answer." : "Nothing matches the filter."}</p>}
      {groupRows(listed).map((group) => (
        <div class="group" key={group.key}>
          <h2>
            {group.session !== null && <a href={`#/session/${group.session}`}>{visible(group.title)}</a>}{" "}
            <span class="agent">{visible(group.rows[0]?.agent ?? "")}</span>
          </h2>
          <ul>
            {group.rows.map((row) => (
              <li key={row.id} class={row.id === current ? "current" : ""}>
                <input
                  type="checkbox"
                  aria-label={`Select ${visible(row.subject)}`}
                  checked={selected.has(row.id)}
                  onChange={() => toggle(row.id)}
                />
                <a href={`#/card/${row.id}`} aria-current={row.id === current}>
                  <span class="subject">{visible(row.subject)}</span>
                  <span class="about">
                    {visible(row.tool)} · {age(row.since)} · {visible(row.mode)} · {visible(row.directory)}
                  </span>
                  <span class="why">{visible(row.why)}</span>
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      {listed.length < rows.length && (
        <button type="button" onClick={() => setMost(listed.length + PAGE_ROWS)}>
          Show {Math.min(PAGE_ROWS, rows.length - listed.length)} more of {rows.length - listed.length}
        </button>
      )}
    </section>
  );
}
