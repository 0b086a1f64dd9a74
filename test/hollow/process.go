package hollow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
)

// Elsewhere has this program do something in a process of its own, which a variable of its environment tells it, and which gets
// less of the processors than others, by so much. The process reads ask, and writes answer, as JSON.
func Elsewhere(ctx context.Context, variable string, nice int, ask, answer any) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "nice", "-n", strconv.Itoa(nice), exe)
	cmd.Env, cmd.Stdin, cmd.Stderr = append(os.Environ(), variable+"=1"), bytes.NewReader(text), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	return json.Unmarshal(out, answer)
}

// tick is the unit of times in /proc, on every machine that Go knows.
const tick = 0.01

// CPU is the processor time of a process so far, in seconds.
func CPU(pid string) (float64, error) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, err
	}
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // from the third on
	return sum(f[11:13])
}

// CPUs is the time of all processors so far, and that in which they had nothing to do, in seconds.
func CPUs() (all, spare float64, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	f := bytes.Fields(line)
	if all, err = sum(f[1:9]); err != nil { // guests are counted among the others
		return 0, 0, err
	}
	spare, err = sum(f[4:6])
	return all, spare, err
}

func sum(fields [][]byte) (seconds float64, err error) {
	for _, f := range fields {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, err
		}
		seconds += float64(n) * tick
	}
	return seconds, nil
}

// Resident is the memory of a process, in MiB.
func Resident(pid string) (float64, error) {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, err
	}
	return number(`(?m)^VmRSS:\s+(\d+) kB`, string(text), 1.0/1024)
}

// Descriptors is how many files and connections a process has open.
func Descriptors(pid string) (int, error) {
	list, err := os.ReadDir("/proc/" + pid + "/fd")
	return len(list), err
}

// A Metrics is what a ResourceManager says under /metrics.
type Metrics string

// ReadMetrics asks the ResourceManager whose web server has an address.
func ReadMetrics(ctx context.Context, web string) (Metrics, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+web+"/metrics", nil)
	if err != nil {
		return "", err
	}
	p, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(p.Body)
	_ = p.Body.Close() // all of it was read, or err says why not
	return Metrics(text), err
}

// Value is that of a metric, with the labels that it has.
func (m Metrics) Value(name string) (float64, error) {
	return number("(?m)^"+regexp.QuoteMeta(name)+` (\S+)`, string(m), 1)
}

func number(pattern, text string, unit float64) (float64, error) {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("there is no %s in %.200q", pattern, text)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	return n * unit, err
}
