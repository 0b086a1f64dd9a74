package ids

import "testing"

func TestParseTaskAttempt(t *testing.T) {
	type parsed struct {
		app    App
		reduce bool
		task   int32
		ok     bool
	}
	app := App{1700000000000, 12}
	for s, want := range map[string]parsed{
		"attempt_1700000000000_0012_m_000003_0":  {app, false, 3, true},
		"attempt_1700000000000_0012_r_000000_11": {app, true, 0, true},
		"attempt_1700000000000_0012_r_000000":    {},
		"attempt_1700000000000_0012_x_000000_0":  {},
		"attempt_1700000000000_m_000000_0":       {},
		"attempt_1_2_m_9999999999_0":             {},
		"attempt_1_2_m_-1_0":                     {},
		"executor_1":                             {},
		"":                                       {},
	} {
		var got parsed
		if got.app, got.reduce, got.task, got.ok = ParseTaskAttempt(s); got != want {
			t.Errorf("%q: %+v, want %+v", s, got, want)
		}
	}
}
