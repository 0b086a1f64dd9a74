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

// Elsewhere lets this program do something in a separate process, which an environment variable tells it, and whose
// niceness is nice. The process reads ask and writes answer, as JSON.
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

// tick is the unit of times in /proc, on every machine that Go supports.
const tick = 0.01

// CPU returns the processor time that a process has used so far, in seconds.
func CPU(pid string) (float64, error) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, err
	}
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // from the third field on
	return sum(f[11:13])
}

// CPUs returns the time of all processors so far, and how much of it they were idle, in seconds.
func CPUs() (all, spare float64, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	f := bytes.Fields(line)
	if all, err = sum(f[1:9]); err != nil { // guest time is included in other fields
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

// Resident returns the resident memory of a process, in MiB.
func Resident(pid string) (float64, error) {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, err
	}
	return number(`(?m)^VmRSS:\s+(\d+) kB`, string(text), 1.0/1024)
}

// Descriptors returns how many files and connections a process has open.
func Descriptors(pid string) (int, error) {
	list, err := os.ReadDir("/proc/" + pid + "/fd")
	return len(list), err
}

// A Metrics is what a ResourceManager returns at /metrics.
type Metrics string

// ReadMetrics asks the ResourceManager whose web server is at an address.
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

// Value returns the value of a metric; the name includes its labels.
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
