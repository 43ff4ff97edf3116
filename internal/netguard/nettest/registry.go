package nettest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tarball is a gzipped tar of files.
func Tarball(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}))
		_, err := io.WriteString(w, text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

// Zip is a zip archive of files.
func Zip(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = io.WriteString(w, text)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// NPM is the registry https://npm.registry.test with the package left 1.0.0.
func NPM(tarball []byte) http.HandlerFunc {
	sum := sha512.Sum512(tarball)
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/left":
			_ = json.NewEncoder(w).Encode(map[string]any{"name": "left", "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{
				"1.0.0": map[string]any{"name": "left", "version": "1.0.0", "dist": map[string]string{
					"tarball": "https://npm.registry.test/left/-/left-1.0.0.tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
				}},
			}})
		case "/left/-/left-1.0.0.tgz":
			_, _ = w.Write(tarball)
		default:
			http.NotFound(w, r)
		}
	}
}

// GoProxy is a module proxy with one version of one module.
func GoProxy(module, version, goMod string, archive []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/" + module + "/@v/list":
			fmt.Fprintln(w, version)
		case "/" + module + "/@v/" + version + ".info":
			fmt.Fprintf(w, `{"Version":%q}`, version)
		case "/" + module + "/@v/" + version + ".mod":
			fmt.Fprint(w, goMod)
		case "/" + module + "/@v/" + version + ".zip":
			_, _ = w.Write(archive)
		default:
			http.NotFound(w, r)
		}
	}
}
