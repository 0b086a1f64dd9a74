package policies

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle/policies/adaptcont"
	"heddle/policies/backfill"
	"heddle/policies/coupling"
	"heddle/policies/delay"
	"heddle/policies/dress"
	"heddle/policies/even"
	"heddle/policies/ikayak"
	"heddle/policies/masters"
	"heddle/policies/mrorchestrator"
	"heddle/policies/newcomers"
	"heddle/policies/shortest"
	"heddle/policies/slowstart"
	"heddle/policies/uncrowded"
)

// documented lists the options whose defaults docs/mechanisms.md gives, by the section and by what the table or its row
// is about.
var documented = map[string]any{
	"DRESS: the share":                      dress.Default,
	"DRESS: the estimate":                   dress.DefaultEstimate,
	"Coupling Scheduler: coupling.mismatch": coupling.DefaultMismatch,
	"Coupling Scheduler: coupling.wait":     coupling.DefaultWait,
	"Coupling Scheduler: coupling.peek":     coupling.DefaultPeek,
	"iKayak: ikayak.fuzzy":                  ikayak.DefaultRemaining,
	"iKayak: ikayak.suspend":                ikayak.SuspendDefault,
	"iKayak: ikayak.shrink":                 ikayak.ShrinkDefault,
	"iKayak: ikayak.local":                  ikayak.LocalDefault,
	"AdaptCont: both":                       adaptcont.Default,
	"MROrchestrator: both":                  mrorchestrator.Default,
	"Heddle's own: shortest":                shortest.Default,
	"Heddle's own: newcomers":               newcomers.Default,
	"Heddle's own: uncrowded":               uncrowded.Default,
	"Heddle's own: even":                    even.Default,
	"Heddle's own: masters":                 masters.Default,
	"Heddle's own: backfill":                backfill.Default,
	"Baselines: slowstart":                  slowstart.Default,
	"Baselines: delay":                      delay.Default,
}

// inWords lists defaults that the page writes differently than YAML does.
var inWords = map[string]any{
	"by the lane":               0,
	"by formula":                (*float64)(nil),
	"none: it must be given":    "",
	"{memory: 1024, vcores: 1}": adaptcont.Container{Memory: 1024, Vcores: 1},
	"512/1 to 250, 1024/2 to 500, 2048/4": []adaptcont.Predefined{
		{Memory: 512, Vcores: 1, Serves: 250}, {Memory: 1024, Vcores: 2, Serves: 500}, {Memory: 2048, Vcores: 4},
	},
}

// A row is what a line of the page says about some options.
type row struct {
	of       string   // a key of [documented]
	options  []string // those on one line
	defaults []string // one for all, or one for each
	heddle   string   // what the profile sets, in the table that has that
}

// Every option has a line in docs/mechanisms.md with its actual default, and with what the profile heddle sets.
func TestOptionsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/mechanisms.md")
	if err != nil {
		t.Fatal(err)
	}
	heddle, err := Load("heddle", nil)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{}
	for _, r := range rows(string(text)) {
		o, ok := documented[r.of]
		if !ok {
			continue
		}
		has := options(reflect.ValueOf(o))
		for i, name := range r.options {
			said[r.of] = append(said[r.of], name)
			value, ok := has[name]
			if !ok {
				t.Errorf("%s has no option %s", r.of, name)
				continue
			}
			is := r.defaults[min(i, len(r.defaults)-1)]
			if word, ok := inWords[is]; ok {
				is = fmt.Sprint(word)
			}
			if is != fmt.Sprint(value) {
				t.Errorf("%s, %s: the page has %s, the default is %v", r.of, name, is, value)
			}
			policy := strings.TrimPrefix(r.of, "Heddle's own: ")
			if set := setTo(heddle, policy, name); policy != r.of && set != r.heddle {
				t.Errorf("%s, %s: the page has %q for heddle, which sets %q", r.of, name, r.heddle, set)
			}
		}
	}
	for of, o := range documented {
		for name := range options(reflect.ValueOf(o)) {
			if _, estimates := options(reflect.ValueOf(dress.DefaultEstimate))[name]; of == "DRESS: the share" && estimates {
				continue // in its own table
			}
			if !slices.Contains(said[of], name) {
				t.Errorf("%s: the page has no line for %s", of, name)
			}
		}
	}
}

// rows reads the lines of the page's tables of options.
func rows(text string) (out []row) {
	section, of, table := "", "", ""
	for line := range strings.SplitSeq(text, "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = title
		}
		if !strings.HasPrefix(line, "|") {
			table = ""
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "−", "-")
		}
		if table == "" {
			table = cells[0]
			of, _, _ = strings.Cut(strings.Trim(strings.TrimPrefix(table, "option of "), "`"), " (")
			continue
		}
		at := 0
		if table == "option of" || !strings.HasPrefix(table, "option of ") { // the row names its policy
			if cells[0] != "" {
				name, _, _ := strings.Cut(cells[0], ",")
				of = strings.Trim(name, "`")
			}
			if at = 1; section == "Baselines" {
				at = 2
			}
		}
		if len(cells) < at+2 || !strings.HasPrefix(cells[at], "`") {
			continue
		}
		r := row{of: section + ": " + of, options: list(cells[at]), defaults: list(cells[at+1])}
		if _, ok := inWords[strings.Trim(cells[at+1], "`")]; ok || len(r.options) == 1 {
			r.defaults = []string{strings.Trim(cells[at+1], "`")}
		}
		if section == "Heddle's own" && len(cells) > at+3 {
			r.heddle = cells[at+3]
		}
		out = append(out, r)
	}
	return out
}

// list returns the parts of a cell.
func list(cell string) (out []string) {
	for part := range strings.SplitSeq(cell, ", ") {
		out = append(out, strings.Trim(part, "` "))
	}
	return out
}

// options returns the fields of options by the names that profiles use for them.
func options(of reflect.Value) map[string]any {
	out := map[string]any{}
	for i := range of.NumField() {
		name, more, _ := strings.Cut(of.Type().Field(i).Tag.Get("yaml"), ",")
		switch {
		case more == "inline":
			maps.Copy(out, options(of.Field(i)))
		case name != "" && name != "-":
			out[name] = of.Field(i).Interface()
		}
	}
	return out
}

// setTo returns what a profile sets an option of a policy to, or "" if it does not set it.
func setTo(p *Profile, policy, option string) string {
	found := ""
	var look func(x any)
	look = func(x any) {
		switch x := x.(type) {
		case []any:
			for _, y := range x {
				look(y)
			}
		case map[string]any:
			for name, y := range x {
				if o, ok := y.(map[string]any); ok && name == policy && o[option] != nil {
					found = fmt.Sprint(o[option])
				}
				look(y)
			}
		}
	}
	for _, lane := range p.Lanes {
		look(lane.Order)
	}
	look(p.Share)
	look(p.Place)
	look(p.Book)
	look(p.Control)
	return found
}
