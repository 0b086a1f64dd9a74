// Pointing at a container lights up the others of its job. The page says everything without this.
for (const chart of document.querySelectorAll(".gantt")) {
  const light = (job) => {
    chart.classList.toggle("lit", job !== undefined);
    for (const on of chart.querySelectorAll(".on")) on.classList.remove("on");
    if (job !== undefined) for (const bar of chart.querySelectorAll(`[data-j="${job}"]`)) bar.classList.add("on");
  };
  chart.addEventListener("pointerover", (e) => light(e.target.dataset.j));
  chart.addEventListener("pointerleave", () => light(undefined));
}
