package conf

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "rewrite golden files")

// The report of a folder holds everything that was read and everything that was not.
func TestReportGolden(t *testing.T) {
	for _, dir := range []string{"nested", "drf"} {
		t.Run(dir, func(t *testing.T) {
			r, err := CheckFile(filepath.Join("testdata", dir))
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := r.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", dir+".golden")
			if *rewrite {
				if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), b.String()); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// What a configuration asks for and does not get is told last, once each, with every property that asks for it. What
// is switched off in the files is not told, nor what ends the start anyway.
func TestReportTellsWhatIsOff(t *testing.T) {
	asks := map[string]string{ // property and value that ask, and what is told
		"yarn.resourcemanager.scheduler.monitor.enable=true":                   preemptText,
		"yarn.scheduler.fair.preemption=true":                                  preemptText,
		"yarn.node-labels.enabled=true":                                        labelText,
		csPrefix + "root.a.accessible-node-labels=gpu":                         labelText,
		csPrefix + "root.b.default-node-label-expression=gpu":                  labelText,
		csPrefix + "mapping-rule-format=json":                                  "JSON mapping rules are not read; applications go to the queue they name",
		csPrefix + "root.a.maximum-application-lifetime=3600":                  lifeText,
		csPrefix + "root.b.default-application-lifetime=60":                    lifeText,
		csPrefix + "root.a.reservable=true":                                    reserveText,
		"yarn.resourcemanager.reservation-system.enable=true":                  reserveText,
		"yarn.system-metrics-publisher.enabled=true":                           timelineText,
		"yarn.resourcemanager.system-metrics-publisher.enabled=true":           timelineText,
		"yarn.federation.enabled=true":                                         "no federation",
		"yarn.resourcemanager.resource-profiles.enabled=true":                  "no resource profiles",
		"yarn.resourcemanager.application-https.policy=STRICT":                 "keys of YARN's own",
		"yarn.resourcemanager.resource-tracker.nm.ip-hostname-check=true":      "are not looked up",
		"yarn.resourcemanager.nodemanager.minimum.version=3.0.0":               "NodeManagers of every version",
		"yarn.resourcemanager.webapp.cross-origin.enabled=true":                "no page of another site",
		"yarn.webapp.filter-entity-list-by-user=true":                          "applications of all users",
		"yarn.webapp.ui2.enable=true":                                          "/ui2",
		"yarn.authorization-provider=org.example.Ranger":                       "access lists are those",
		"hadoop.http.authentication.type=kerberos":                             "callers over HTTP are not authenticated",
		"yarn.resourcemanager.store.class=org.example.ZKRMStateStore":          "another store",
		"yarn.scheduler.configuration.store.class=zk":                          "another store",
		"yarn.resourcemanager.placement-constraints.handler=scheduler":         "placement constraints",
		"yarn.resourcemanager.submission-preprocessor.enabled=true":            "by the host they come from",
		"yarn.resourcemanager.opportunistic-container-allocation.enabled=true": "guaranteed",
	}
	off := []string{
		"yarn.resourcemanager.scheduler.monitor.enable=false", "yarn.node-labels.enabled=false", "yarn.authorization-provider=",
		csPrefix + "root.a.maximum-application-lifetime=-1", csPrefix + "root.b.default-application-lifetime=0", "yarn.scheduler.configuration.store.class=file",
		"yarn.resourcemanager.application-https.policy=NONE", "yarn.resourcemanager.nodemanager.minimum.version=NONE", "hadoop.http.authentication.type=simple",
		"yarn.resourcemanager.scheduler.monitor.policies=org.example.Preempts",
	}
	last := func(line string) string {
		h, l := disk{yarnSite: props(line + "\n" + RetryName + "=1000"), capacityFile: cs(two)}.load()
		if err := l.err(); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := (&Report{Path: "DIR", Hadoop: h, Notices: h.Notices}).WriteText(&b); err != nil {
			t.Fatal(err)
		}
		_, told, _ := strings.Cut(b.String(), "\noff under Heddle, though it is configured:\n")
		return told
	}
	for line, want := range asks {
		name, _, _ := strings.Cut(line, "=")
		if got := last(line); !strings.Contains(got, want) || !strings.HasSuffix(got, "\n    yarn-site.xml:2: "+name+"\n\nDIR: ok\n") {
			t.Errorf("%s: want %q at the end, got %q", line, want, got)
		}
	}
	for _, line := range off {
		if got := last(line); got != "" {
			t.Errorf("%s: %q", line, got)
		}
	}
	both := "yarn.node-labels.enabled=true\n" + csPrefix + "root.a.accessible-node-labels=gpu"
	if got, want := last(both), "  "+labelText+"\n    yarn-site.xml:2: yarn.node-labels.enabled\n    yarn-site.xml:3: "+csPrefix+"root.a.accessible-node-labels\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What heddle rm does not start with is told apart from what is merely off.
func TestReportTellsWhatIsRefused(t *testing.T) {
	h, _ := disk{yarnSite: props("yarn.resourcemanager.ha.enabled=true\nyarn.resourcemanager.nodes.include-path=/nowhere")}.load()
	var b strings.Builder
	if err := (&Report{Path: "DIR", Hadoop: h, Notices: h.Notices}).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	_, refused, _ := strings.Cut(got, "\nheddle rm does not start with:\n")
	if !strings.Contains(refused, "yarn-site.xml:2: yarn.resourcemanager.ha.enabled: is true") || !strings.Contains(refused, "yarn-site.xml:3: yarn.resourcemanager.nodes.include-path: ") ||
		strings.Contains(got, "off under Heddle") {
		t.Errorf("got\n%s", got)
	}
}
