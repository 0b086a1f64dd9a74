package report

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"heddle/internal/testkit/browser"
)

// serve serves a page and records which other requests are made.
func serve(t *testing.T, page []byte) (address string, others func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			mu.Lock()
			asked = append(asked, r.URL.Path)
			mu.Unlock()
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/", func() []string { mu.Lock(); defer mu.Unlock(); return asked }
}

// complaints collects the browser's messages about a page, and what the page requests from the network.
func complaints(t *testing.T, ctx context.Context) func() []string {
	t.Helper()
	var mu sync.Mutex
	var all []string
	add := func(s string) { mu.Lock(); defer mu.Unlock(); all = append(all, s) }
	err := chromedp.Listen(ctx, func(ev any) {
		switch e := ev.(type) {
		case *runtime.EventConsoleAPICalled:
			add("console: " + string(e.Type))
		case *runtime.EventExceptionThrown:
			add("exception: " + e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			add("log: " + e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if e.Type != network.ResourceTypeDocument && !strings.HasPrefix(e.Request.URL, "data:") {
				add("request: " + e.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() []string { mu.Lock(); defer mu.Unlock(); return append([]string(nil), all...) }
}

// paint chooses the colour scheme that pages are asked to use.
func paint(scheme string) chromedp.Action[chromedp.Void] {
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, media)
		return err
	})
}

// show loads a page in a viewport and a colour scheme.
func show(address string, width, height int64, scheme string) chromedp.Action[chromedp.Void] {
	prepare := func(ctx context.Context, tab *chromedp.Target) error {
		if _, err := cdp.Call(ctx, tab, log.Enable, cdp.Empty{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, tab, network.Enable, network.EnableParams{})
		return err
	}
	return chromedp.Steps(chromedp.EmulateViewport(width, height), chromedp.Func(prepare), paint(scheme),
		chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("footer")))
}

// ask evaluates an expression in the page.
func ask[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Finds elements that are wider than their box, unless the box scrolls. Texts inside images count as well: they must
// stay inside the image.
const overflowing = `(() => {
  const out = [];
  if (document.documentElement.scrollWidth > innerWidth) out.push("page: " + document.documentElement.scrollWidth);
  for (const e of document.querySelectorAll("main *, header *, footer *")) {
    if (e.closest(".scroll, details")) continue;
    const r = e.getBoundingClientRect();
    if (r.width && r.right > innerWidth + 0.5) out.push(e.tagName + "." + e.getAttribute("class") + ": " + r.right);
  }
  for (const text of document.querySelectorAll("svg.plot text")) {
    const t = text.getBoundingClientRect(), s = text.closest("svg").getBoundingClientRect();
    if (t.left < s.left - 1 || t.right > s.right + 1 || t.bottom > s.bottom + 1) out.push("text outside its image: " + text.textContent);
  }
  return out;
})()`

// Finds labels of one image that overlap.
const colliding = `(() => {
  const out = [];
  for (const svg of document.querySelectorAll("svg.plot")) {
    const all = [...svg.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]);
    for (let i = 0; i < all.length; i++) for (let k = i + 1; k < all.length; k++) {
      const [s, a] = all[i], [t, b] = all[k];
      const w = Math.min(a.right, b.right) - Math.max(a.left, b.left), h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (w > 1 && h > 4) out.push(s + " / " + t);
    }
  }
  return out;
})()`

func TestPageInBrowser(t *testing.T) {
	ctx := browser.Start(t)
	six := usual()
	six.profiles = append(six.profiles, "fair+coupling", "dress", "a-profile-with-quite-a-long-name-indeed")
	six.incomplete, six.longestName = true, true
	one := usual()
	one.profiles, one.seeds = one.profiles[:1], 1
	for _, f := range []struct {
		name string
		fixture
	}{{"three", usual()}, {"six", six}, {"one", one}, {"watched", watched()}} {
		var page bytes.Buffer
		if err := HTML(&page, f.build()); err != nil {
			t.Fatal(err)
		}
		address, others := serve(t, page.Bytes())
		for _, width := range []int64{1280, 390} {
			backgrounds := map[string]bool{}
			tab, cancel := chromedp.NewContext(ctx)
			said := complaints(t, tab)
			for i, scheme := range []string{"light", "dark"} {
				look := paint(scheme) // the same page in other colours
				if i == 0 {
					look = show(address, width, 900, scheme)
				}
				if err := chromedp.Do(tab, look); err != nil {
					t.Fatalf("%s at %d, %s: %v", f.name, width, scheme, err)
				}
				if wide := ask[[]string](t, tab, overflowing); len(wide) > 0 {
					t.Errorf("%s at %d: too wide: %q", f.name, width, wide)
				}
				if labels := ask[[]string](t, tab, colliding); len(labels) > 0 {
					t.Errorf("%s at %d: labels on each other: %q", f.name, width, labels)
				}
				backgrounds[ask[string](t, tab, `getComputedStyle(document.body).backgroundColor`)] = true
				if s := said(); len(s) > 0 {
					t.Errorf("%s at %d, %s: the browser complains: %q", f.name, width, scheme, s)
				}
			}
			cancel()
			if len(backgrounds) != 2 {
				t.Errorf("%s at %d: the colour schemes have the same background %v", f.name, width, backgrounds)
			}
		}
		if o := others(); len(o) > 0 {
			t.Errorf("%s: the page asked the network for %q", f.name, o)
		}
	}
}

func TestPageIsInteractive(t *testing.T) {
	ctx := browser.Start(t)
	var page bytes.Buffer
	if err := HTML(&page, usual().build()); err != nil {
		t.Fatal(err)
	}
	address, _ := serve(t, page.Bytes())
	visible := `[...document.querySelectorAll("figure.card")].filter(e => e.offsetParent !== null).length`
	if err := chromedp.Do(ctx, show(address, 1280, 900, "light")); err != nil {
		t.Fatal(err)
	}
	before := ask[int](t, ctx, visible)
	if err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS("#show1"))); err != nil {
		t.Fatal(err)
	}
	after := ask[int](t, ctx, visible)
	lit := ask[int](t, ctx, `(() => {
		const bar = document.querySelector(".gantt [data-j]");
		bar.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
		return bar.closest("svg").querySelectorAll(".on").length;
	})()`)
	plain := ask[int](t, ctx, `(() => {
		const chart = document.querySelector(".gantt");
		chart.dispatchEvent(new PointerEvent("pointerleave"));
		return chart.querySelectorAll(".on").length + chart.classList.contains("lit");
	})()`)
	colours := `(() => new Set([...document.querySelectorAll(".gantt g.k1 rect")].map(e => getComputedStyle(e).fill)).size)()`
	byKind, kinds := ask[int](t, ctx, colours), ask[bool](t, ctx, `document.querySelector(".ofkind").offsetParent !== null`)
	if err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS("#byjob"))); err != nil {
		t.Fatal(err)
	}
	if byJob := ask[int](t, ctx, colours); byKind != 1 || byJob < 6 {
		t.Errorf("maps have %d colours by kind and %d by job; want 1 and several", byKind, byJob)
	}
	if hidden := ask[bool](t, ctx, `document.querySelector(".ofkind").offsetParent === null`); !kinds || !hidden {
		t.Errorf("the key of kinds is shown by kind: %v; hidden by job: %v", kinds, hidden)
	}
	// One profile fewer: its two time lines, its chart of nodes, and its jobs against the first profile's.
	if before-after != 4 {
		t.Errorf("hiding a profile hid %d of %d figures, want 4", before-after, before)
	}
	if lit == 0 || plain != 0 {
		t.Errorf("pointing at a container lit %d, leaving left %d; want some and none", lit, plain)
	}
}
