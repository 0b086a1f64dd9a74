package rm

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"heddle"
)

func TestAmounts(t *testing.T) {
	for _, x := range []struct {
		in    heddle.Resource
		extra []string
		json  string
	}{
		{heddle.Resource{}, nil, `{"memory_mib":0,"vcores":0}`},
		{heddle.Of(1024, 1500), nil, `{"memory_mib":1024,"vcores":1.5}`},
		{heddle.Of(-1, -333), []string{"gpu"}, `{"memory_mib":-1,"vcores":-0.333}`},
		{heddle.Resource{1, 1, 0, 7}, []string{"gpu", "fpga"}, `{"memory_mib":1,"vcores":0.001,"extra":{"fpga":7}}`},
	} {
		a := AmountOf(x.in, x.extra...)
		text, err := json.Marshal(a)
		if err != nil || string(text) != x.json {
			t.Errorf("%v is %s, %v; want %s", x.in, text, err, x.json)
		}
		var back Amount
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, a) || back.Resource(x.extra...) != x.in {
			t.Errorf("%s reads as %v, %v", text, back, err)
		}
		if a.IsZero() != x.in.IsZero() {
			t.Errorf("%v: zero is %v", x.in, a.IsZero())
		}
	}
}

func TestFractions(t *testing.T) {
	for f, want := range map[Fraction]string{
		0: "0", 1: "100", 0.07: "7", 1. / 3: "33.333", 1.5: "150", -1: "-1", -0.2: "-1", Fraction(math.NaN()): "-1", Fraction(math.Inf(1)): "-1",
	} {
		text, err := json.Marshal(f)
		if err != nil || string(text) != want {
			t.Errorf("%g is %s, %v; want %s", float64(f), text, err, want)
		}
		var back Fraction
		if err := json.Unmarshal(text, &back); err != nil || want == "-1" && back != -1 || want != "-1" && math.Abs(float64(back-f)) > 1e-5 {
			t.Errorf("%s reads as %g, %v", text, float64(back), err)
		}
	}
	f := Fraction(0.5)
	if err := json.Unmarshal([]byte("null"), &f); err != nil || f != 0.5 {
		t.Errorf("null reads as %g, %v", float64(f), err)
	}
	if err := json.Unmarshal([]byte(`"7 %"`), &f); err == nil {
		t.Error("a text is read as a fraction")
	}
}
