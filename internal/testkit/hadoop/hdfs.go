package hadoop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func (b *Testbed) startNameNode() error {
	return b.start(command{
		name:    "namenode",
		args:    b.jvm(256, strings.Fields(thrifty), "org.apache.hadoop.hdfs.server.namenode.NameNode"),
		onDeath: syscall.SIGKILL,
	})
}

// format gives the NameNode an empty file system. It keeps the first one made, because making one takes a JVM.
func (b *Testbed) format(ctx context.Context) error {
	kept := filepath.Join(b.Cache.Dir, "empty-hdfs-"+Version)
	if !complete(kept) {
		line := b.jvm(128, strings.Fields(thrifty), "org.apache.hadoop.hdfs.server.namenode.NameNode", "-format", "-force", "-nonInteractive")
		if err := run(ctx, line[0], line[1:]...); err != nil {
			return err
		}
		return once(kept, func() error { return os.CopyFS(kept, os.DirFS(b.dir("name"))) })
	}
	return os.CopyFS(b.dir("name"), os.DirFS(kept))
}

func dataNode(n int) string { return fmt.Sprintf("datanode%d", n) }

// startDataNode starts the DataNode of node n. The NameNode knows it by the address its call comes from, always
// 127.0.0.1, and its port; the host name says where its blocks are local.
func (b *Testbed) startDataNode(n int) error {
	args := flagsD(Properties{
		"dfs.datanode.data.dir":     filepath.Join(b.nodeDir(n), "hdfs"),
		"dfs.datanode.hostname":     b.Addr(n),
		"dfs.datanode.address":      fmt.Sprintf("127.0.0.1:%d", 9880+n),
		"dfs.datanode.ipc.address":  fmt.Sprintf("127.0.0.1:%d", 9890+n),
		"dfs.datanode.http.address": fmt.Sprintf("%s:%d", b.Addr(n), 9980+n),
	})
	return b.start(command{
		name:    dataNode(n),
		args:    b.jvm(192, strings.Fields(thrifty), "org.apache.hadoop.hdfs.server.datanode.DataNode", args...),
		onDeath: syscall.SIGKILL,
	})
}

// awaitHDFS waits until the file system is writable, and creates the folders that clients expect.
func (b *Testbed) awaitHDFS(ctx context.Context) error {
	const state = "http://" + nameNodeWeb + "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
	ready := func(ctx context.Context) bool {
		var jmx struct {
			Beans []struct {
				FSState          string
				NumLiveDataNodes int
			} `json:"beans"`
		}
		err := getJSON(ctx, state, &jmx)
		return err == nil && len(jmx.Beans) == 1 && jmx.Beans[0].FSState == "Operational" && jmx.Beans[0].NumLiveDataNodes == b.opt.Nodes
	}
	daemons := []string{"namenode"}
	for n := 1; n <= b.opt.Nodes; n++ {
		daemons = append(daemons, dataNode(n))
	}
	if err := b.await(ctx, startWithin, "HDFS", ready, daemons...); err != nil {
		return err
	}
	for _, dir := range []string{"/tmp", "/user/" + b.user} {
		if _, err := b.webHDFS(ctx, http.MethodPut, dir, "MKDIRS", nil); err != nil {
			return err
		}
	}
	return nil
}

// Put writes a file in HDFS and creates the folders above it.
func (b *Testbed) Put(ctx context.Context, file string, content []byte) error {
	_, err := b.webHDFS(ctx, http.MethodPut, file, "CREATE&overwrite=true", content)
	return err
}

// Cat returns the content of a file in HDFS.
func (b *Testbed) Cat(ctx context.Context, file string) ([]byte, error) {
	return b.webHDFS(ctx, http.MethodGet, file, "OPEN", nil)
}

// Parts returns the content of each part file of a job's output folder, in order of their names.
func (b *Testbed) Parts(ctx context.Context, dir string) ([][]byte, error) {
	names, err := b.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	var parts [][]byte
	for _, name := range names {
		if !strings.HasPrefix(name, "part-") {
			continue
		}
		content, err := b.Cat(ctx, dir+"/"+name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, content)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%s has no part files: %v", dir, names)
	}
	return parts, nil
}

// List returns the names in a folder of HDFS, in order.
func (b *Testbed) List(ctx context.Context, dir string) ([]string, error) {
	list, err := b.list(ctx, dir)
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names, err
}

// A hdfsEntry is an entry of a folder in HDFS.
type hdfsEntry struct {
	Name string `json:"pathSuffix"`
	Type string `json:"type"` // FILE or DIRECTORY
}

func (b *Testbed) list(ctx context.Context, dir string) ([]hdfsEntry, error) {
	text, err := b.webHDFS(ctx, http.MethodGet, dir, "LISTSTATUS", nil)
	if err != nil {
		return nil, err
	}
	var list struct {
		FileStatuses struct{ FileStatus []hdfsEntry }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("list of %s: %w", dir, err)
	}
	return list.FileStatuses.FileStatus, nil
}

// walk calls do with every file below a folder of HDFS.
func (b *Testbed) walk(ctx context.Context, dir string, do func(file string) error) error {
	list, err := b.list(ctx, dir)
	if err != nil {
		return err
	}
	for _, s := range list {
		file := dir + "/" + s.Name
		if s.Type == "DIRECTORY" {
			err = b.walk(ctx, file, do)
		} else {
			err = do(file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// webHDFS sends a request with the content to the NameNode over HTTP and follows the redirect to a DataNode.
func (b *Testbed) webHDFS(ctx context.Context, method, file, op string, content []byte) ([]byte, error) {
	u := url.URL{Scheme: "http", Host: nameNodeWeb, Path: "/webhdfs/v1" + file, RawQuery: "op=" + op + "&user.name=" + url.QueryEscape(b.user)}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("status %s: %s", res.Status, text)
	}
	if err != nil {
		return nil, fmt.Errorf("WebHDFS %s %s: %w", op, file, err)
	}
	return text, nil
}
