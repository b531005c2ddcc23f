"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  document.documentElement.classList.add("live");

  const cut = (frame, value) => frame.style.setProperty("--cut", value + "%");
  all(".slider").forEach((slider) => {
    const frame = slider.closest(".card").querySelector(".frame");
    slider.addEventListener("input", () => cut(frame, slider.value));
    cut(frame, slider.value);
  });
  const every = document.getElementById("all");
  if (every) every.addEventListener("input", () => all(".filtered .slider").forEach((slider) => {
    slider.value = every.value;
    slider.dispatchEvent(new Event("input"));
  }));

  const filter = document.getElementById("filter");
  if (filter) filter.addEventListener("change", () => {
    const cards = all(".filtered .card");
    cards.forEach((card) => {
      const labels = card.dataset.labels.split(" ");
      card.hidden = filter.value !== "" && !labels.includes(filter.value);
    });
    const shown = cards.filter((card) => !card.hidden).length;
    document.getElementById("count").textContent = shown + " of " + cards.length + " examples on this page";
  });

  // The class under the pointer: a pixel of the mask has its class's colour, as has the swatch of
  // the class's name below it.
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
  const colour = (chip) => getComputedStyle(chip.querySelector(".swatch")).backgroundColor;
  const names = (card) => all(".chips li", card).filter((chip) => chip.querySelector(".swatch"));
  const under = (card, mask, event) => {
    const box = mask.getBoundingClientRect();
    const scale = Math.min(box.width / mask.naturalWidth, box.height / mask.naturalHeight);
    const x = Math.floor((event.clientX - box.left - box.width / 2) / scale + mask.naturalWidth / 2);
    const y = Math.floor((event.clientY - box.top - box.height / 2) / scale + mask.naturalHeight / 2);
    if (x < 0 || y < 0 || x >= mask.naturalWidth || y >= mask.naturalHeight) return "";
    const start = 4 * (y * mask.naturalWidth + x);
    const rgb = "rgb(" + [...read(mask).slice(start, start + 3)].join(", ") + ")";
    const found = names(card).filter((chip) => colour(chip) === rgb);
    return found.map((chip) => chip.querySelector("bdi").textContent).join(" or ");
  };
  all(".frame.pair").forEach((frame) => {
    const card = frame.closest(".card"), mask = frame.querySelector(".mask");
    const here = frame.querySelector(".here"), slider = card.querySelector(".slider");
    frame.addEventListener("pointermove", (event) => { here.textContent = under(card, mask, event); });
    frame.addEventListener("pointerleave", () => { here.textContent = ""; });
    if (!slider) return;
    slider.addEventListener("focus", () => {
      if (slider.matches(":focus-visible"))
        here.textContent = names(card).map((chip) => chip.textContent.trim().replace(/\s+/g, " ")).join(", ");
    });
    slider.addEventListener("blur", () => { here.textContent = ""; });
  });

  // On paper a closed table is lost.
  addEventListener("beforeprint", () => all("details").forEach((details) => { details.open = true; }));
})();
