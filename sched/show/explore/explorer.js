// Shows what Python sent, as text only, and answers with numbers of its lists.
function element(name, kind, words) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  if (words !== undefined) made.textContent = words;
  return made;
}

function draw(model, root) {
  const view = model.get("view");
  const say = (what, index) =>
    model.send({ revision: view.revision, do: what, index });
  const parts = [element("div", "head mono", view.title)];
  for (const [depth, text, kind, here] of view.rows) {
    parts.push(element("div", `mono row ${kind}${here ? " here" : ""}`, "  ".repeat(depth) + text));
  }
  const bar = element("div", "loop");
  const button = (words, what, index, isOff) => {
    const made = element("button", "move", words);
    made.disabled = isOff;
    made.onclick = () => say(what, index);
    bar.append(made);
  };
  button("undo", "go", view.at - 1, view.at === 0);
  button("redo", "go", view.at + 1, view.at + 1 >= view.steps.length);
  const copy = element("button", "move", "copy as Python");
  copy.onclick = () => navigator.clipboard && navigator.clipboard.writeText(view.source);
  bar.append(copy);
  view.stages.forEach((name, k) => button(name, "stage", k, name === view.stage));
  parts.push(bar);
  const why = element("div", "why", view.note);
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
  for (const [loop, moves] of groups) {
    const line = element("div", "loop");
    line.append(element("b", "", loop || "the stage"));
    line.append(...moves.filter(([kind]) => kind !== "refused").map(([, made]) => made));
    const refused = moves.filter(([kind]) => kind === "refused").map(([, made]) => made);
    if (refused.length) {
      const folded = element("details");
      folded.append(element("summary", "", `${refused.length} refused`), ...refused);
      line.append(folded);
    }
    parts.push(line);
  }
  parts.push(why);
  const steps = element("table");
  view.steps.forEach(([text, time], k) => {
    const row = element("tr");
    row.append(element("td", "", k === view.at ? "→" : ""), element("td", "mono", text),
               element("td", "number", time));
    steps.append(row);
  });
  parts.push(steps, element("pre", "source", view.source));
  root.replaceChildren(...parts);
}

function render({ model, el }) {
  const root = element("div", "polysched explorer");
  el.append(root);
  const again = () => draw(model, root);
  model.on("change:view", again);
  again();
  return () => model.off("change:view", again);
}

export default { render };
