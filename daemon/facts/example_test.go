package facts_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"heddle"
	"heddle/daemon/facts"
	"heddle/daemon/proxy"
	"heddle/policy"
	"heddle/rm"
	"heddle/yarn/ids"
)

// A master tells how far a reduce is.
func Example() {
	master := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"tasks":{"task":[{"id":"task_1700000000000_0001_r_000000","state":"RUNNING","progress":18.5,"status":"reduce > copy(13 of 24 at 0.02 MB/s)"}]}}`)
	}))
	defer master.Close()

	a := facts.New(facts.Options{Masters: true, Way: proxy.Way{Local: true}})
	told := a.Ask(context.Background(), &rm.AskMaster{
		Attempt: ids.Attempt{App: ids.App{Cluster: 1700000000000, Seq: 1}, N: 1}, User: "ann",
		Tracking: master.URL, Framework: heddle.MapReduce, Tasks: true, Kinds: policy.KindSet(heddle.Reduce), Within: 10 * heddle.Second,
	})
	for _, t := range told.Tasks {
		fmt.Printf("%v %d copies: %v, %.0f %% done\n", t.Kind, t.Index, t.Phase == heddle.ReduceCopy, 100*t.Progress)
	}
	// Output:
	// reduce 0 copies: true, 18 % done
}
