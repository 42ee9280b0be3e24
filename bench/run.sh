#!/bin/sh
# run.sh BIN: the measurements behind the pages of this folder, as ratios in one run. About ten minutes.
set -u
bin=$1 here=$(dirname "$0")
cd "$here" || exit 1
GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@gitmem.invalid
export GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
python=$bin/python
echo '== hooks (N1, N3)'
"$python" hook_cost.py --python "$python" --reference true,python,notes-add \
    --install "gitmem=$bin/gitmem init && git add .gitmem && git commit -qm pages" \
    --install "no-pages=$bin/gitmem init --no-pages" --note-ref refs/notes/gitmem
"$python" hook_cost.py --reference sh --settle 0.2 --note-ref refs/notes/gitmem --goal 'total:detached/none<=1.35' \
    --install "detached=mkdir -p .gitmem && printf '[hook]\nmode = \"detached\"\n' >.gitmem/config.toml && $bin/gitmem init --no-pages && $bin/gitmem status"
echo '== commits beyond all usual size (N6)'
"$python" large_commits.py "$bin/gitmem" --goal 'blob/plain<=1.3' --goal 'line/plain<=1.3' --goal 'files/raw<=3'
echo '== one more note (N4)'
"$python" notes_scale.py --sizes 1000,100000 --only git-notes --setup 'git config gitmem.enabled true' \
    --add "gitmem=$bin/gitmem hook git post-commit" --goal 'growth:add:gitmem<=0.05'
echo '== backfill (N7)'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" make_repo.py "$work/repo" --commits 4000 >/dev/null
git -C "$work/repo" config gitmem.enabled true
"$python" compare.py --in "$work/repo" --runs 3 --before 'one=git update-ref -d refs/notes/gitmem; rm -f .git/gitmem/tips.json' \
    --run "one=taskset -c 0 $bin/gitmem backfill --jobs 1" --run 'numstat=taskset -c 0 git log --raw --numstat -M HEAD' --goal 'one/numstat<=1.3'
"$python" compare.py --in "$work/repo" --runs 3 --before 'two=git update-ref -d refs/notes/gitmem; rm -f .git/gitmem/tips.json' \
    --run "two=$bin/gitmem backfill --jobs 2" --run 'patch=git log --raw -p -M HEAD' --goal 'two/patch<=0.9'
