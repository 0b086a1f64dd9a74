package facts

import (
	"errors"
	"io"
	"slices"
	"strings"

	"heddle/rm"
)

// memoryUse is Java's report on memory, in bytes. Without a limit the maximum is below zero.
type memoryUse struct {
	Used      amount `json:"used"`
	Committed amount `json:"committed"`
	Max       amount `json:"max"`
}

// bean is a JMX bean about memory. JSON names match regardless of case unless both are named.
type bean struct {
	Object  string     `json:"name"`
	Pool    string     `json:"Name"`
	Heap    *memoryUse `json:"HeapMemoryUsage"`
	Outside *memoryUse `json:"NonHeapMemoryUsage"`
	After   *memoryUse `json:"CollectionUsage"`
	Threads amount     `json:"ThreadCount"`
}

// oldPools are parts of the names of memory pools that hold long-lived objects, by collector.
var oldPools = []string{"old gen", "tenured gen", "zheap", "shenandoah", "epsilon"}

// heap asks a Java process about its heap.
func (t *talk) heap(into *rm.HeapNews) error {
	var h rm.HeapNews
	if err := t.get("jmx", "qry=java.lang:type=Mem*,*", func(r io.Reader) error { return readHeap(r, &h) }); err != nil {
		return err
	}
	if err := t.get("jmx", "get=java.lang:type=Threading::ThreadCount", func(r io.Reader) error { return readThreads(r, &h) }); err != nil {
		return err
	}
	*into = h
	return nil
}

// readHeap reads the beans for memory and memory pools.
func readHeap(r io.Reader, h *rm.HeapNews) error {
	said := false
	err := each(r, []string{"beans"}, func(b *bean) error {
		switch {
		case b.Object == "java.lang:type=Memory" && b.Heap != nil:
			said = true
			h.Used, h.Max = b.Heap.Used.mib(), b.Heap.Max.mib()
			if b.Outside != nil {
				h.Outside = b.Outside.Committed.mib()
			}
		case b.After != nil && slices.ContainsFunc(oldPools, func(s string) bool { return strings.Contains(strings.ToLower(b.Pool), s) }):
			h.Live = max(h.Live, b.After.Used.mib())
		}
		return nil
	})
	if err == nil && !said {
		err = errors.New("java.lang:type=Memory is missing")
	}
	return err
}

// readThreads reads the number of threads.
func readThreads(r io.Reader, h *rm.HeapNews) error {
	return each(r, []string{"beans"}, func(b *bean) error {
		if b.Object == "java.lang:type=Threading" {
			h.Threads = b.Threads.count()
		}
		return nil
	})
}
