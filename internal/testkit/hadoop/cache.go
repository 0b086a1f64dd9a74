package hadoop

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Version is the version of Hadoop that the testbed runs. The pom names it too.
const Version = "3.4.2"

// The Spark versions that jobs run under.
const (
	Spark3 = "3.5.9"
	Spark4 = "4.1.4"
)

// Sparks returns all Spark versions.
func Sparks() []string { return []string{Spark3, Spark4} }

// CacheVariable is the environment variable that names the cache's folder.
const CacheVariable = "HEDDLE_HADOOP"

// The plugin that copies the jars, with a fixed version so that every fetch does the same.
const copyJars = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"

//go:embed pom.xml
var pom []byte

// A Cache is the folder that holds the fetched Hadoop and Spark.
type Cache struct{ Dir string }

// OpenCache returns the cache that $HEDDLE_HADOOP names, or else heddle/hadoop in the user's cache folder. It need not
// exist yet. If there is no such folder, the error says what to set.
func OpenCache() (Cache, error) {
	dir := os.Getenv(CacheVariable)
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return Cache{}, fmt.Errorf("no folder to keep Hadoop in: set %s: %w", CacheVariable, err)
		}
		dir = filepath.Join(user, "heddle", "hadoop")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Cache{}, fmt.Errorf("%s=%s: %w", CacheVariable, dir, err)
	}
	return Cache{Dir: dir}, nil
}

// Jars returns the folder of Hadoop's jars.
func (c Cache) Jars() string { return filepath.Join(c.Dir, "hadoop-"+Version) }

// Python returns the interpreter that a Spark version was installed for.
func (c Cache) Python(spark string) string {
	return filepath.Join(c.venv(spark), "bin", "python3")
}

// SparkHome returns the folder of a Spark version's jars, scripts and examples. It must have been fetched.
func (c Cache) SparkHome(spark string) (string, error) {
	pattern := filepath.Join(c.venv(spark), "lib", "python3*", "site-packages", "pyspark")
	found, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d folders match %s, want 1: was Spark %s fetched?", len(found), pattern, spark)
	}
	return found[0], nil
}

func (c Cache) venv(spark string) string { return filepath.Join(c.Dir, "spark-"+spark) }

// Missing says in one line which tools the testbed needs and this machine lacks; it is "" if there are none.
func Missing() string {
	var missing []string
	for _, tool := range []string{"java", "mvn", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, tool)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "no " + strings.Join(missing, ", no ") + " (Debian has them as openjdk-17-jdk-headless, maven and python3-venv)"
}

// Fetched reports whether everything has been fetched.
func (c Cache) Fetched() bool {
	return !slices.ContainsFunc(append([]string{c.Jars()}, c.venvs()...), func(dir string) bool { return !complete(dir) })
}

func (c Cache) venvs() []string {
	var dirs []string
	for _, s := range Sparks() {
		dirs = append(dirs, c.venv(s))
	}
	return dirs
}

// Fetch fetches what is not in the cache yet: Hadoop's jars with Maven and each Spark version from its Python package
// with pip, all at the same time. The first fetch is about a gigabyte, later ones nothing.
func (c Cache) Fetch(ctx context.Context) error {
	if c.Fetched() {
		return nil
	}
	if missing := Missing(); missing != "" {
		return errors.New(missing)
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fetches := []func() error{func() error { return once(c.Jars(), func() error { return c.fetchJars(ctx) }) }}
	for _, s := range Sparks() {
		fetches = append(fetches, func() error { return once(c.venv(s), func() error { return c.fetchSpark(ctx, s) }) })
	}
	return inParallel(fetches...)
}

func (c Cache) fetchJars(ctx context.Context) error {
	return c.maven(ctx, "pom.xml", pom, c.Jars())
}

// maven copies the jars that a pom names, and their dependencies, into a folder.
func (c Cache) maven(ctx context.Context, name string, pom []byte, dir string, flags ...string) error {
	file := filepath.Join(c.Dir, name)
	if err := os.WriteFile(file, pom, 0o644); err != nil {
		return err
	}
	args := []string{
		"--quiet", "--batch-mode", "-Dmaven.wagon.http.retryHandler.count=5", "-Daether.connector.http.retryHandler.count=5",
		"--file", file, copyJars, "-DincludeScope=runtime", "-DoutputDirectory=" + dir,
	}
	return run(ctx, "mvn", append(args, flags...)...)
}

// The K-means example needs numpy. A package is hundreds of megabytes: a stalled download is retried.
func (c Cache) fetchSpark(ctx context.Context, spark string) error {
	if err := run(ctx, "python3", "-m", "venv", c.venv(spark)); err != nil {
		return err
	}
	return run(ctx, c.Python(spark), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "10", "--timeout", "60", "pyspark=="+spark, "numpy")
}

func run(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, lastLines(out, 20))
	}
	return nil
}

// once does the work that fills dir unless an earlier attempt completed it. It first removes what an interrupted
// attempt left.
func once(dir string, work func() error) error {
	if complete(dir) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := work(); err != nil {
		return err
	}
	return os.WriteFile(marker(dir), nil, 0o644)
}

func complete(dir string) bool {
	_, err := os.Stat(marker(dir))
	return err == nil
}

func marker(dir string) string { return dir + ".complete" }

// inParallel runs all functions at once, waits for them and joins their errors.
func inParallel(fs ...func() error) error {
	errs := make([]error, len(fs))
	var wg sync.WaitGroup
	for i, f := range fs {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
