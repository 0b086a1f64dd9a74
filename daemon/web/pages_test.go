package web

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/daemon"
	"heddle/rm"
)

func TestPages(t *testing.T) {
	f := demo()
	f.cluster.Off = []string{"ikayak.shrink: needs a node agent"}
	h := New(Options{RM: f, Version: "dev"})
	for path, want := range map[string][]string{
		"/cluster":               {`<a href="/cluster" aria-current="page">`, `aria-label="used"`, "2048 MiB", "of 8192 MiB", "1 lost", "&lt;script&gt;alert(1)&lt;/script&gt;", "1 mechanism off", "report every 1 s<", "ready"},
		"/cluster/apps":          {proxied, "application_1700000000000_0002", "root.default"},
		"/cluster/apps/accepted": {"application_1700000000000_0002"},
		"/cluster/app/" + proxied: {
			"3 × map", "The queue root.default is at its maximum.", "<dt>Refused by<dd>share: capacity", "<dt>YARN would say<dd>stock&#39;s words",
			"<dt>Limit<dd>Containers in queue root.default: 3584 MiB, 1 vcores of at most 4096 MiB, 4 vcores, set by maximum-capacity = 50. So it is.",
			"<dt>Place<dd>It is 3rd of 17 in queue root.default by order shortest.",
			"<dt>Short of<dd>memory: one needs 1024 MiB, and at most 512 MiB is left for it\n", "1 × no-room (place.map: any), at most 512 MiB",
			"Refused so far: 9 × queue-limit · 7 × am-limit · 7 × no-room",
			"<dt>At submission<dd>24 maps and 2 reduces, 1536 MiB of input, at most 24 containers of 1024 MiB, 1 vcores at once",
			"<dt>Earlier runs<dd>the last one asked for 4096 MiB, 4 vcores first; one of the last two wanted 24 containers at once, 24.0 GiB, 24 vcores together; the last master&#39;s heap held 22 MiB with 24 maps",
			"<dt>Reported by master<dd>3 tasks run, 40 % done on average; 10 tasks ended well, and the usage of 8 of them is known (2 s ago); its heap holds 24 MiB (21 s ago)",
			"<dt>Last call failed<dd>no answer within 4 s", "<dt>Not done<dd>because its nodes cannot: 12 × give a running container another part of busy processors · 1 × change the size of a running container",
			"container_1700000000000_0001_01_000003<td>map", "1024 MiB, 1 vcores<td class=\"n\">768 MiB, 0.5 vcores", "not confirmed yet", ">suspended<", ">parked<", "counts as 2.5 vcores on busy processors", `href="/cluster/node/node1:8041"`, "&lt;b&gt;", "appattempt_1700000000000_0001_000001", "/proxy/" + proxied + "/",
		},
		"/cluster/nodes": {`href="/cluster/node/node1:8041"`, `<th>Used<th class="n">Memory<th class="n">vcores`, "LOST", `href="http://node1:8042/"`, ">limits, resizes, lends <", ">agent failed<"},
		"/cluster/node/node1:8041": {
			`href="http://node1:8042/"`, "<dt>Adds<dd>weighs", "<dt>Disks<dd>busy for 42 % of the time", "<dt>Told<dd>not everything is done yet; it failed for 1", "<dt>Could not do<dd>container_1700000000000_0001_01_000004: no &lt;i&gt;group",
			`<a href="/cluster/app/application_1700000000000_0001">container_1700000000000_0001_01_000002</a>`, ">the same", ">shrunk<", "has less than it asked for", "counts as 2.5 vcores on busy processors", "keeps off processors that others want", ">Nov 14 22:13:27<", "control: ikayak.suspend",
		},
		"/cluster/node/node2:8041": {"LOST", "<dt>Node agent<dd>none", "None."},
		"/cluster/scheduler":       {"root.default", "at most 50.0 % of the queue", "Profile heddle, order shortest, queues of the capacity scheduler", "<dt>Order<dd>shortest (configured: fifo)"},
		"/static/style.css":        {"--paper"},
	} {
		w := ask(h, path)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		for _, text := range want {
			if !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s does not show %q", path, text)
			}
		}
		if strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("%s: a name got through as markup", path)
		}
	}
	for _, path := range []string{"/cluster/nodes", "/cluster/node/node2:8041"} {
		if body := ask(h, path).Body.String(); strings.Contains(body, "7777 MiB") || strings.Contains(body, "7.5 cores") {
			t.Errorf("%s shows what a node measured that is gone", path)
		}
	}
	f.queues = slices.Repeat(f.queues[1:], maxRows)[:maxRows]
	f.queues = append(f.queues, rm.QueueReport{QueueInfo: rm.QueueInfo{Path: "root.one-more"}})
	if body := ask(h, "/cluster").Body.String(); strings.Contains(body, "one-more") || !strings.Contains(body, "1 more are not shown") {
		t.Error("the overview lists all queues, however many")
	}
	if body := ask(h, "/cluster/scheduler").Body.String(); !strings.Contains(body, "one-more") {
		t.Error("the page of queues does not list all")
	}
	if body := ask(h, "/cluster/app/"+proxied).Body.String(); strings.Contains(body, "_01_000002") {
		t.Error("a container that is as it was asked for is among those that are not")
	}
	if body := ask(h, "/cluster/app/application_1700000000000_0002").Body.String(); strings.Contains(body, "What is known") || strings.Contains(body, "Containers that differ") {
		t.Error("there is nothing to say of what is known, and it is said")
	}
	if body := ask(h, "/cluster/app/application_1700000000000_0002").Body.String(); !strings.Contains(body, "<dt>Launched<dd>–\n") {
		t.Errorf("an application that waits was launched at a time:\n%s", body)
	}
	if w := ask(h, "/cluster/apps/accepted"); strings.Contains(w.Body.String(), proxied) {
		t.Error("the list of accepted applications shows one that runs")
	}
}

// The list of applications says what it shows, also to screen readers: in which states they are, and whose.
func TestFilteredApplications(t *testing.T) {
	h := New(Options{RM: demo()})
	current := regexp.MustCompile(`<a href="/cluster/apps[^"]*" aria-current="true">([^<]*)<`)
	for path, want := range map[string]string{
		"/cluster/apps": "all", "/cluster/apps/accepted": "ACCEPTED", "/cluster/apps/RUNNING,accepted": "ACCEPTED RUNNING",
	} {
		var got []string
		for _, m := range current.FindAllStringSubmatch(ask(h, path).Body.String(), -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s says that it shows %q, want %s", path, got, want)
		}
	}
	body := ask(h, "/cluster/apps/RUNNING?user=a%26b").Body.String()
	for _, want := range []string{"<h1>Applications of a&amp;b</h1>", `href="/cluster/apps?user=a%26b"`, `href="/cluster/apps/FAILED?user=a%26b"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the list of one user's does not show %s:\n%s", want, body)
		}
	}
}

// Text of every colour can be read on both backgrounds, in light and dark mode: its contrast is what WCAG wants of small
// text.
func TestContrast(t *testing.T) {
	style, err := pageFiles.ReadFile("pages/style.css")
	if err != nil {
		t.Fatal(err)
	}
	colour := regexp.MustCompile(`--(\w+): #([0-9a-f]{6});`)
	for i, mode := range strings.SplitN(string(style), "prefers-color-scheme: dark", 2) {
		shine := map[string]float64{}
		for _, m := range colour.FindAllStringSubmatch(mode, -1) {
			shine[m[1]] = luminance(m[2])
		}
		for _, text := range []string{"ink", "soft", "accent", "good", "warn", "bad"} {
			for _, under := range []string{"paper", "card"} {
				a, b := shine[text]+0.05, shine[under]+0.05
				if ratio := max(a, b) / min(a, b); ratio < 4.5 || len(shine) != 9 {
					t.Errorf("%s on %s, %s: %.2f, want 4.5", text, under, []string{"light", "dark"}[i], ratio)
				}
			}
		}
	}
}

// luminance returns the relative luminance of a colour, six hexadecimal digits, as WCAG defines it.
func luminance(digits string) (sum float64) {
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, _ := strconv.ParseUint(digits[2*i:2*i+2], 16, 8) // they are hexadecimal digits
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// Child queues are indented below their parents, however deep, and style.css has a step for each level.
func TestQueuesAreIndented(t *testing.T) {
	f := demo()
	for depth := range 12 {
		f.queues = append(f.queues, rm.QueueReport{QueueInfo: rm.QueueInfo{Path: "root" + strings.Repeat(".q", depth)}})
	}
	h := New(Options{RM: f})
	style := ask(h, "/static/style.css").Body.String()
	for _, path := range []string{"/cluster", "/cluster/scheduler"} {
		body := ask(h, path).Body.String()
		for depth := 1; depth <= mostIndent; depth++ {
			class := fmt.Sprintf("d%d", depth)
			if !strings.Contains(body, class+`"`) || !strings.Contains(style, "."+class+" {") {
				t.Errorf("%s: no step %s", path, class)
			}
		}
		if strings.Contains(body, `d9"`) {
			t.Errorf("%s: a step that style.css does not have", path)
		}
	}
}

// The fair scheduler's −1 for masters means no limit.
func TestMastersWithoutLimit(t *testing.T) {
	f := demo()
	f.cluster.Scheduler, f.queues[1].AMShare = fair, -1
	if body := ask(New(Options{RM: f}), "/cluster/scheduler").Body.String(); !strings.Contains(body, "512 MiB, 1 vcores; no limit") {
		t.Errorf("%s", body)
	}
}

func TestPagesSendElsewhere(t *testing.T) {
	h := New(Options{RM: demo()})
	for path, want := range map[string]string{
		"/": "/cluster", "/cluster/": "/cluster", "/cluster/cluster": "/cluster",
		"/cluster/appattempt/appattempt_1700000000000_0001_000001":      "/cluster/app/" + proxied,
		"/cluster/container/container_e17_1700000000000_0001_01_000001": "/cluster/app/" + proxied,
	} {
		if w := ask(h, path); w.Code != http.StatusFound || w.Header().Get("Location") != want {
			t.Errorf("%s: %d to %q, want %s", path, w.Code, w.Header().Get("Location"), want)
		}
	}
}

// During a start it is unknown what applications ask for, and no page says that it is nothing.
func TestPagesDuringAStart(t *testing.T) {
	f := demo()
	f.whys = nil
	f.queues[1].Waiting, f.cluster.Waiting = 0, 0
	h := New(Options{RM: f})
	waits := map[string]string{
		"/cluster": "how many wait is not known yet", "/cluster/scheduler": "how many wait is not known yet",
		"/cluster/app/" + proxied: "<dt>Asks for<dd>not known yet",
	}
	const whole, none = "it has all it asked for", `<td class="n">2<td class="n">0`
	for path, text := range waits {
		if body := ask(h, path).Body.String(); strings.Contains(body, text) {
			t.Errorf("%s after a start:\n%s", path, body)
		}
	}
	f.ready = false
	for path, text := range waits {
		if body := ask(h, path).Body.String(); !strings.Contains(body, text) || strings.Contains(body, whole) || strings.Contains(body, none) {
			t.Errorf("%s during a start:\n%s", path, body)
		}
	}
	f.ready = true
	if body := ask(h, "/cluster/app/application_1700000000000_0002").Body.String(); !strings.Contains(body, "or has not registered yet") {
		t.Errorf("of an application whose master has not registered:\n%s", body)
	}
}

// Every page shows the daemon's state, as /readyz does: pages can be made while the disk hangs or is full.
func TestPagesSayHowTheDaemonIs(t *testing.T) {
	f := demo()
	h := New(Options{RM: f})
	for _, c := range []struct {
		health daemon.Health
		want   string
		ready  bool
	}{
		{daemon.Health{}, `<b class="good">ready</b>`, true},
		{daemon.Health{Unready: "waiting for 3 of 40 nodes"}, `<b class="warn">not ready: waiting for 3 of 40 nodes</b>`, false},
		{daemon.Health{Refuses: "the disk of /d is full"}, `<b class="warn">ready, but submissions are refused: the disk of /d is full</b>`, true},
	} {
		f.health = c.health
		if body := ask(h, "/cluster/apps").Body.String(); !strings.Contains(body, c.want) {
			t.Errorf("%+v: %s is missing", c.health, c.want)
		}
		if body := ask(h, "/ws/v1/heddle/info").Body.String(); !strings.Contains(body, fmt.Sprintf(`"ready":%v,`, c.ready)) || strings.Contains(body, `"unready":"`+c.health.Unready+`"`) == c.ready {
			t.Errorf("%+v: %s, want %v", c.health, body, c.ready)
		}
	}
}

func TestPagesOfWhatIsNot(t *testing.T) {
	f := demo()
	h := New(Options{RM: f})
	for path, status := range map[string]int{
		"/nosuch": 404, "/cluster/app/application_1_0001": 404, "/cluster/app/x": 400, "/cluster/node/nosuch:1": 404, "/cluster/node/x": 400, "/cluster/apps/x": 400, "/cluster/container/x": 404,
	} {
		if w := ask(h, path); w.Code != status || !strings.Contains(w.Body.String(), "That did not work") {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, status)
		}
	}
	f.fails = errBusy
	if w := ask(h, "/cluster"); w.Code != 503 || !strings.Contains(w.Body.String(), "the loop is busy") {
		t.Errorf("a daemon that does not answer: %d %s", w.Code, w.Body)
	}
}

func TestPagesAreOfLimitedLength(t *testing.T) {
	f := demo()
	f.apps = nil
	for i := range maxRows + 3 {
		f.apps = append(f.apps, rm.AppReport{ID: app(fmt.Sprintf("application_1700000000000_%04d", i+1)), State: rm.AppFinished})
	}
	body := ask(New(Options{RM: f}), "/cluster/apps").Body.String()
	if rows := strings.Count(body, `<td class="id">`); rows != maxRows {
		t.Errorf("%d rows, want %d", rows, maxRows)
	}
	if !strings.Contains(body, "3 older ones are not shown") || strings.Contains(body, "_0003<") || !strings.Contains(body, "_0503<") {
		t.Error("what is left out should be the oldest")
	}
}

// Strings from users on every page, as markup, as attributes and as links.
func TestNoMarkupFromUsers(t *testing.T) {
	const evil = `"><img src=x onerror=alert(1)><script>`
	f := demo()
	a := &f.apps[0]
	a.Name, a.User, a.Queue, a.Type, a.Diagnostics, a.Tags = evil, evil, evil, evil, evil, []string{evil}
	a.OriginalURL = "javascript:alert(1)"
	f.nodes[0].Agent.Failed[0].Text, f.containers[f.attempts[a.ID][0].ID][2].Policy = evil, evil
	f.nodes[0].Health, f.nodes[0].Version, f.nodes[0].Rack, f.nodes[0].HTTP = evil, evil, evil, `"onmouseover=alert(1)`
	f.queues[1].Users[0].Name, f.queues[1].Order, f.queues[1].Configured = evil, evil, evil
	w := f.whys[a.ID]
	w.Pending[0].Text, w.Pending[0].Kind, w.Pending[0].Holders[0].Name = evil, evil, evil
	w.Pending[0].Policy, w.Pending[0].Stock, w.Pending[0].Order, w.Pending[0].Nodes[0].Policy = evil, evil, evil, evil
	w.Known.Failed = evil
	w.Pending[0].Limit = &rm.Limit{What: evil, Of: evil, By: []string{evil}}
	f.attempts[a.ID][0].Diagnostics, f.attempts[a.ID][0].NodeHTTP = evil, evil
	f.cluster.Off = []string{evil}
	h := New(Options{RM: f})
	for _, path := range []string{"/cluster", "/cluster/apps", "/cluster/app/" + proxied, "/cluster/nodes", "/cluster/node/node1:8041", "/cluster/scheduler", "/" + "x%3Cscript%3E"} {
		body := ask(h, path).Body.String()
		for _, bad := range []string{"<script", "<img", `"onmouseover`, "javascript:"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s contains %q", path, bad)
			}
		}
	}
}
