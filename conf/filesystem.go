package conf

import (
	"net"
	"net/url"
	"strings"
)

// A FileSystem is the cluster's own: where its clients leave what belongs to their jobs.
type FileSystem struct {
	URL       string   // fs.defaultFS; "" where it is not set
	NameNodes []string // its NameNodes as host:port, if it is HDFS; several where they stand in for each other
	ByName    bool     // dfs.client.use.datanode.hostname: DataNodes are called by their names
}

const (
	hdfsSite        = "hdfs-site.xml"
	nameNodePort    = "8020"
	nameNodeAddress = "dfs.namenode.rpc-address."
)

// fileSystem reads what core-site.xml and hdfs-site.xml say of the file system. What cannot be used there is no error of a
// ResourceManager's: then nothing is known of HDFS.
func (l *loader) fileSystem(f files, base *properties) FileSystem {
	ps := l.apart(f, hdfsSite, base)
	fs := FileSystem{URL: ps.text("fs.defaultFS", ""), ByName: ps.flag("dfs.client.use.datanode.hostname", false)}
	u, err := url.Parse(fs.URL)
	if err != nil || u.Scheme != "hdfs" || u.Hostname() == "" {
		return fs
	}
	for _, id := range split(ps.text("dfs.ha.namenodes."+u.Host, "")) {
		if at := ps.text(nameNodeAddress+u.Host+"."+id, ""); at != "" {
			fs.NameNodes = append(fs.NameNodes, withPort(at))
		}
	}
	if fs.NameNodes == nil {
		fs.NameNodes = []string{withPort(u.Host)}
	}
	return fs
}

// withPort returns an address with the port of NameNodes where it has none.
func withPort(at string) string {
	if _, _, err := net.SplitHostPort(at); err == nil {
		return at
	}
	return net.JoinHostPort(strings.Trim(at, "[]"), nameNodePort)
}
