package hadoop

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Properties are the properties of a Hadoop configuration file.
type Properties map[string]string

// writeXML writes the properties in Hadoop's format, in order of their names.
func (p Properties) writeXML(file string) error {
	type property struct {
		Name  string `xml:"name"`
		Value string `xml:"value"`
	}
	type configuration struct {
		Property []property `xml:"property"`
	}
	var c configuration
	for _, name := range slices.Sorted(maps.Keys(p)) {
		c.Property = append(c.Property, property{name, p[name]})
	}
	text, err := xml.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// The flags of short-lived JVMs on a small machine: here the optimising compiler and parallel collectors cost more time
// than they save.
const thrifty = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"

// writeConf writes the whole configuration of the cluster, for servers, containers and clients alike.
func (b *Testbed) writeConf() error {
	for _, dir := range []string{b.Conf(), b.dir("web/webapps/hdfs"), b.dir("web/webapps/datanode"), b.dir("events")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	files := map[string]Properties{
		"core-site.xml":          b.coreSite(),
		"hdfs-site.xml":          b.hdfsSite(),
		"yarn-site.xml":          b.yarnSite(),
		"mapred-site.xml":        b.mapredSite(),
		"capacity-scheduler.xml": b.capacityScheduler(),
	}
	for name, p := range files {
		if err := p.writeXML(filepath.Join(b.Conf(), name)); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"fair-scheduler.xml": b.fairScheduler(), "log4j.properties": log4j} {
		if err := os.WriteFile(filepath.Join(b.Conf(), name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, s := range Sparks() {
		if err := b.writeSpark(s); err != nil {
			return err
		}
	}
	return nil
}

func (b *Testbed) coreSite() Properties {
	return Properties{
		"fs.defaultFS":                "hdfs://" + nameNodeRPC,
		"hadoop.tmp.dir":              b.dir("tmp"),
		"hadoop.http.staticuser.user": b.user,
	}
}

func (b *Testbed) hdfsSite() Properties {
	return Properties{
		"dfs.namenode.name.dir":                 b.dir("name"),
		"dfs.namenode.rpc-address":              nameNodeRPC,
		"dfs.namenode.http-address":             nameNodeWeb,
		"dfs.namenode.secondary.http-address":   "127.0.0.1:0",
		"dfs.namenode.fs-limits.min-block-size": "1048576",
		// Addresses in 127.0.0.0/8 have no names.
		"dfs.namenode.datanode.registration.ip-hostname-check": "false",
		// A file system without files needs no time to find its blocks.
		"dfs.namenode.safemode.extension": "0",
		"dfs.permissions.enabled":         "false",
		"dfs.replication":                 "1",
		"dfs.blocksize":                   "16m",
	}
}

func (b *Testbed) yarnSite() Properties {
	p := Properties{
		"yarn.resourcemanager.hostname":                                                 rmHost,
		"yarn.resourcemanager.scheduler.class":                                          schedulerClass(b.opt.Profile),
		"yarn.resourcemanager.connect.retry-interval.ms":                                "500",
		"yarn.resourcemanager.connect.max-wait.ms":                                      "60000",
		"yarn.nodemanager.resourcemanager.connect.retry-interval.ms":                    "500",
		"yarn.nodemanager.resourcemanager.connect.max-wait.ms":                          "-1",
		"yarn.scheduler.minimum-allocation-mb":                                          "128",
		"yarn.scheduler.maximum-allocation-mb":                                          fmt.Sprint(b.opt.NodeMB),
		"yarn.scheduler.maximum-allocation-vcores":                                      fmt.Sprint(b.opt.NodeVcores),
		"yarn.scheduler.fair.allocation.file":                                           filepath.Join(b.Conf(), "fair-scheduler.xml"),
		"yarn.nodemanager.resource.memory-mb":                                           fmt.Sprint(b.opt.NodeMB),
		"yarn.nodemanager.resource.cpu-vcores":                                          fmt.Sprint(b.opt.NodeVcores),
		"yarn.nodemanager.aux-services":                                                 "mapreduce_shuffle",
		"yarn.nodemanager.aux-services.mapreduce_shuffle.class":                         "org.apache.hadoop.mapred.ShuffleHandler",
		"yarn.nodemanager.vmem-check-enabled":                                           "false",
		"yarn.nodemanager.delete.debug-delay-sec":                                       "3600", // tests read the containers' output from there
		"yarn.nodemanager.container-localizer.java.opts":                                "-Xmx128m " + thrifty,
		"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99",
		// A master does not end before it has given up on the nodes of its containers.
		"yarn.client.nodemanager-connect.max-wait-ms": "10000",
		"yarn.application.classpath":                  b.classPath(),
		"yarn.log-aggregation-enable":                 "true",
		"yarn.log.server.url":                         "http://" + historyWeb + "/jobhistory/logs",
	}
	if b.opt.RM == Stock && b.opt.Recovery {
		p["yarn.resourcemanager.recovery.enabled"] = "true"
		p["yarn.resourcemanager.store.class"] = "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore"
		p["yarn.resourcemanager.fs.state-store.uri"] = "file://" + b.dir("rm")
	}
	maps.Copy(p, b.opt.Site)
	return p
}

// schedulerClass returns the scheduler class whose configuration a profile reads: Heddle's own profiles read YARN's
// capacity queues.
func schedulerClass(profile string) string {
	const pkg = "org.apache.hadoop.yarn.server.resourcemanager.scheduler."
	if profile == "fair" {
		return pkg + "fair.FairScheduler"
	}
	return pkg + "capacity.CapacityScheduler"
}

func (b *Testbed) mapredSite() Properties {
	return Properties{
		"mapreduce.framework.name":            "yarn",
		"mapreduce.application.classpath":     b.classPath(),
		"mapreduce.jobhistory.address":        historyRPC,
		"mapreduce.jobhistory.webapp.address": historyWeb,
		// The history server looks for finished jobs when asked for one, and at this interval.
		"mapreduce.jobhistory.move.interval-ms":         "2000",
		"yarn.app.mapreduce.am.staging-dir":             "/staging",
		"yarn.app.mapreduce.am.resource.mb":             "512",
		"yarn.app.mapreduce.am.command-opts":            "-Xmx384m " + thrifty,
		"mapreduce.map.memory.mb":                       "512",
		"mapreduce.map.java.opts":                       "-Xmx320m " + thrifty,
		"mapreduce.reduce.memory.mb":                    "512",
		"mapreduce.reduce.java.opts":                    "-Xmx320m " + thrifty,
		"mapreduce.task.io.sort.mb":                     "64",
		"mapreduce.client.completion.pollinterval":      "500",
		"mapreduce.client.progressmonitor.pollinterval": "500",
		// A speculative copy of a slow task would make the number of attempts a matter of luck.
		"mapreduce.map.speculative":    "false",
		"mapreduce.reduce.speculative": "false",
	}
}

// mastersLimit is the property for the part of a queue that masters may hold.
const mastersLimit = "yarn.scheduler.capacity.maximum-am-resource-percent"

func (b *Testbed) capacityScheduler() Properties {
	const root = "yarn.scheduler.capacity."
	p := Properties{
		root + "root.queues":           "default",
		root + "root.default.capacity": "100",
		mastersLimit:                   "0.5",
		root + "resource-calculator":   "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
		root + "node-locality-delay":   "3",
	}
	maps.Copy(p, b.opt.Scheduler)
	return p
}

// fairScheduler sets the same limit for masters as the CapacityScheduler has. Without placement rules the FairScheduler
// creates a queue below root for each user, and the user called root gets root itself, which is not a leaf.
func (b *Testbed) fairScheduler() string {
	return fmt.Sprintf(`<allocations>
  <queue name="default">
    <maxAMShare>%s</maxAMShare>
  </queue>
  <queuePlacementPolicy>
    <rule name="specified"/>
    <rule name="default"/>
  </queuePlacementPolicy>
</allocations>
`, b.capacityScheduler()[mastersLimit])
}

const log4j = `hadoop.root.logger=INFO,console
log4j.rootLogger=${hadoop.root.logger}
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
`

// writeSpark writes the defaults of a Spark version. Its jars are used in place: every container runs on this machine,
// and copying them into each container would take most of a short job's time.
func (b *Testbed) writeSpark(spark string) error {
	home, err := b.Cache.SparkHome(spark)
	if err != nil {
		return err
	}
	lines := Properties{
		"spark.master":                           "yarn",
		"spark.yarn.jars":                        "local:" + filepath.Join(home, "jars", "*"),
		"spark.yarn.am.memory":                   "384m",
		"spark.yarn.am.extraJavaOptions":         thrifty,
		"spark.driver.memory":                    "512m",
		"spark.driver.memoryOverhead":            "256m",
		"spark.driver.extraJavaOptions":          thrifty,
		"spark.executor.memory":                  "512m",
		"spark.executor.memoryOverhead":          "256m",
		"spark.executor.instances":               "2",
		"spark.executor.extraJavaOptions":        thrifty,
		"spark.executorEnv.SPARK_LOCAL_IP":       rmHost, // otherwise they take the machine's external address
		"spark.yarn.appMasterEnv.SPARK_LOCAL_IP": rmHost,
		"spark.yarn.appMasterEnv.PYSPARK_PYTHON": b.Cache.Python(spark),
		"spark.ui.showConsoleProgress":           "false",
		"spark.eventLog.enabled":                 "true",
		"spark.eventLog.dir":                     "file://" + b.dir("events"),
		"spark.eventLog.compress":                "false",
		"spark.eventLog.rolling.enabled":         "false",
		"spark.yarn.report.interval":             "500ms",
	}
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&text, "%s %s\n", name, lines[name])
	}
	dir := b.sparkConf(spark)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "spark-defaults.conf"), text.Bytes(), 0o644)
}

func (b *Testbed) sparkConf(spark string) string { return b.dir("conf-spark-" + spark) }

// classPath returns the class path of Hadoop's servers, containers and clients.
func (b *Testbed) classPath() string { return b.Conf() + "," + filepath.Join(b.Cache.Jars(), "*") }

// jvm returns the command line of a Hadoop class.
func (b *Testbed) jvm(heapMB int, flags []string, main string, args ...string) []string {
	flags = append([]string{"-Dhadoop.home.dir=" + b.Dir, "-Dhadoop.log.dir=" + b.dir("log"), "-Dyarn.log.dir=" + b.dir("log")}, flags...)
	return jvm(b.java, heapMB, flags, []string{b.Conf(), b.dir("web"), filepath.Join(b.Cache.Jars(), "*")}, main, args...)
}

// jvm returns the command line of a Hadoop class on any class path.
func jvm(java string, heapMB int, flags, classPath []string, main string, args ...string) []string {
	line := []string{java, fmt.Sprintf("-Xmx%dm", heapMB), "-Djava.net.preferIPv4Stack=true"}
	for _, name := range opened {
		line = append(line, "--add-opens=java.base/"+name+"=ALL-UNNAMED")
	}
	line = append(line, flags...)
	return append(append(line, "-cp", strings.Join(classPath, ":"), main), args...)
}

// opened are the packages that Hadoop reflects into and that Java closes since version 17.
var opened = []string{
	"java.io", "java.lang", "java.lang.reflect", "java.math", "java.net", "java.nio", "java.text", "java.util",
	"java.util.concurrent", "java.util.zip", "sun.nio.ch", "sun.security.util", "sun.security.x509",
}
