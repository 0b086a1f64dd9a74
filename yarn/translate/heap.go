package translate

import (
	"slices"
	"strconv"
	"strings"

	"heddle/yarn/wire"
)

// masterClass is the main class of a MapReduce job's master.
const masterClass = "org.apache.hadoop.mapreduce.v2.app.MRAppMaster"

// A JVM also takes options from these environment variables.
var optionVariables = []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"}

// masterHeap returns how many MiB of Java heap the command of a master's container gives it, if that is the master of a
// MapReduce job and the command can be changed: the value of the last option, or without one all of the container's
// memory, size. 0 means that the command cannot be changed.
func masterHeap(spec *wire.ContainerLaunchContext, size int64) int64 {
	if len(spec.GetCommand()) != 1 {
		return 0
	}
	for _, e := range spec.GetEnvironment() {
		if slices.Contains(optionVariables, e.GetKey()) && e.GetValue() != "" {
			return 0
		}
	}
	options, _, ok := heapOptions(spec.GetCommand()[0])
	if !ok {
		return 0
	}
	heap := size
	for _, o := range options {
		if o.most {
			heap = o.bytes >> 20
		}
	}
	return heap
}

// CutHeap limits the Java heap in the command of a MapReduce job's master to this many MiB: it lowers options that give
// more, and adds one if there is none. The rest of the command stays as it is. CutHeap reports whether this was possible,
// as it is if the submission's Facts have a MasterHeap.
func CutHeap(spec *wire.ContainerLaunchContext, mib int64) bool {
	if masterHeap(spec, 1) == 0 {
		return false
	}
	spec.Command[0] = cutHeap(spec.Command[0], mib)
	return true
}

// cutHeap returns a command with at most this many MiB of Java heap, or the same command if it cannot be changed.
func cutHeap(command string, mib int64) string {
	options, class, ok := heapOptions(command)
	if !ok {
		return command
	}
	size := strconv.FormatInt(mib, 10) + "m"
	var b strings.Builder
	done, limited := 0, false
	for _, o := range options {
		limited = limited || o.most
		if o.bytes > mib<<20 {
			b.WriteString(command[done:o.value])
			b.WriteString(size)
			done = o.end
		}
	}
	b.WriteString(command[done:class])
	if !limited {
		b.WriteString("-Xmx" + size + " ")
	}
	b.WriteString(command[class:])
	return b.String()
}

// A heapOption is an option of a command that sets the maximum or the initial size of the Java heap.
type heapOption struct {
	value, end int // where its size is in the command
	bytes      int64
	most       bool
}

// longestCommand is the most bytes of a command that is read. Linux passes no longer argument to a program, so a shell
// cannot be given a longer command.
const longestCommand = 128 << 10

// heapOptions finds the options of a command that set the size of the Java heap, and the position of its main class. ok
// is false if the command is not a MapReduce master's, or if something else may affect the size of the heap.
//
// Only java, its options and the class are read, not what follows. A NodeManager puts the command between double quotes
// into a script, which passes it to another shell. Text that has a special meaning to either of them makes ok false too.
func heapOptions(command string) (options []heapOption, class int, ok bool) {
	if len(command) > longestCommand || !strings.Contains(command, masterClass) { // that takes less time than reading
		return nil, 0, false
	}
	w, ok := nextWord(command, 0)
	if !ok || w.quoted || w.text != "java" && !strings.HasSuffix(w.text, "/java") {
		return nil, 0, false
	}
	for {
		if w, ok = nextWord(command, w.end); !ok {
			return nil, 0, false
		}
		switch {
		case w.text == masterClass && !w.quoted:
			return options, w.at, true
		case w.text == "<ADD_OPENS>": // the NodeManager's own options for its Java
		case slices.Contains(withArgument, w.text):
			if w, ok = nextWord(command, w.end); !ok || w.expands >= 0 || w.text == "<ADD_OPENS>" {
				return nil, 0, false
			}
		case !harmless(w):
			return nil, 0, false
		default:
			o, is, ok := heapOptionOf(w)
			if !ok {
				return nil, 0, false
			}
			if is {
				options = append(options, o)
			}
		}
	}
}

// withArgument are java options whose value is a separate word.
var withArgument = []string{
	"-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path", "--add-modules", "--add-exports", "--add-opens",
	"--add-reads", "--patch-module", "--limit-modules", "--enable-native-access",
}

// harmless reports whether a word is a java option that does not change the meaning of the heap options.
func harmless(w word) bool {
	if !strings.HasPrefix(w.text, "-") || w.expands >= 0 && !strings.Contains(w.text[:w.expands], "=") {
		return false // only the shell knows its value
	}
	for _, p := range []string{
		"-jar", "-m", "--module", "--source", // another class runs, or -mx and -ms, the old names of -Xmx and -Xms
		"-XX:SoftMaxHeapSize", "-XX:OldSize", "-XX:+AggressiveHeap", "-XX:Flags", "-XX:VMOptionsFile",
	} {
		if strings.HasPrefix(w.text, p) {
			return false
		}
	}
	return !strings.HasPrefix(w.text, "-XX:") || !strings.Contains(w.text, "RAM")
}

// heapOptionOf reads an option. ok is false if it sets the size of the heap in a way that is not understood.
func heapOptionOf(w word) (o heapOption, is, ok bool) {
	for _, name := range []string{"-Xmx", "-XX:MaxHeapSize=", "-Xms", "-XX:InitialHeapSize=", "-XX:MinHeapSize="} {
		size, is := strings.CutPrefix(w.text, name)
		if !is {
			continue
		}
		bytes, ok := bytesOf(size)
		o := heapOption{value: w.end - len(size), end: w.end, bytes: bytes, most: name == "-Xmx" || name == "-XX:MaxHeapSize="}
		return o, true, ok && !w.quoted
	}
	return heapOption{}, false, true
}

// bytesOf reads a size as a JVM does: a number, with an optional unit letter.
func bytesOf(s string) (int64, bool) {
	shift := 0
	if s != "" {
		if i := strings.IndexByte("kKmMgGtT", s[len(s)-1]); i >= 0 {
			s, shift = s[:len(s)-1], 10*(i/2+1)
		}
	}
	n, err := strconv.ParseUint(s, 10, 62)
	if err != nil || n > 1<<62>>shift {
		return 0, false
	}
	return int64(n) << shift, true
}

// A word is one word of a command.
type word struct {
	at, end int    // in the command
	text    string // without quotes
	quoted  bool   // at least in part
	expands int    // where the first variable in text is; -1 for nowhere
}

// plainChars are the characters, besides letters and digits, that a shell takes literally.
const plainChars = "-_./:=,@%+"

// nextWord returns the next word of a command from a position. ok is false if there is none, or if it has anything that
// means more to a shell than a character, a variable or text between single quotes.
func nextWord(command string, from int) (w word, ok bool) {
	i := from
	for i < len(command) && (command[i] == ' ' || command[i] == '\t') {
		i++
	}
	w = word{at: i, expands: -1}
	for i < len(command) && command[i] != ' ' && command[i] != '\t' {
		rest := command[i:]
		n := plain(rest)
		switch {
		case n > 0:
		case variable(rest) > 0:
			n = variable(rest)
			if w.expands < 0 {
				w.expands = len(unquoted(command[w.at:i]))
			}
		case placeholder(rest) > 0:
			n = placeholder(rest)
		case rest[0] == '\'':
			if n = strings.IndexByte(rest[1:], '\'') + 2; n < 2 || strings.ContainsAny(rest[:n], "\"\\`$\n") || strings.Contains(rest[:n], "{{") {
				return w, false
			}
			w.quoted = true
		default:
			return w, false
		}
		i += n
	}
	w.end, w.text = i, unquoted(command[w.at:i])
	return w, w.end > w.at
}

// unquoted returns a part of a word without its single quotes. Nothing else of a word contains one.
func unquoted(s string) string { return strings.ReplaceAll(s, "'", "") }

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// plain returns how many characters at the beginning of a text a shell takes literally.
func plain(s string) (n int) {
	for n < len(s) && (letter(s[n]) || strings.IndexByte(plainChars, s[n]) >= 0) {
		n++
	}
	return n
}

// variable returns the length of the variable, in a shell's or YARN's notation, at the beginning of a text; 0 if there is
// none.
func variable(s string) int {
	open, end := "$", ""
	for _, p := range [][2]string{{"{{", "}}"}, {"${", "}"}} {
		if strings.HasPrefix(s, p[0]) {
			open, end = p[0], p[1]
		}
	}
	name, is := strings.CutPrefix(s, open)
	if !is {
		return 0
	}
	n := 0
	for n < len(name) && (letter(name[n]) || name[n] == '_') {
		n++
	}
	if n == 0 || name[0] <= '9' || !strings.HasPrefix(name[n:], end) {
		return 0
	}
	return len(open) + n + len(end)
}

// placeholder returns the length of the placeholder at the beginning of a text that a NodeManager replaces by something
// without blanks, or by its own options; 0 if there is none.
func placeholder(s string) int {
	for _, p := range []string{"<LOG_DIR>", "<CPS>", "<ADD_OPENS>"} {
		if strings.HasPrefix(s, p) {
			return len(p)
		}
	}
	return 0
}
