// What is wrong with the layout of the page in a window of this size, as sentences.
({ width, height, isDesk, isPaper }) => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const faults = [];
  if (isDesk) {
    tables();
    if (!document.querySelector(".sheet")) firstScreen();
  }
  // On paper, style sheets say what of it is open.
  if (!isPaper) all("details").forEach((details) => (details.open = true));
  pageWidth();
  boxes();
  all("svg").forEach(letters);
  all(".legend").filter((legend) => legend.checkVisibility()).forEach(colours);
  return [...new Set(faults)];

  // Tables that are folded scroll by themselves when they are opened.
  function tables() {
    for (const table of all(".scroll").filter((table) => table.checkVisibility() && table.scrollWidth > table.clientWidth)) {
      faults.push(`the table \`${name(table)}\` is ${table.scrollWidth} pixels wide and has ${table.clientWidth}`);
    }
  }

  function firstScreen() {
    const lead = document.querySelector(".lead svg");
    const charts = all("svg").length;
    const bottom = lead ? Math.ceil(lead.getBoundingClientRect().bottom) : 0;
    if (charts > 0 && !lead) faults.push(`none of its ${charts} charts is beside the answers, in the first screen`);
    if (bottom > height) faults.push(`the chart beside the answers ends at ${bottom}, below the first screen of ${height}`);
  }

  // What is too wide by itself: it has no child that is too wide, and is in no box that scrolls or cuts.
  function pageWidth() {
    const pageWidth = document.documentElement.scrollWidth;
    if (pageWidth <= width) return;
    const isCut = (element) => {
      for (let above = element.parentElement; above !== document.documentElement; above = above.parentElement) {
        if (getComputedStyle(above).overflowX !== "visible") return true;
      }
      return false;
    };
    const isBeyond = (element) => element.getBoundingClientRect().right > width + 0.5 && !isCut(element);
    const found = all("body *").filter((element) => isBeyond(element) && ![...element.children].some(isBeyond));
    faults.push(`it is ${pageWidth} pixels wide, in a window of ${width}: ${found.slice(0, 3).map(path).join(", ")}`);
  }

  function boxes() {
    for (const box of all(".tiles li, .figures li, .reliability, dd, th, td").filter((box) => box.scrollWidth > box.clientWidth + 1)) {
      faults.push(`\`${box.textContent.trim().slice(0, 40)}\` is wider than its box: ${path(box)}`);
    }
  }

  function letters(chart) {
    const frame = chart.getBoundingClientRect();
    const over = (text) => {
      const { x, y, width, height } = text.getBBox();
      const corners = [new DOMPoint(x, y), new DOMPoint(x + width, y + height)];
      const [from, to] = corners.map((corner) => corner.matrixTransform(text.getScreenCTM()));
      return Math.max(...[from, to].flatMap((at) => [frame.left - at.x, at.x - frame.right, frame.top - at.y, at.y - frame.bottom]));
    };
    // Between charts is a gap.
    const most = getComputedStyle(chart).overflow === "visible" ? 8 : 2;
    // A chart that is not shown has no size.
    const cut = frame.width > 0 ? all("text", chart).filter((text) => over(text) > most) : [];
    if (cut.length > 0) {
      const [first] = cut;
      faults.push(`\`${first.textContent}\` ends ${Math.round(over(first))} pixels outside of the chart \`${name(chart)}\``);
    }
  }

  // A line and a band of one colour differ by the height of their keys.
  function colours(legend) {
    const looks = all(".key", legend).map((key) => `${getComputedStyle(key).backgroundColor} ${key.offsetHeight}`);
    const names = all("li", legend).map((entry) => entry.textContent.trim());
    if (new Set(looks).size < looks.length) faults.push(`a legend has one colour twice: ${names.join(", ")}`);
  }

  function name(element) {
    const title = element.querySelector("caption, title");
    return (title ? title.textContent : path(element)).trim();
  }

  function path(element) {
    const parts = [];
    for (let at = element; at && at.localName !== "body"; at = at.parentElement) {
      parts.unshift(at.id ? `#${at.id}` : at.localName + [...at.classList].map((name) => `.${name}`).join(""));
      if (at.id) break;
    }
    return parts.join(" > ");
  }
};
