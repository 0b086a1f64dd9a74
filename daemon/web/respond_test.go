package web

import (
	"reflect"
	"testing"
	"unsafe"

	"heddle/rm"
)

// What an answer takes up is that of its lists, down to those of its elements, but for what is not sent.
func TestTakesUp(t *testing.T) {
	const text = int64(unsafe.Sizeof(""))
	list := rm.Apps{List: make([]rm.AppReport, 3)}
	each := 2 * 3 * int64(unsafe.Sizeof(rm.AppReport{}))
	for range 2 {
		if got := takesUp(reflect.ValueOf(list), 3); got != each {
			t.Errorf("three applications: %d, want %d", got, each)
		}
	}
	list.List[1].Tags = []string{"a", "b"}
	list.List[2].Attempts = make([]rm.AttemptReport, 5)
	list.List[2].Viewers = make([]rm.ACL, 100)
	want := each + 2*2*text + 2*5*int64(unsafe.Sizeof(rm.AttemptReport{}))
	if got := takesUp(reflect.ValueOf(&list), 3); got != want {
		t.Errorf("with tags and attempts: %d, want %d", got, want)
	}
	if got := takesUp(reflect.ValueOf(list), 0); got != each {
		t.Errorf("no level deep: %d, want %d", got, each)
	}
	if got := takesUp(reflect.ValueOf(struct{ A any }{list}), 3); got != want {
		t.Errorf("in an interface: %d, want %d", got, want)
	}
}
