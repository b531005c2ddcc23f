"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const made = (tag, properties, ...content) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...content);
    return element;
  };
  const button = (className, text, ariaLabel) => made("button", { type: "button", className, ariaLabel }, text);
  document.documentElement.classList.add("live");
  const pictures = (card) => card.querySelector(".quad, .frame:not(.none)");
  const idOf = (card) => card.querySelector(".id");
  const named = (card) => idOf(card).title || idOf(card).textContent;

  // On a narrow screen each section but the first can be unfolded.
  const fold = (section, number) => {
    const heading = section.querySelector("h2, h3");
    const details = made("details", { className: "fold", open: !number }, made("summary", {}, heading));
    details.append(...section.childNodes);
    section.append(details);
  };
  if (matchMedia("(max-width:560px)").matches) {
    all(".kind").forEach(fold);
    all("main > section").forEach(fold);
  }
  const unfold = (target) => {
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    const inner = target.querySelector(":scope > details.fold");
    if (inner) inner.open = true;
    target.scrollIntoView();
  };
  const follow = () => { if (location.hash) unfold(document.getElementById(location.hash.slice(1))); };
  addEventListener("hashchange", follow);

  // Cards of a class, and of a folder.
  const filter = document.getElementById("filter"), folder = document.getElementById("folder");
  const choose = () => {
    const wanted = filter ? filter.value : "", cards = all(".filtered .card");
    cards.forEach((card) => {
      const hasClass = !wanted || card.dataset.labels.split(" ").includes(wanted);
      const isInFolder = !folder || !folder.value || folder.value === card.dataset.folder;
      card.hidden = !hasClass || !isInFolder;
    });
    const shown = cards.filter((card) => !card.hidden).length, count = document.getElementById("count");
    count.textContent = shown + " of " + cards.length + " " + count.dataset.noun + " on this page";
  };
  const show = (label) => {
    filter.value = label;
    if (folder) folder.value = "";
    choose();
  };
  if (filter) filter.addEventListener("change", choose);
  if (folder) folder.addEventListener("change", choose);

  // An example as large as the window; the arrow keys go on.
  const stage = made("div", {}), before = button("", "← Previous"), after = button("", "Next →");
  const other = button("", "Other view"), shut = button("", "Close");
  const views = all(".views input");
  const dialog = made("dialog", { ariaLabel: "An example, enlarged" }, made("div", { className: "bar" }, before, after, ...(views.length ? [other] : []), shut), stage);
  document.body.append(dialog);
  let current = null;
  const enlarge = (card) => {
    current = card;
    stage.replaceChildren(card.cloneNode(true));
    if (!dialog.open) dialog.showModal();
  };
  const go = (step) => {
    const cards = all("main .card").filter((card) => pictures(card) && card.offsetParent);
    enlarge(cards[(cards.indexOf(current) + step + cards.length) % cards.length]);
  };
  before.addEventListener("click", () => go(-1));
  after.addEventListener("click", () => go(1));
  shut.addEventListener("click", () => dialog.close());
  other.addEventListener("click", () => {
    views[(views.findIndex((view) => view.checked) + 1) % views.length].checked = true;
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.target.type === "range") return;
    if (event.key === "ArrowRight") go(1);
    if (event.key === "ArrowLeft") go(-1);
  });
  dialog.addEventListener("close", () => current.querySelector(".enlarge").focus());

  all(".card").forEach((card) => {
    if (pictures(card)) pictures(card).append(button("enlarge", "+", "Enlarge " + idOf(card).textContent));
    idOf(card).after(button("copy", "Copy", "Copy the name " + named(card)));
  });
  const copy = async (pressed) => {
    try {
      await navigator.clipboard.writeText(named(pressed.closest(".card")));
      pressed.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(idOf(pressed.closest(".card")));  // so that Ctrl+C copies it
    }
  };
  addEventListener("click", (event) => {
    const link = event.target.closest("a"), card = event.target.closest(".card");
    if (link && link.dataset.filter) show(link.dataset.filter);
    if (link && link.getAttribute("href") === location.hash) follow();
    if (event.target.closest(".copy")) copy(event.target.closest(".copy"));
    else if (card && !dialog.open && event.target.closest(".frame, .quad") && pictures(card)) enlarge(card);
  });

  // What would put a mask right is drawn with the image and the outlines that the card has already.
  all(".fixed image[data-of]").forEach((image) => {
    image.setAttribute("href", image.closest(".card").querySelector("." + image.dataset.of).src);
  });

  // A card about a label is decided by keys or buttons. The state lives in this browser, until it is
  // saved as the file that --decisions and --ids read.
  const suspects = all("main .card[data-kind]");
  const DECISIONS = { right: "Right as it is", wrong: "Wrong", "not sure": "Not sure", ...JSON.parse(document.body.dataset.choices || "{}") };
  const KEYS = { r: "right", w: "wrong", u: "not sure" };
  if (suspects.length) {
    const place = "voc-seg-tfrecord " + document.body.dataset.work;
    const nameOf = (card) => JSON.stringify([card.dataset.kind, card.dataset.ids, card.dataset.sha256]);
    let state = {}, selected = null;
    try { state = JSON.parse(localStorage.getItem(place)) || {}; } catch { /* no storage */ }
    const cardsByName = new Map();
    suspects.forEach((card) => {
      const name = nameOf(card);
      if (!cardsByName.has(name)) cardsByName.set(name, []);
      cardsByName.get(name).push(card);
    });
    const names = [...cardsByName.keys()];
    const decided = made("span", { role: "status" }), save = button("", "Save decisions");
    const mark = (card) => all(".decide button", card).forEach((pressed) => {
      pressed.ariaPressed = String(state[nameOf(card)] === pressed.dataset.decision);
    });
    const count = () => {
      const number = names.filter((name) => state[name]).length;
      decided.textContent = number + " of " + names.length + " decided";
      save.disabled = !number;
    };
    // Nobody can call an error right.
    const allowed = (card, decision) => decision !== "right" || !("error" in card.dataset);
    const decide = (card, decision) => {
      if (!allowed(card, decision)) return;
      const name = nameOf(card);
      if (state[name] === decision) delete state[name];
      else state[name] = decision;
      try { localStorage.setItem(place, JSON.stringify(state)); } catch { /* it lives in the page */ }
      [...cardsByName.get(name), ...all(".card[data-kind]", stage)].forEach(mark);
      count();
    };
    const select = (card) => {
      if (selected) selected.classList.remove("current");
      selected = card;
      for (let at = card; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
      card.classList.add("current");
      card.focus({ preventScroll: true });
      card.scrollIntoView({ block: "center" });
    };
    suspects.forEach((card) => {
      const group = made("div", { className: "decide", role: "group", ariaLabel: "Decision about " + named(card) });
      Object.entries(DECISIONS).filter(([decision]) => allowed(card, decision)).forEach(([decision, text]) => {
        const pressed = button("", text);
        pressed.dataset.decision = decision;
        group.append(pressed);
      });
      card.append(group);
      card.tabIndex = -1;
      mark(card);
    });
    addEventListener("click", (event) => {
      const pressed = event.target.closest(".decide button");
      if (!pressed) return;
      const card = dialog.open ? current : pressed.closest(".card");
      decide(card, pressed.dataset.decision);
    });
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
      const key = event.key.toLowerCase();
      const card = dialog.open ? current : selected;
      // A key decides, and does not take back: on the last card it may be pressed once more.
      if (KEYS[key] && card && !card.hidden && card.dataset.kind && state[nameOf(card)] !== KEYS[key]) decide(card, KEYS[key]);
      if (key !== "n" && key !== "p") return;
      const step = key === "n" ? 1 : -1;
      if (dialog.open) { go(step); return; }
      const firsts = [...cardsByName.values()].map((cards) => cards.find((card) => !card.hidden)).filter(Boolean);
      const at = firsts.findIndex((card) => selected && nameOf(card) === nameOf(selected)) + step;
      if (at >= 0 && at < firsts.length) select(firsts[at]);
    });
    save.addEventListener("click", () => {
      const decisions = names.filter((name) => state[name]).map((name) => {
        const [kind, ids, sha256] = JSON.parse(name);
        return { kind, ids: JSON.parse(ids), sha256, decision: state[name] };
      });
      const text = JSON.stringify({ page: document.body.dataset.work, decisions }, null, 1);
      const link = made("a", { download: "decisions.json", href: URL.createObjectURL(new Blob([text], { type: "application/json" })) });
      link.click();
    });
    const help = made("span", { className: "muted" });
    const decisionsByKey = Object.entries(KEYS).map(([key, decision]) => [key, DECISIONS[decision].toLowerCase()]);
    [["n", "next"], ["p", "previous"], ...decisionsByKey].forEach(([key, text]) => {
      help.append(made("span", { className: "whole" }, made("kbd", {}, key), " " + text), " ");
    });
    document.querySelector("nav .wide").append(made("div", { className: "work" }, decided, save, help));
    count();
  }

  // Tables are sorted by a column: first its largest numbers, or its names from A.
  const value = (cell) => {
    const text = cell.textContent.trim().replaceAll(",", ""), less = text[0] === "<";
    return /^<?[-+]?[\d.]+(\s|$)/.test(text) ? parseFloat(text.slice(less)) - less * 1e-9 : text.toLowerCase();
  };
  const compare = (a, b) => {
    if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
    return typeof a === "number" ? 1 : -1;  // "absent" and "none" are less than any number
  };
  const sort = (table, head, column) => {
    const numbers = head.classList.contains("n"), old = head.ariaSort;
    const up = old ? old === "descending" : !numbers;
    all("th", table.tHead).forEach((th) => { th.ariaSort = null; });
    head.ariaSort = up ? "ascending" : "descending";
    const rows = [...table.tBodies[0].rows].map((row) => [value(row.cells[column]), row]);
    rows.sort((a, b) => (up ? 1 : -1) * compare(a[0], b[0]));
    table.tBodies[0].append(...rows.map((row) => row[1]));
  };
  all("table").filter((table) => table.tHead && table.tBodies[0].rows.length > 2).forEach((table) => {
    const taken = [];  // by heads of two rows
    [...table.tHead.rows].forEach((row, number) => {
      let column = 0;
      [...row.cells].forEach((head) => {
        while (taken[column] > number) column += 1;
        const first = column;
        for (; column < first + head.colSpan; column += 1) taken[column] = number + head.rowSpan;
        if (head.scope !== "col") return;
        const pressed = button("sort", "");
        pressed.append(...head.childNodes);
        pressed.addEventListener("click", () => sort(table, head, first));
        head.append(pressed);
      });
    });
  });

  // The slider, and the class under the pointer: a pixel of the mask has its class's color, as has
  // the swatch of the class's name below it.
  const pixels = new WeakMap();
  const read = (mask) => {
    if (!pixels.has(mask)) {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [mask.naturalWidth, mask.naturalHeight];
      const context = canvas.getContext("2d");
      context.drawImage(mask, 0, 0);
      pixels.set(mask, context.getImageData(0, 0, canvas.width, canvas.height).data);
    }
    return pixels.get(mask);
  };
  const color = (chip) => getComputedStyle(chip.querySelector(".swatch")).backgroundColor;
  const names = (card) => all(".chips li", card).filter((chip) => chip.querySelector(".swatch"));
  const under = (card, picture, event) => {
    const mask = card.querySelector(".mask"), box = picture.getBoundingClientRect();
    if (!mask.naturalWidth) return "";
    const scale = Math.min(box.width / mask.naturalWidth, box.height / mask.naturalHeight);
    const x = Math.floor((event.clientX - box.left - box.width / 2) / scale + mask.naturalWidth / 2);
    const y = Math.floor((event.clientY - box.top - box.height / 2) / scale + mask.naturalHeight / 2);
    if (x < 0 || y < 0 || x >= mask.naturalWidth || y >= mask.naturalHeight) return "";
    const start = 4 * (y * mask.naturalWidth + x);
    const rgb = "rgb(" + [...read(mask).slice(start, start + 3)].join(", ") + ")";
    const found = names(card).filter((chip) => color(chip) === rgb);
    return found.map((chip) => chip.querySelector("bdi").textContent).join(" or ");
  };
  const say = (frame, text) => {
    all(".here").forEach((here) => { here.textContent = ""; });
    if (frame) frame.querySelector(".here").textContent = text;
  };
  addEventListener("pointermove", (event) => {
    const picture = event.target.closest(".frame.pair:not(.apart) img");
    say(picture && picture.parentElement, picture && under(picture.closest(".card"), picture, event));
  });
  const frameOf = (slider) => slider.closest(".card").querySelector(".frame");
  addEventListener("input", (event) => {
    if (event.target.matches(".slider")) frameOf(event.target).style.setProperty("--cut", event.target.value + "%");
  });
  addEventListener("focusin", (event) => {
    const slider = event.target.matches(".slider:focus-visible") && event.target;
    say(slider && frameOf(slider), slider && names(slider.closest(".card")).map((chip) => chip.textContent.trim().replace(/\s+/g, " ")).join(", "));
  });

  // A heading that is jumped to stands below the bar, which is as high as its width demands.
  const bar = document.querySelector("nav");
  const keepBelowBar = () => {
    document.documentElement.style.scrollPaddingTop = bar.offsetHeight + 12 + "px";
  };
  keepBelowBar();
  new ResizeObserver(keepBelowBar).observe(bar);
  follow();

  // On paper a closed table is lost.
  addEventListener("beforeprint", () => {
    all("details").forEach((details) => { details.open = true; });
    all("img[loading]").forEach((image) => { image.loading = "eager"; });
  });
})();
