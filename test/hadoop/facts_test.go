package hadoop_test

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"heddle"
	"heddle/internal/testkit/hadoop"
	"heddle/rm"
)

// fedWithin is how long it may take until policies know what a master reports about a task.
const fedWithin = 10 * time.Second

// TestFacts tests that running masters are asked for the progress of their tasks, and that what clients leave beside
// submissions is read. A stock ResourceManager does neither.
func TestFacts(t *testing.T) {
	ctx := onTestbed(t, 15*time.Minute)
	if *manager != hadoop.Heddle {
		t.Skip("only Heddle asks masters")
	}
	w := watch(t)
	within(t, ctx, "", "dress", "control=[witness]")
	t.Run("mapreduce", func(t *testing.T) { testMapReduceFacts(t, ctx, w) })
	t.Run("spark", func(t *testing.T) { testSparkFacts(t, ctx) })
}

// soon fails unless a fact was known soon after it became true.
func soon(t *testing.T, what string, was, known time.Time) {
	t.Helper()
	switch {
	case was.IsZero():
		t.Errorf("%s: nobody told", what)
	case known.IsZero():
		t.Errorf("%s: never known", what)
	case known.Sub(was) > fedWithin:
		t.Errorf("%s: known %v late", what, known.Sub(was))
	default:
		t.Logf("%s: known after %v", what, known.Sub(was))
	}
}

// testMapReduceFacts compares what was known with what the job's master reported to a client that polls it all the
// time. The number of maps, DRESS's demand, is known before the master asks for any. Here tasks report to their master
// every second; by default they report every 6 s, and first after 12.
func testMapReduceFacts(t *testing.T, ctx context.Context, w *witness) {
	r := must(testbed.StartSleep(ctx, "-Dmapreduce.task.progress-report.interval=1000", "-m", "4", "-r", "1", "-mt", "20000", "-rt", "20000"))(t)
	app := must(r.App(ctx))(t)
	watched, stop := context.WithCancel(ctx)
	defer stop()
	told := make(chan mastersWord, 1)
	go func() { told <- listen(watched, app) }()
	finish(t, r, nil)
	stop()
	was, s := <-told, w.of(t, heddle.MapReduce)
	if s.maps != 4 || s.askedAt.IsZero() || !s.mapsAt.Before(s.askedAt) {
		t.Errorf("it was known to have %d maps at %v and asked for them at %v: want 4, before", s.maps, s.mapsAt, s.askedAt)
	}
	soon(t, "a map's progress", was.moved["MAP"], s.moved[heddle.Map])
	soon(t, "a reduce's progress", was.moved["REDUCE"], s.moved[heddle.Reduce])
	soon(t, "what a map used", was.ended["MAP"], s.peak[heddle.Map])
	for _, phase := range []heddle.Phase{heddle.MapRead, heddle.ReduceWrite} {
		if !s.phases[phase] {
			t.Errorf("no task was known to be in phase %v; phases %v", phase, s.phases)
		}
	}
}

// A mastersWord is when a job's master first reported a task of a type in progress, and one that had ended.
type mastersWord struct{ moved, ended map[string]time.Time }

// listen polls a job's master until a context ends.
func listen(ctx context.Context, app string) mastersWord {
	w := mastersWord{map[string]time.Time{}, map[string]time.Time{}}
	for ; ctx.Err() == nil; time.Sleep(500 * time.Millisecond) {
		tasks, err := testbed.RunningTasks(ctx, app)
		if err != nil {
			continue
		}
		for _, task := range tasks {
			if task.Progress > 0 && w.moved[task.Type].IsZero() {
				w.moved[task.Type] = time.Now()
			}
			if task.Ended > 0 && w.ended[task.Type].IsZero() {
				w.ended[task.Type] = time.Now()
			}
		}
	}
	return w
}

// testSparkFacts compares what /why says is known with Spark's own log.
func testSparkFacts(t *testing.T, ctx context.Context) {
	r := must(testbed.StartSpark(ctx, hadoop.Spark3, testdata(t, "slow.py"), "8", "4"))(t)
	app := must(r.App(ctx))(t)
	watched, stop := context.WithCancel(ctx)
	defer stop()
	active := make(chan time.Time, 1)
	go func() { active <- firstActive(watched, app) }()
	finish(t, r, nil)
	stop()
	soon(t, "a Spark task that runs", time.UnixMilli(must(testbed.SparkEvents(app))(t).Began), <-active)
}

// firstActive returns when an application's executors were known to run a task, or zero if they never were.
func firstActive(ctx context.Context, app string) (at time.Time) {
	for ctx.Err() == nil {
		if e, err := explain(ctx, app); err == nil && e.Known != nil && e.Known.Active > 0 {
			return time.Now()
		}
		time.Sleep(300 * time.Millisecond)
	}
	return at
}

// explain asks heddle rm why an application waits and what is known about it.
func explain(ctx context.Context, app string) (e rm.Explanation, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+hadoop.RMWeb+"/ws/v1/heddle/apps/"+app+"/why", nil)
	if err != nil {
		return e, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return e, err
	}
	defer res.Body.Close()
	return e, json.NewDecoder(res.Body).Decode(&e)
}

// TestRemaining compares iKayak's estimates for reduces with the time they took: half of its estimates are not wrong by
// more than a third of the reduce's whole time. Estimates of zero would be.
func TestRemaining(t *testing.T) {
	ctx := onTestbed(t, 10*time.Minute)
	if *manager != hadoop.Heddle {
		t.Skip("only Heddle estimates")
	}
	w := watch(t)
	within(t, ctx, "", "ikayak", "control=[witness]")
	r, err := testbed.StartSleep(ctx, "-m", "6", "-r", "3", "-mt", "4000", "-rt", "30000")
	finish(t, r, err)
	s := w.of(t, heddle.MapReduce)
	var wrong []float64
	for id, list := range s.guesses { // order: sorted below
		whole := s.until[id].Sub(s.from[id])
		for _, g := range list {
			wrong = append(wrong, math.Abs(float64(g.rest-s.until[id].Sub(g.at)))/float64(whole))
		}
	}
	if len(wrong) < 20 || len(s.guesses) < 3 {
		t.Fatalf("there were %d estimates of %d reduces, want 20 of 3 at least", len(wrong), len(s.guesses))
	}
	slices.Sort(wrong)
	middle := wrong[len(wrong)/2]
	t.Logf("%d estimates, wrong by %.2f of the reduce's time in the middle, %.2f at most", len(wrong), middle, wrong[len(wrong)-1])
	if middle > 1.0/3 {
		t.Errorf("half of %d estimates are wrong by %.2f of the reduce's time or more", len(wrong), middle)
	}
}
