package facts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/conf"
	"heddle/internal/mapred"
	"heddle/rm"
	"heddle/yarn/wire"
)

// Maximum sizes in bytes of the files that are read.
const (
	maxJobXML    = 4 << 20
	maxSparkConf = 4 << 20
)

// read finds out what is beside a submission. The client chooses where its files are, so only the cluster's own file
// system is read, as the user who submitted.
func (a *Asker) read(ctx context.Context, q *rm.ReadJob, into *rm.JobRead, m *meter) {
	err := a.readFiles(ctx, q, into, m)
	if err == nil {
		return
	}
	*into = rm.JobRead{App: q.App, Failed: oneLine(err.Error())}
	a.o.Log.Debug("a submission was not read", "app", q.App.String(), "error", into.Failed)
}

func (a *Asker) readFiles(ctx context.Context, q *rm.ReadJob, into *rm.JobRead, m *meter) error {
	if q.User == "" {
		return errors.New("the user who submitted it is not known")
	}
	left := map[string]*wire.LocalResource{}
	c := &wire.ApplicationSubmissionContext{}
	if err := proto.Unmarshal(q.Context, c); err != nil {
		return fmt.Errorf("the submission: %w", err)
	}
	for _, r := range c.GetAmContainerSpec().GetLocalResources() {
		left[r.GetKey()] = r.GetValue()
	}
	var err error
	b := &beside{a: a, ctx: ctx, user: q.User, left: left, meter: m}
	defer b.close()
	switch q.Framework {
	case heddle.MapReduce:
		err = b.mapReduce(into)
	case heddle.Spark:
		err = b.spark(into)
	default:
		err = errors.New("submissions of its framework are not read")
	}
	return err
}

// beside is what lies beside one submission.
type beside struct {
	*meter
	a    *Asker
	ctx  context.Context
	user string
	left map[string]*wire.LocalResource
	s    session // nil until something is read
}

// get returns a file that the submission names.
func (b *beside) get(name string, most int64) ([]byte, error) {
	r := b.left[name]
	if r == nil {
		return nil, fmt.Errorf("the submission has no %s", name)
	}
	if err := own(b.a.o.Files, r.GetResource()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if b.s == nil {
		s, err := b.a.files.open(b.ctx, b.user)
		if err != nil {
			return nil, fmt.Errorf("HDFS cannot be asked: %w", err)
		}
		b.s = s
	}
	b.requests++
	data, err := b.s.read(r.GetResource().GetFile(), most)
	b.bytes += int64(len(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

func (b *beside) close() {
	if b.s != nil {
		b.s.close()
	}
}

// own returns an error if a place is not on the cluster's own HDFS.
func own(fs conf.FileSystem, u *wire.URL) error {
	if len(fs.NameNodes) == 0 {
		return fmt.Errorf("the cluster's file system is not HDFS (fs.defaultFS is %q): submissions are not read", fs.URL)
	}
	if u.GetScheme() != "hdfs" && (u.GetScheme() != "" || u.GetHost() != "") {
		return fmt.Errorf("is at %.40s://%.100s; files are read only from %s", u.GetScheme(), u.GetHost(), fs.URL)
	}
	if !strings.HasPrefix(u.GetFile(), "/") {
		return fmt.Errorf("%.100q is not an absolute path", u.GetFile())
	}
	if u.GetHost() == "" {
		return nil
	}
	authority := strings.TrimSuffix(strings.TrimPrefix(fs.URL, "hdfs://"), "/")
	named := u.GetHost()
	if u.GetPort() > 0 {
		named = net.JoinHostPort(named, strconv.Itoa(int(u.GetPort())))
	}
	same := func(at string) bool {
		return strings.EqualFold(at, named) || strings.EqualFold(at, named+":"+defaultPort)
	}
	if same(authority) || strings.EqualFold(authority+":"+defaultPort, named) || slices.ContainsFunc(fs.NameNodes, same) {
		return nil
	}
	return fmt.Errorf("is at hdfs://%.100s; files are read only from %s", named, fs.URL)
}

// defaultPort is the NameNodes' default port.
const defaultPort = "8020"

// mapReduce reads the splits and the configuration of a MapReduce job. If the splits cannot be read, the configuration
// says how many there are.
func (b *beside) mapReduce(into *rm.JobRead) error {
	text, err := b.get("job.xml", maxJobXML)
	if err != nil {
		return err
	}
	job, err := conf.ReadJob(text)
	if err != nil {
		return err
	}
	into.Maps, into.Reduces, into.Timeout, into.Uber = job.Maps, job.Reduces, job.Timeout, job.Uber
	meta, err := b.get("jobSubmitDir/job.splitmetainfo", mapred.MaxSplitMeta)
	var splits []mapred.Split
	if err == nil {
		splits, err = mapred.ParseSplits(meta)
	}
	for _, s := range splits {
		into.Splits = append(into.Splits, rm.SplitNews(s))
	}
	if err != nil {
		if into.Maps == 0 {
			return err
		}
		b.a.o.Log.Debug("the splits of a job were not read", "app", into.App.String(), "error", oneLine(err.Error()))
	} else {
		into.Maps = int32(len(into.Splits))
	}
	into.Demand = heddle.Demand{Containers: into.Maps, Each: job.Map}
	if r := (heddle.Demand{Containers: into.Reduces, Each: job.Reduce}); more(r.Total(), into.Demand.Total()) {
		into.Demand = r
	}
	return nil
}

// more reports whether a is more than b: first by memory, which every task has, then by processors.
func more(a, b heddle.Resource) bool {
	if a[heddle.Memory] != b[heddle.Memory] {
		return a[heddle.Memory] > b[heddle.Memory]
	}
	return a[heddle.CPU] > b[heddle.CPU]
}

// spark reads the configuration of a Spark application.
func (b *beside) spark(into *rm.JobRead) error {
	packed, err := b.get("__spark_conf__", maxSparkConf)
	if err != nil {
		return err
	}
	p, err := sparkProperties(packed)
	if err != nil {
		return fmt.Errorf("__spark_conf__: %w", err)
	}
	into.Demand, err = sparkDemand(p)
	return err
}
