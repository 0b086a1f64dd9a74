package report

import (
	"math"
	"testing"

	"heddle"
)

func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		s    float64
		want string
	}{
		{math.NaN(), "–"},
		{0, "0 s"},
		{0.0421, "0.042 s"},
		{0.0949, "0.095 s"},
		{0.0951, "0.1 s"},
		{3.42, "3.4 s"},
		{12.34, "12.3 s"},
		{59.94, "59.9 s"},
		{59.96, "1 m 0 s"},
		{250, "4 m 10 s"},
		{3599.4, "59 m 59 s"},
		{3599.6, "1 h 0 m"},
		{4320, "1 h 12 m"},
		{47.99 * 3600, "47 h 59 m"},
		{48 * 3600, "2 d 0 h"},
		{53 * 3600, "2 d 5 h"},
		{2000 * 86400, "2,000 d 0 h"},
	} {
		if got := seconds(c.s); got != c.want {
			t.Errorf("seconds(%v) = %q, want %q", c.s, got, c.want)
		}
	}
}

func TestOtherFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{percent(0.8766), "87.7 %"},
		{percent(1), "100.0 %"},
		{percent(math.NaN()), "–"},
		{ratio(1.316), "1.32 ×"},
		{ratio(math.NaN()), "–"},
		{count(0), "0"},
		{count(999), "999"},
		{count(5894), "5,894"},
		{count(1234567), "1,234,567"},
		{count(-1234), "-1,234"},
		{count(59.8), "59.8"},
		{count(1234.56), "1,234.6"},
		{count(-999.96), "-1,000.0"},
		{count(math.NaN()), "–"},
		{threeDigits(999.4), "999"},
		{threeDigits(-999.6), "-1,000"},
		{tick(30), "30 s"},
		{tick(0.5), "0.5 s"},
		{tick(59.9999), "60 s"},
		{tick(600), "10 m"},
		{tick(5400), "1 h 30 m"},
		{tick(36000), "10 h"},
		{tick(86400 * 3), "3 d"},
		{clock(heddle.Time(heddle.Seconds(12.34))), "12.3 s"},
		{clock(heddle.Time(heddle.Seconds(59.97))), "1 m 0 s"},
		{clock(heddle.Time(heddle.Seconds(36725.3))), "10 h 12 m 5.3 s"},
		{clock(heddle.Time(heddle.Seconds(3605))), "1 h 0 m 5 s"},
		{between("3.9 s", "4.6 s"), "3.9–4.6 s"},
		{between("1 h 4 m", "1 h 9 m"), "1 h 4–9 m"},
		{between("59.1 s", "2 m 26 s"), "59.1 s–2 m 26 s"},
		{between("5 m 43 s", "6 m 36 s"), "5 m 43 s–6 m 36 s"},
		{between("4 s", "4 s"), "4 s"},
		{between("59", "60"), "59–60"},
		{between("0 s", "1.2 s"), "0–1.2 s"},
		{seedRange([]uint64{1, 2, 3, 4, 5}), "1–5"},
		{seedRange([]uint64{1, 3, 9}), "1, 3, 9"},
		{seedRange([]uint64{7}), "7"},
		{seedRange(nil), ""},
		{some(1, "job", "jobs"), "1 job"},
		{some(5894, "job", "jobs"), "5,894 jobs"},
		{short("capacity", 8), "capacity"},
		{short("capacity", 7), "capaci…"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
