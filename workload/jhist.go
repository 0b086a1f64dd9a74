package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"heddle"
)

const (
	historyText   = "Avro-Json"
	historyBinary = "Avro-Binary"
)

func looksLikeHistory(head []byte) bool {
	return bytes.HasPrefix(head, []byte(historyText)) || bytes.HasPrefix(head, []byte(historyBinary))
}

// readHistory reads one .jhist file or all of them below a folder.
func readHistory(im *importer, path string) error {
	return im.eachFile(path, looksLikeHistory, im.historyFile)
}

// eachFile calls read for path, or for every file below it that looks like a file of the format.
func (im *importer) eachFile(path string, looks func(head []byte) bool, read func(path string) error) error {
	folder, err := isFolder(path)
	if err != nil {
		return err
	}
	if !folder {
		return read(path)
	}
	err = walk(path, func(file string, _ bool) error {
		im.file = file
		head, err := headOf(file)
		if err != nil {
			return im.defect(0, faultf("", "%v", errors.Unwrap(err)))
		}
		if !looks(head) {
			im.notOurs(file, head)
			return nil
		}
		return read(file)
	})
	if err != nil {
		return err
	}
	return im.leftOut(path)
}

// historyFile reads the job of one file.
func (im *importer) historyFile(path string) error {
	r, err := im.open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	im.file = path
	h := newHistory(im)
	l := newLineReader(r)
	kind, err := l.heading(2)
	if err != nil {
		return im.defect(1, faultf("", "the heading is missing: the first line is %s or %s, the second the schema", historyText, historyBinary))
	}
	switch strings.TrimSpace(kind[0]) {
	case historyText:
		err = im.lines(l, h.textEvent)
	case historyBinary:
		err = h.binaryEvents(kind[1], l)
	default:
		return im.defect(1, faultf("", "%q; a job history begins with %s or %s", clip([]byte(kind[0])), historyText, historyBinary))
	}
	if err != nil {
		return err
	}
	if h.id == "" {
		return im.defect(0, faultf("", "has no JOB_SUBMITTED event"))
	}
	c, err := im.jobConf(filepath.Join(filepath.Dir(path), filepath.Base(h.id)+"_conf.xml"))
	if err != nil {
		return err
	}
	im.file = path
	j, bad := h.job(c)
	if bad != nil {
		return im.defect(0, bad)
	}
	return im.add(0, j)
}

// textEvent handles one line of the text form.
func (h *history) textEvent(line int, text []byte) error {
	var e struct {
		Type  string
		Event map[string]map[string]any
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&e); err != nil {
		_, bad := jsonFault(line, text, err)
		return h.im.defect(line, bad)
	}
	if bad := h.event(e.Type, e.Event); bad != nil {
		return h.im.defect(line, bad)
	}
	return nil
}

// binaryEvents reads what follows the schema in the binary form. Events have no framing: everything after a broken one
// is lost.
func (h *history) binaryEvents(schema string, r io.Reader) error {
	codec, err := avroCodec(schema)
	if err != nil {
		return h.im.defect(2, faultf("schema", "%v", err))
	}
	data, broken := io.ReadAll(io.LimitReader(r, MaxObjectBytes+1))
	if len(data) > MaxObjectBytes {
		return h.im.defect(0, faultf("", "cannot be read: is larger than %d bytes", MaxObjectBytes))
	}
	for n := 1; len(data) > 0; n++ {
		native, rest, err := codec.NativeFromBinary(data)
		if err != nil {
			return h.im.cutOff(0, "", fmt.Sprintf("event %d cannot be decoded, nor what follows it: %v", n, err))
		}
		data = rest
		h.im.wl.Lines++
		kind, event := avroEvent(native)
		if bad := h.event(kind, event); bad != nil {
			bad.reason = fmt.Sprintf("event %d: %s", n, bad.reason)
			if err := h.im.defect(0, bad); err != nil {
				return err
			}
		}
	}
	if broken != nil {
		return h.im.cutOff(0, "", brokenOff(broken))
	}
	return nil
}

// avroEvent takes a decoded event apart into the same shape as in the text form.
func avroEvent(native any) (kind string, event map[string]map[string]any) {
	record, _ := native.(map[string]any)
	kind, _ = record["type"].(string)
	union, _ := record["event"].(map[string]any)
	event = map[string]map[string]any{}
	for name, v := range union {
		if f, ok := v.(map[string]any); ok {
			event[name] = f
		}
	}
	return kind, event
}

// job builds the job from what the events said and from its configuration.
func (h *history) job(c jobConf) (Job, *fault) {
	im := h.im
	maps, bad := h.tasks("totalMaps", h.maps, h.totalMaps)
	if bad != nil {
		return Job{}, bad
	}
	reduces, bad := h.tasks("totalReduces", h.reduces, h.totalReduces)
	if bad != nil {
		return Job{}, bad
	}
	if bad := im.room("totalMaps", int64(len(maps)+len(reduces))); bad != nil {
		return Job{}, bad
	}
	j := Job{
		ID: h.id, Name: h.name, Queue: h.queue, User: h.user, Submit: millis(h.submit), Failed: h.failed, Recorded: recorded(h.submit, h.finish), SlowStart: -1,
		Unended: !h.failed && h.finish == 0, Priority: jobPriority(h.priority), Framework: heddle.MapReduce,
		Maps: im.take(len(maps)), Reduces: im.take(len(reduces)),
	}
	for i, t := range maps {
		h.fillTask(&j.Maps[i], t, len(reduces) == 0)
	}
	for i, t := range reduces {
		h.fillTask(&j.Reduces[i], t, false)
	}
	j.Times = &Times{Master: millis(h.master), Ready: millis(h.ready), Maps: starts(maps), Reduces: starts(reduces)}
	waited(j.Maps, j.Reduces, j.Times.Maps, j.Times.Reduces)
	im.outcome(&j)
	if h.uber {
		im.fill("uber", "a job that ran inside its master is read as if its tasks had containers of their own", "")
	}
	c.apply(im, &j)
	return j, nil
}
