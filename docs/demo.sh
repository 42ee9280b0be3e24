#!/bin/sh
# demo.sh BIN [REPOSITORY]: gitmem's main job on a repository; without one, on a scratch clone of this project.
set -eu
bin=$1 repo=${2-}
PATH=$bin:$PATH
say() { printf '\n$ %s\n' "$*"; "$@"; }

if [ -z "$repo" ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    repo=$scratch/project
    git clone -q . "$repo"
fi
[ -d "$repo" ] || { echo "demo: there is no folder '$repo'; name a repository with 'make demo REPO=path'" >&2; exit 1; }
cd "$repo"
if ! git var GIT_COMMITTER_IDENT >/dev/null 2>&1; then
    echo "git knows no name here; the demo writes its notes as 'gitmem demo'"
    GIT_COMMITTER_NAME='gitmem demo' GIT_COMMITTER_EMAIL=demo@gitmem.invalid
    export GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
fi
echo "in $(pwd)"
say gitmem init
say gitmem backfill --all
say gitmem log -n 5
say gitmem show
say gitmem status

printf '\n%s\n' "now in a scratch clone: a change that makes pages untrue, a reflection refused, then accepted"
clone=$(mktemp -d)
trap 'rm -rf "$clone" ${scratch:+"$scratch"}' EXIT
git clone -q "$repo" "$clone/clone" && cd "$clone/clone"
git config user.name "${GIT_COMMITTER_NAME:-gitmem demo}" && git config user.email "${GIT_COMMITTER_EMAIL:-demo@gitmem.invalid}"
gitmem init >/dev/null
git add .gitmem && git commit -q --no-verify -m 'docs: first pages'
mkdir -p src/routes
printf '@app.get("/posts")\ndef list_posts():\n    return []\n' >src/routes/posts.py
git add src && say git commit -q --no-verify -m 'feat: list posts'
say gitmem reflect
echo; echo '$ gitmem reflect-commit'; gitmem reflect-commit || true
sleep 1
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
for page in .gitmem/bootstrap/*.md; do
    sed "s/^generated_at: .*/generated_at: $now/" "$page" >"$page.new" && mv "$page.new" "$page"
    printf '%s\n' "- [list-posts · $(date -u +%Y-%m-%d)] posts are listed at /posts" >>"$page"
done
targets=$(gitmem reflect --json | sed -n '/"targets"/,/]/p')
for page in .gitmem/bootstrap/*.md; do
    case $targets in *"$(basename "$page")"*) ;; *) git checkout -q -- "$page" ;; esac
done
say gitmem reflect-commit --agent demo --commit
cd "$repo"
command=$(command -v gitmem)
printf '\n%s\n' "the command is $command; install it for all repositories with 'pip install .' or 'pipx install .'"
printf '%s\n' "take it out again: '$command uninstall' (notes and pages stay), 'uninstall --data --yes' (notes go too)"
