package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadProjectFile(t *testing.T) {
	dir := realTemp(t)
	const rel = ".lictor/settings.json"
	file := filepath.Join(dir, ".lictor", "settings.json")

	text, err := ReadProjectFile(dir, rel)
	require.NoError(t, err, "a missing folder is no file")
	assert.Nil(t, text)

	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o755))
	text, err = ReadProjectFile(dir, rel)
	require.NoError(t, err, "a missing file is no file")
	assert.Nil(t, text)

	write(t, file, "")
	text, err = ReadProjectFile(dir, rel)
	require.NoError(t, err)
	assert.NotNil(t, text, "an empty file is there")
	assert.Empty(t, text)

	write(t, file, strings.Repeat(" ", MaxFileSize))
	_, err = ReadProjectFile(dir, rel)
	require.NoError(t, err, "the limit itself is allowed")
}

func TestReadRefusesTexts(t *testing.T) {
	for name, c := range map[string]struct{ text, fault string }{
		"too large":         {strings.Repeat(" ", MaxFileSize+1), "is larger than 1048576 bytes"},
		"byte order mark":   {"\xef\xbb\xbf{}", "byte order mark"},
		"bad UTF-8":         {"{\"a\": \"\xff\"}", "not valid UTF-8"},
		"UTF-16":            {"\xff\xfe{\x00}\x00", "not valid UTF-8"},
		"encoded surrogate": {"\xed\xa0\x80", "not valid UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := realTemp(t)
			file := filepath.Join(dir, ".lictor", "settings.json")
			write(t, file, c.text)
			for _, read := range []func() ([]byte, error){
				func() ([]byte, error) { return ReadProjectFile(dir, ".lictor/settings.json") },
				func() ([]byte, error) { return ReadUserFile(file) },
			} {
				_, err := read()
				require.ErrorContains(t, err, c.fault)
				require.ErrorContains(t, err, file)
			}
		})
	}
}

func TestReadFollowsLinksOnlyForTheUser(t *testing.T) {
	dir := realTemp(t)
	write(t, filepath.Join(dir, "real.json"), "{}")
	file := filepath.Join(dir, ".lictor", "settings.json")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o755))
	require.NoError(t, os.Symlink("../real.json", file))

	_, err := ReadProjectFile(dir, ".lictor/settings.json")
	require.ErrorContains(t, err, file+": is a symbolic link, which is not followed")

	text, err := ReadUserFile(file)
	require.NoError(t, err)
	assert.Equal(t, "{}", string(text))
}

func TestFileErrorNamesTheLine(t *testing.T) {
	assert.Equal(t, "a.json:3: invalid argument", (&FileError{File: "a.json", Line: 3, Err: os.ErrInvalid}).Error())
	assert.Equal(t, "a.json: invalid argument", (&FileError{File: "a.json", Err: os.ErrInvalid}).Error())
	assert.ErrorIs(t, &FileError{File: "a", Err: os.ErrInvalid}, os.ErrInvalid)
}
