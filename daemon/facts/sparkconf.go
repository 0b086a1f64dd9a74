package facts

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"heddle"
)

const (
	sparkFile     = "__spark_conf__.properties"
	maxProperties = 1 << 20 // bytes of the uncompressed file

	maxExecutors      = 1_000_000
	maxExecutorMemory = 1 << 30   // MiB
	maxExecutorCores  = 1_000_000 // vcores
)

// sparkProperties reads an application's properties from the archive that spark-submit makes.
func sparkProperties(packed []byte) (map[string]string, error) {
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if f.Name != sparkFile {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = r.Close() }() // it was only read
		text, err := io.ReadAll(io.LimitReader(r, maxProperties+1))
		if err == nil && len(text) > maxProperties {
			err = fmt.Errorf("%s has more than %d bytes", sparkFile, maxProperties)
		}
		if err != nil {
			return nil, err
		}
		return parseProperties(string(text)), nil
	}
	return nil, errors.New("has no " + sparkFile)
}

// parseProperties parses Java properties as Java writes them: one name=value per line, with a backslash before
// characters that would otherwise have a meaning.
func parseProperties(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), " \t\f")
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		name, rest := unescape(line, "=: \t\f")
		rest = strings.TrimLeft(rest, " \t\f")
		if rest != "" && (rest[0] == '=' || rest[0] == ':') {
			rest = strings.TrimLeft(rest[1:], " \t\f")
		}
		value, _ := unescape(rest, "")
		out[name] = value
	}
	return out
}

// unescape reads up to the first stop without a backslash before it. rest is what follows from there on.
func unescape(s, stops string) (text, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if strings.IndexByte(stops, c) >= 0 {
			return b.String(), s[i:]
		}
		if c != '\\' || i+1 == len(s) {
			b.WriteByte(c)
			continue
		}
		i++
		switch c = s[i]; c {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			if n, err := strconv.ParseUint(s[i+1:min(i+5, len(s))], 16, 16); err == nil {
				b.WriteRune(rune(n))
				i += 4
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// sparkDemand returns what an application's executors hold at once. It is nothing if allocation is dynamic and names no
// initial number. The defaults are those of Spark on YARN.
func sparkDemand(p map[string]string) (heddle.Demand, error) {
	var d heddle.Demand
	s := &sizes{p: p}
	heap := s.mib("spark.executor.memory", 1024)
	least := s.mib("spark.executor.minMemoryOverhead", 384)
	part := s.fraction("spark.executor.memoryOverheadFactor", 0.10)
	overhead := "spark.executor.memoryOverhead"
	if strings.TrimSpace(p[overhead]) == "" { // the name before Spark 2.3, which still counts
		overhead = "spark.yarn.executor.memoryOverhead"
	}
	memory := heap + s.mib(overhead, max(least, int64(part*float64(heap))))
	if s.is("spark.memory.offHeap.enabled") {
		memory += s.bytes("spark.memory.offHeap.size")
	}
	if s.is("spark.yarn.isPython") {
		memory += s.mib("spark.executor.pyspark.memory", 0)
	}
	cores := s.number("spark.executor.cores", 1)
	n := s.number("spark.executor.instances", 2)
	if s.is("spark.dynamicAllocation.enabled") {
		n = max(s.number("spark.executor.instances", 0), s.number("spark.dynamicAllocation.initialExecutors", 0), s.number("spark.dynamicAllocation.minExecutors", 0))
	}
	switch {
	case s.err != nil:
		return d, s.err
	case n > maxExecutors || cores > maxExecutorCores || memory > maxExecutorMemory:
		return d, fmt.Errorf("implausible: %d executors of %d MiB and %d vcores", n, memory, cores)
	case n > 0:
		d = heddle.Demand{Containers: int32(n), Each: heddle.Of(memory, 1000*cores)}
	}
	return d, nil
}

// sizes reads values. After the first error, err is set and the values must not be used.
type sizes struct {
	p   map[string]string
	err error
}

// is reports whether a property is true.
func (s *sizes) is(name string) bool { return strings.EqualFold(strings.TrimSpace(s.p[name]), "true") }

// number reads a count.
func (s *sizes) number(name string, otherwise int64) int64 {
	v := strings.TrimSpace(s.p[name])
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil || n < 0 {
		return s.bad(name, v)
	}
	return n
}

// fraction reads a fraction.
func (s *sizes) fraction(name string, otherwise float64) float64 {
	v := strings.TrimSpace(s.p[name])
	if v == "" {
		return otherwise
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1000 {
		s.bad(name, v)
		return 0
	}
	return f
}

// units are the suffixes of sizes, in bytes.
var units = []struct {
	name string
	is   int64
}{
	{"kb", 1 << 10},
	{"mb", 1 << 20},
	{"gb", 1 << 30},
	{"tb", 1 << 40},
	{"pb", 1 << 50},
	{"k", 1 << 10},
	{"m", 1 << 20},
	{"g", 1 << 30},
	{"t", 1 << 40},
	{"p", 1 << 50},
	{"b", 1},
}

// mib reads a size in MiB; a size without a unit is in MiB.
func (s *sizes) mib(name string, otherwise int64) int64 { return s.size(name, 1<<20, otherwise) }

// bytes reads a size in MiB; a size without a unit is in bytes.
func (s *sizes) bytes(name string) int64 { return s.size(name, 1, 0) }

func (s *sizes) size(name string, unit, otherwise int64) int64 {
	v := strings.ToLower(strings.TrimSpace(s.p[name]))
	if v == "" {
		return otherwise
	}
	digits := v
	for _, u := range units {
		if d, ok := strings.CutSuffix(v, u.name); ok {
			digits, unit = d, u.is
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return s.bad(name, v)
	}
	return n * unit >> 20
}

// bad records an unusable value and returns 0.
func (s *sizes) bad(name, value string) int64 {
	if s.err == nil {
		s.err = fmt.Errorf("%s: %.60q is not a valid value", name, value)
	}
	return 0
}
