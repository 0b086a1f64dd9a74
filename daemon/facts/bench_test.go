package facts

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"heddle"
	"heddle/policy"
	"heddle/rm"
)

// tasksOf returns a list of running maps.
func tasksOf(maps int) string {
	list := make([]string, maps)
	for i := range list {
		list[i] = fmt.Sprintf(`{"startTime":1795451252167,"finishTime":0,"elapsedTime":10986,"progress":12.5,"id":"task_1795451201644_0003_m_%06d","state":"RUNNING","type":"MAP","successfulAttempt":"","status":"map"}`, i)
	}
	return `{"tasks":{"task":[` + strings.Join(list, ",") + `]}}`
}

// BenchmarkAsk measures one ask for all tasks, including the other side's time.
func BenchmarkAsk(b *testing.B) {
	for _, maps := range []int{200, 20_000} {
		b.Run(fmt.Sprint("maps=", maps), func(b *testing.B) {
			s := httptest.NewServer(asJSON(tasksOf(maps)))
			defer s.Close()
			a := asker()
			q := &rm.AskMaster{Attempt: sleep, Tracking: s.URL, Framework: heddle.MapReduce, Tasks: true, Kinds: policy.KindSet(heddle.Map)}
			b.ReportAllocs()
			for b.Loop() {
				if told := a.Ask(context.Background(), q); told.Failed != "" || len(told.Tasks) != maps {
					b.Fatal(told.Failed)
				}
			}
		})
	}
}

// BenchmarkList measures only the reading of the same answers.
func BenchmarkList(b *testing.B) {
	for _, maps := range []int{200, 20_000} {
		text := tasksOf(maps)
		b.Run(fmt.Sprint("maps=", maps), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				l := &taskList{app: sleep.App, at: map[rm.Task]int{}}
				if err := l.list(strings.NewReader(text)); err != nil || len(l.news) != maps {
					b.Fatal(err)
				}
			}
		})
	}
}
