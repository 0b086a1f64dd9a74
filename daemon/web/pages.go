package web

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"heddle"
	"heddle/daemon"
	"heddle/daemon/proxy"
	"heddle/internal/budget"
	"heddle/rm"
	"heddle/yarn/ids"
)

// maxRows is the maximum number of rows of a table on a page; the rest is counted below it.
const maxRows = 500

//go:embed pages/*.html pages/style.css
var pageFiles embed.FS

// pages are the pages for people: plain HTML made on the server, without scripts.
type pages struct {
	s     *site
	by    map[string]*template.Template
	style []byte
}

// newPages parses the templates. They are part of the program, so a template that cannot be parsed is a bug.
func newPages(s *site) *pages {
	p := &pages{s: s, by: make(map[string]*template.Template)}
	base := template.New("").Funcs(template.FuncMap{
		"memory": memory, "cores": cores, "when": when, "brief": brief, "since": p.since, "percent": percentText,
		"share": p.share, "lower": strings.ToLower, "indent": indent, "gone": gone, "times100": times100, "limit": limitText, "place": rm.PlaceText, "short": short,
		"milli": milli, "seconds": secondsText,
	})
	layout := template.Must(base.ParseFS(pageFiles, "pages/layout.html"))
	for _, name := range []string{"overview", "apps", "app", "nodes", "node", "scheduler", "problem"} {
		p.by[name] = template.Must(template.Must(layout.Clone()).ParseFS(pageFiles, "pages/"+name+".html"))
	}
	style, err := pageFiles.ReadFile("pages/style.css")
	if err != nil {
		panic(err)
	}
	p.style = style
	return p
}

func (p *pages) routes() {
	page := func(pattern string, f pageFunc) { p.s.handle("GET "+pattern, p.page(f, true)) }
	page("/cluster", p.prepared(p.overview))
	page("/cluster/apps", p.prepared(p.apps))
	page("/cluster/apps/{state}", p.prepared(p.apps))
	p.s.handle("GET /cluster/app/{app}", p.page(p.app, false))
	page("/cluster/nodes", p.nodes)
	page("/cluster/node/{node}", p.prepared(p.node))
	page("/cluster/scheduler", p.scheduler)
	p.s.handleFunc("GET /cluster/appattempt/{attempt}", p.attempt)
	p.s.handleFunc("GET /cluster/container/{container}", p.container)
	for from, to := range map[string]string{
		"/{$}": "/cluster", "/cluster/{$}": "/cluster", "/cluster/cluster": "/cluster", "/cluster/about": "/cluster",
	} {
		p.s.handle("GET "+from, http.RedirectHandler(to, http.StatusFound))
	}
	p.s.handleFunc("GET /static/style.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(p.style) // the client is gone if this fails
	})
	p.s.handle("/", p.page(func(r *http.Request) (string, any, error) {
		return "", nil, notFound("There is no page " + r.URL.Path + ".")
	}, false))
}

// A frame is what every page shows around its own content.
type frame struct {
	Title   string // of the window
	Tab     string // the active part of the menu
	Version string
	State   string // the state of the daemon
	// Starting says that the daemon has only just started: what waits is not known yet.
	Starting bool
	Cluster  rm.ClusterReport
	Now      time.Time
	Page     any
}

// A pageFunc returns the name and content of a page.
type pageFunc func(*http.Request) (name string, content any, err error)

// page makes a handler of a pageFunc. Of pages that are lists only a few are made at once.
func (p *pages) page(f pageFunc, lists bool) http.Handler {
	expected := &budget.Expectation{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
		defer cancel()
		ctx, reading := p.s.Readers.Begin(ctx, addressOf(r).String())
		defer reading.End(0)
		r = r.WithContext(ctx)
		ctx, held := p.s.Desk.Answer(ctx, addressOf(r), expected, lists)
		defer held.Left()
		at := r.WithContext(ctx)
		name, content, err := f(at)
		if err != nil {
			held.Made(0)
			p.refuse(w, r, err)
			return
		}
		status, body := p.draw(at, http.StatusOK, name, content)
		held.Made(int64(len(body)))
		show(w, r, status, body)
	})
}

// prepared looks up the caller's groups for a page before it takes a seat at the desk.
func (p *pages) prepared(f pageFunc) pageFunc {
	return func(r *http.Request) (string, any, error) {
		p.s.Access.Prepare(r.Context(), named(r))
		return f(r)
	}
}

// refuse shows an error on a page.
func (p *pages) refuse(w http.ResponseWriter, r *http.Request, err error) {
	o := p.s.classify(r, err)
	p.s.again(w, err)
	p.problem(w, r, o.status, strings.TrimPrefix(o.message, "java.lang.Exception: "))
}

func (p *pages) problem(w http.ResponseWriter, r *http.Request, status int, text string) {
	status, body := p.draw(r, status, "problem", text)
	show(w, r, status, body)
}

// draw makes a page: its status, which is another one if it cannot be made, and its text.
func (p *pages) draw(r *http.Request, status int, name string, content any) (int, []byte) {
	cluster, err := p.s.RM.Cluster(r.Context())
	if err != nil {
		status, name, content = http.StatusServiceUnavailable, "problem", "The ResourceManager does not answer: "+err.Error()
	}
	health := p.s.RM.Health()
	f := frame{
		Title: name, Tab: name, Version: p.s.Version, State: health.Text(), Starting: health.Starting, Cluster: cluster, Now: p.s.Now(), Page: content,
	}
	switch c := content.(type) {
	case appPage:
		f.Title, f.Tab = c.App.ID.String(), "apps"
	case nodePage:
		f.Title, f.Tab = c.Node.ID.String(), "nodes"
	}
	var b bytes.Buffer
	if err := p.by[name].ExecuteTemplate(&b, "layout.html", f); err != nil {
		p.s.Log.Error("a page cannot be shown", "page", name, "error", err)
		return http.StatusInternalServerError, []byte("the page cannot be shown; the daemon's log says why\n")
	}
	return status, b.Bytes()
}

// show sends a page. Nothing more is read for it.
func show(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	daemon.ReadingOf(r.Context()).End(len(body))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone if this fails
}

// An overviewPage is the first page: what runs and what waits.
type overviewPage struct {
	Apps       []rm.AppReport // those that are not over, newest first
	More       int
	Queues     []rm.QueueReport
	MoreQueues int
}

func (p *pages) overview(r *http.Request) (string, any, error) {
	list, more, err := p.newest(r, rm.AppFilter{
		States: []rm.AppState{rm.AppNew, rm.AppSaving, rm.AppSubmitted, rm.AppAccepted, rm.AppRunning},
	})
	if err != nil {
		return "", nil, err
	}
	queues, err := p.s.RM.Queues(r.Context())
	if err != nil {
		return "", nil, err
	}
	left := max(0, len(queues)-maxRows)
	return "overview", overviewPage{Apps: list, More: more, Queues: queues[:len(queues)-left], MoreQueues: left}, nil
}

// newest returns the newest applications first, as many as fit in a table, and the number of the others.
func (p *pages) newest(r *http.Request, f rm.AppFilter) (list []rm.AppReport, more int, err error) {
	f.Limit = maxRows
	if list, err = p.s.RM.Apps(r.Context(), f); err != nil {
		return nil, 0, err
	}
	if err := mask(r, p.s.sight(r), list); err != nil {
		return nil, 0, err
	}
	slices.Reverse(list)
	if len(list) < maxRows {
		return list, 0, nil
	}
	counts, err := p.s.RM.CountApps(r.Context(), f)
	for _, n := range counts {
		more += n
	}
	return list, max(0, more-len(list)), err
}

// An appsPage lists applications.
type appsPage struct {
	User   string        // whose applications; "" for everybody's
	Shown  []rm.AppState // in which states; empty for all
	States []rm.AppState // that there are
	Apps   []rm.AppReport
	More   int
}

// Shows reports whether applications in a state are listed because the reader asked for that state.
func (p appsPage) Shows(s rm.AppState) bool { return slices.Contains(p.Shown, s) }

func (p *pages) apps(r *http.Request) (string, any, error) {
	states, err := appStates(nonEmpty(r.PathValue("state")))
	if err != nil {
		return "", nil, err
	}
	page := appsPage{User: r.URL.Query().Get("user"), Shown: states, States: everyAppState}
	f := rm.AppFilter{States: states, Users: nonEmpty(page.User)}
	if page.Apps, page.More, err = p.newest(r, f); err != nil {
		return "", nil, err
	}
	return "apps", page, nil
}

// An appPage is the page of one application.
type appPage struct {
	App      rm.AppReport
	Attempts []rm.AttemptReport
	Why      rm.Explanation
	Past     []refusal
	Known    []fact
	Changed  []rm.ContainerReport // containers that differ from what was asked for
	More     int                  // … how many are left out
	Proxied  bool                 // the master has pages of its own to go to
}

// Idle says why nothing is known to wait in an application that is not over.
func (p appPage) Idle(starting bool) string {
	switch {
	case p.Why.ComingBack:
		return "Its requests wait until the ResourceManager has finished recovery."
	case starting:
		return "That is not known yet: the ResourceManager is still in recovery."
	case p.App.State == rm.AppRunning:
		return "Nothing: it has all it asked for."
	case p.App.State == rm.AppAccepted:
		return "Nothing: its master has a container and is starting, or has not registered yet."
	}
	return "Nothing: it is being stored or accepted."
}

// A refusal counts how often a reason was given so far, or nodes could not do what was wanted.
type refusal struct {
	Why   string
	Times uint32
}

// byTimes lists what was counted, the most frequent first.
func byTimes(counts map[string]uint32) (out []refusal) {
	for why, times := range counts {
		out = append(out, refusal{why, times})
	}
	slices.SortFunc(out, func(a, b refusal) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), strings.Compare(a.Why, b.Why))
	})
	return out
}

func (p *pages) app(r *http.Request) (string, any, error) {
	a, err := p.s.wholeApp(r)
	if err != nil {
		return "", nil, err
	}
	if p.s.hides(r, &a) {
		return "app", appPage{App: a.Mask()}, nil
	}
	page := appPage{App: a}
	if target := proxy.Target(a.OriginalURL); target != nil {
		page.Proxied = target.Path != "/cluster/app/"+a.ID.String() // that is this page
	}
	page.Attempts = slices.Clone(a.Attempts)
	slices.Reverse(page.Attempts) // the newest first
	if !a.State.Final() {
		// It may have ended meanwhile: then nothing waits.
		if page.Why, err = p.s.RM.Why(r.Context(), a.ID); err != nil && !errors.As(err, new(*rm.NotFound)) {
			return "", nil, err
		}
		page.Past, page.Known = byTimes(page.Why.Refused), p.known(&page.Why)
		if page.Changed, page.More, err = p.changed(r.Context(), page.Attempts); err != nil {
			return "", nil, err
		}
	}
	return "app", page, nil
}

// A nodesPage lists nodes.
type nodesPage struct {
	Nodes []rm.NodeReport
	More  int
}

func (p *pages) nodes(r *http.Request) (string, any, error) {
	nodes, err := p.s.RM.Nodes(r.Context())
	if err != nil {
		return "", nil, err
	}
	more := max(0, len(nodes)-maxRows)
	return "nodes", nodesPage{nodes[:len(nodes)-more], more}, nil
}

// A nodePage is the page of one node.
type nodePage struct {
	Node       rm.NodeReport
	Agent      *rm.AgentRow // nil for none
	Containers []rm.ContainerReport
	More       int // number of containers left out
	Masked     int // … because the reader may not view their applications
}

func (p *pages) node(r *http.Request) (string, any, error) {
	n, err := p.s.nodeOf(r)
	if err != nil {
		return "", nil, err
	}
	page, sees := nodePage{Node: *n}, p.s.sight(r)
	if page.Agent, err = p.s.shownAgent(r, sees, n); err != nil {
		return "", nil, err
	}
	all, err := p.s.RM.NodeContainers(r.Context(), n.ID)
	if err != nil {
		return "", nil, missing(err, "nodeId, "+n.ID.String()+", is not found")
	}
	if all, page.Masked, err = p.s.shownContainers(r, sees, all); err != nil {
		return "", nil, err
	}
	page.More = max(0, len(all)-maxRows)
	page.Containers = all[:len(all)-page.More]
	return "node", page, nil
}

func (p *pages) scheduler(r *http.Request) (string, any, error) {
	queues, err := p.s.RM.Queues(r.Context())
	return "scheduler", queues, err
}

// attempt and container redirect readers to the page of the application, which shows both.
func (p *pages) attempt(w http.ResponseWriter, r *http.Request) {
	id, err := ids.ParseAttempt(r.PathValue("attempt"))
	p.toApp(w, r, id.App, err)
}

func (p *pages) container(w http.ResponseWriter, r *http.Request) {
	id, err := ids.ParseContainer(r.PathValue("container"))
	p.toApp(w, r, id.Attempt.App, err)
}

func (p *pages) toApp(w http.ResponseWriter, r *http.Request, app ids.App, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
	defer cancel()
	ctx, reading := p.s.Readers.Begin(ctx, addressOf(r).String())
	defer reading.End(0)
	r = r.WithContext(ctx)
	if err != nil {
		p.problem(w, r, http.StatusNotFound, err.Error())
		return
	}
	if err := p.s.visible(r, app); err != nil {
		p.refuse(w, r, err)
		return
	}
	to := url.URL{Path: "/cluster/app/" + app.String(), RawQuery: r.URL.RawQuery}
	http.Redirect(w, r, to.String(), http.StatusFound)
}

// amountOf converts an amount in the report of an application or queue, or of the cluster or a node.
func amountOf(v any) rm.Amount {
	if r, ok := v.(heddle.Resource); ok {
		return rm.AmountOf(r)
	}
	return v.(rm.Amount)
}

// memory prints MiB for people.
func memory(v any) string {
	mib := amountOf(v).MemoryMiB
	if mib < 10<<10 {
		return strconv.FormatInt(mib, 10) + " MiB"
	}
	return strconv.FormatFloat(float64(mib)/1024, 'f', 1, 64) + " GiB"
}

// milli prints milli-vcores as vcores, with a decimal point only if needed.
func milli(n int64) string { return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) }

// cores prints vcores, with a decimal point only if needed.
func cores(v any) string { return strconv.FormatFloat(amountOf(v).Vcores, 'f', -1, 64) }

// when prints a time, or a dash if there is none.
func when(ms int64) string {
	if ms <= 0 {
		return "–"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05")
}

// brief prints a time without its year.
func brief(ms int64) string {
	if ms <= 0 {
		return "–"
	}
	return time.UnixMilli(ms).UTC().Format("Jan 2 15:04:05")
}

// since prints how long something takes or took.
func (p *pages) since(start, finish int64) string {
	if start <= 0 {
		return "–"
	}
	d := time.Duration(p.s.shape.elapsed(start, finish)) * time.Millisecond
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min " + strconv.Itoa(int(d.Seconds())%60) + " s"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h " + strconv.Itoa(int(d.Minutes())%60) + " min"
	}
	return strconv.Itoa(int(d.Hours())/24) + " days"
}

// secondsText prints a duration in seconds, with a decimal point only if needed.
func secondsText(d heddle.Span) string {
	return strconv.FormatFloat(float64(d)/float64(heddle.Second), 'f', -1, 64) + " s"
}

// percentText prints a fraction as a whole percentage.
func percentText(f rm.Fraction) string {
	return strconv.Itoa(int(100*f+0.5)) + " %"
}

// limitText describes a limit in a sentence.
func limitText(l *rm.Limit) string { return l.Text(amountText) }

// short says how much an ask lacks, by resource.
func short(k rm.PendingAsk) (out []string) {
	if k.Short.MemoryMiB > 0 {
		out = append(out, "memory: one needs "+memory(k.Need)+", and at most "+memory(k.Have)+" is left for it")
	}
	if k.Short.Vcores > 0 {
		out = append(out, "vcores: one needs "+cores(k.Need)+", and at most "+cores(k.Have)+" are left for it")
	}
	for _, name := range slices.Sorted(maps.Keys(k.Short.Extra)) {
		out = append(out, fmt.Sprintf("%s: one needs %d, and at most %d is left for it", name, k.Need.Extra[name], k.Have.Extra[name]))
	}
	return out
}

// times100 prints a fraction as a percentage without the sign.
func times100(f rm.Fraction) string { return strconv.FormatFloat(float64(100*f), 'f', 1, 64) }

// share returns which part of total is used, as the cluster counts, from 0 to 100, for bars.
func (p *pages) share(c rm.ClusterReport, used, total any) int {
	dims := func(v any) heddle.Resource {
		if a, ok := v.(rm.Amount); ok {
			return p.s.shape.dims(a)
		}
		return v.(heddle.Resource)
	}
	return int(100*min(1, rm.ShareOf(dims(used), dims(total), c.MemoryOnly)) + 0.5)
}

// mostIndent is the number of indentation steps that style.css has for nested queues.
const mostIndent = 8

// indent returns how many steps a queue is below the root.
func indent(path string) int { return min(strings.Count(path, "."), mostIndent) }
