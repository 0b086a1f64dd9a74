package setup

import (
	"testing"
	"testing/fstest"

	"heddle/daemon"
	"heddle/rm"
)

// The available memory is that of the machine, or the least that one of the process's control groups allows.
func TestRoom(t *testing.T) {
	const machine = "MemTotal:       16777216 kB\nMemFree:        1 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		mib   int64
	}{
		"nothing said":      {nil, 1 << 10},
		"a machine":         {map[string]string{"proc/meminfo": machine}, 16 << 10},
		"version 2":         {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1073741824\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 1 << 10},
		"version 2, inside": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 512},
		"version 1":         {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "5:cpu,cpuacct:/a\n4:memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "268435456\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 256},
		"version 1, inside": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "4:memory:/docker/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "134217728\n"}, 128},
		"no limit":          {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "4:memory:/\n0::/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 16 << 10},
	} {
		root := fstest.MapFS{}
		for path, text := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := room(root); got != c.mib<<20 {
			t.Errorf("%s: %d MiB, wanted %d", name, got>>20, c.mib)
		}
	}
}

// What is not set follows from what is; a limit given to Go in its own way holds.
func TestMemory(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		text    string
		room    int64
		setting string
		want    daemon.Memory
	}{
		{"", 16 << 30, "", daemon.Memory{Limit: 16 << 30, Calls: 128 * mib, PerAddress: 48 * mib}},
		{"", 256 * mib, "", daemon.Memory{Limit: 256 * mib, Calls: 64 * mib, PerAddress: 24 * mib}},
		{"", 256 * mib, "1GiB", daemon.Memory{Calls: 64 * mib, PerAddress: 24 * mib}},
		{"memory: {limit: 512MiB}", 16 << 30, "", daemon.Memory{Limit: 512 * mib, Calls: 128 * mib, PerAddress: 48 * mib}},
		{"memory: {limit: 4GiB, calls: 1.5GiB, per_address: 100 MiB}", 16 << 30, "", daemon.Memory{Limit: 4 << 30, Calls: 3 << 29, PerAddress: 100 * mib}},
	} {
		t.Setenv("GOMEMLIMIT", c.setting)
		f, err := parseFile("heddle.yaml", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		var got daemon.Config
		if err := (&source{file: f}).memory(&got, c.room); err != nil || got.Memory != c.want {
			t.Errorf("%q in %d MiB: %+v, wanted %+v; %v", c.text, c.room/mib, got.Memory, c.want, err)
		}
	}
}

// The limits are those of heddle.yaml.
func TestLimits(t *testing.T) {
	f, err := parseFile("heddle.yaml", []byte("memory: {stored: 20MiB}\nlimits: {calls_per_address: 3, connections_per_address: 5, web_connections_per_address: 4, nodes_per_address: 6, applications_per_user: 7, stored_per_user: 8MiB}"))
	if err != nil {
		t.Fatal(err)
	}
	var c daemon.Config
	in := func(f *file, room int64) {
		t.Helper()
		s := &source{file: f}
		s.limits(&c)
		if err := s.memory(&c, room); err != nil {
			t.Fatal(err)
		}
	}
	in(f, 4<<30)
	if c.CallsPer != 3 || c.Stored != 20<<20 || c.ConnsPer != 5 || c.WebConnsPer != 4 || c.NodesPer != 6 || c.AppsPer != 7 || c.StoredPer != 8<<20 {
		t.Errorf("%+v", c)
	}
	if f, err = parseFile("heddle.yaml", []byte("limits: {stored_per_user: 200MiB}")); err != nil {
		t.Fatal(err)
	}
	if in(f, 1<<30); c.Stored != 200<<20 || c.StoredPer != 200<<20 {
		t.Errorf("where a user may have 200 of 1024 MiB it is %d, and %d of all", c.StoredPer, c.Stored)
	}
	c = daemon.Config{}
	in(&file{}, 4<<30)
	if c.CallsPer != 0 || c.Stored != 512<<20 || c.ConnsPer != 0 || c.WebConnsPer != 0 || c.NodesPer != rm.DefaultNodesPer || c.AppsPer != rm.DefaultAppsPer || c.StoredPer != rm.DefaultStoredPer {
		t.Errorf("%+v", c)
	}
	if in(&file{}, 512<<20); c.StoredPer != 32<<20 || c.Stored != 64<<20 {
		t.Errorf("in 512 MiB a user may have %d bytes stored, and all %d", c.StoredPer, c.Stored)
	}
}
