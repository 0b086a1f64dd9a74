package conf

import (
	"os"
	"os/user"
	"strconv"
	"strings"
)

// outside returns what ${name} stands for beside properties: a variable of the environment, or one of the system
// properties that Java has.
func outside(name string) (string, bool) {
	if env, ok := strings.CutPrefix(name, "env."); ok {
		return os.LookupEnv(env)
	}
	switch name {
	case "user.name", "user.home":
		u, err := user.Current()
		switch {
		case err != nil:
			return "", false
		case name == "user.name":
			return u.Username, true
		}
		return u.HomeDir, true
	case "java.io.tmpdir":
		return "/tmp", true
	}
	return "", false
}

// nowhere is outside for texts that must not learn anything of this machine, and where there is no text.
func nowhere(string) (string, bool) { return "", false }

// defaults are Hadoop's defaults of properties to which values refer by ${…}. They are for nothing else: what reads a
// property that is not set knows its default.
var defaults = map[string]string{
	"hadoop.tmp.dir": "/tmp/hadoop-${user.name}",
	"fs.defaultFS":   "file:///",

	rmPrefix + "hostname":                 Loopback, // where YARN has 0.0.0.0
	rmPrefix + "address":                  onHost(defaultClientPort),
	rmPrefix + "scheduler.address":        onHost(defaultSchedulerPort),
	rmPrefix + "resource-tracker.address": onHost(defaultTrackerPort),
	rmPrefix + "admin.address":            onHost(defaultAdminPort),
	rmPrefix + "webapp.address":           onHost(defaultWebPort),

	rmPrefix + "am.max-attempts":            strconv.Itoa(defaultMaxAttempts),
	rmPrefix + "max-completed-applications": strconv.Itoa(defaultMaxCompleted),
	memMin:                                  strconv.Itoa(defaultMinMiB),
	memMax:                                  strconv.Itoa(defaultMaxMiB),
	cpuMin:                                  strconv.Itoa(defaultMinVcores),
	cpuMax:                                  strconv.Itoa(defaultMaxVcores),
}

// onHost returns the address of a port on the host of the ResourceManager.
func onHost(port int) string { return "${" + rmPrefix + "hostname}:" + strconv.Itoa(port) }
