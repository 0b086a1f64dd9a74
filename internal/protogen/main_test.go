package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// The code in yarn/wire is what this program generates from the definitions there.
func TestCodeIsCurrent(t *testing.T) {
	const root = "../.."
	code, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(root, folder, "*.pb.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, ok := code[filepath.Base(name)]
		if !ok {
			t.Errorf("%s: no definition makes it; go generate ./%s deletes it", name, folder)
		} else if string(text) != want {
			t.Errorf("%s is not what its definition makes; go generate ./%s", name, folder)
		}
		delete(code, filepath.Base(name))
	}
	for name := range code {
		t.Errorf("%s is missing; go generate ./%s", name, folder)
	}
}

func TestDefinitionsThatDoNotLink(t *testing.T) {
	const head = "syntax = \"proto2\"; package toy; option go_package = \"heddle/yarn/wire\";\n"
	for _, c := range []struct{ what, text, want string }{
		{"no definitions", "", "no definitions in yarn/wire"},
		{"a type that is nowhere", head + "message M { optional Lost lost = 1; }", "a.proto:2:22: "},
		{"a number used twice", head + "message M { optional int32 a = 1; optional int32 b = 1; }", "a.proto:2:54: "},
		{"an import that is nowhere", head + "import \"yarn/wire/lost.proto\";", "lost.proto"},
		{"an import from another folder", head + "import \"other/b.proto\";", "other/b.proto is imported, but not in yarn/wire"},
		{"an import from elsewhere", head + "import \"google/protobuf/empty.proto\";", "google/protobuf/empty.proto"},
	} {
		files := fstest.MapFS{"other/b.proto": {Data: []byte(head)}}
		if c.text != "" {
			files["yarn/wire/a.proto"] = &fstest.MapFile{Data: []byte(c.text)}
		}
		if _, err := request(files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.what, err, c.want)
		}
	}
}

// Imported files come first, as the plugin requires, whatever their names.
func TestImportsComeFirst(t *testing.T) {
	const head = "syntax = \"proto2\"; package toy; option go_package = \"heddle/yarn/wire\";\n"
	req, err := request(fstest.MapFS{
		"yarn/wire/a.proto": {Data: []byte(head + "import \"yarn/wire/b.proto\"; message A { optional B b = 1; }")},
		"yarn/wire/b.proto": {Data: []byte(head + "import \"yarn/wire/c.proto\"; message B { optional C c = 1; }")},
		"yarn/wire/c.proto": {Data: []byte(head + "message C {}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, f := range req.ProtoFile {
		order = append(order, filepath.Base(f.GetName()))
	}
	if got, want := strings.Join(order, " "), "c.proto b.proto a.proto"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}
