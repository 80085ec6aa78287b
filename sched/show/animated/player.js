// Plays what stands in data-animation. It makes shapes and text only.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const EMPTY = -1, GONE = -2, GIVEN = -3;

  function play(root) {
    const data = JSON.parse(root.dataset.animation);
    const player = root.querySelector(".player");
    const svg = player.querySelector("svg");
    const cells = [...svg.querySelectorAll("rect.cell")];
    const tallies = [...svg.querySelectorAll("text.tally")];
    const lines = [...root.querySelectorAll(".loops > div")];
    const now = svg.querySelector("g.now");
    const title = svg.querySelector("title");
    const slider = player.querySelector("input");
    const button = (name) => player.querySelector("button." + name);
    const label = title.textContent.replace(/^Step \d+ of \d+: /, "");
    let at = 0, timer = null;

    // What each cell is when a step has been done, and how many were computed again.
    function stateAt(step) {
      const is = data.grids.map((grid) => (grid < 0 ? GIVEN : EMPTY));
      const again = tallies.map(() => 0);
      for (let k = 0; k <= step; k += 1) {
        const [gone, work, replaced] = data.steps[k];
        for (const e of gone) is[e] = GONE;
        for (const [thread, , writes] of work) {
          for (const e of writes) {
            if (is[e] === GONE) again[data.grids[e]] += 1;
            is[e] = thread;
          }
        }
        for (const e of replaced) is[e] = GONE;
      }
      return [is, again];
    }

    function paint(cell, is) {
      const look = data.looks[is >= 0 ? 0 : is];
      for (const name of ["fill", "fill-opacity", "stroke", "stroke-dasharray"]) {
        const value = name === "fill" && is >= 0 ? data.colours[is % data.colours.length] : look[name];
        if (value === undefined) cell.removeAttribute(name);
        else cell.setAttribute(name, value);
      }
    }

    function mark(name, cell, thread) {
      const made = document.createElementNS(SVG, name);
      const [x, y, size] = ["x", "y", "width"].map((a) => Number(cell.getAttribute(a)));
      const given = name === "rect"
        ? { x, y, width: size, height: size, "stroke-width": 2 }
        : { cx: x + size / 2, cy: y + size / 2, r: size * 0.26 };
      given.fill = data.colours[thread % data.colours.length];
      given.stroke = "var(--ps-ink)";
      for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
      now.append(made);
    }

    function show(step) {
      at = Math.max(0, Math.min(step, data.steps.length - 1));
      const [is, again] = stateAt(at);
      cells.forEach((cell, k) => paint(cell, is[k]));
      const kept = tallies.map(() => 0);
      is.forEach((x, k) => { if (x >= 0) kept[data.grids[k]] += 1; });
      tallies.forEach((tally, k) => {
        tally.textContent = kept[k] + " kept" + (again[k] ? ", " + again[k] + " again" : "");
      });
      const [, work, , said] = data.steps[at];
      now.replaceChildren();
      const here = new Set();
      for (const [thread, reads, writes, own] of work) {
        for (const e of writes) mark("rect", cells[e], thread);
        for (const e of reads) mark("circle", cells[e], thread);
        for (const line of own) here.add(line);
      }
      lines.forEach((line, k) => line.classList.toggle("here", here.has(k)));
      player.querySelector(".now-at").textContent = said;
      player.querySelector(".count").textContent = at + 1 + " / " + data.steps.length;
      title.textContent = "Step " + (at + 1) + " of " + data.steps.length + ": " + label;
      slider.value = at;
    }

    function stop() {
      clearInterval(timer);
      timer = null;
      button("play").textContent = "play";
    }

    function start() {
      if (at === data.steps.length - 1) show(0);
      button("play").textContent = "stop";
      const pause = Math.max(40, Math.min(400, 20000 / data.steps.length));
      timer = setInterval(() => {
        if (at === data.steps.length - 1 || !root.isConnected) stop();
        else show(at + 1);
      }, pause);
    }

    button("play").onclick = () => (timer === null ? start() : stop());
    button("back").onclick = () => { stop(); show(at - 1); };
    button("next").onclick = () => { stop(); show(at + 1); };
    slider.oninput = () => { stop(); show(Number(slider.value)); };
    root.querySelector(".stills").hidden = true;
    player.hidden = false;
    show(0);
  }

  for (const root of document.querySelectorAll(".polysched .animation[data-animation]")) {
    if (root.dataset.played === undefined) {
      root.dataset.played = "";
      play(root);
    }
  }
})();
