"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));

  // Tables: a click on a head sorts, numbers largest first; what is missing comes last.
  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.classList.contains("number")) {
      return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
    }
    return cell.textContent;
  };
  const sort = (head) => {
    const table = head.closest("table");
    const column = head.cellIndex;
    const first = head.classList.contains("number") ? "descending" : "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    const sign = order === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [key(row, column), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (typeof a === "number" ? a - b : a.localeCompare(b));
    });
    all("th", table).forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    body.append(...rows.map(([, row]) => row));
  };
  all("table.sortable th").forEach((head) => {
    head.querySelector("button").addEventListener("click", () => sort(head));
  });

  // Trees: all open, or all closed.
  all("[data-tree]").forEach((button) => {
    button.addEventListener("click", () => {
      all("details", document.getElementById(button.dataset.of)).forEach((one) => {
        one.open = button.dataset.tree === "open";
      });
    });
  });

  // Charts, and what is switched off in them and in the tables.
  const data = JSON.parse(document.getElementById("data").textContent);
  const off = new Set();
  const boxes = all("[data-switch]");
  const view = document.getElementById("view");
  const intervals = document.getElementById("intervals");

  const faint = (color) => `${color}1c`;
  const traces = (chart, lines) => data.series.flatMap((series) => {
    const line = lines[series.name];
    if (!line || off.has(series.name)) return [];
    const drawn = [];
    if (line.low && intervals && intervals.checked && line.low.some((value) => value !== null)) {
      const edge = { x: chart.x, mode: "lines", line: { width: 0 }, hoverinfo: "skip",
        showlegend: false };
      drawn.push({ ...edge, y: line.low },
        { ...edge, y: line.high, fill: "tonexty", fillcolor: faint(series.color) });
    }
    drawn.push({ x: chart.x, y: line.y, name: series.name, mode: "lines",
      line: { color: series.color, dash: series.dash, width: 1.8 } });
    return drawn;
  });
  const draw = () => data.charts.forEach((chart) => {
    const place = document.getElementById(`chart-${chart.id}`);
    const names = Object.keys(chart.views);
    const lines = chart.views[view ? view.value : names[0]];
    const top = Math.max(0, ...Object.values(lines || {}).flatMap((line) => line.y));
    const axis = { gridcolor: "#e4e7ea", zerolinecolor: "#c5cace", linecolor: "#c5cace",
      rangemode: "tozero" };
    window.Plotly.react(place, traces(chart, lines || {}), {
      title: { text: chart.title, font: { size: 15 }, x: 0.01, xanchor: "left" },
      xaxis: { ...axis, nticks: 7, title: { text: chart.xTitle } },
      // an interval of a share may go beyond 0 and 1; the picture does not
      yaxis: { ...axis, title: { text: chart.yTitle },
        autorangeoptions: top <= 1 ? { minallowed: 0, maxallowed: 1.02 } : { minallowed: 0 } },
      margin: { l: 62, r: 24, t: 38, b: 46 },
      font: { family: "system-ui, sans-serif", size: 12, color: "#22272b" },
      hovermode: "x unified",
      hoverlabel: { font: { size: 11 } },
      showlegend: !view,
      legend: { orientation: "h", y: 1.0, yanchor: "bottom", x: 1, xanchor: "right" },
      annotations: lines ? [] : [{ text: "nothing of this view", showarrow: false,
        xref: "paper", yref: "paper", x: 0.5, y: 0.5 }],
      paper_bgcolor: "#ffffff",
      plot_bgcolor: "#ffffff",
      uirevision: view ? view.value : "",
    }, { responsive: true, displaylogo: false,
      showSendToCloud: false, plotlyServerURL: "" });  // nothing leaves the page
  });
  const update = () => {
    boxes.forEach((box) => {
      if (box.checked) off.delete(box.dataset.switch);
      else off.add(box.dataset.switch);
    });
    all("[data-series]").forEach((one) => { one.hidden = off.has(one.dataset.series); });
    if (window.Plotly && data.charts) draw();
  };
  [...boxes, view, intervals].filter(Boolean).forEach((one) => {
    one.addEventListener("change", update);
  });
  all("[data-all]").forEach((button) => {
    button.addEventListener("click", () => {
      boxes.forEach((box) => { box.checked = button.dataset.all === "on"; });
      update();
    });
  });
  update();
})();
