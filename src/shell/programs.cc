#include "shell/programs.h"

#include <algorithm>

namespace leasehold::shell {
namespace {

using enum Operands;

constexpr std::string_view kInPlace = "-i --in-place";

// In the order of the alphabet.
constexpr Program kPrograms[] = {
    {.name = "bunzip2", .operands = each, .reads_if = "-c --stdout -t --test", .suffixes = ".bz2"},
    {.name = "bzip2", .operands = each, .reads_if = "-c --stdout -t --test", .suffixes = ".bz2"},
    {.name = "chmod", .operands = after_first, .tree_if = "-R --recursive", .script = "--reference"},
    {.name = "clang++",
     .syntax = {.values = "-o -I -L -D -include -x", .whole = true},
     .reads_if = "-fsyntax-only --version -E",
     .outputs = "-o",
     .unseen_unless = "-o -fsyntax-only --version -E",
     .why = "files named after its sources"},
    {.name = "cp",
     .operands = copy,
     .syntax = {.values = "-t --target-directory -S --suffix"},
     .into = "-t --target-directory",
     .tree_if = "-r -R -a --recursive --archive",
     .unseen_if = "-b --backup -S --suffix",
     .why = "where it keeps what was there"},
    {.name = "csplit", .operands = here},
    {.name = "curl",
     .syntax = {.values =
                    "-o --output -d --data --data-raw --data-binary -H --header -X --request -u --user -A "
                    "--user-agent -e --referer -F --form -b --cookie -c --cookie-jar -D --dump-header -m "
                    "--max-time -T --upload-file -w --write-out -x --proxy -K --config --connect-timeout "
                    "--retry --cacert --cert --key --trace --trace-ascii --stderr --output-dir -r -C -E"},
     .outputs = "-o --output -c --cookie-jar -D --dump-header --trace --trace-ascii --stderr",
     .unseen_if = "-K --config -O --remote-name -J --remote-header-name --remote-name-all --output-dir",
     .why = "files named after what is fetched"},
    {.name = "dd", .keys = "of="},
    {.name = "dos2unix", .operands = each, .reads_if = "-n --newfile"},
    {.name = "ed", .operands = each, .syntax = {.values = "-p --prompt"}},
    {.name = "ex", .operands = each, .syntax = {.values = "-c -u -S", .whole = true}},
    {.name = "gcc",
     .syntax = {.values = "-o -I -L -D -include -x", .whole = true},
     .reads_if = "-fsyntax-only --version -E",
     .outputs = "-o",
     .unseen_unless = "-o -fsyntax-only --version -E",
     .why = "files named after its sources"},
    {.name = "gunzip",
     .operands = each,
     .reads_if = "-c --stdout -t --test -l --list",
     .suffixes = ".gz .tgz"},
    {.name = "gzip",
     .operands = each,
     .syntax = {.values = "-S"},
     .reads_if = "-c --stdout -t --test -l --list",
     .tree_if = "-r --recursive",
     .suffixes = ".gz"},
    {.name = "install",
     .operands = copy,
     .syntax = {.values =
                    "-m --mode -o --owner -g --group -t --target-directory -S --suffix --strip-program"},
     .reads_if = "-d --directory",
     .into = "-t --target-directory",
     .unseen_if = "-b --backup",
     .why = "where it keeps what was there"},
    {.name = "ln",
     .operands = link,
     .syntax = {.values = "-t --target-directory -S --suffix"},
     .into = "-t --target-directory",
     .unseen_if = "-b --backup",
     .why = "where it keeps what was there"},
    {.name = "mv",
     .operands = move,
     .syntax = {.values = "-t --target-directory -S --suffix"},
     .into = "-t --target-directory",
     .unseen_if = "-b --backup",
     .why = "where it keeps what was there"},
    {.name = "perl",
     .operands = after_first,
     .syntax = {.values = "-e -E -M -I -m", .attached = "-i -F"},
     .writes_if = "-i",
     .script = "-e -E",
     .backup = "-i",
     .unseen_unless = "-i -v",
     .why = "an interpreter"},
    {.name = "rename", .unseen_if = "*", .why = "which names it makes"},
    {.name = "rm", .operands = each, .tree_if = "-r -R --recursive"},
    {.name = "rsync",
     .operands = last,
     .syntax = {.values =
                    "-e --rsh --exclude --include --exclude-from --include-from --files-from -f --filter "
                    "--log-file -T --temp-dir --port --bwlimit --max-size --min-size -B"},
     .reads_if = "-n --dry-run --list-only",
     .outputs = "--log-file",
     .tree_if = "-r -a --recursive --archive --delete",
     .unseen_if = "--remove-source-files -b --backup",
     .why = "what it takes away"},
    {.name = "scp", .operands = last, .syntax = {.values = "-i -P -o -F -c -l -S"}, .tree_if = "-r"},
    {.name = "sed",
     .operands = after_first,
     .syntax = {.values = "-e --expression -f --file -l --line-length", .attached = kInPlace},
     .writes_if = kInPlace,
     .script = "-e --expression -f --file",
     .backup = kInPlace},
    {.name = "shred", .operands = each, .syntax = {.values = "-n -s --iterations --size"}},
    {.name = "sort",
     .syntax = {.values = "-o --output -k --key -t --field-separator -S -T --parallel --temporary-directory"},
     .outputs = "-o --output"},
    {.name = "split", .operands = here, .syntax = {.values = "-b -l -n -C -a -t"}},
    {.name = "sponge", .operands = each},
    {.name = "tee", .operands = each},
    {.name = "touch", .operands = each, .syntax = {.values = "-d --date -r --reference -t --time"}},
    {.name = "truncate", .operands = each, .syntax = {.values = "-s --size -r --reference"}},
    {.name = "uniq", .operands = second, .syntax = {.values = "-f -s -w"}},
    {.name = "unix2dos", .operands = each, .reads_if = "-n --newfile"},
    {.name = "unlink", .operands = each},
    {.name = "unxz", .operands = each, .reads_if = "-c --stdout -t --test -l --list", .suffixes = ".xz"},
    {.name = "unzip",
     .operands = here,
     .syntax = {.values = "-d -P -x"},
     .reads_if = "-l -t -p -v -Z -z",
     .into = "-d"},
    {.name = "wget",
     .syntax = {.values =
                    "-O --output-document -o --output-file -a --append-output -P --directory-prefix -U "
                    "--user-agent --header -T --timeout -t --tries -i --input-file --post-data --post-file"},
     .reads_if = "--spider",
     .outputs = "-O --output-document -o --output-file -a --append-output",
     .unseen_unless = "-O --output-document",
     .why = "files named after what is fetched"},
    {.name = "xz",
     .operands = each,
     .syntax = {.values = "-T --threads"},
     .reads_if = "-c --stdout -t --test -l --list",
     .suffixes = ".xz"},
    {.name = "yq",
     .operands = after_first,
     .syntax = {.values = "-o -p --output-format --input-format"},
     .writes_if = "-i --inplace --in-place"},
    {.name = "zip",
     .operands = first,
     .syntax = {.values = "-x -i -P -b"},
     .unseen_if = "-m --move",
     .why = "what it takes away"},
    {.name = "zstd",
     .operands = each,
     .syntax = {.values = "-o -T"},
     .reads_if = "-c --stdout -t --test -l --list",
     .outputs = "-o",
     .suffixes = ".zst"},
};

static_assert(std::ranges::is_sorted(kPrograms, {}, &Program::name));

constexpr std::string_view kNpmValues = "-p --package -w --workspace --prefix -C";
constexpr std::string_view kNpmFolder = "--prefix -C";
constexpr std::string_view kNpmAround = "-w --workspace -ws --workspaces";
constexpr std::string_view kPnpmValues = "--package -F --filter -C --dir";
constexpr std::string_view kPnpmFolder = "-C --dir";
constexpr std::string_view kPnpmAround = "-F --filter -r --recursive";

constexpr Wrapper kWrappers[] = {
    {.name = "bun x", .values = "-p --package", .packages = true},
    {.name = "bundle exec"},
    {.name = "bunx", .values = "-p --package", .packages = true},
    {.name = "busybox"},
    {.name = "caffeinate", .values = "-t -w"},
    {.name = "chrt", .operands = 1},
    {.name = "doas", .values = "-u -C"},
    {.name = "env",
     .values = "-u --unset -C --chdir -S --split-string",
     .folder = "-C --chdir",
     .assigns = true,
     .words = "-S --split-string"},
    {.name = "flock",
     .values = "-w --wait --timeout -E --conflict-exit-code",
     .operands = 1,
     .makes = true,
     .script = "-c --command"},
    {.name = "ionice", .values = "-c -n -p --class --classdata"},
    {.name = "nice", .values = "-n --adjustment"},
    {.name = "nohup"},
    {.name = "npm exec",
     .values = "-c --call -p --package -w --workspace --prefix -C",
     .folder = kNpmFolder,
     .packages = true,
     .script = "-c --call",
     .around = kNpmAround},
    {.name = "npm x", .values = kNpmValues, .folder = kNpmFolder, .packages = true, .around = kNpmAround},
    {.name = "npx",
     .values = "-c --call -p --package -w --workspace --prefix",
     .folder = "--prefix",
     .packages = true,
     .script = "-c --call",
     .around = kNpmAround},
    {.name = "pipx run", .values = "--spec --python", .packages = true},
    {.name = "pnpm dlx",
     .values = kPnpmValues,
     .folder = kPnpmFolder,
     .packages = true,
     .around = kPnpmAround},
    {.name = "pnpm exec",
     .values = kPnpmValues,
     .folder = kPnpmFolder,
     .packages = true,
     .around = kPnpmAround},
    {.name = "pnpx", .values = "--package", .packages = true},
    {.name = "poetry run"},
    {.name = "python -m"},
    {.name = "python3 -m"},
    {.name = "setsid"},
    {.name = "stdbuf", .values = "-i -o -e --input --output --error"},
    {.name = "strace", .values = "-e -o -p -s", .outputs = "-o"},
    {.name = "sudo",
     .values = "-u --user -g --group -D --chdir -h -p -C -r -t -T -U",
     .folder = "-D --chdir",
     .assigns = true},
    {.name = "taskset", .operands = 1},
    {.name = "time", .values = "-f --format -o --output", .outputs = "-o --output"},
    {.name = "timeout", .values = "-s --signal -k --kill-after", .operands = 1},
    {.name = "toybox"},
    {.name = "unbuffer"},
    {.name = "uv run",
     .values = "--with -p --python --directory --project --group --extra",
     .folder = "--directory"},
    {.name = "uvx", .values = "--from --with -p --python", .packages = true},
    {.name = "yarn dlx", .values = "-p --package --cwd", .folder = "--cwd", .packages = true},
    {.name = "yarn exec", .values = "--cwd", .folder = "--cwd", .packages = true},
};

}  // namespace

std::span<const Program> file_programs() { return kPrograms; }

const Wrapper* find_wrapper(std::string_view name) {
  for (const Wrapper& one : kWrappers) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace leasehold::shell
