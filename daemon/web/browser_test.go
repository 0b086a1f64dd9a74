package web

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"heddle"
	"heddle/internal/testkit/browser"
	"heddle/rm"
	"heddle/yarn/ids"
)

// On a screen of 1280 pixels the complete tables of applications, nodes and containers are visible, with names, users
// and queues of maximum length.
func TestTablesFitTheScreen(t *testing.T) {
	ctx := browser.Start(t)
	f := demo()
	f.apps = nil
	for i, name := range []string{
		"word count", "INSERT OVERWRITE TABLE warehouse.daily_sales_by_region...region(Stage-4)", "com.example.analytics.NightlyAggregation$Runner",
	} {
		f.apps = append(f.apps, rm.AppReport{
			ID:   app([]string{"application_1700000000000_0001", "application_1700000000000_0002", "application_1700000000000_10003"}[i]),
			Name: name, Type: []string{"MAPREDUCE", "SPARK", "YARN-DISTRIBUTED-SHELL"}[i], User: []string{"ann", "svc-warehouse-etl", "benedikta.mueller"}[i],
			Queue: []string{"root.default", "root.production.warehouse.nightly", "root.users.benedikta_dot_mueller"}[i],
			State: []rm.AppState{rm.AppRunning, rm.AppAccepted, rm.AppFinished}[i], Final: []rm.FinalStatus{"UNDEFINED", "UNDEFINED", "SUCCEEDED"}[i],
			Live: i < 2, Containers: 1234, Used: held(2<<20, 1234500), Progress: 0.97, Started: 1700000000000, Finished: []int64{0, 0, 1700099999000}[i],
		})
	}
	for i, host := range []string{"n1", "ip-10-32-117-201.eu-west-1.compute.internal"} {
		f.nodes[i] = rm.NodeReport{
			ID: ids.Node{Host: host, Port: 45454}, HTTP: host + ":8042", State: []string{"RUNNING", "DECOMMISSIONING"}[i], Rack: "/dc1/rack-3", Version: "3.4.2",
			Can: []heddle.Caps{heddle.Stock, heddle.AllCaps}[i], Total: heddle.Of(512<<10, 96000), Used: heddle.Of(300<<10, 81500), Containers: 144,
			Utilization: rm.Utilization{Physical: 301234, CPU: 81.5}, BeatAt: 1700000000000,
		}
	}
	attempt := ids.Attempt{App: f.apps[0].ID, N: 1}
	f.attempts = map[ids.App][]rm.AttemptReport{attempt.App: {{ID: attempt, State: "RUNNING"}}}
	f.containers = map[ids.Attempt][]rm.ContainerReport{attempt: {{
		ID: ids.Container{Attempt: attempt, ID: 17<<ids.EpochShift | 1234567}, Node: f.nodes[1].ID, User: "benedikta.mueller", Kind: heddle.Reduce, Size: heddle.Of(16<<10, 12500),
		Limit: heddle.Of(18<<10, 10500), Parked: true, Suspended: true, Weight: 12500, Unconfirmed: true, Changed: 1700000000000, Policy: "control: mrorchestrator.regression",
	}}}
	server := httptest.NewServer(New(Options{RM: f, Version: "dev"}))
	t.Cleanup(server.Close)
	for _, page := range []string{
		"/cluster/apps", "/cluster", "/cluster/nodes", "/cluster/node/" + f.nodes[1].ID.String(), "/cluster/app/" + attempt.App.String(),
	} {
		_, err := chromedp.Run(ctx, chromedp.Steps(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(server.URL+page), chromedp.WaitReady(chromedp.CSS("footer"))))
		if err != nil {
			t.Fatal(err)
		}
		const cut = `[...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.querySelector("th").textContent + ": " + e.scrollWidth + " of " + e.clientWidth).join("; ")`
		if text, err := chromedp.Run(ctx, chromedp.Evaluate[string](cut)); err != nil || text != "" {
			t.Errorf("%s: tables are cut off: %s (%v)", page, text, err)
		}
		const last = `[...document.querySelectorAll("td.t")].map(e => e.textContent.trim() + (e.getBoundingClientRect().right <= innerWidth ? "" : " cut") + (e.getClientRects().length == 1 && e.offsetHeight < 200 ? "" : " broken")).join("; ")`
		if text, err := chromedp.Run(ctx, chromedp.Evaluate[string](last)); err != nil || !strings.HasPrefix(text, "Nov 14 22:13:20") || strings.Contains(text, "cut") || strings.Contains(text, "broken") {
			t.Errorf("%s: the column of times shows %q (%v)", page, text, err)
		}
	}
}

// On a telephone only the tables scroll: no page is wider than the screen, however long the names are.
func TestPagesFitAPhone(t *testing.T) {
	ctx := browser.Start(t)
	f := demo()
	id := f.apps[0].ID
	f.apps[0].Name, f.queues[1].Path = strings.Repeat("daily_sales", 20), "root."+strings.Repeat("warehouse", 20)
	f.apps[0].Diagnostics = strings.Repeat("x", 300)
	f.nodes[0].ID.Host, f.nodes[0].Health = strings.Repeat("ip-10-32-117-201.", 10), strings.Repeat("y", 300)
	server := httptest.NewServer(New(Options{RM: f, Version: "dev"}))
	t.Cleanup(server.Close)
	for _, page := range []string{
		"/cluster", "/cluster/apps", "/cluster/app/" + id.String(), "/cluster/nodes", "/cluster/node/" + f.nodes[0].ID.String(), "/cluster/scheduler",
		"/nosuch/" + strings.Repeat("z", 300),
	} {
		_, err := chromedp.Run(ctx, chromedp.Steps(chromedp.EmulateViewport(360, 740), chromedp.Navigate(server.URL+page), chromedp.WaitReady(chromedp.CSS("footer"))))
		if err != nil {
			t.Fatal(err)
		}
		const wide = `document.documentElement.scrollWidth > innerWidth ? document.documentElement.scrollWidth + " of " + innerWidth + ": " +
			[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest(".scroll")).map(e => e.tagName + "." + e.className).join(" ") : ""`
		if text, err := chromedp.Run(ctx, chromedp.Evaluate[string](wide)); err != nil || text != "" {
			t.Errorf("%s is too wide: %s (%v)", page, text, err)
		}
	}
}
