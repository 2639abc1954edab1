// Tables beyond links and forms: keys that move through the rows, and a box that chooses all of them. What is chosen stays
// so when the rows are read anew. Without this file lists sort, filter, page and act all the same.
"use strict";

(() => {
  const KEYS = [["j", "next row"], ["k", "row before"], ["x", "select the row"], ["Shift+X", "select all rows of the page"],
    ["Enter", "open the row"], ["n", "next page"], ["p", "page before"], ["?", "this list of keys"]];
  const SETTING = "garner-keys";
  const usesKeys = () => { try { return localStorage.getItem(SETTING) !== "off"; } catch { return true; } };

  class Table {
    constructor(element) {
      this.element = element;
      this.chosen = new Set();
      this.current = null;
      element.addEventListener("change", (event) => {
        if (event.target.matches("[data-all]")) this.chooseAll(event.target.checked);
        else if (event.target.matches("td.pick input")) this.note(event.target);
        this.tell();
      });
      element.addEventListener("focusin", (event) => this.mark(event.target.closest("tbody tr:not(.reason)")));
      new MutationObserver((changes) => {
        if (changes.some((change) => change.target === element)) this.begin();
      }).observe(element, { childList: true });
      this.begin();
    }

    get rows() { return [...this.element.querySelectorAll("tbody tr:not(.reason)")]; }
    get boxes() { return [...this.element.querySelectorAll("td.pick input")]; }
    key(row) { return row.querySelector("th a, td a")?.getAttribute("href") ?? ""; }

    // Rows that are new: what was chosen and where one was stays.
    begin() {
      const here = this.boxes;
      const values = new Set(here.map((box) => box.value));
      // A row that is not shown any more is not acted on.
      this.chosen.forEach((value) => { if (!values.has(value)) this.chosen.delete(value); });
      here.forEach((box) => { box.checked = this.chosen.has(box.value); this.color(box); });
      const head = this.element.querySelector("th.pick");
      if (head && here.length) {
        const label = document.createElement("label");
        label.innerHTML = '<input type="checkbox" data-all><span class="hidden">Select all rows of this page</span>';
        head.replaceChildren(label);
      }
      const again = this.rows.find((row) => this.current && this.key(row) === this.current);
      if (again) again.classList.add("current");
      this.addHelp();
      this.tell();
    }

    note(box) {
      if (box.checked) this.chosen.add(box.value); else this.chosen.delete(box.value);
      this.color(box);
    }

    color(box) { box.closest("tr").classList.toggle("chosen", box.checked); }

    chooseAll(checked) {
      this.boxes.forEach((box) => { box.checked = checked; this.note(box); });
    }

    // Says how many are chosen; a button is of use once one is.
    tell() {
      const count = this.chosen.size, boxes = this.boxes.length;
      const said = this.element.querySelector(".chosen-count");
      if (said) { said.hidden = count === 0; said.textContent = `${count} selected`; }
      this.element.querySelectorAll(".bulk button").forEach((button) => { button.disabled = count === 0; });
      const all = this.element.querySelector("[data-all]");
      if (all) { all.checked = count > 0 && count === boxes; all.indeterminate = count > 0 && count < boxes; }
    }

    mark(row) {
      if (!row) return;
      this.element.querySelectorAll("tr.current").forEach((one) => one.classList.remove("current"));
      row.classList.add("current");
      this.current = this.key(row);
    }

    move(step) {
      const rows = this.rows;
      const at = rows.findIndex((row) => row.classList.contains("current"));
      const row = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1)];
      if (!row) return;
      this.mark(row);
      const link = row.querySelector("th a, td a");
      if (link) link.focus(); else { row.tabIndex = -1; row.focus(); }
      row.scrollIntoView({ block: "nearest" });
    }

    press(key) {
      const box = this.element.querySelector("tr.current td.pick input");
      if (key === "j") this.move(1);
      else if (key === "k") this.move(-1);
      else if (key === "x" && box) box.click();
      else if (key === "X" && this.boxes.length) this.element.querySelector("[data-all]")?.click();
      else if (key === "n") this.element.querySelector("a[rel=next]")?.click();
      else if (key === "p") this.element.querySelector("a[rel=prev]")?.click();
      else if (key === "?") this.help();
      else return false;
      return true;
    }

    addHelp() {
      const pager = this.element.querySelector(".pager");
      if (!pager || pager.querySelector("[data-keys]")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "plain";
      button.dataset.keys = "";
      button.textContent = "Keyboard shortcuts";
      button.addEventListener("click", () => this.help());
      pager.append(button);
    }

    help() {
      if (!this.dialog) {
        this.dialog = document.createElement("dialog");
        this.dialog.className = "keys";
        this.dialog.setAttribute("aria-labelledby", "keys-title");
        const rows = KEYS.map(([key, words]) => `<dt><kbd>${key}</kbd></dt><dd>${words}</dd>`).join("");
        this.dialog.innerHTML = `<form method="dialog"><h2 id="keys-title">Keyboard shortcuts</h2><dl class="facts">${rows}</dl>
          <p><label><input type="checkbox" data-use> Use single keys in lists</label></p><p><a href="/help">Help</a></p><button>Close</button></form>`;
        const use = this.dialog.querySelector("[data-use]");
        use.checked = usesKeys();
        use.addEventListener("change", () => { try { localStorage.setItem(SETTING, use.checked ? "on" : "off"); } catch { /* until the page is left */ } });
        this.element.after(this.dialog);
      }
      this.dialog.showModal();
    }
  }

  // On a phone filters would fill the first screen.
  const narrow = matchMedia("(max-width: 40rem)");
  document.querySelectorAll("details.fold").forEach((fold) => {
    const fit = () => { fold.open = !narrow.matches || fold.dataset.set !== "0"; };
    fit();
    fold.dataset.begun = "yes";
    narrow.addEventListener("change", fit);
  });

  const tables = [...document.querySelectorAll("[data-table]")].map((element) => new Table(element));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !usesKeys()) return;
    if (document.querySelector("dialog[open]")) return;
    const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
    if (typing) return;
    const table = tables.find((one) => one.element.contains(event.target)) ?? tables[0];
    if (table?.press(event.key)) event.preventDefault();
  });
})();
