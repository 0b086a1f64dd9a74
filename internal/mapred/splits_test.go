package mapred

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// recorded returns the splits of Hadoop's pi example with four maps.
func recorded(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("../../daemon/facts/testdata/pi.splitmetainfo")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSplits(t *testing.T) {
	const header = "META-SPL"
	for name, tt := range map[string]struct{ text, want string }{
		"none":           {header + "\x01\x00", ""},
		"no header":      {"SPL\x01\x00", "does not begin"},
		"another time":   {header + "\x02\x00", "version 2"},
		"cut off":        {header + "\x01", "too early"},
		"too few":        {header + "\x01\x02\x00\x07\x01", "too early"},
		"below nothing":  {header + "\x01\x90", "splits"},
		"very many":      {header + "\x01\x8c\x7f\xff\xff\xff", "2147483647 splits"},
		"many hosts":     {header + "\x01\x01\x8f\xff", "a split on 255 hosts"},
		"a long name":    {header + "\x01\x01\x01\x8e\x01\x00", "a host's name of 256 bytes"},
		"a short name":   {header + "\x01\x01\x01\xff", "a host's name of -1 bytes"},
		"minus one byte": {header + "\x01\x01\x00\x07\xff", ""},
	} {
		got, err := ParseSplits([]byte(tt.text))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		for _, s := range got {
			if s.Bytes < 0 {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

func TestRecordedSplits(t *testing.T) {
	got, err := ParseSplits(recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for _, s := range got {
		hosts = append(hosts, s.Hosts...)
		if s.Bytes != 118 {
			t.Errorf("%+v", s)
		}
	}
	if want := []string{"127.0.0.3", "127.0.0.3", "127.0.0.3", "127.0.0.2"}; !slices.Equal(hosts, want) {
		t.Errorf("hosts %v, want %v", hosts, want)
	}
}

// FuzzSplits looks for a file that breaks the reader or from which it accepts something impossible.
func FuzzSplits(f *testing.F) {
	f.Add(recorded(f))
	f.Add([]byte("META-SPL\x01\x01\x01\x02n1\x07\x64"))
	f.Fuzz(func(t *testing.T, data []byte) {
		splits, err := ParseSplits(data)
		if err != nil && splits != nil {
			t.Errorf("%v with %v", splits, err)
		}
		for _, s := range splits {
			if s.Bytes < 0 || len(s.Hosts) > maxSplitHosts {
				t.Errorf("%+v", s)
			}
		}
	})
}
