// Command vm runs the node agent's tests on control groups of version 2 and under systemd, in a small virtual machine
// that emulates every instruction (QEMU without KVM), so that it runs anywhere. The machine's system is Debian's: a
// cloud kernel, systemd and D-Bus, fetched with apt from where this machine gets its packages, and kept in the cache of
// package hadoop. All of it is in memory.
//
//	go run ./test/vm [-within D]
//
// It ends with an error if a test fails or a test that must pass there did not run.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"heddle/internal/testkit/hadoop"
)

// A suite is a package whose tests run in the machine.
type suite struct {
	pkg  string
	args string   // for its test program
	must []string // tests that have to pass
}

var suites = []suite{
	{"./node/groups", "", []string{"TestV2", "TestYarnsGroupOnV2", "TestRatioOnV2", "TestMemoryOnV2", "TestScope", "TestSignals"}},
	{"./cmd/heddle", "-test.run ^TestNodeAgentKilled$", []string{"TestNodeAgentKilled"}},
	{"./test/vm/guest", "-guide node-agent.md", []string{"TestUnit"}},
}

func main() {
	within := flag.Duration("within", 10*time.Minute, "give up when the machine still runs after this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *within)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "vm:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, within time.Duration) error {
	if err := tools(); err != nil {
		return err
	}
	cache, err := hadoop.OpenCache()
	if err != nil {
		return err
	}
	i, err := prepare(ctx, filepath.Join(cache.Dir, "vm"))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "heddle-vm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is the machine's folder for what nobody needs any more
	memory, err := load(ctx, i, dir)
	if err != nil {
		return err
	}
	return boot(ctx, i.kernel, memory, dir, within)
}

// tools says which required programs this machine lacks.
func tools() error {
	var missing []string
	for _, tool := range []string{"qemu-system-x86_64", "apt-get", "dpkg-deb", "cpio"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, tool)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("there is no %s: want Debian with its packages qemu-system-x86 and cpio", strings.Join(missing, ", no "))
	}
	return nil
}

// load builds the programs and returns the initial memory file system of the machine.
func load(ctx context.Context, i image, dir string) (string, error) {
	root := filepath.Join(dir, "root")
	// Files that the tests write are on a disk, since memory can drop only those.
	script := "#!/bin/bash\ncd /heddle\nmkfs.ext4 -q /dev/nvme0n1 && mount /dev/nvme0n1 /var/tmp\nexport TMPDIR=/var/tmp\nfailed=0\n"
	build := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(root, "usr/bin/heddle"), "./cmd/heddle"}
	if err := tool(ctx, "", "go", build...); err != nil {
		return "", err
	}
	for _, s := range suites {
		name := filepath.Base(s.pkg) + ".test"
		file := filepath.Join(root, "heddle", name)
		if err := tool(ctx, "", "go", "test", "-c", "-trimpath", "-ldflags=-s -w", "-o", file, s.pkg); err != nil {
			return "", err
		}
		script += fmt.Sprintf("./%s -test.v -test.timeout 5m %s || failed=1\n", name, s.args)
	}
	// The output must get out before the power goes off.
	script += "echo " + over + "$failed\nsleep 1\nsystemctl poweroff --force --force\n"
	guide, err := os.ReadFile("docs/node-agent.md")
	if err != nil {
		return "", fmt.Errorf("this is not the folder of the module: %w", err)
	}
	for name, text := range map[string]string{"run": script, "node-agent.md": string(guide)} {
		if err := os.WriteFile(filepath.Join(root, "heddle", name), []byte(text), 0o755); err != nil {
			return "", err
		}
	}
	memory := filepath.Join(dir, "memory")
	if err := tool(ctx, dir, "bash", "-c", `set -o pipefail; cat "$1" >memory; cd root && find . | cpio -o -H newc -R 0:0 >>../memory`,
		"bash", i.root); err != nil {
		return "", err
	}
	return memory, nil
}

// over is the beginning of the line that ends the output.
const over = "the tests have ended: "

// boot runs the machine until it powers itself off, prints the tests' output and judges it.
func boot(ctx context.Context, kernel, memory, dir string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	console, disk := filepath.Join(dir, "console"), filepath.Join(dir, "disk")
	if err := os.WriteFile(disk, nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(disk, 1<<30); err != nil {
		return err
	}
	machine := exec.CommandContext(ctx, "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2048",
		"-nodefaults", "-no-reboot", "-display", "none", "-serial", "file:"+console, "-serial", "stdio",
		"-drive", "if=none,id=disk,format=raw,file="+disk, "-device", "nvme,drive=disk,serial=1",
		"-kernel", kernel, "-initrd", memory, "-append",
		"console=ttyS0 rdinit=/usr/lib/systemd/systemd systemd.unit=heddle-tests.service panic=-1 quiet")
	machine.Stderr = os.Stderr
	out, err := machine.StdoutPipe()
	if err != nil {
		return err
	}
	if err := machine.Start(); err != nil {
		return err
	}
	began := time.Now()
	v := verdict{passed: map[string]bool{}}
	err = v.read(out)
	err = errors.Join(err, machine.Wait())
	if err == nil {
		err = v.judge()
	}
	if err != nil {
		text, _ := os.ReadFile(console) // without it there is less to go by
		return fmt.Errorf("%w\nthe end of its console:\n%s", err, text[max(0, len(text)-4000):])
	}
	fmt.Printf("%d tests passed in a machine that ran for %v\n", len(v.passed), time.Since(began).Round(time.Second))
	return nil
}

// A verdict is what the tests' output says about them.
type verdict struct {
	passed map[string]bool
	end    string
}

func (v *verdict) read(out io.Reader) error {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := strings.TrimRight(lines.Text(), "\r")
		fmt.Println(line)
		if name, ok := strings.CutPrefix(line, "--- PASS: "); ok {
			v.passed[strings.Fields(name)[0]] = true
		}
		if how, ok := strings.CutPrefix(line, over); ok {
			v.end = how
		}
	}
	return lines.Err()
}

func (v *verdict) judge() error {
	switch v.end {
	case "0":
	case "":
		return errors.New("the tests did not come to their end")
	default:
		return errors.New("some tests failed")
	}
	for _, s := range suites {
		for _, name := range s.must {
			if !v.passed[name] {
				return fmt.Errorf("%s of %s did not run, and has to pass in the machine", name, s.pkg)
			}
		}
	}
	return nil
}

// tool runs a program in a folder; its error contains the program's output.
func tool(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out[max(0, len(out)-4000):])
	}
	return nil
}
