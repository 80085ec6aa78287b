// Shows what Python sent and answers with numbers of its lists. Text is written as text; of a
// picture those elements and attributes are made anew that pictures have.
function element(name, kind, words) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  if (words !== undefined) made.textContent = words;
  return made;
}

const SHAPES = new Set(["svg", "g", "title", "text", "rect", "circle", "line", "path"]);
const LOOKS = new Set([
  "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "d", "width", "height", "viewBox",
  "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "style",
  "text-anchor", "role",
]);

function isShape(node) {
  return node instanceof SVGElement && SHAPES.has(node.localName);
}

function copied(shape) {
  const made = document.createElementNS(shape.namespaceURI, shape.localName);
  for (const { name, value } of shape.attributes) {
    if (LOOKS.has(name) && !value.includes("url")) made.setAttribute(name, value);
  }
  for (const child of shape.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) made.append(child.data);
    else if (isShape(child)) made.append(copied(child));
  }
  return made;
}

export function drawn(picture) {
  const made = element("div", "picture");
  const { documentElement: svg } = new DOMParser().parseFromString(picture.svg, "image/svg+xml");
  if (isShape(svg)) made.append(copied(svg));
  for (const note of picture.notes) made.append(element("div", "faint", note));
  return made;
}

// A view behind a change, of which it is told what differs.
export function merged(view, { verdicts, ...rest }) {
  const made = { ...view, ...rest };
  const isNew = rest.revision !== undefined;
  made.verdicts = isNew ? made.moves.map(() => ["pending", ""]) : [...view.verdicts];
  for (const [k, kind, why] of verdicts ?? []) made.verdicts[k] = [kind, why];
  return made;
}

function row([depth, text, kind, isHere]) {
  return element("div", `row ${kind}${isHere ? " here" : ""}`, "  ".repeat(depth) + text);
}

function candidates(view, say, why) {
  const groups = new Map();
  view.moves.forEach(([loop, , label, text], k) => {
    if (!groups.has(loop)) groups.set(loop, []);
    const [kind, reason] = view.verdicts[k];
    const made = element("button", `move ${kind}`, label);
    made.title = reason || text;
    made.onmouseenter = made.onfocus = () => (why.textContent = reason || view.note);
    made.onclick = () => say("choose", k);
    groups.get(loop).push([kind, made]);
  });
  return [...groups].map(([loop, moves]) => {
    const line = element("div", "loop");
    line.append(element("b", "", loop || "the stage"));
    line.append(...moves.filter(([kind]) => kind !== "refused").map(([, made]) => made));
    const refused = moves.filter(([kind]) => kind === "refused").map(([, made]) => made);
    if (refused.length) {
      const folded = element("details");
      folded.append(element("summary", "", `${refused.length} refused`), ...refused);
      line.append(folded);
    }
    return line;
  });
}

function steps(view) {
  const made = element("table");
  view.steps.forEach(([text, time], k) => {
    const [step, what] = [element("tr"), element("td")];
    what.append(element("code", "", text));
    step.append(element("td", "", k === view.at ? "→" : ""), what, element("td", "number", time));
    made.append(step);
  });
  return made;
}

function bar(view, say) {
  const made = element("div", "loop");
  const button = (words, what, index, isOff) => {
    const one = element("button", "move", words);
    one.disabled = isOff;
    one.onclick = () => say(what, index);
    made.append(one);
  };
  button("undo", "go", view.at - 1, view.at === 0);
  button("redo", "go", view.at + 1, view.at + 1 >= view.steps.length);
  const copy = element("button", "move", "copy as Python");
  copy.onclick = () => navigator.clipboard && navigator.clipboard.writeText(view.source);
  made.append(copy);
  view.stages.forEach((name, k) => button(name, "stage", k, name === view.stage));
  return made;
}

const PATIENCE = 4000;
const SILENT =
  "Python has not answered: it is busy, or it was restarted, and the cell must run again.";

// The last picture stays until there is another one, so that nothing jumps.
function picture(view, last) {
  if (!view.picture) return last.shown?.classList.add("old"), last.shown;
  if (last.of !== view.picture) Object.assign(last, { of: view.picture, shown: drawn(view.picture) });
  last.shown.classList.remove("old");
  return last.shown;
}

function draw(model, root, last) {
  const view = model.get("view");
  const why = element("div", "why", view.note);
  const say = (what, index) => {
    const lost = () => (why.textContent = SILENT);
    setTimeout(lost, PATIENCE); // what Python answers is drawn with another `why`
    try {
      model.send({ revision: view.revision, do: what, index });
    } catch {
      lost();
    }
  };
  const nest = element("div", "explored");
  nest.append(...view.rows.map(row));
  const beside = element("div", "beside");
  beside.append(...[nest, picture(view, last)].filter(Boolean));
  const parts = [element("div", "head mono", view.title), beside, bar(view, say)];
  parts.push(...candidates(view, say, why), why, steps(view));
  root.replaceChildren(...parts, element("pre", "source", view.source));
  const here = nest.querySelector(".here"); // of a long nest a part is on the page
  if (here) nest.scrollTop = here.offsetTop - nest.offsetTop - 2 * here.offsetHeight;
}

function initialize({ model }) {
  const ask = () => model.send({ do: "show", number: model.get("view").number });
  const heard = (change) => {
    const view = model.get("view");
    if (!change.whole && change.number !== view.number + 1) return ask();
    model.set("view", merged(view, change));
  };
  model.on("msg:custom", heard);
  ask(); // for what was said before anybody listened
  return () => model.off("msg:custom", heard);
}

function render({ model, el }) {
  const root = element("div", "polysched explorer");
  el.append(root);
  const last = {};
  const again = () => draw(model, root, last);
  model.on("change:view", again);
  again();
  return () => model.off("change:view", again);
}

export default { initialize, render };
