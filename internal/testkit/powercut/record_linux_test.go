package powercut

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

const child = "HEDDLE_POWERCUT_TEST_CHILD"

// TestMain is also the program that is recorded, when a test starts it.
func TestMain(m *testing.M) {
	dir := os.Getenv(child)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := write(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "new"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte("hello"), 3)
	err = errors.Join(err, f.Truncate(100), f.Sync(), f.Close(), os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "x")))
	folder, err2 := os.Open(dir)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	fmt.Println("done")
	return errors.Join(folder.Sync(), folder.Close(), os.Remove(filepath.Join(dir, "x")), os.WriteFile(filepath.Join(os.TempDir(), "elsewhere"), nil, 0o600))
}

// Operations in the folder are recorded in order; operations elsewhere are not recorded.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), child+"="+dir, "TMPDIR="+t.TempDir())
	cmd.Stderr = os.Stderr
	r, err := Start(cmd, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	ops, err := r.End()
	if err != nil {
		t.Error(err)
	}
	var got []string
	for _, o := range ops {
		got = append(got, fmt.Sprintf("%d %s %s %d %s", o.Kind, o.Name, o.To, o.At, o.Data))
	}
	want := []string{
		fmt.Sprintf("%d new  0 ", Create), fmt.Sprintf("%d   3 hello", Write), fmt.Sprintf("%d   100 ", Resize), fmt.Sprintf("%d   0 ", Sync),
		fmt.Sprintf("%d new x 0 ", Rename), fmt.Sprintf("%d   0 done\n", Say), fmt.Sprintf("%d   0 ", SyncFolder), fmt.Sprintf("%d x  0 ", Remove),
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded is\n%q, want\n%q", got, want)
	}
	if ops[0].File == 0 || ops[0].File != ops[1].File {
		t.Errorf("the file that is made is %d, and what is written goes to %d", ops[0].File, ops[1].File)
	}
}
