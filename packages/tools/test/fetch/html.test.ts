import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { htmlText } from "../../src/fetch/html-text.ts";

const URL_OF_PAGE = new URL("https://site.test/dir/page?q=1");

function convert(html: string, format: "markdown" | "text" = "markdown", maxChars = 1_000_000): string {
  return htmlText(html, { format, url: URL_OF_PAGE, maxChars }).text;
}

const MARKDOWN: readonly (readonly [name: string, html: string, expected: string])[] = [
  ["paragraphs have an empty line between them", "<p>a</p><p>b</p>", "a\n\nb"],
  ["a paragraph that does not end, ends", "<p>a<p>b", "a\n\nb"],
  ["blanks and breaks in text are one blank", "<p>a \n\t b</p>", "a b"],
  ["blanks between elements are kept once", "<b>a</b> <i> b </i>c", "**a** *b* c"],
  ["marks stand at their words", "a<b> b </b>c", "a **b** c"],
  ["marks around nothing are not seen", "a<b></b><i> </i>b", "a b"],
  ["a line break", "a<br>b<br/>c", "a\nb\nc"],
  ["a rule", "a<hr>b", "a\n\n---\n\nb"],
  ["headings", "<h1>A</h1><h6>B</h6>c", "# A\n\n###### B\n\nc"],
  ["a heading is one line", "<h2>a<br>b <div>c</div></h2>d", "## a b c\n\nd"],
  ["a heading that does not end ends with the next block", "<h2>a<p>b<p>c", "## a\n\nb\n\nc"],
  ["a link is absolute", '<a href="x?a=1&amp;b=2">t</a>', "[t](https://site.test/dir/x?a=1&b=2)"],
  ["a link to elsewhere", '<a href="//other.test/">t</a>', "[t](https://other.test/)"],
  ["a link with brackets", "<a href='/a(1)b'>t</a>", "[t](https://site.test/a%281%29b)"],
  ["a link in the page is its words", "<a href='#x'>t</a>", "t"],
  ["a link that runs something is its words", "<a href='javascript:alert(1)'>t</a><a href=' JAVASCRIPT:x'>u</a>", "tu"],
  ["a link to data is its words", "<a href='data:text/html,x'>t</a>", "t"],
  ["a link around blocks is around its first words", "<a href='/x'><div>t</div><div>u</div></a>", "[t](https://site.test/x)\nu"],
  ["a link without words is not seen", "<a href='/x'></a>a", "a"],
  ["a base moves links", "<base href='https://cdn.test/b/'><a href='x'>t</a>", "[t](https://cdn.test/b/x)"],
  ["a base that is no place does not", "<base href='data:x'><a href='x'>t</a>", "[t](https://site.test/dir/x)"],
  ["a picture with words", "<img alt='a  b' src='p.png'>", "![a b](https://site.test/dir/p.png)"],
  ["a picture without words is not seen", "a<img src='p.png'>b", "ab"],
  ["lists", "<ul><li>a</li><li>b</li></ul><ol><li>c</li><li>d</li></ol>", "- a\n- b\n\n1. c\n2. d"],
  ["items that do not end, end", "<ul><li>a<li>b</ul>c", "- a\n- b\n\nc"],
  ["lists in lists", "<ul><li>a<ol><li>b<li>c</ol><li>d</ul>", "- a\n  1. b\n  2. c\n- d"],
  ["paragraphs in items", "<ul><li><p>a</p><p>b</p></li><li>c</li></ul>", "- a\n\n  b\n\n- c"],
  ["an item without a list", "<li>a", "- a"],
  ["a quote", "<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc"],
  ["running code", "a <code>b  c</code> d", "a `b c` d"],
  ["code with signs of code", "<code>a`b</code> <code>``</code>", "``a`b`` ``` `` ```"],
  ["code of lines", "<pre>\na  b\n  c\n</pre>d", "```\na  b\n  c\n```\n\nd"],
  ["code of lines with its language", '<pre><code class="x language-ts">let a;</code></pre>', "```ts\nlet a;\n```"],
  ["code of lines cannot end its own fence", "<pre>```\nx\n````</pre>", "`````\n```\nx\n````\n`````"],
  ["code of lines made of elements", "<pre><div>a</div><div>b</div>c<br>d</pre>", "```\na\nb\nc\nd\n```"],
  ["code of lines in an item", "<ul><li>a<pre>b\nc</pre></li></ul>", "- a\n\n  ```\n  b\n  c\n  ```"],
  ["code of lines that is empty is not seen", "a<pre> \n</pre>b", "a\n\nb"],
  ["code whose end was forgotten ends with its block", "<p><code>a<p>b", "`a`\n\nb"],
  ["a table", "<table><tr><th>A</th> <th>B</th></tr> <tr><td>1</td><td>2</td></tr></table>c", "| A | B |\n| --- | --- |\n| 1 | 2 |\n\nc"],
  ["a table whose parts do not end", "<table><thead><tr><th>A<th>B<tbody><tr><td>1<td>2</table>", "| A | B |\n| --- | --- |\n| 1 | 2 |"],
  [
    "a cell is one line, and a bar in it is none",
    "<table><tr><td><p>a|b</p><p>c</p><td></td></tr></table>",
    "| a\\|b c |  |\n| --- | --- |",
  ],
  ["a table of tables only puts things in places", "<table><tr><td><table><tr><td>a<td>b</table><td>c</table>", "| \n\na\nb\n\nc"],
  ["a cell without a table", "<td>a<td>b", "a\nb"],
  ["the title of the page", "<title>A &lt; B</title><h1>x</h1>", "Title: A < B\n\n# x"],
  ["the title of a picture is not the page's", "<svg><title>no</title></svg>a", "a"],
  ["scripts and styles are left out", "a<script>if (1 < 2) '</p>'</script><STYLE>p{}</STYLE ><p>b", "a\n\nb"],
  ["a script that looks as if it ended", "<script>'</scripty>'</script>a", "a"],
  ["a script that never ends takes the rest", "a<script>b<p>c", "a"],
  ["comments and declarations are left out", "<!doctype html><!-- a > b --><?xml ?><!x>c<!---->d<!-->e", "cde"],
  ["templates and pictures are left out", "<template><p>a</template><svg><svg></svg>b</svg>c", "c"],
  ["what is shown without scripts is shown", "<noscript>a</noscript>", "a"],
  ["references", "&amp;lt; &#65;&#x42;&#67 &eacute;&nbsp;&hellip;", "&lt; ABC é\u00a0…"],
  ["references that mean nothing stay", "&nope; & &; &#;", "&nope; & &; &#;"],
  ["a reference without its semicolon, as browsers read it", "a &amp b &ltc", "a & b <c"],
  ["any reference that HTML defines", "&CounterClockwiseContourIntegral;&nbsp;&Zopf;", "\u2233\u00a0\u2124"],
  ["references that are no character", "&#0;&#xD800;&#x110000;&#150;", "\ufffd\ufffd\ufffd–"],
  ["a sign that begins no element", "1 < 2 <3 a<", "1 < 2 <3 a<"],
  ["attributes in any form", "<a\nclass=x  HREF = /y title>t</a>", "[t](https://site.test/y)"],
  ["a sign of an end in an attribute", "<a title='a>b' href=\"/x\">t</a>", "[t](https://site.test/x)"],
  ["the first of two attributes counts", "<a href='/a' href='/b'>t</a>", "[t](https://site.test/a)"],
  ["a quote that belongs to no value", "<p it's>a</p>b", "a\n\nb"],
  ["an element that never ends is none", "a<p title='", "a"],
  ["ends without beginnings", "</p></li></ul></b></table></td>a</pre></a>", "a"],
  ["text that is marked as such", "<![CDATA[a<b>]]>c", "a<b>c"],
];
for (const [name, html, expected] of MARKDOWN) test(name, () => assert.equal(convert(html), expected));

const TEXT: readonly (readonly [name: string, html: string, expected: string])[] = [
  ["headings and marks are words", "<h1>A</h1><p><b>b</b> <a href='/c'>c</a> <code>d`</code>", "A\n\nb c d`"],
  ["lists keep their signs", "<ul><li>a<li>b</ul>", "- a\n- b"],
  ["code keeps its lines", "<pre>a\n  b</pre>", "a\n  b"],
  ["tables keep their bars", "<table><tr><td>a<td>b<tr><td>c<td>d</table>", "| a | b |\n| c | d |"],
  ["a quote is its words", "<blockquote>a</blockquote><img alt=b src=c>", "a\n\nb"],
];
for (const [name, html, expected] of TEXT) test(`as text: ${name}`, () => assert.equal(convert(html, "text"), expected));

test("no text is longer than about twice the limit, and says when it was cut", () => {
  const far = htmlText("<a href=x>y</a> ".repeat(10_000), {
    format: "markdown",
    url: new URL(`https://a.test/${"d".repeat(8000)}/`),
    maxChars: 20_000,
  });
  assert.ok(far.isCut && far.text.length < 40_000);
  assert.equal(htmlText("<p>a", { format: "markdown", url: URL_OF_PAGE, maxChars: 20_000 }).isCut, false);
});

const PIECES = [
  "<",
  ">",
  "</",
  "<b>",
  "</b>",
  "<p>",
  "<a href='",
  "x",
  " ",
  "\n",
  "'",
  '"',
  "=",
  "&",
  "&#",
  "<li>",
  "<ul>",
  "</ul>",
  "<table>",
  "<tr>",
  "<td>",
  "</table>",
  "<pre>",
  "</pre>",
  "<code>",
  "</code>",
  "<!--",
  "-->",
  "<h1>",
  "</h1>",
  "<blockquote>",
  "`",
  "|",
  "<svg>",
  "</svg>",
  "<title>",
];
const anyPage = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string()), { maxLength: 60 }).map((pieces) => pieces.join(""));

test("any text is a page: it is read without a throw, the same way each time", () => {
  fc.assert(
    fc.property(anyPage, fc.constantFrom("markdown" as const, "text" as const), (html, format) => {
      assert.equal(convert(html, format), convert(html, format));
    }),
  );
});

test("what a script holds is never shown", () => {
  const body = fc
    .array(fc.constantFrom("SECRET", "<", "/", "script", ">", "'", "<!--", "-->", "<p>", " "), { maxLength: 20 })
    .map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(body, (inner) => {
      fc.pre(!/<\/script[\s/>]/i.test(`${inner}</script>`.slice(0, -"</script>".length + 8)));
      assert.equal(convert(`a<script>${inner}</script>b`), "ab");
    }),
  );
});

const REPEATED = [
  "<",
  "<b>",
  "<a href=x>y",
  "<blockquote>x",
  "<ul><li>x",
  "<pre>`",
  "<code>`",
  "<table><tr><td>x",
  "&amp",
  "<!--",
  '<a a="',
  "<a '\"",
  "<h1>x",
  "</",
  "<svg>",
  "<a b ",
  "&#x",
  "<p>",
  "</b>",
];
for (const piece of REPEATED) {
  test(`a page that repeats only ${piece} is converted quickly`, () => {
    const html = piece.repeat(400_000 / piece.length); // what looks back at each piece would look at 10^10 characters
    assert.ok(convert(html, "markdown", 200_000).length <= 400_100);
  });
}
