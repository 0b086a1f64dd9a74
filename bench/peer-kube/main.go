// Command peer-kube measures the Kubernetes scheduler as a peer: its real queue, scheduling cycle, default plugins and
// binding, in one process, with an API client that does almost nothing when a pod is bound. The clock runs from the
// start of the loop, with all pods in the queue, to the last bind.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"heddle/bench/internal/measure"
)

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	nodes := flag.Int("nodes", 1000, "nodes")
	pods := flag.Int("asks", 10_000, "pods, each of 1 CPU and 1 GiB")
	limit := flag.Duration("limit", 10*time.Minute, "give up after so long")
	flag.Parse()

	rate, err := run(*nodes, *pods, *limit)
	if err == nil {
		err = measure.Print(measure.Figures{"allocations_per_s": rate})
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run schedules the pods once and returns how many were bound per second.
func run(nodes, pods int, limit time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	client, last := countBinds(int64(pods))
	informer := informers.NewSharedInformerFactory(client, 0)
	recorder := profile.NewRecorderFactory(events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()}))
	s, err := scheduler.New(ctx, client, informer, nil, recorder)
	if err != nil {
		return 0, fmt.Errorf("build the scheduler: %w", err)
	}
	informer.Start(ctx.Done())
	informer.WaitForCacheSync(ctx.Done())

	logger := klog.FromContext(ctx)
	slots := measure.Shape{Nodes: nodes, Asks: pods}.Slots()
	for i := range nodes {
		s.Cache.AddNode(logger, node(i, int64(slots)))
	}
	for i := range pods {
		s.SchedulingQueue.Add(logger, pod(i))
	}
	runtime.GC()
	start := time.Now()
	go s.Run(ctx)
	select {
	case end := <-last:
		return float64(pods) / end.Sub(start).Seconds(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("not all of %d pods were bound within %v", pods, limit)
	}
}

// countBinds returns a client and a channel that gets the time of its pods-th bind.
func countBinds(pods int64) (*fake.Clientset, <-chan time.Time) {
	client := fake.NewClientset()
	var bound atomic.Int64
	last := make(chan time.Time, 1)
	client.PrependReactor("*", "*", func(a clienttesting.Action) (bool, apiruntime.Object, error) {
		if a.GetSubresource() != "binding" {
			return false, nil, nil
		}
		if bound.Add(1) == pods {
			last <- time.Now()
		}
		return true, nil, nil
	})
	return client, last
}

func node(i int, slots int64) *v1.Node {
	name := "node-" + strconv.Itoa(i)
	room := v1.ResourceList{
		v1.ResourceCPU:    *resource.NewQuantity(slots, resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(slots<<30, resource.BinarySI),
		v1.ResourcePods:   *resource.NewQuantity(slots, resource.DecimalSI),
	}
	labels := map[string]string{v1.LabelHostname: name, v1.LabelTopologyZone: "zone-" + strconv.Itoa(i%3)}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: v1.NodeStatus{
			Capacity: room, Allocatable: room,
			Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
		},
	}
}

func pod(i int) *v1.Pod {
	name := "pod-" + strconv.Itoa(i)
	want := v1.ResourceList{
		v1.ResourceCPU:    *resource.NewQuantity(1, resource.DecimalSI),
		v1.ResourceMemory: *resource.NewQuantity(1<<30, resource.BinarySI),
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)},
		Spec: v1.PodSpec{
			SchedulerName: v1.DefaultSchedulerName,
			Containers:    []v1.Container{{Name: "c", Image: "i", Resources: v1.ResourceRequirements{Requests: want}}},
		},
	}
}
