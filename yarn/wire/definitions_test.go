package wire_test

import (
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"heddle/yarn/wire"
)

// definitions returns the definitions in the .proto files of this folder.
func definitions(t *testing.T) []protoreflect.FileDescriptor {
	t.Helper()
	names, err := filepath.Glob("*.proto")
	if err != nil || len(names) == 0 {
		t.Fatalf("no definitions: %v", err)
	}
	var all []protoreflect.FileDescriptor
	for _, name := range names {
		f, err := protoregistry.GlobalFiles.FindFileByPath("yarn/wire/" + name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, f)
	}
	return all
}

// Values in recorded frames, for fields that would also read without error under another field's number.
func TestRecordedValues(t *testing.T) {
	reply := func(file string, flush int, method string, m proto.Message) {
		t.Helper()
		messages, _ := decode(t, '<', flushes(t, file)[flush][4:], method)
		proto.Merge(m, messages[1])
	}
	registered := &wire.RegisterNodeManagerResponse{}
	reply("register-node", 2, "registerNodeManager", registered)
	allocated := &wire.AllocateResponse{}
	reply("allocate", 3, "allocate", allocated)
	cleanup := &wire.NodeHeartbeatResponse{}
	reply("cleanup-heartbeat", 0, "nodeHeartbeat", cleanup)
	if n := len(allocated.AllocatedContainers); n != 2 {
		t.Fatalf("%d containers", n)
	}
	c := allocated.AllocatedContainers[1]
	for _, v := range []struct {
		what      string
		got, want any
	}{
		{"container key id", registered.ContainerTokenMasterKey.GetKeyId(), int32(-356930991)},
		{"NM key id", registered.NmTokenMasterKey.GetKeyId(), int32(1339491240)},
		{"action", registered.GetNodeAction(), wire.NodeAction_NORMAL},
		{"rm identifier", registered.GetRmIdentifier(), int64(1795240169299)},
		{"rm version", registered.GetRmVersion(), "3.4.2"},
		{"node", c.NodeId.GetHost(), "127.0.0.2"},
		{"web address", c.GetNodeHttpAddress(), "127.0.0.2:8042"},
		{"memory", c.Resource.GetMemory(), int64(128)},
		{"vcores", c.Resource.GetVirtualCores(), int32(1)},
		{"token kind", c.ContainerToken.GetKind(), "ContainerToken"},
		{"token service", c.ContainerToken.GetService(), "127.0.0.2:8041"},
		{"execution type", c.GetExecutionType(), wire.ExecutionType_GUARANTEED},
		{"NM token kind", allocated.NmTokens[1].Token.GetKind(), "NMToken"},
		{"headroom", allocated.Limit.GetMemory(), int64(7680)},
		{"nodes", allocated.GetNumClusterNodes(), int32(2)},
		{"forgotten container", cleanup.ContainersToBeRemovedFromNm[1].GetId(), int64(3)},
		{"application to clean up", cleanup.ApplicationsToCleanup[0].GetId(), int32(6)},
		{"interval", cleanup.GetNextHeartBeatInterval(), int64(1000)},
	} {
		if v.got != v.want {
			t.Errorf("%s is %v, want %v", v.what, v.got, v.want)
		}
	}
}
