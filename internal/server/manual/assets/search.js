// Finds sections where no service answers: on the static site. The service answers by
// itself, and says with data-q which search it has answered.
(function () {
  "use strict";
  var form = document.getElementById("manual-search"), list = document.getElementById("found");
  var asked = new URLSearchParams(location.search).get("q") || "";
  if (!form || !list || asked.trim() === (list.getAttribute("data-q") || "")) return;
  form.q.value = asked;
  var words = asked.toLowerCase().slice(0, 200).split(/\s+/).filter(Boolean).slice(0, 8);

  function rank(part) {
    var title = part.s.toLowerCase(), page = part.p.toLowerCase(), text = part.t.toLowerCase(), score = 0;
    for (var i = 0; i < words.length; i++) {
      var found = (title.indexOf(words[i]) >= 0 ? 20 : 0) + (page.indexOf(words[i]) >= 0 ? 10 : 0) + Math.min(5, text.split(words[i]).length - 1);
      if (!found) return 0;
      score += found;
    }
    return score;
  }

  // Pages are files beside this one: /docs/how-to/approve is how-to/approve.html.
  function address(href) {
    var cut = href.indexOf("#"), path = cut < 0 ? href : href.slice(0, cut), at = cut < 0 ? "" : href.slice(cut);
    path = path.replace(/^\/docs\/?/, "");
    return (path ? path + ".html" : "index.html") + at;
  }

  function show() {
    var hits = (window.manualIndex || []).map(function (part) { return { part: part, score: rank(part) }; })
      .filter(function (hit) { return hit.score > 0; }).sort(function (a, b) { return b.score - a.score; });
    list.textContent = "";
    document.getElementById("found-none").hidden = hits.length > 0;
    hits.slice(0, 30).forEach(function (hit) {
      var item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("p");
      link.href = address(hit.part.h);
      link.textContent = hit.part.s ? hit.part.p + ": " + hit.part.s : hit.part.p;
      var at = Math.max(0, hit.part.t.toLowerCase().indexOf(words[0]) - 60);
      text.textContent = (at ? "… " : "") + hit.part.t.slice(at, at + 180);
      text.className = "sub";
      item.appendChild(link);
      item.appendChild(text);
      list.appendChild(item);
    });
  }

  if (!words.length) return;
  var index = document.createElement("script");
  index.src = document.getElementById("manual-index").href;
  index.onload = show;
  document.head.appendChild(index);
})();
