// Drafts: what is typed into the form that decides is kept in this tab until it was taken, and is
// there again when one comes back to it. Choices and ticks are not: they are made anew.
(function () {
  "use strict";
  var d = document, who = d.body.getAttribute("data-who"), store;
  try { store = window.sessionStorage; store.getItem("draft"); } catch (e) { return; }

  if (!who) { // signed out: nobody finds what another one typed
    Object.keys(store).forEach(function (key) { if (key.indexOf("draft ") === 0) store.removeItem(key); });
    return;
  }

  var sent = store.getItem("draft sent"), unsaved = d.body.hasAttribute("data-unsaved");
  if (sent) {
    if (!unsaved) store.removeItem(sent);
    store.removeItem("draft sent");
  }

  var form = d.querySelector("form[data-decides]");
  if (!form) return;
  var key = "draft " + who + " " + form.getAttribute("action");

  function fields() {
    return Array.prototype.filter.call(form.elements, function (el) {
      return el.name && (el.tagName === "TEXTAREA" || el.tagName === "INPUT" && el.type === "text");
    });
  }

  function keep() {
    var typed = {};
    fields().forEach(function (el) { if (el.value !== el.defaultValue) typed[el.name] = el.value; });
    try {
      if (Object.keys(typed).length) store.setItem(key, JSON.stringify(typed)); else store.removeItem(key);
    } catch (e) { /* the tab's store is full: it is only not kept */ }
  }

  function back() {
    var typed = JSON.parse(store.getItem(key) || "{}"), found = false;
    fields().forEach(function (el) {
      if (typeof typed[el.name] !== "string" || el.value === typed[el.name]) return;
      el.value = typed[el.name];
      el.dispatchEvent(new Event("input", { bubbles: true }));
      found = true;
    });
    if (!found) return;
    var line = d.createElement("p"), drop = d.createElement("button");
    line.className = "hint draft";
    line.setAttribute("role", "status");
    line.textContent = "What you typed here before is back. ";
    drop.type = "button";
    drop.className = "btn btn--sm btn--quiet";
    drop.textContent = "Discard it";
    drop.addEventListener("click", function () {
      fields().forEach(function (el) { el.value = el.defaultValue; el.dispatchEvent(new Event("input", { bubbles: true })); });
      line.remove();
    });
    line.append(drop);
    form.prepend(line);
  }

  if (!unsaved) back();
  d.addEventListener("input", function (e) { if (e.target.form === form) keep(); });
  form.addEventListener("submit", function (e) { if (!e.defaultPrevented) store.setItem("draft sent", key); });
  form.addEventListener("countersign:sent", function () { store.setItem("draft sent", key); });
})();
