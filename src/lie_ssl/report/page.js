"use strict";
// Draws every plot of the page with plotly.js, in the colours of the page, and redraws it when these change.
const plots = JSON.parse(document.getElementById("plots").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");

// Removes buttons that would send a plot to a server, or that have no effect here.
const config = {
  responsive: true, displaylogo: false, plotlyServerURL: "",
  modeBarButtonsToRemove: ["sendChartToCloud", "sendDataToCloud", "select2d", "lasso2d"],
};

function axis(given, style) {
  const line = style.getPropertyValue("--line");
  return { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true, ...given };
}

function draw(box, plot) {
  const style = getComputedStyle(document.documentElement);
  const select = document.getElementById(box.id + "-view");
  const view = plot.views[select ? select.selectedIndex : 0];
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 56, r: 12, t: 36, b: 48 },
    font: { color: style.getPropertyValue("--ink").trim(), family: "system-ui, sans-serif", size: 12 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: style.getPropertyValue("--soft").trim() },
    legend: { orientation: "h", yref: "container", yanchor: "bottom", y: 0, x: 0 }, ...plot.layout,
    xaxis: axis(plot.layout.xaxis, style), yaxis: axis(plot.layout.yaxis, style),
  };
  const traces = structuredClone(view.traces);
  for (const trace of traces) if (trace.type === "bar") trace.error_y.color = layout.font.color;
  return Plotly.react(box, traces, layout, config);
}

for (const [id, plot] of Object.entries(plots)) {
  const box = document.getElementById(id);
  const select = document.getElementById(id + "-view");
  if (select) select.addEventListener("change", () => draw(box, plot));
  dark.addEventListener("change", () => draw(box, plot));
  draw(box, plot);
}
