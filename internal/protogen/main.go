// Command protogen generates the Go code of the protocol buffer definitions in yarn/wire, without protoc and without
// downloads: it parses and links the files itself and hands them to the plugin protoc-gen-go, which is part of the
// protobuf library in go.mod.
//
// It does not know what the messages mean. Usage, from the folder of the definitions:
//
//	go run heddle/internal/protogen
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/pluginpb"
)

// folder is the folder of the definitions and of their generated code, relative to the root of the module. Files import
// each other by their path from that root, so that their names cannot collide with another library's files.
const folder = "yarn/wire"

// plugin is the package from which protoc-gen-go is built.
const plugin = "google.golang.org/protobuf/cmd/protoc-gen-go"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// run writes the code next to the definitions in the working directory and deletes generated code that no definition
// produces any more.
func run() error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	root := filepath.Join(here, "..", "..")
	if filepath.Join(root, folder) != here {
		return fmt.Errorf("%s is not the module's folder %s; go generate ./%s goes there", here, folder, folder)
	}
	code, err := generate(root)
	if err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(here, "*.pb.go"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if _, ok := code[filepath.Base(name)]; !ok {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	for name, text := range code {
		if err := os.WriteFile(filepath.Join(here, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the code of all definitions in the module at root, by file name.
func generate(root string) (map[string]string, error) {
	req, err := request(os.DirFS(root))
	if err != nil {
		return nil, err
	}
	resp, err := protocGenGo(root, req)
	if err != nil {
		return nil, err
	}
	code := map[string]string{}
	for _, f := range resp.File {
		if path.Dir(f.GetName()) != folder {
			return nil, fmt.Errorf("%s would lie outside %s; its go_package must be heddle/%s", f.GetName(), folder, folder)
		}
		code[path.Base(f.GetName())] = f.GetContent()
	}
	return code, nil
}

// request parses and links the definitions.
func request(module fs.FS) (*pluginpb.CodeGeneratorRequest, error) {
	names, err := fs.Glob(module, folder+"/*.proto")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("no definitions in " + folder)
	}
	compiler := protocompile.Compiler{
		Resolver: &protocompile.SourceResolver{Accessor: func(name string) (io.ReadCloser, error) {
			return module.Open(name)
		}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), names...)
	if err != nil {
		return nil, err
	}
	req := &pluginpb.CodeGeneratorRequest{Parameter: new("module=heddle"), FileToGenerate: names}
	seen := map[string]bool{}
	var add func(name string) error
	add = func(name string) error { // a file comes after the files it imports
		if seen[name] {
			return nil
		}
		seen[name] = true
		f := files.FindFileByPath(name)
		if f == nil {
			return fmt.Errorf("%s is imported, but not in %s", name, folder)
		}
		d := protodesc.ToFileDescriptorProto(f)
		for _, dep := range d.Dependency {
			if err := add(dep); err != nil {
				return err
			}
		}
		req.ProtoFile = append(req.ProtoFile, d)
		return nil
	}
	for _, name := range names {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	return req, nil
}

// protocGenGo runs the plugin as protoc would, by messages over its standard input and output.
func protocGenGo(root string, req *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	in, err := proto.Marshal(req)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "run", plugin)
	cmd.Dir = root
	cmd.Stdin = bytes.NewReader(in)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go run %s: %w\n%s", plugin, err, complaint.Bytes())
	}
	var resp pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out.Bytes(), &resp); err != nil {
		return nil, fmt.Errorf("%s answered with something else than its response: %w", plugin, err)
	}
	if resp.Error != nil {
		return nil, fmt.Errorf("%s: %s", plugin, resp.GetError())
	}
	return &resp, nil
}
