package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/bbolt"

	"heddle/rm"
	"heddle/yarn/ids"
)

// epochJump is added to the last epoch that is found in a record, in a tree of the past or in a copy, if the current
// epoch is lost: a store is not opened that often without starting a master, or since a copy was made.
const epochJump = 100_000

// attemptJump is added to the attempt numbers of an application if a commit is missing: each of its [Store.Commit]
// calls may have had one attempt. No application had as many since a copy was made.
const attemptJump = maxBatch

// minAttempt is the minimum number of bytes that an attempt's record takes in a page.
const minAttempt = leafElement + 100

// A Report describes the content of a possibly damaged file.
type Report struct {
	Path    string
	Damage  []Damage
	Lost    []Bad          // records that cannot be read or used
	Records map[string]int // number of usable records, by bucket
	Older   bool           // the last commit may be missing: this may be the one before
	Epoch   int64          // of the last start
	Kept    string         // where the damaged file is, once a new one has replaced it
}

// Starts returns how often a ResourceManager has started from the file. ok is false if the epoch is a guess.
func (r *Report) Starts() (n int64, ok bool) { return r.Epoch, r.Epoch < epochJump }

// Whole reports whether nothing is wrong.
func (r *Report) Whole() bool { return len(r.Damage) == 0 && len(r.Lost) == 0 && !r.Older }

// Check reads a file that nobody writes to. It changes nothing.
func Check(path string) (*Report, error) {
	w, err := look(path)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	return &w.Report, nil
}

// look reads everything readable of a file that nobody writes to.
func look(path string) (*wreck, error) {
	lock, err := lockIfThere(path + ".lock")
	if err != nil {
		return nil, err
	}
	w, err := readWreck(path)
	return w, errors.Join(err, lock.Close())
}

// A wreck is what can be read of a file.
type wreck struct {
	Report
	records map[string]map[string][]byte // by bucket and key
	apps    map[ids.App]*storedApp       // usable ones
	found   found                        // the submissions
	tries   map[ids.Attempt]*Attempt
	known   map[ids.Attempt]bool // with those of lost records, and those that stand in for them
	counted counts               // how many records there should be; nil if unknown
	added   map[string][]byte    // attempts that stand in for lost ones
}

func (w *wreck) lose(bucket, key string, app ids.App, format string, args ...any) {
	w.Lost = append(w.Lost, Bad{Bucket: bucket, Key: key, App: app, Reason: fmt.Sprintf(format, args...)})
}

// readWreck reads everything readable of the file at path.
func readWreck(path string) (*wreck, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var w *wreck
	if err == nil {
		w, err = salvage(f, info.Size())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	w.Path = path
	return w, nil
}

// salvage reads all records of a file: those in its tree and, if a page of the tree cannot be read, those in pages that
// are neither in the tree nor free, because they were below it.
func salvage(file *os.File, size int64) (*wreck, error) {
	roots, both, err := findRoots(file, size)
	if err != nil {
		return dig(file, size, err)
	}
	var first []Damage
	for i, h := range roots {
		w := &wreck{records: map[string]map[string][]byte{}}
		w.Older = !both || i > 0
		c := inspect(file, h, w.take)
		if c.listed && len(c.damage) > 0 {
			c.orphans(w.stored(), w.take)
		}
		w.Damage = slices.Concat(first, c.damage)
		if err := h.fits(size); err != nil && len(c.damage) == 0 { // only free pages are missing
			w.Damage = append(w.Damage, Damage{Page: uint64(size / h.pageSize), Reason: err.Error()})
		}
		if len(w.records[string(meta)]) > 0 { // otherwise the root page is damaged
			return w, w.judge()
		}
		first = w.Damage
	}
	return dig(file, size, unfit{errors.New("the root pages are damaged")})
}

// take keeps a record.
func (w *wreck) take(bucket, key, record []byte) {
	b := w.records[string(bucket)]
	if b == nil {
		b = map[string][]byte{}
		w.records[string(bucket)] = b
	}
	if _, there := b[string(key)]; !there {
		b[string(key)] = bytes.Clone(record)
	}
}

// unsplit is the most records that the library keeps in one leaf page whatever their size, with as many pages after the
// first as they need. A leaf page with more records has no pages after it.
const unsplit = 4

// orphans passes on the records of pages that are neither reachable nor free. Their keys tell which bucket they are of.
// What looks like such a page may be bytes that a user chose, of a submission of several pages whose first is damaged.
// So only records count whose pages may be missing from the tree, and a damaged leaf page hides no others. In a bucket of
// which no leaf page is met, and which has few enough records for a single one by its stored count, a damaged page is
// taken for that.
func (c *checker) orphans(counted counts, found func(bucket, key, record []byte)) {
	var all []element
	for id := uint64(2); id < c.pages; id++ {
		if c.seen[id] != unmet {
			continue
		}
		b, err := c.read(id)
		if err != nil || order.Uint16(b[8:]) != flagLeaf {
			continue
		}
		if list, _, err := parse(b); err == nil {
			all = append(all, list...)
		}
	}
	// A page that is still unmet is damaged itself: had a wrong reference led to it, it would be part of another.
	gaps := slices.DeleteFunc(c.gaps, func(g gap) bool {
		depth, known := c.leaves[string(g.bucket)]
		n, said := counted[string(g.bucket)]
		leaf := known && g.depth == depth || !known && said && n <= unsplit
		return leaf && g.page < c.pages && c.seen[g.page] == unmet
	})
	for _, e := range all {
		bucket := bucketOf(e.key)
		missing := func(g gap) bool { return g.holds(bucket, e.key) }
		if e.flags == 0 && bucket != nil && slices.ContainsFunc(gaps, missing) {
			found(bucket, e.key, e.value)
		}
	}
}

func bucketOf(key []byte) []byte {
	if _, err := ids.ParseApp(string(key)); err == nil {
		return apps
	}
	if _, err := ids.ParseAttempt(string(key)); err == nil {
		return attempts
	}
	if _, err := parseRunKey(key); err == nil {
		return runs
	}
	if _, err := ids.ParseNode(string(key)); err == nil {
		return nodes
	}
	if _, err := parsePieceKey(key); err == nil {
		return submissions
	}
	return nil
}

// findRoots returns the roots of the trees in a file, that of the last commit first, and whether that is certain.
func findRoots(file *os.File, size int64) (roots []header, both bool, err error) {
	h, both, err := findMeta(file, size)
	if err != nil {
		return nil, false, err
	}
	roots = []header{h}
	for _, at := range []int64{0, h.pageSize} {
		if other, ok := readMeta(file, at); ok && other.pageSize == h.pageSize && other.tx < h.tx && other.pages >= 2 {
			roots = append(roots, other)
		}
	}
	// More pages than the file has mean damage; many more are nonsense.
	for _, h := range roots {
		if h.pages < 2 || h.pages > 1<<32 {
			return nil, both, unfit{fmt.Errorf("its header says that it has %d pages", h.pages)}
		}
	}
	return roots, both, nil
}

// judge decodes the records, and determines which are lost and how to make up for them.
func (w *wreck) judge() error {
	if err := w.format(); err != nil {
		return err
	}
	w.apps, w.tries, w.known, w.found = map[ids.App]*storedApp{}, map[ids.Attempt]*Attempt{}, map[ids.Attempt]bool{}, found{}
	w.counted = w.stored()
	for _, bucket := range slices.Sorted(maps.Keys(w.records)) {
		list := w.records[bucket]
		for _, key := range slices.Sorted(maps.Keys(list)) {
			if err := w.decode(bucket, key, list[key]); err != nil {
				delete(list, key)
				id, _ := ids.ParseApp(key)
				if t, err := ids.ParseAttempt(key); err == nil {
					id = t.App
					w.known[t] = true
				}
				if k, err := parsePieceKey([]byte(key)); err == nil {
					id = k.app
				}
				w.lose(bucket, key, id, "%v", err)
				if err := w.remark(bucket, key); err != nil {
					return err
				}
			}
		}
	}
	w.epoch()
	w.missing()
	w.contexts()
	w.standIn()
	w.ownerless()
	w.Records = map[string]int{}
	for bucket, list := range w.records {
		w.Records[bucket] = len(list)
	}
	return nil
}

// remark makes a record in place of one that cannot be read if it is the mark of a copy: as at a start, it is taken for
// that, since the numbers given out after the copy was made are not known.
func (w *wreck) remark(bucket, key string) error {
	if bucket != string(meta) || key != string(keyCopied) {
		return nil
	}
	record, err := encode(keyCopied, true)
	w.records[bucket][key] = record
	return err
}

// stored returns how many records there should be, or nil if that cannot be read.
func (w *wreck) stored() (n counts) {
	if decode(keyCounts, w.records[string(meta)][string(keyCounts)], &n) != nil {
		return nil
	}
	return n
}

// format checks that this program can read the file's format.
func (w *wreck) format() error {
	text := string(w.records[string(meta)][string(keyFormat)])
	if n, err := strconv.Atoi(text); err == nil && n > Format {
		return unfit{fmt.Errorf("its format is %d, and this program supports up to %d: use the newer Heddle that wrote it", n, Format)}
	}
	return nil
}

// decode reads a record, and keeps what others depend on.
func (w *wreck) decode(bucket, key string, record []byte) error {
	switch {
	case bucket == string(apps):
		a := &storedApp{}
		id, err := ids.ParseApp(key)
		if err = cmp.Or(err, decode([]byte(key), record, a)); err == nil && a.ID != id {
			err = fmt.Errorf("the record belongs to %s", a.ID)
		}
		if err == nil {
			w.apps[id] = a
		}
		return err
	case bucket == string(attempts):
		t := &Attempt{}
		id, err := ids.ParseAttempt(key)
		if err = cmp.Or(err, decode([]byte(key), record, t)); err == nil && t.ID != id {
			err = fmt.Errorf("the record belongs to %s", t.ID)
		}
		if err == nil {
			w.tries[id] = t
			w.known[id] = true
		}
		return err
	case bucket == string(submissions):
		_, err := w.found.add([]byte(key), record)
		return err
	case bucket == string(runs):
		_, err := parseRunKey([]byte(key))
		return cmp.Or(err, decode([]byte(key), record, &Run{}))
	case bucket == string(meta) && key == string(keyFormat):
		return nil
	}
	_, err := body([]byte(key), record)
	return err
}

// epoch determines how often the store was opened, or a number that is certainly higher: container ids must not recur.
func (w *wreck) epoch() {
	record := w.records[string(meta)][string(keyEpoch)]
	if record != nil && decode(keyEpoch, record, &w.Epoch) == nil {
		if w.Older { // the last commit may have been a start
			w.Epoch++
		}
		return
	}
	for _, t := range w.tries {
		w.Epoch = max(w.Epoch, t.MasterID>>ids.EpochShift+1)
	}
	w.Epoch = min(w.Epoch+epochJump, maxEpoch-1)
	w.lose(string(meta), string(keyEpoch), ids.App{}, "how often the store was opened is not known: counting continues at %d, so that no container ID is used twice", w.Epoch)
}

// missing reports how many records are lost about which nothing else is known.
func (w *wreck) missing() {
	for _, bucket := range countedBuckets {
		if n := w.short(bucket); n > 0 {
			w.lose(bucket, "", ids.App{}, "%d of %d were on damaged pages%s", n, w.counted[bucket], w.between(bucket))
		}
	}
}

// short returns how many records of a bucket are lost together with their keys, if their number is known.
func (w *wreck) short(bucket string) int {
	want, said := w.counted[bucket]
	if !said {
		return 0
	}
	n := want - len(w.records[bucket])
	for _, b := range w.Lost {
		if b.Bucket == bucket && b.Key != "" {
			n--
		}
	}
	return n
}

// between says which keys were on the damaged pages of a bucket.
func (w *wreck) between(bucket string) string {
	var out []string
	for _, d := range w.Damage {
		if d.Bucket != bucket {
			continue
		}
		switch from, to := cmp.Or(d.From, "the first"), cmp.Or(d.To, "the end"); {
		case d.From == "" && d.To == "":
			out = append(out, "anywhere")
		default:
			out = append(out, fmt.Sprintf("from %s up to, but not including, %s", from, to))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, ", ")
}

// contexts finds the submission of each application, and drops applications without one. Submissions that are part of
// applications' records, as older programs write them, get records of their own.
func (w *wreck) contexts() {
	for _, id := range slices.SortedFunc(maps.Keys(w.apps), ids.App.Compare) {
		a, key := w.apps[id], id.String()
		var err error
		if a.inline {
			w.records[string(apps)][key], err = encode([]byte(key), &a.App)
			for key, record := range (submission{id, a.Context}).pieces() {
				w.take(submissions, key, record)
			}
		} else {
			a.Context, err = w.found.whole(id)
		}
		if err != nil {
			delete(w.apps, id)
			delete(w.records[string(apps)], key)
			w.lose(string(apps), key, id, "%v", err)
		}
	}
}

// standIn makes records that stand in for lost attempts of live applications. Without them an attempt number would be
// given out again, while another master may still be running under it.
func (w *wreck) standIn() {
	w.added = map[string][]byte{}
	last := map[ids.App]int32{}
	for t := range w.known {
		last[t.App] = max(last[t.App], t.N)
	}
	lost := w.lostAttempts()
	certain := 0 // applications that have certainly lost an attempt
	for id, a := range w.apps {
		if a.Launched != 0 && last[id] == 0 && w.suspect(id) {
			certain++
		}
	}
	for id, a := range w.apps {
		n := last[id]
		if a.State == "" && lost > 0 && w.suspect(id) {
			others := certain
			if a.Launched != 0 && n == 0 {
				others--
			}
			n += int32(max(lost-others, 0))
		}
		for i := int32(1); i <= n && a.State == ""; i++ {
			t := ids.Attempt{App: id, N: i}
			if w.tries[t] != nil {
				continue
			}
			record, err := encode([]byte(t.String()), new(rm.LostAttempt(t, a.Submitted)))
			if err == nil { // always
				w.added[t.String()], w.known[t] = record, true
			}
		}
	}
}

// lostAttempts returns the maximum number of attempt records that were lost with their keys.
func (w *wreck) lostAttempts() int {
	if _, said := w.counted[string(attempts)]; said {
		return w.short(string(attempts))
	}
	n := 0
	for _, d := range w.Damage {
		if d.Bucket == string(attempts) {
			n += os.Getpagesize() / minAttempt
		}
	}
	return n
}

// suspect reports whether attempts of an application may have been on a damaged page.
func (w *wreck) suspect(id ids.App) bool {
	prefix := fmt.Sprintf("appattempt_%d_%04d_", id.Cluster, id.Seq)
	return slices.ContainsFunc(w.Damage, func(d Damage) bool {
		return d.Bucket == string(attempts) && (d.To == "" || prefix < d.To) && prefix+"\xff" > d.From
	})
}

// ownerless drops attempts and submissions whose application is lost.
func (w *wreck) ownerless() {
	for key := range w.records[string(submissions)] { // order: each alone
		if k, err := parsePieceKey([]byte(key)); err == nil && w.apps[k.app] == nil { // all keys that are left can be parsed
			delete(w.records[string(submissions)], key)
		}
	}
	for _, t := range slices.SortedFunc(maps.Keys(w.tries), compareAttempts) {
		if w.apps[t.App] == nil {
			delete(w.records[string(attempts)], t.String())
			w.lose(string(attempts), t.String(), t.App, "the record of its application is lost")
		}
	}
}

func compareAttempts(a, b ids.Attempt) int {
	return cmp.Or(a.App.Compare(b.App), cmp.Compare(a.N, b.N))
}

// Repair replaces the store at path by a new one with everything readable, and keeps the old file beside it under
// another name. If nothing is wrong, it changes nothing.
func Repair(path string) (*Report, error) {
	r, err := repair(path)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	return r, nil
}

func repair(path string) (*Report, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	lock, err := takeLock(path + ".lock")
	if err != nil {
		return nil, err
	}
	var w *wreck
	if err = sameOwner(path, lock.Name()); err == nil {
		w, err = readWreck(path)
	}
	if err == nil && !w.Whole() {
		err = w.replace()
	}
	if err = errors.Join(err, lock.Close()); err != nil {
		return nil, err
	}
	return &w.Report, nil
}

// replace puts a store with everything readable in place of the file, which it keeps. If the process ends before that,
// the file is unchanged.
func (w *wreck) replace() error {
	next := w.Path + ".new"
	if err := errors.Join(w.write(next), sameOwner(w.Path, next)); err != nil {
		return fmt.Errorf("the readable records of the damaged file cannot be written to a new file: %w", err)
	}
	kept, err := keep(w.Path)
	if err != nil {
		return fmt.Errorf("the damaged file cannot be renamed: %w", err)
	}
	if err := os.Rename(next, w.Path); err != nil {
		return err
	}
	w.Kept = kept
	return syncFolder(filepath.Dir(w.Path))
}

// keep gives a file a second name, which says that it is damaged.
func keep(path string) (kept string, err error) {
	for n := 1; ; n++ {
		kept = fmt.Sprintf("%s.damaged-%d", path, n)
		err := os.Link(path, kept)
		switch {
		case err == nil:
			return kept, syncFolder(filepath.Dir(path))
		case !errors.Is(err, fs.ErrExist):
			return "", err
		case same(path, kept): // of a start that did not finish
			return kept, nil
		}
	}
}

func same(a, b string) bool {
	one, err := os.Stat(a)
	two, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// write writes the records to a new file.
func (w *wreck) write(path string) error {
	return fill(path, func(db *bbolt.DB) error {
		kept := counts{}
		for _, bucket := range slices.Sorted(maps.Keys(w.records)) {
			list := w.records[bucket]
			for batch := range slices.Chunk(slices.Sorted(maps.Keys(list)), maxBatch) {
				if err := db.Update(func(tx *bbolt.Tx) error { return putAll(tx, bucket, batch, list) }); err != nil {
					return err
				}
			}
			kept[bucket] = len(list)
		}
		delete(kept, string(meta))
		delete(kept, string(tokens))
		added := slices.Sorted(maps.Keys(w.added))
		kept[string(attempts)] += len(added)
		return db.Update(func(tx *bbolt.Tx) error {
			b := tx.Bucket(meta)
			err := errors.Join(
				putAll(tx, string(attempts), added, w.added),
				b.Put(keyFormat, strconv.AppendInt(nil, Format, 10)), put(b, keyEpoch, w.Epoch), put(b, keyCounts, kept),
			)
			if w.Older {
				err = errors.Join(err, pass(tx, w.list(), slices.Collect(maps.Keys(w.known)), attemptJump))
			}
			return err
		})
	})
}

// list returns the usable applications.
func (w *wreck) list() (out []*App) {
	for _, a := range w.apps {
		out = append(out, &a.App)
	}
	return out
}

func putAll(tx *bbolt.Tx, bucket string, keys []string, records map[string][]byte) error {
	b, err := tx.CreateBucketIfNotExists([]byte(bucket))
	for _, key := range keys {
		if err == nil {
			err = b.Put([]byte(key), records[key])
		}
	}
	return err
}

// pass makes the next attempt of each live application get a number that no known attempt has, and that none had in
// missing commits: jump more than the last one.
func pass(tx *bbolt.Tx, list []*App, known []ids.Attempt, jump int32) error {
	last := map[ids.App]int32{}
	for _, t := range known {
		last[t.App] = max(last[t.App], t.N)
	}
	b := tx.Bucket(apps)
	for _, a := range list {
		if a.State != "" {
			continue
		}
		a.Taken = max(a.Taken, last[a.ID]) + jump
		if err := put(b, []byte(a.ID.String()), a); err != nil {
			return err
		}
	}
	return nil
}
